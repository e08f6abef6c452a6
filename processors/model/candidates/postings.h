/* The table behind the candidate index: 32-bit key -> list of slots below 2^27.
 *
 * A key with one slot takes one 6-byte cell of an open-addressing table (20 bits of the key, the
 * other 12 are its shard; 28 bits of value); a key with more points into an arena of small arrays.
 * 4,096 shards grow one by one by a quarter, so that the table is never half empty nor copied
 * whole. */
#ifndef SP_CANDIDATES_POSTINGS_H
#define SP_CANDIDATES_POSTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp_postings;

struct sp_postings *sp_postings_new(void);
void sp_postings_free(struct sp_postings *p);
void sp_postings_add(struct sp_postings *p, uint32_t key, uint32_t slot);

struct sp_posting {
    uint32_t key;
    uint32_t slot;
};

/* Adds all of them, at a third of the cost of one by one: shard by shard, so that each shard is in
 * the processor's cache meanwhile. `scratch` has room for as many. Leaves shards up to half empty:
 * sp_postings_trim when the last are in. */
void sp_postings_add_many(struct sp_postings *p, const struct sp_posting *postings, size_t count,
                          struct sp_posting *scratch);
/* Gives back what shards have too much of. */
void sp_postings_trim(struct sp_postings *p);
/* Removes one occurrence, if there is one; the others stay in the order in which they were added.
 */
void sp_postings_remove(struct sp_postings *p, uint32_t key, uint32_t slot);
/* Removes all slots of the key that `keep` does not want; the others stay in their order. */
void sp_postings_filter(struct sp_postings *p, uint32_t key, bool (*keep)(void *arg, uint32_t slot),
                        void *arg);

struct sp_posting_list {
    const uint32_t *slots; /* NULL: the list is `only` */
    uint32_t count;
    uint32_t only;
};

/* Valid until the next add or remove. */
struct sp_posting_list sp_postings_get(struct sp_postings *p, uint32_t key);
/* Brings the cells a get of this key will read into the cache. It waits for the header of their
 * shard, unless that was brought before. */
void sp_postings_prefetch(struct sp_postings *p, uint32_t key);
void sp_postings_prefetch_shard(const struct sp_postings *p, uint32_t key);
size_t sp_postings_bytes(const struct sp_postings *p);

#endif
