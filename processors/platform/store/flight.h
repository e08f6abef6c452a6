/* A thread that applies commits to RocksDB: the caller continues meanwhile, and reads rows that
 * RocksDB does not have yet from the batch. One commit is under way at a time, so they arrive in
 * order. Private to this folder. */
#ifndef SP_STORE_FLIGHT_H
#define SP_STORE_FLIGHT_H

#include "store/apply.h"

struct sp_flight;

/* `apply` is borrowed, and used by the thread while a batch is under way. NULL where no thread can
 * be started. */
struct sp_flight *sp_flight_new(struct sp_apply *apply);
/* Waits. NULL is allowed. */
void sp_flight_free(struct sp_flight *f);

/* Waits for the batch under way; returns the first error of any, or NULL. */
const char *sp_flight_wait(struct sp_flight *f);
/* Takes the sorted writes, of which `batch` is empty then. Nothing may be under way:
 * sp_flight_wait.
 */
void sp_flight_start(struct sp_flight *f, struct sp_write_batch *batch);
/* The batch under way; NULL: none, RocksDB has everything. Valid until the next start, even if it
 * was applied meanwhile. Any thread may ask whether there is one; only the thread that starts
 * commits may read it. */
const struct sp_write_batch *sp_flight_batch(const struct sp_flight *f);
/* The batch that was started last, whether or not it has been applied; for the thread that starts
 * commits. */
const struct sp_write_batch *sp_flight_last(const struct sp_flight *f);

#endif
