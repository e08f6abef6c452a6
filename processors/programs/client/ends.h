/* Extends the public client for the program itself, which must know when it has read the whole
 * topic. */
#ifndef SP_CLIENT_ENDS_H
#define SP_CLIENT_ENDS_H

#include <stdbool.h>

#include "samepage/status.h"

/* As samepage_status_open without a group. samepage_status_next may return SAMEPAGE_NONE before its
 * time is over. */
struct samepage_status_client *sp_client_open(const char *const *properties, const char *topic,
                                              char *error, size_t size);
/* Whether samepage_status_next has returned everything that the topic contained when the client was
 * opened. Only for a client of sp_client_open. */
bool sp_client_caught_up(const struct samepage_status_client *client);

#endif
