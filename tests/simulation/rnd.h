/* Random numbers of a world: its seed determines all of them. */
#ifndef SP_TESTS_SIMULATION_RND_H
#define SP_TESTS_SIMULATION_RND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

struct rnd {
    uint64_t state;
};

static inline uint64_t rnd_next(struct rnd *r)
{
    r->state += 0x9e3779b97f4a7c15ull;
    return sp_mix64(r->state);
}

static inline uint32_t rnd_below(struct rnd *r, uint32_t n)
{
    return (uint32_t)(rnd_next(r) % n);
}

static inline bool rnd_chance(struct rnd *r, uint32_t percent)
{
    return rnd_below(r, 100) < percent;
}

#endif
