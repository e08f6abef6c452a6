/* See new_handler.h. */
#include "cli/new_handler.h"

#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

extern "C" {
#include "base/mem.h"
#include "cli/cli.h"
}

static void out_of_memory()
{
    sp_mem_out(0);
}

void sp_cli_no_threads(void)
{
    std::fputs("samepage: no more threads can be started: raise the limits on threads and memory "
               "(ulimit -u, ulimit -v, pids.max of the container)\n",
               stderr);
    sp_cli_end_for_lack();
}

/* RocksDB starts threads when it likes and cannot report that there are no more. Anything else is a
 * bug, and ends as one. */
[[noreturn]] static void end()
{
    try {
        std::exception_ptr failure = std::current_exception();
        if (failure)
            std::rethrow_exception(failure);
    } catch (const std::system_error &error) {
        if (error.code().value() == EAGAIN)
            sp_cli_no_threads();
        std::fprintf(stderr, "samepage: %s\n", error.what());
    } catch (const std::exception &error) {
        std::fprintf(stderr, "samepage: %s\n", error.what());
    }
    std::abort();
}

void sp_cli_handle_new(void)
{
    std::set_terminate(end);
    std::set_new_handler(out_of_memory);
}
