/* How the process ends if it lacks memory or threads. */
#include <signal.h>
#include <unistd.h>

#include "cli/cli.h"

static volatile sig_atomic_t exit_code = SP_EXIT_FAILED;

void sp_cli_set_lack_code(int code)
{
    exit_code = code;
}

void sp_cli_end_for_lack(void)
{
    _exit(exit_code);
}
