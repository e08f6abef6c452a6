/* The state directory around the database: its format, the configuration that it was written with,
 * and the process that has it open.
 *
 *   DIR/FORMAT    "samepage state 6", then the fingerprint of the configuration, lines key=value
 *   DIR/LOCK      flock()ed while open; the holder's process id
 *   DIR/rocksdb/  the database
 *
 * Private to this folder. */
#ifndef SP_STORE_DIRECTORY_H
#define SP_STORE_DIRECTORY_H

#include "base/fault.h"

/* What a message advises. */
#define SP_ANOTHER_DIRECTORY "another --state directory (of a stage: state.directory)"

/* Creates `directory` if it is missing, checks it and locks it. *ret_lock is a descriptor that
 * holds the lock until the caller closes it. Nothing is written to a directory that is not a state.
 * SP_STATE_FORMAT, SP_BUSY, SP_STORE as in sp_db_open_rocksdb; the fault says what is wrong and
 * what to do. */
enum sp_err sp_directory_open(const char *directory, const char *fingerprint, int *ret_lock,
                              struct sp_fault *fault);

#endif
