/* A commit on its way into RocksDB, in a thread of its own: whoever committed goes on, and reads
 * what is on its way from the batch. One commit is under way at a time, so they arrive in order.
 * Private to this folder. */
#ifndef SP_STORE_FLIGHT_H
#define SP_STORE_FLIGHT_H

#include "store/batch.h"

struct flight;

/* The handles are borrowed. NULL where no thread can be started. */
struct flight *flight_new(rocksdb_t *handle, const rocksdb_writeoptions_t *options);
/* Waits. NULL is allowed. */
void flight_free(struct flight *f);

/* Waits for the batch under way; answers the first error of any, or NULL. */
const char *flight_wait(struct flight *f);
/* Takes the sorted writes, of which `batch` is empty then. Nothing may be under way: flight_wait.
 */
void flight_start(struct flight *f, struct batch *batch);
/* What is on its way; NULL: nothing, all of it is there. Stays until the next start, also when it
 * has arrived meanwhile. For any thread to ask, for the committing one to look into. */
const struct batch *flight_batch(const struct flight *f);
/* The last that set out, under way or arrived; for the committing thread. */
const struct batch *flight_last(const struct flight *f);

#endif
