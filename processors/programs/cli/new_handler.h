/* Lack of memory and of threads in libraries that are written in C++: RocksDB, simdjson. */
#ifndef SP_CLI_NEW_HANDLER_H
#define SP_CLI_NEW_HANDLER_H

#ifdef __cplusplus
extern "C" {
#endif

/* When `new` finds no memory, the process ends as when our own allocations fail (base/mem.h). An
 * exception would pass through functions of C. When a library finds no more threads, the process
 * ends with a message and exit code 1. */
void sp_cli_handle_new(void);

/* Says that there are no more threads, and ends the process with exit code 1. */
void sp_cli_no_threads(void) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
