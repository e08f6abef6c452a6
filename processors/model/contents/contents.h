/* A reference-counted table of signatures. Each content's signature is stored once, however many
 * pages have that content and whichever stages use it. In `run` the members of groups (tier 1) and
 * the rows of cells (tier 2) share one table; on Kafka each partition of a stage has its own.
 *
 *   'S' content -> packed signature, written once and never again
 *   'N' content -> varint: the number of holders, unless that is the usual one
 *
 * Signatures are cached in memory. Eviction is by the clock algorithm: the oldest goes first unless
 * it was used since it was last examined. A signature whose count changed since the last flush is
 * not evicted.
 *
 * Errors: SP_STORE, SP_CORRUPT; then free the table and the stages that use it, and make them again
 * from the store. Thread rule: one thread. */
#ifndef SP_CONTENTS_CONTENTS_H
#define SP_CONTENTS_CONTENTS_H

#include <stdbool.h>

#include "page/signature.h"
#include "store/store.h"

struct sp_contents;

struct sp_contents_stats {
    uint64_t loads;       /* signatures read from the store */
    uint64_t cache_bytes; /* of memory */
    uint64_t waste_bytes; /* of these, contents without holders, which the next sweep or flush
                           * frees */
    uint64_t swept;       /* contents that sweeps looked at */
};

/* Never NULL. The store is borrowed; its keys that begin with 'S' and 'N' are the table's.
 * `usual_holders`: how many holders most contents have, those of pages without duplicates; such a
 * content has one row. It belongs to the format: a store must always be used with the same. */
struct sp_contents *sp_contents_new(struct sp_store *store, uint64_t usual_holders,
                                    size_t cache_bytes);
/* NULL is allowed. */
void sp_contents_free(struct sp_contents *t);

/* Adds a holder of this content. If the table does not have the signature in memory, it takes a
 * reference. */
enum sp_err sp_contents_hold(struct sp_contents *t, struct sp_signature *signature);
/* Removes a holder. SP_CORRUPT if there is none, as far as that is known without a read. */
enum sp_err sp_contents_drop(struct sp_contents *t, struct sp_id content);
/* Borrowed until the next flush or trim; take a reference to keep it for longer. SP_CORRUPT if the
 * content has no holder. */
enum sp_err sp_contents_get(struct sp_contents *t, struct sp_id content,
                            struct sp_signature **ret_signature);

/* The same, but SP_NOT_FOUND if the content has no holder. */
enum sp_err sp_contents_find(struct sp_contents *t, struct sp_id content,
                             struct sp_signature **ret_signature);

/* Announce a get, a hold or a drop that will come soon, so that the store can read ahead. */
void sp_contents_expect(struct sp_contents *t, struct sp_id content);
void sp_contents_expect_hold(struct sp_contents *t, struct sp_id content);
void sp_contents_expect_drop(struct sp_contents *t, struct sp_id content);
/* Prefetches into the processor's caches what a look-up in memory will read, in three steps from 0
 * on, each some time after the one before. */
void sp_contents_prefetch(const struct sp_contents *t, struct sp_id content, uint32_t step);
/* Prefetches for gets of these contents; uses at most SP_CONTENTS_PREFETCHED of them. */
enum { SP_CONTENTS_PREFETCHED = 16 };
void sp_contents_prefetch_all(const struct sp_contents *t, const struct sp_id *contents,
                              size_t count);

/* Frees the contents without holders that have no rows, as a flush does, but writes nothing. What a
 * caller has borrowed of them becomes invalid. Looks at every content that changed since the last
 * flush. */
void sp_contents_sweep(struct sp_contents *t);
/* Whether contents without holders take more than `few_bytes` and more than half of the memory. If
 * sweeps come only then, each change pays for O(1) of what they look at. */
bool sp_contents_has_waste(const struct sp_contents *t, uint64_t few_bytes);
/* Sets the budget, which sp_contents_new sets first. */
void sp_contents_resize(struct sp_contents *t, size_t cache_bytes);
/* Evicts clean entries until the memory fits its budget. */
void sp_contents_trim(struct sp_contents *t);
/* Writes all changes since the last flush into the store's open batch, and trims. Call it after the
 * flush of the stages that use the table. */
void sp_contents_flush(struct sp_contents *t);

void sp_contents_stats(const struct sp_contents *t, struct sp_contents_stats *ret_stats);

/* Reads from a committed store without a table. *ret_signature has one reference. SP_NOT_FOUND if
 * the content has no holder. */
enum sp_err sp_contents_read(struct sp_store *store, struct sp_id content,
                             struct sp_signature **ret_signature);
/* Calls `each` for every signature of a committed store, in the order of the content hash's bytes.
 * The signature is borrowed until `each` returns. SP_STORE; SP_CORRUPT if a row is damaged. */
enum sp_err sp_contents_each(struct sp_store *store,
                             void (*each)(void *arg, struct sp_signature *signature), void *arg);
/* For tests: the same for every number of holders that is not the usual one. */
enum sp_err sp_contents_each_count(struct sp_store *store,
                                   void (*each)(void *arg, struct sp_id content, uint64_t holders),
                                   void *arg);

#endif
