/* The objects of a cache by age, for the clock algorithm (Corbato's second chance): the oldest is
 * evicted first, unless it was used since it was last examined. Noting a use touches only that
 * object; moving it in a list would also touch its neighbours, which are far away in memory. Uses
 * in the round in which an object entered do not count, because every object has them. The cache
 * increments `round`, usually at each flush. The list owns nothing. Thread rule: one thread at a
 * time. */
#ifndef SP_BASE_AGES_H
#define SP_BASE_AGES_H

#include <stdbool.h>

#include "base/map.h"

struct sp_ages {
    struct sp_lru ring;
    uint32_t round;
};

/* A member of each object; SP_LRU_OBJECT returns the object. */
struct sp_age {
    struct sp_lru ring; /* must be the first field */
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

/* The next younger object, or NULL. */
static inline struct sp_age *sp_ages_younger(const struct sp_ages *ages, const struct sp_age *age)
{
    struct sp_lru *node = age->ring.prev;
    return node == &ages->ring ? NULL : (struct sp_age *)node;
}

/* The oldest object, or NULL. */
static inline struct sp_age *sp_ages_oldest(const struct sp_ages *ages)
{
    struct sp_lru *node = ages->ring.prev;
    return node == &ages->ring ? NULL : (struct sp_age *)node;
}

/* Examines an object, the oldest. True: it was used, so it is kept and becomes the youngest. False:
 * the caller may evict it. */
static inline bool sp_ages_spare(struct sp_ages *ages, struct sp_age *age)
{
    bool spared = age->used;
    age->used = false;
    if (spared)
        sp_lru_touch(&ages->ring, &age->ring);
    return spared;
}

#endif
