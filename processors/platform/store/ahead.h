/* Reads that are made before they are asked for, by a thread of its own: most look-ups of a stage
 * are for keys that the next pages name, and at ten million pages they were half of its time.
 * Private to this folder.
 *
 * An answer counts until the next commit. One that was read while a commit was on its way may be
 * older than that commit, and says so (`settled`). Thread rule: one thread calls. */
#ifndef SP_STORE_AHEAD_H
#define SP_STORE_AHEAD_H

#include "store/flight.h"

struct sp_ahead;

/* The handles are borrowed. NULL where no thread can be started. */
struct sp_ahead *sp_ahead_new(rocksdb_t *handle, const rocksdb_readoptions_t *options,
                              const struct sp_flight *flight);
/* NULL is allowed. */
void sp_ahead_free(struct sp_ahead *a);

/* The key may be asked for soon. Forgotten where too much is asked for already. */
void sp_ahead_expect(struct sp_ahead *a, struct sp_view key);
/* A commit has started: what was read earlier is void. */
void sp_ahead_commit(struct sp_ahead *a);

struct sp_ahead_answer {
    rocksdb_pinnableslice_t *value; /* the caller's now; NULL: there is no such row */
    bool settled;                   /* all commits before are in it */
};

/* True: the answer is there, once. False: read the key yourself. */
bool sp_ahead_take(struct sp_ahead *a, struct sp_view key, struct sp_ahead_answer *ret_answer);

#endif
