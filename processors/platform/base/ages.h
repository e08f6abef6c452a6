/* The objects of a cache by age, for the clock algorithm (Corbato's second chance): the oldest is
 * evicted first, unless it was used since it was last examined. Noting a use touches only that
 * object; moving it in a list would also touch its neighbours, which are far away in memory. Uses
 * in the round in which an object entered do not count, because every object has them. Thread rule:
 * one thread at a time. */
#ifndef SP_BASE_AGES_H
#define SP_BASE_AGES_H

#include <stdbool.h>

#include "base/map.h"

struct sp_ages {
    struct sp_lru ring;
    uint32_t round;
};

/* In an object; SP_LRU_OBJECT finds that. */
struct sp_age {
    struct sp_lru ring; /* first */
    uint32_t entered;   /* in which round */
    bool used;
};

static inline void sp_ages_init(struct sp_ages *ages)
{
    sp_lru_init(&ages->ring);
    ages->round = 0;
}

static inline void sp_ages_enter(struct sp_ages *ages, struct sp_age *age)
{
    age->entered = ages->round;
    age->used = false;
    sp_lru_push(&ages->ring, &age->ring);
}

static inline void sp_ages_use(const struct sp_ages *ages, struct sp_age *age)
{
    age->used |= age->entered != ages->round;
}

static inline void sp_ages_leave(struct sp_age *age)
{
    sp_lru_remove(&age->ring);
}

/* The next younger one, or NULL. */
static inline struct sp_age *sp_ages_younger(const struct sp_ages *ages, const struct sp_age *age)
{
    struct sp_lru *node = age->ring.prev;
    return node == &ages->ring ? NULL : (struct sp_age *)node;
}

/* NULL: there are none. */
static inline struct sp_age *sp_ages_oldest(const struct sp_ages *ages)
{
    struct sp_lru *node = ages->ring.prev;
    return node == &ages->ring ? NULL : (struct sp_age *)node;
}

/* Whether it is kept this time; it is then the youngest. */
static inline bool sp_ages_spare(struct sp_ages *ages, struct sp_age *age)
{
    bool spared = age->used;
    age->used = false;
    if (spared)
        sp_lru_touch(&ages->ring, &age->ring);
    return spared;
}

#endif
