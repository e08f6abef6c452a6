/* The state directory around the database: whose it is, which format and
 * configuration it was written with, and who holds it.
 *
 *   DIR/FORMAT    "samepage state 2", then the creator's fingerprint, lines key=value
 *   DIR/LOCK      flock()ed while open; the holder's process id
 *   DIR/rocksdb/  the database
 *
 * Private to this folder. */
#ifndef SP_STORE_DIRECTORY_H
#define SP_STORE_DIRECTORY_H

#include <stddef.h>

#include "base/err.h"

/* Creates, checks and locks `directory`. On success *ret_lock holds the lock until it is
 * closed; otherwise `message` says what is wrong and what to do. Nothing is written to a directory
 * that is not ours. */
enum sp_err sp_directory_open(const char *directory, const char *fingerprint, char *message,
                              size_t message_size, int *ret_lock);

#endif
