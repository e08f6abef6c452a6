/* A listening TCP socket from what an operator writes. Thread rule: any thread. */
#ifndef SP_BASE_LISTEN_H
#define SP_BASE_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* "127.0.0.1:8080", "[::1]:8080", "name:8080", ":8080" (all addresses); port 0: any free one.
 * SP_INVALID: not an address. SP_IO: the address cannot be bound. The caller closes the descriptor,
 * which is non-blocking. */
enum sp_err sp_listen(const char *address, int *ret_fd, struct sp_fault *fault);
uint16_t sp_listen_port(int fd);
/* Whether only this machine can reach it. */
bool sp_listen_loopback(int fd);

#endif
