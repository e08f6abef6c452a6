/* Reads that are made before they are asked for, by a thread of its own: most look-ups of a stage
 * are for keys that the next pages name, and at ten million pages they were half of its time.
 * Private to this folder.
 *
 * An answer counts until the next commit. One that was read while a commit was on its way may be
 * older than that commit, and says so (`settled`). Thread rule: one thread calls. */
#ifndef SP_STORE_AHEAD_H
#define SP_STORE_AHEAD_H

#include "store/flight.h"

struct ahead;

/* The handles are borrowed. NULL where no thread can be started. */
struct ahead *ahead_new(rocksdb_t *handle, const rocksdb_readoptions_t *options,
                        const struct flight *flight);
/* NULL is allowed. */
void ahead_free(struct ahead *a);

/* The key may be asked for soon. Forgotten where too much is asked for already. */
void ahead_expect(struct ahead *a, struct sp_view key);
/* A commit has started: earlier answers are void. */
void ahead_commit(struct ahead *a);

struct ahead_answer {
    rocksdb_pinnableslice_t *value; /* the caller's now; NULL: there is no such row */
    bool settled;                   /* all commits before are in it */
};

/* True: the answer is there, once. False: read the key yourself. */
bool ahead_take(struct ahead *a, struct sp_view key, struct ahead_answer *ret_answer);

#endif
