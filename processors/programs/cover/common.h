/* How common each shingle is: rare ones come first in the order of the prefix filter (pairs.h).
 * Shingles with equal leading bits share a counter. Private to this folder. */
#ifndef SP_COVER_COMMON_H
#define SP_COVER_COMMON_H

#include "base/hash.h"
#include "cover/pairs.h"

struct sp_common {
    uint16_t *counters;
    unsigned shift;
};

static inline bool sp_unit_takes_part(const struct sp_unit *u)
{
    return u->size > 0 && (u->role[0] || u->role[1]);
}

/* The unit's keys: its shingles, mixed with the block so that blocks do not share keys. `scratch`
 * has room for them. */
static inline const uint32_t *sp_unit_keys(const struct sp_unit *u, const uint32_t *sets,
                                           uint32_t *scratch)
{
    const uint32_t *set = sets + u->at;
    if (u->block == 0)
        return set;
    for (uint32_t i = 0; i < u->size; i++)
        scratch[i] = (uint32_t)(sp_mix64((uint64_t)u->block << 32 | set[i]) >> 32);
    return scratch;
}

/* The rank of a key in that order; how common it is is in the high half. */
static inline uint64_t sp_common_rank(const struct sp_common *c, uint32_t key)
{
    return (uint64_t)c->counters[key >> c->shift] << 32 | key;
}

static inline void sp_common_prefetch(const struct sp_common *c, const uint32_t *keys, size_t count)
{
    for (size_t k = 0; k < count; k++)
        __builtin_prefetch(&c->counters[keys[k] >> c->shift]);
}

/* Makes the counters, in at most that much memory if that is not very little. */
void sp_common_make(struct sp_common *c, uint64_t shingles, uint64_t memory_bytes);
void sp_common_done(struct sp_common *c);
/* Counts the keys of a unit; by any thread. */
void sp_common_count(struct sp_common *c, const uint32_t *keys, size_t count);

#endif
