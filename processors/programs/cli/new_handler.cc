/* See new_handler.h. */
#include "cli/new_handler.h"

#include <new>

extern "C" {
#include "base/mem.h"
}

static void out_of_memory()
{
    sp_mem_out(0);
}

void sp_cli_handle_new(void)
{
    std::set_new_handler(out_of_memory);
}
