/* The signatures of contents: each is stored once, with a count of those who hold it, however many
 * pages have that content and whichever stages ask for it. In `run` the members of groups (tier 1)
 * and the rows of cells (tier 2) hold the same signatures of one table; on Kafka each partition of
 * a stage has a table of its own.
 *
 *   'S' content -> packed signature, written once and never again
 *   'N' content -> varint: how many hold it
 *
 * Signatures are kept in memory: the oldest go first, but for those that were used since they were
 * last looked at (a clock), and none whose count changed since the last flush.
 *
 * Errors: SP_STORE, SP_CORRUPT; then free the table and the stages that use it, and make them again
 * from the store. Thread rule: one thread. */
#ifndef SP_CONTENTS_CONTENTS_H
#define SP_CONTENTS_CONTENTS_H

#include "page/signature.h"
#include "store/store.h"

struct sp_contents;

struct sp_contents_stats {
    uint64_t loads;       /* signatures read from the store */
    uint64_t cache_bytes; /* of memory */
};

/* Never NULL. The store is borrowed; its keys that begin with 'S' and 'N' are the table's. */
struct sp_contents *sp_contents_new(struct sp_store *store, size_t cache_bytes);
/* NULL is allowed. */
void sp_contents_free(struct sp_contents *t);

/* SP_STATE_FORMAT where the store holds signatures as they were stored before there was this
 * table; call once before the first use of a store that may hold some. */
enum sp_err sp_contents_check(struct sp_contents *t);

/* One more holds this content. The table takes a reference to the signature where it has none. */
enum sp_err sp_contents_hold(struct sp_contents *t, struct sp_signature *signature);
/* One less. SP_CORRUPT where nobody did. */
enum sp_err sp_contents_drop(struct sp_contents *t, struct sp_id content);
/* Borrowed until the next flush or trim; take a reference to keep it for longer. SP_CORRUPT
 * where nobody holds that content. */
enum sp_err sp_contents_get(struct sp_contents *t, struct sp_id content,
                            struct sp_signature **ret_signature);

/* The same of a content that perhaps nobody holds: SP_NOT_FOUND. */
enum sp_err sp_contents_find(struct sp_contents *t, struct sp_id content,
                             struct sp_signature **ret_signature);

/* It will be got soon; it will be held or dropped soon: lets the store read ahead. */
void sp_contents_expect(struct sp_contents *t, struct sp_id content);
void sp_contents_expect_change(struct sp_contents *t, struct sp_id content);
/* It will be looked for in memory soon: for the processor's caches. */
void sp_contents_prefetch(const struct sp_contents *t, struct sp_id content);
/* These will be got at once; at most SP_CONTENTS_PREFETCHED of them are looked at. */
enum { SP_CONTENTS_PREFETCHED = 16 };
void sp_contents_prefetch_all(const struct sp_contents *t, const struct sp_id *contents,
                              size_t count);

/* Drops signatures that need not be kept until the memory fits its budget. */
void sp_contents_trim(struct sp_contents *t);
/* Writes all changes since the last flush into the store's open batch, and trims. Comes after the
 * flush of the stages that use the table. */
void sp_contents_flush(struct sp_contents *t);

void sp_contents_stats(const struct sp_contents *t, struct sp_contents_stats *ret_stats);

/* A committed store, read from outside. *ret_signature has one reference. SP_NOT_FOUND where nobody
 * holds that content. */
enum sp_err sp_contents_read(struct sp_store *store, struct sp_id content,
                             struct sp_signature **ret_signature);
/* Calls `each` for every signature, or for every count, by the content hash's bytes. */
enum sp_err sp_contents_each(struct sp_store *store,
                             void (*each)(void *arg, struct sp_signature *signature), void *arg);
enum sp_err sp_contents_each_count(struct sp_store *store,
                                   void (*each)(void *arg, struct sp_id content, uint64_t holders),
                                   void *arg);

#endif
