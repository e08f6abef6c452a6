/* Evicts pages and groups from memory, after the flush, by the clock algorithm (base/ages.h). */
#include "base/prefetch.h"
#include "group/large.h"
#include "group/stored.h"

/* The walks below go from the oldest to the youngest object. Objects, and what they point to, are
 * scattered in memory, so each step prefetches one more pointer of the next objects. */
static void prefetch_pages(const struct sp_group_stage *st, const struct sp_age *age)
{
    if (!(age = sp_ages_younger(&st->page_ages, age)))
        return;
    sp_map_prefetch(&st->pages, SP_LRU_OBJECT(age, struct sp_page_actor, age)->id);
    if ((age = sp_ages_younger(&st->page_ages, age)))
        sp_prefetch_bytes(SP_LRU_OBJECT(age, struct sp_page_actor, age),
                          sizeof(struct sp_page_actor));
}

static void prefetch_groups(const struct sp_group_stage *st, const struct sp_age *age)
{
    enum { DEPTH = 3 };
    for (int depth = 0; depth <= DEPTH && (age = sp_ages_younger(&st->group_ages, age)); depth++) {
        const struct sp_group *g = SP_LRU_OBJECT(age, struct sp_group, age);
        if (depth == DEPTH)
            sp_prefetch_bytes(g, sizeof *g);
        else if (depth == 2)
            sp_prefetch(g->members);
        else if (depth == 1 && g->count)
            sp_prefetch_bytes(g->members[0], sizeof *g->members[0]);
        else if (depth == 0)
            sp_map_prefetch(&st->groups, g->key);
    }
}

static void evict_pages(struct sp_group_stage *st, size_t budget)
{
    struct sp_age *oldest;
    while (st->page_bytes > budget && (oldest = sp_ages_oldest(&st->page_ages))) {
        prefetch_pages(st, oldest);
        if (sp_ages_spare(&st->page_ages, oldest))
            continue;
        struct sp_page_actor *p = SP_LRU_OBJECT(oldest, struct sp_page_actor, age);
        sp_page_actor_evict(st, p);
    }
}

static void evict_groups(struct sp_group_stage *st, size_t budget)
{
    struct sp_age *oldest;
    while (st->group_bytes > budget && (oldest = sp_ages_oldest(&st->group_ages))) {
        prefetch_groups(st, oldest);
        struct sp_group *g = SP_LRU_OBJECT(oldest, struct sp_group, age);
        if (!sp_ages_spare(&st->group_ages, oldest))
            sp_group_free(st, g);
    }
}

/* Of its members, and of the hubs with their patterns and places in lists. */
static size_t bytes_of_large(const struct sp_group *g)
{
    enum { HUB_BYTES = sizeof(struct sp_hub) + 256 };
    return g->count * (size_t)SP_MEMBER_BYTES + g->large->hubs.count * HUB_BYTES;
}

/* Counts the bytes of groups again that were used since the last flush; no others have changed.
 * Returns their number. */
static uint32_t count_used(struct sp_group_stage *st)
{
    struct sp_lru *head = &st->large_used;
    uint32_t count = 0;
    for (; head->next != head; count++) {
        struct sp_large *l = SP_LRU_OBJECT(head->next, struct sp_large, used);
        size_t bytes = bytes_of_large(l->group);
        st->large_bytes += bytes - l->bytes;
        l->bytes = bytes;
        sp_lru_remove(&l->used);
        sp_lru_init(&l->used);
    }
    return count;
}

/* Reading a large group again costs as much as reading all its members. So it stays in memory, even
 * beyond the budget, until the stage has handled as many other messages as it has members: then no
 * crawl, whatever it is, makes a message cost more than one row of a group that returns. While
 * there is room for small groups, it stays for some more flushes. */
static bool must_stay(const struct sp_group_stage *st, const struct sp_large *l, uint32_t rounds)
{
    return l->used_step + l->members.count >= st->steps ||
           l->used_round + rounds >= st->large_ages.round;
}

/* Those that must stay may exceed the budget. So each large group is examined at most twice, and
 * not many more than were used, however many there are. */
static void evict_larges(struct sp_group_stage *st, size_t budget, uint32_t used, uint32_t rounds)
{
    enum { EACH = 4, MORE = 64 };
    uint32_t all = 2 * st->large_count, some = EACH * used + MORE;
    for (uint32_t left = all < some ? all : some; left && st->large_bytes > budget; left--) {
        struct sp_age *oldest = sp_ages_oldest(&st->large_ages);
        struct sp_group *g = SP_LRU_OBJECT(oldest, struct sp_group, age);
        if (sp_ages_spare(&st->large_ages, oldest))
            continue;
        if (must_stay(st, g->large, rounds)) {
            sp_lru_touch(&st->large_ages.ring, &oldest->ring);
            continue;
        }
        sp_group_free(st, g);
    }
}

void sp_group_stage_resize(struct sp_group_stage *st, size_t cache_bytes)
{
    SP_ASSERT(!st->own_contents);
    st->cache_bytes = cache_bytes;
}

/* Groups get a third, and what pages leave: most have one page, and those are not kept. Large
 * groups get what small ones leave. */
void sp_group_stage_evict(struct sp_group_stage *st)
{
    enum { ROUNDS = 16 };
    size_t third = st->cache_bytes / 3;
    size_t left = st->cache_bytes > st->page_bytes ? st->cache_bytes - st->page_bytes : 0;
    size_t for_groups = left > third ? left : third;
    bool room = st->group_bytes < for_groups;
    uint32_t used = count_used(st);
    evict_larges(st, room ? for_groups - st->group_bytes : 0, used, room ? ROUNDS : 0);
    evict_groups(st, for_groups);
    evict_pages(st, st->cache_bytes - (st->group_bytes < third ? st->group_bytes : third));
}
