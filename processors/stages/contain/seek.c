/* Chooses shingles of which every container must have at least one, and keeps the pages that wait
 * under them.
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
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "contain/stage.h"

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

enum { CHEAP = 64 };

/* ---- a heap of numbers of shingles, the cheapest first, then by number */

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

/* For full containers: chooses the wanted number of shingles, the cheapest first. It sorts by
 * counting, because most costs are small and equal. False: too few costs are known, or some are too
 * large to be counted. */
static bool pick_cheap(const struct sp_contain_stage *c, const struct sp_contain_counted *counted,
                       struct sp_contain_share bar, const uint32_t *costs, const bool *taken,
                       uint32_t *ret_picks, uint32_t *ret_count)
{
    uint32_t ends[CHEAP + 1] = {0}, chosen = 0, below = 0, cost = 0;
    uint32_t needed = sp_contain_needed(c, bar, counted->count);
    uint32_t wanted = needed <= counted->count ? counted->count - needed + 1 : 0;
    for (uint32_t i = 0; i < counted->count; i++) {
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
    for (uint32_t i = 0; i < counted->count; i++)
        if (costs[i] < cost && !(taken && taken[i]) && ends[costs[i]] < wanted)
            ret_picks[ends[costs[i]]++] = i;
    *ret_count = wanted;
    return true;
}

/* For capped containers: whether those taken will do. */
static bool are_enough(const struct sp_contain_stage *c, const struct sp_contain_counted *counted,
                       struct sp_contain_share bar, const bool *taken)
{
    uint32_t chosen = 0, m = 1;
    for (bool enough = taken != NULL; enough && m <= counted->count; m++) {
        chosen += taken[m - 1];
        enough = m < SP_CONTAIN_LEAST || chosen + sp_contain_needed(c, bar, m) > m;
        if (!enough)
            return false;
    }
    return taken != NULL;
}

bool sp_contain_pick(const struct sp_contain_stage *c, const struct sp_contain_counted *counted,
                     struct sp_contain_share bar, enum sp_contain_kind kind, const uint32_t *costs,
                     const bool *taken, uint32_t *ret_picks, uint32_t *ret_count)
{
    uint32_t first = kind == SP_CONTAIN_FULL ? counted->count : SP_CONTAIN_LEAST;
    uint32_t chosen = 0, picked = 0;
    bool enough = true;
    *ret_count = 0;
    if (counted->count < SP_CONTAIN_LEAST ||
        (kind == SP_CONTAIN_FULL ? pick_cheap(c, counted, bar, costs, taken, ret_picks, ret_count)
                                 : are_enough(c, counted, bar, taken)))
        return true;
    struct heap heap = {sp_alloc(counted->count * sizeof(uint64_t)), 0};
    for (uint32_t m = 1; m <= counted->count && enough; m++) {
        if (taken && taken[m - 1])
            chosen++;
        else if (costs[m - 1] != SP_CONTAIN_UNKNOWN)
            push(&heap, (uint64_t)costs[m - 1] << 32 | (m - 1));
        uint32_t needed = m < first ? m + 1 : sp_contain_needed(c, bar, m);
        uint32_t wanted = needed <= m ? m - needed + 1 : 0;
        for (; chosen < wanted && heap.count > 0; chosen++)
            ret_picks[picked++] = (uint32_t)pop(&heap);
        enough = chosen >= wanted;
    }
    sp_free(heap.at);
    *ret_count = picked;
    return enough;
}

/* ---- waiting ---- */

static uint32_t level_0(const struct sp_contain_stage *c, enum sp_contain_kind kind)
{
    return c->holders[kind].level_parts[0];
}

static bool waits_under(const struct sp_contain_item *item, enum sp_contain_kind kind,
                        uint32_t shingle)
{
    if (item->pick_count[kind] == 0)
        return false;
    const uint32_t *picks = item->picks + (kind == SP_CONTAIN_FULL ? 0 : item->pick_count[0]);
    return bsearch(&shingle, picks, item->pick_count[kind], sizeof *picks, sp_by_u32);
}

/* Unknown costs rank after all known ones, ordered by the number of pages that wait under the
 * shingle already. So a page waits under as few of these shingles as possible, and many pages do
 * not wait under one shingle while there are others. The result of the search does not depend on
 * the choice. */
static void guess_costs(const struct sp_contain_index *seekers,
                        const struct sp_contain_counted *counted, uint32_t *costs)
{
    for (uint32_t i = 0; i < counted->count; i++) {
        sp_contain_index_prefetch(seekers, counted->shingles, counted->count, i);
        if (costs[i] == SP_CONTAIN_UNKNOWN)
            costs[i] =
                SP_CONTAIN_UNKNOWN / 2 + sp_contain_index_get(seekers, counted->shingles[i]).count;
    }
}

static uint32_t pick_to_wait(const struct sp_contain_stage *c,
                             const struct sp_contain_counted *counted, enum sp_contain_kind kind,
                             uint32_t *costs, const bool *taken, uint32_t *ret_picks)
{
    struct sp_contain_share bar = counted->item->share;
    uint32_t count;
    if (!sp_contain_pick(c, counted, bar, kind, costs, taken, ret_picks, &count)) {
        guess_costs(&c->seekers[kind], counted, costs);
        sp_contain_pick(c, counted, bar, kind, costs, taken, ret_picks, &count);
    }
    return count;
}

/* Numbers to shingles, which are also taken now; without sorting, which takes longer. */
static void in_order(const struct sp_contain_counted *counted, uint32_t *picks, uint32_t count,
                     bool *taken)
{
    bool *picked = sp_calloc(counted->count + 1, sizeof *picked);
    for (uint32_t i = 0; i < count; i++)
        picked[picks[i]] = taken[picks[i]] = true;
    for (uint32_t i = 0, at = 0; at < count; i++) {
        picks[at] = counted->shingles[i]; /* the next one's place, until one is picked */
        at += picked[i];
    }
    sp_free(picked);
}

void sp_contain_wait(struct sp_contain_stage *c, const struct sp_contain_counted *counted,
                     uint32_t *costs)
{
    struct sp_contain_item *item = counted->item;
    bool *taken = sp_calloc(counted->count + 1, sizeof *taken);
    uint32_t total = 0;
    item->picks = sp_alloc((counted->count + 1) * sizeof *item->picks);
    for (enum sp_contain_kind kind = item->kind; kind < SP_CONTAIN_KINDS; kind++) {
        uint32_t *picks = item->picks + total;
        uint32_t count = pick_to_wait(c, counted, kind, costs, taken, picks);
        in_order(counted, picks, count, taken);
        for (uint32_t i = 0; i < count; i++) {
            sp_contain_index_prefetch(&c->seekers[kind], picks, count, i);
            sp_contain_index_add(&c->seekers[kind], picks[i], item->slot);
            if (sp_contain_part(picks[i]) >= level_0(c, kind))
                sp_contain_hint(&c->seekers[kind], picks[i]);
        }
        item->pick_count[kind] = count;
        total += count;
    }
    item->picks = sp_realloc(item->picks, (total + 1) * sizeof *item->picks);
    sp_free(taken);
}

/* The pages that wait under a shingle, without repetition. */
struct waiting {
    struct sp_contain_stage *c;
    enum sp_contain_kind kind;
    uint32_t shingle;
};

static bool still_waits(void *arg, uint32_t slot)
{
    const struct waiting *w = arg;
    struct sp_contain_item *item = w->c->slots.at[slot];
    if (!item || item->stamp == w->c->stamp || !waits_under(item, w->kind, w->shingle))
        return false;
    item->stamp = w->c->stamp;
    return true;
}

void sp_contain_wait_no_more(struct sp_contain_stage *c, struct sp_contain_item *item)
{
    uint32_t *picks = item->picks, *pick = picks, counts[SP_CONTAIN_KINDS];
    memcpy(counts, item->pick_count, sizeof counts);
    memset(item->pick_count, 0, sizeof item->pick_count);
    item->picks = NULL;
    for (int kind = 0; kind < SP_CONTAIN_KINDS; kind++)
        for (uint32_t i = 0; i < counts[kind]; i++, pick++) {
            struct waiting w = {c, (enum sp_contain_kind)kind, *pick};
            c->stamp++;
            c->stats.moved +=
                sp_contain_index_leave(&c->seekers[kind], *pick, item->slot, 1, still_waits, &w);
        }
    sp_free(picks);
}

static void wait_by_costs(struct sp_contain_stage *c, const struct sp_contain_counted *counted)
{
    uint32_t *costs = sp_alloc((counted->count + 1) * sizeof *costs);
    sp_contain_costs(c, counted, counted->item->kind, 0, costs);
    sp_contain_wait(c, counted, costs);
    sp_free(costs);
}

static void improve(struct sp_contain_stage *c, struct sp_contain_item *item,
                    struct sp_contain_item *container)
{
    struct sp_contain_counted counted;
    struct sp_contain_share share;
    if (!sp_contain_count(c, item, &counted))
        return;
    if (sp_contain_exceeds(c, &counted, container, item->share, &share)) {
        sp_contain_wait_no_more(c, item);
        sp_contain_detach(c, item);
        sp_contain_attach(c, item, container, share);
        wait_by_costs(c, &counted);
        sp_contain_item_changed(c, item);
        sp_contain_tell(c, item);
    }
    sp_contain_counted_done(&counted);
}

/* False: no other page waits under the shingle of the page that was entered last. In level 0 all
 * pages that wait are among the holders. */
static bool may_wait(const struct sp_contain_stage *c, enum sp_contain_kind kind, uint32_t shingle,
                     uint32_t number)
{
    if (sp_contain_part(shingle) >= level_0(c, kind))
        return sp_contain_hinted(&c->seekers[kind], shingle);
    return c->lengths[number] > 1;
}

/* Under which some page may wait, up to the last part where any does. */
static struct sp_contain_selection select_waited(const struct sp_contain_stage *c,
                                                 enum sp_contain_kind kind,
                                                 const struct sp_signature *signature)
{
    uint32_t end = SP_CONTAIN_PARTS, count = 0;
    while (end > 0 && c->seekers[kind].entries[end - 1] == 0)
        end--;
    struct sp_contain_selection s =
        sp_contain_select(sp_signature_shingles(signature), signature->shingle_count, 0, end);
    for (uint32_t i = 0; i < s.count; i++)
        if (may_wait(c, kind, s.shingles[i], s.numbers[i]))
            s.shingles[count++] = s.shingles[i];
    s.count = count;
    return s;
}

/* Appends smaller pages that wait for one like this. */
static void find_waiting(struct sp_contain_stage *c, const struct sp_contain_item *item,
                         const struct sp_signature *signature, enum sp_contain_kind kind,
                         struct sp_contain_list *ret_found)
{
    struct sp_contain_index *x = &c->seekers[kind];
    struct sp_contain_selection s = select_waited(c, kind, signature);
    for (uint32_t i = 0; i < s.count; i++) {
        uint32_t shingle = s.shingles[i];
        sp_contain_index_prefetch(x, s.shingles, s.count, i);
        struct sp_posting_list list = sp_contain_index_get(x, shingle);
        bool some_left = sp_contain_index_left(x, shingle, &list) > 0;
        c->stats.lists++;
        c->stats.postings += list.count;
        for (uint32_t k = 0; k < list.count; k++) {
            struct sp_contain_item *other = c->slots.at[sp_contain_posting(&list, k)];
            if (some_left && (!other || !waits_under(other, kind, shingle)))
                continue;
            if (other->stamp != c->stamp && other->total < item->total)
                sp_contain_list_add(ret_found, other);
            other->stamp = c->stamp;
        }
    }
    sp_contain_selection_done(&s);
}

void sp_contain_offer(struct sp_contain_stage *c, struct sp_contain_item *item,
                      const struct sp_signature *signature)
{
    struct sp_contain_list found = {0};
    item->stamp = ++c->stamp;
    find_waiting(c, item, signature, SP_CONTAIN_FULL, &found);
    if (item->kind == SP_CONTAIN_CAPPED)
        find_waiting(c, item, signature, SP_CONTAIN_CAPPED, &found);
    sp_contain_list_sort(&found);
    for (uint32_t i = 0; i < found.count && c->err == SP_OK; i++) {
        improve(c, found.at[i], item);
        sp_contents_trim(c->contents);
    }
    sp_free(found.at);
}

/* ---- all of it ---- */

void sp_contain_reindex(struct sp_contain_stage *c)
{
    struct sp_contain_list items = {0}, slots = c->slots;
    struct sp_contain_counted counted;
    for (uint32_t i = 0; i < slots.count; i++)
        if (slots.at[i])
            sp_contain_list_add(&items, slots.at[i]);
    sp_free(slots.at);
    c->slots = (struct sp_contain_list){0};
    for (int kind = 0; kind < SP_CONTAIN_KINDS; kind++) {
        sp_contain_index_done(&c->holders[kind]);
        sp_contain_index_done(&c->seekers[kind]);
    }
    sp_contain_levels_init(c);
    for (uint32_t i = 0; i < items.count && c->err == SP_OK; i++) {
        struct sp_signature *s = sp_contain_signature(c, items.at[i]);
        if (s)
            sp_contain_item_enter(c, items.at[i], s);
        for (enum sp_contain_kind kind = 0; s && kind <= items.at[i]->kind; kind++)
            for (uint32_t level = 1; level < c->holders[kind].levels; level++)
                sp_contain_level_fill(c, kind, level); /* the signature is at hand */
        sp_signature_unref(s);
        sp_contents_trim(c->contents);
    }
    for (uint32_t i = 0; i < items.count && c->err == SP_OK; i++) {
        sp_free(items.at[i]->picks);
        items.at[i]->picks = NULL;
        if (sp_contain_count(c, items.at[i], &counted))
            wait_by_costs(c, &counted);
        sp_contain_counted_done(&counted);
        sp_contents_trim(c->contents);
    }
    sp_free(items.at);
}
