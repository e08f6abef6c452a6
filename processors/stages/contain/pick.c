/* Chooses shingles of which every container must have at least one.
 *
 * Of m shingles a container lacks at most m - needed(m). So of any m - needed(m) + 1 of them it has
 * at least one (the prefix filter of set joins, with the smaller page on the one side and an index
 * of all shingles of the larger one on the other). Any of them will do; the rarest have the
 * shortest lists. The better the present container, the fewer are needed: a page whose container
 * has 98 of its 100 shingles waits under two.
 *
 * A capped container is judged by the range of hashes that its signature covers: the first m
 * counted shingles of the page, with another m for each container. So for each m from
 * SP_CONTAIN_LEAST on, the first m shingles must include m - needed(m) + 1 chosen ones. This number
 * never falls as m grows, and grows by one at a time. So one pass is enough: whenever it grows, the
 * cheapest shingle passed so far is chosen. */
#include "base/mem.h"
#include "contain/stage.h"

/* ---- costs ---- */

/* Of a page that has just been entered, all of whose shingles count. */
static bool costs_at_hand(const struct sp_contain_stage *c,
                          const struct sp_contain_counted *counted, enum sp_contain_kind kind,
                          uint32_t *costs)
{
    const struct sp_contain_index *x = &c->holders[kind];
    if (c->lengths_of != counted->item || counted->room || kind != SP_CONTAIN_FULL)
        return false;
    memcpy(costs, c->lengths, counted->count * sizeof *costs);
    for (uint32_t i = 0; i < counted->count && x->left.count; i++)
        if (costs[i] != SP_CONTAIN_UNKNOWN)
            costs[i] -= sp_contain_index_left(x, counted->shingles[i],
                                              &(struct sp_posting_list){NULL, costs[i], 0});
    return true;
}

void sp_contain_costs(struct sp_contain_stage *c, const struct sp_contain_counted *counted,
                      enum sp_contain_kind kind, uint32_t level, uint32_t *costs)
{
    const struct sp_contain_index *x = &c->holders[kind];
    uint32_t first = level ? x->level_parts[level - 1] : 0;
    if (level == 0 && costs_at_hand(c, counted, kind, costs))
        return;
    struct sp_contain_selection s =
        sp_contain_select(counted->shingles, counted->count, first, x->level_parts[level]);
    sp_contain_level_fill(c, kind, level);
    if (level == 0)
        memset(costs, 0xff, counted->count * sizeof *costs);
    for (uint32_t i = 0; i < s.count; i++) {
        sp_contain_index_prefetch(x, s.shingles, s.count, i);
        struct sp_posting_list list = sp_contain_index_get(x, s.shingles[i]);
        c->stats.lists++;
        costs[s.numbers[i]] = list.count - sp_contain_index_left(x, s.shingles[i], &list);
    }
    sp_contain_selection_done(&s);
}

/* ---- a heap of numbers of shingles, the cheapest first, then by number ---- */

struct heap {
    uint64_t *at; /* cost, number */
    uint32_t count;
};

static void push(struct heap *h, uint64_t x)
{
    uint32_t i = h->count++;
    for (; i > 0 && h->at[(i - 1) / 2] > x; i = (i - 1) / 2)
        h->at[i] = h->at[(i - 1) / 2];
    h->at[i] = x;
}

static uint64_t pop(struct heap *h)
{
    uint64_t least = h->at[0], last = h->at[--h->count];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < h->count; i = child) {
        if (child + 1 < h->count && h->at[child + 1] < h->at[child])
            child++;
        if (h->at[child] >= last)
            break;
        h->at[i] = h->at[child];
    }
    h->at[i] = last;
    return least;
}

/* ---- the choice ---- */

enum { CHEAP = 64 };

/* For full containers: chooses the wanted number of shingles, the cheapest first. It sorts by
 * counting, because most costs are small and equal. False: too few costs are known, or some are too
 * large to be counted. */
static bool pick_cheap(const struct sp_contain_stage *c, const struct sp_contain_choice *choice,
                       uint32_t *ret_picks, uint32_t *ret_count)
{
    const uint32_t *costs = choice->costs;
    const bool *taken = choice->taken;
    uint32_t ends[CHEAP + 1] = {0}, chosen = 0, below = 0, cost = 0, all = choice->counted->count;
    uint32_t needed = sp_contain_needed(c, choice->bar, all);
    uint32_t wanted = needed <= all ? all - needed + 1 : 0;
    for (uint32_t i = 0; i < all; i++) {
        bool is_taken = taken && taken[i];
        chosen += is_taken;
        ends[is_taken || costs[i] > CHEAP ? CHEAP : costs[i]]++;
    }
    wanted = chosen < wanted ? wanted - chosen : 0;
    for (; cost < CHEAP && below < wanted; cost++) {
        uint32_t here = ends[cost];
        ends[cost] = below; /* now where the next one of this cost goes */
        below += here;
    }
    if (below < wanted)
        return false;
    for (uint32_t i = 0; i < all; i++)
        if (costs[i] < cost && !(taken && taken[i]) && ends[costs[i]] < wanted)
            ret_picks[ends[costs[i]]++] = i;
    *ret_count = wanted;
    return true;
}

/* For capped containers: whether those taken will do. */
static bool are_enough(const struct sp_contain_stage *c, const struct sp_contain_choice *choice)
{
    const bool *taken = choice->taken;
    uint32_t chosen = 0, m = 1;
    for (bool enough = taken != NULL; enough && m <= choice->counted->count; m++) {
        chosen += taken[m - 1];
        enough = m < SP_CONTAIN_LEAST || chosen + sp_contain_needed(c, choice->bar, m) > m;
        if (!enough)
            return false;
    }
    return taken != NULL;
}

bool sp_contain_pick(const struct sp_contain_stage *c, const struct sp_contain_choice *choice,
                     uint32_t *ret_picks, uint32_t *ret_count)
{
    const uint32_t *costs = choice->costs;
    const bool *taken = choice->taken;
    uint32_t all = choice->counted->count;
    uint32_t first = choice->kind == SP_CONTAIN_FULL ? all : SP_CONTAIN_LEAST;
    uint32_t chosen = 0, picked = 0;
    bool enough = true;
    *ret_count = 0;
    if (all < SP_CONTAIN_LEAST ||
        (choice->kind == SP_CONTAIN_FULL ? pick_cheap(c, choice, ret_picks, ret_count)
                                         : are_enough(c, choice)))
        return true;
    struct heap heap = {sp_alloc(all * sizeof(uint64_t)), 0};
    for (uint32_t m = 1; m <= all && enough; m++) {
        if (taken && taken[m - 1])
            chosen++;
        else if (costs[m - 1] != SP_CONTAIN_UNKNOWN)
            push(&heap, (uint64_t)costs[m - 1] << 32 | (m - 1));
        uint32_t needed = m < first ? m + 1 : sp_contain_needed(c, choice->bar, m);
        uint32_t wanted = needed <= m ? m - needed + 1 : 0;
        for (; chosen < wanted && heap.count > 0; chosen++)
            ret_picks[picked++] = (uint32_t)pop(&heap);
        enough = chosen >= wanted;
    }
    sp_free(heap.at);
    *ret_count = picked;
    return enough;
}
