/* Opens a listening TCP socket at an address from the configuration. Thread rule: any thread. */
#ifndef SP_BASE_LISTEN_H
#define SP_BASE_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* Listens at "127.0.0.1:8080", "[::1]:8080", "name:8080" or ":8080" (all addresses of this
 * machine). Port 0 stands for any free port; a name that has several addresses for the first that
 * can be bound. The descriptor is non-blocking and is the caller's to close. SP_INVALID: not of
 * this form, or the name has no address. SP_IO: the address cannot be bound. */
enum sp_err sp_listen(const char *address, int *ret_fd, struct sp_fault *fault);
/* The port that the socket listens at; 0 if `fd` is no such socket. */
uint16_t sp_listen_port(int fd);
/* Whether the socket is bound to a loopback address, so that only this machine can reach it. */
bool sp_listen_loopback(int fd);

#endif
