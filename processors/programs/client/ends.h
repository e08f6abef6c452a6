/* Extends the public client for the program itself, which must know when it has read the whole
 * topic, and has a log of its own. */
#ifndef SP_CLIENT_ENDS_H
#define SP_CLIENT_ENDS_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

#include "samepage/status.h"

/* The log callback of all clients that are opened from now on. Without it, librdkafka writes to
 * standard error. Call it before the first one. */
void sp_client_log_to(void (*log)(const rd_kafka_t *handle, int level, const char *facility,
                                  const char *line));

/* As samepage_status_open without a group. samepage_status_next may return SAMEPAGE_NONE before its
 * time is over. */
struct samepage_status_client *sp_client_open(const char *const *properties, const char *topic,
                                              char *error, size_t size);
/* Whether samepage_status_next has returned everything that the topic contained when the client was
 * opened. Only for a client of sp_client_open. */
bool sp_client_caught_up(const struct samepage_status_client *client);

#endif
