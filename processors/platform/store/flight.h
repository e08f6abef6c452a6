/* A thread that applies commits to RocksDB while the caller continues. The caller reads rows that
 * RocksDB does not have yet from the batch. Only one commit is under way at a time, so commits
 * arrive in order. Private to this folder. Thread rule: one thread calls, except where noted. */
#ifndef SP_STORE_FLIGHT_H
#define SP_STORE_FLIGHT_H

#include "store/apply.h"

struct sp_flight;

/* `apply` is borrowed; the thread uses it while a batch is under way. NULL: no thread can be
 * started. */
struct sp_flight *sp_flight_new(struct sp_apply *apply);
/* Waits for the batch under way. NULL is allowed. */
void sp_flight_free(struct sp_flight *f);

/* Waits for the batch under way. Returns the first error of all batches so far, valid until the
 * flight is freed, or NULL. */
const char *sp_flight_wait(struct sp_flight *f);
/* Starts to apply the writes of a sorted batch, and leaves `batch` empty. No batch may be under
 * way; call sp_flight_wait before. */
void sp_flight_start(struct sp_flight *f, struct sp_write_batch *batch);
/* The batch under way; NULL: none, RocksDB has everything. `f` may be NULL. Valid until the next
 * start, even if the batch was applied meanwhile. Any thread may ask whether there is one; only the
 * thread that starts commits may read it. */
const struct sp_write_batch *sp_flight_batch(const struct sp_flight *f);
/* The batch that was started last, whether or not it has been applied. Only for the thread that
 * starts commits. */
const struct sp_write_batch *sp_flight_last(const struct sp_flight *f);

#endif
