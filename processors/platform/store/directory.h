/* The state directory around the database: its format, the configuration it was written with, and
 * which process has it open.
 *
 *   DIR/FORMAT    "samepage state 4", then the creator's fingerprint, lines key=value
 *   DIR/LOCK      flock()ed while open; the holder's process id
 *   DIR/rocksdb/  the database
 *
 * Private to this folder. */
#ifndef SP_STORE_DIRECTORY_H
#define SP_STORE_DIRECTORY_H

#include "base/fault.h"

/* Creates, checks and locks `directory`. On success *ret_lock holds the lock until it is
 * closed; otherwise the fault says what is wrong and what to do. Nothing is written to a directory
 * that is not ours. */
enum sp_err sp_directory_open(const char *directory, const char *fingerprint, int *ret_lock,
                              struct sp_fault *fault);

#endif
