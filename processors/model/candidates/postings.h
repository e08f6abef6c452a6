/* The table behind the candidate index: 32-bit key -> list of 32-bit slots.
 *
 * A key with one slot takes one 7-byte cell of an open-addressing table: 20 bits of the key, whose
 * other 12 bits select the shard, and 36 bits of value. A key with more slots points into an arena
 * of small arrays. The 4,096 shards grow separately, by half, so the table is a sixth to half empty
 * and never copied as a whole. Cells are in pages of 2 MiB (base/huge.h). Thread rule: one thread
 * at a time. */
#ifndef SP_CANDIDATES_POSTINGS_H
#define SP_CANDIDATES_POSTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp_postings;

/* Never NULL. */
struct sp_postings *sp_postings_new(void);
/* NULL is allowed. */
void sp_postings_free(struct sp_postings *p);
/* Returns how many slots the key has now. */
uint32_t sp_postings_add(struct sp_postings *p, uint32_t key, uint32_t slot);

struct sp_posting {
    uint32_t key;
    uint32_t slot;
};

/* Adds all of them at a third of the cost of adding them one by one, because each shard stays in
 * the processor's cache while it is filled. `scratch` has room for as many postings. Leaves shards
 * up to half empty: call sp_postings_trim at the end. */
void sp_postings_add_many(struct sp_postings *p, const struct sp_posting *postings, size_t count,
                          struct sp_posting *scratch);
/* Frees the excess capacity of the shards. */
void sp_postings_trim(struct sp_postings *p);
/* Removes one occurrence, if there is one; the others stay in the order in which they were added.
 */
void sp_postings_remove(struct sp_postings *p, uint32_t key, uint32_t slot);
/* Removes the slots of the key for which `keep` returns false; the others stay in their order. */
void sp_postings_filter(struct sp_postings *p, uint32_t key, bool (*keep)(void *arg, uint32_t slot),
                        void *arg);

struct sp_posting_list {
    const uint32_t *slots; /* NULL: the list is `only` */
    uint32_t count;
    uint32_t only;
};

/* Valid until the next add or remove. */
struct sp_posting_list sp_postings_get(struct sp_postings *p, uint32_t key);
/* Prefetches the cells that a get of this key will read. Prefetch their shard first, or this waits
 * for the shard's header. */
void sp_postings_prefetch(struct sp_postings *p, uint32_t key);
void sp_postings_prefetch_shard(const struct sp_postings *p, uint32_t key);
/* Memory of the table in bytes. */
size_t sp_postings_bytes(const struct sp_postings *p);

#endif
