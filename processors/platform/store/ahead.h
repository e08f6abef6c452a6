/* A thread that reads rows before a stage asks for them. Most look-ups of a stage are for keys that
 * the next pages name, and at ten million pages they took half of its time. Private to this folder.
 *
 * A value that was read ahead is valid until the next commit. One that was read while a commit was
 * being applied may be older than that commit; `settled` is then false. Thread rule: one thread
 * calls. */
#ifndef SP_STORE_AHEAD_H
#define SP_STORE_AHEAD_H

#include "store/flight.h"

struct sp_ahead;

/* Everything is borrowed. NULL: no thread can be started. */
struct sp_ahead *sp_ahead_new(rocksdb_t *handle, const struct sp_flight *flight);
/* NULL is allowed. */
void sp_ahead_free(struct sp_ahead *a);

/* Reads the row of this key ahead, with these options, which are borrowed. Does nothing if the key
 * has more than 40 bytes or too many reads are under way. */
void sp_ahead_expect(struct sp_ahead *a, struct sp_view key, const rocksdb_readoptions_t *options);
/* Called when a commit has started: values that were read earlier are no longer valid. */
void sp_ahead_commit(struct sp_ahead *a);

/* True: the row was read ahead, and this is its value, which stays here. */
bool sp_ahead_peek(struct sp_ahead *a, struct sp_view key, struct sp_view *ret_value);

struct sp_ahead_value {
    rocksdb_pinnableslice_t *value; /* the caller must destroy it; NULL: there is no such row */
    bool settled;                   /* it includes all commits before */
};

/* True: the key was read ahead; the value is handed over, once. False: the caller must read it. */
bool sp_ahead_take(struct sp_ahead *a, struct sp_view key, struct sp_ahead_value *ret_value);

#endif
