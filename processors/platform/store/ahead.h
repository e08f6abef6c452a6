/* A thread that reads rows before they are asked for: most look-ups of a stage are for keys that
 * the next pages name, and at ten million pages they took half of its time. Private to this folder.
 *
 * A value that was read ahead is valid until the next commit. One that was read while a commit was
 * being applied may be older than that commit; `settled` is then false. Thread rule: one thread
 * calls. */
#ifndef SP_STORE_AHEAD_H
#define SP_STORE_AHEAD_H

#include "store/flight.h"

struct sp_ahead;

/* The handles are borrowed. NULL where no thread can be started. */
struct sp_ahead *sp_ahead_new(rocksdb_t *handle, const rocksdb_readoptions_t *options,
                              const struct sp_flight *flight);
/* NULL is allowed. */
void sp_ahead_free(struct sp_ahead *a);

/* The key may be asked for soon. Ignored if too many reads are under way. */
void sp_ahead_expect(struct sp_ahead *a, struct sp_view key);
/* A commit has started: what was read earlier is no longer valid. */
void sp_ahead_commit(struct sp_ahead *a);

struct sp_ahead_value {
    rocksdb_pinnableslice_t *value; /* now the caller's; NULL: there is no such row */
    bool settled;                   /* all commits before are in it */
};

/* True: the key was read ahead; its value is handed over once. False: read the key yourself. */
bool sp_ahead_take(struct sp_ahead *a, struct sp_view key, struct sp_ahead_value *ret_value);

#endif
