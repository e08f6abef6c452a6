/* Which shingles must a container have one of, and who waits under them.
 *
 * Of m shingles a container lacks at most m - needed(m). So of any m - needed(m) + 1 of them it has
 * at least one (the prefix filter of set joins, with the smaller page on the one side and an index
 * of all shingles of the larger one on the other). Any of them will do; the rarest have the
 * shortest lists. The higher the bar the fewer are needed: a page whose container has 98 of its 100
 * shingles waits under two.
 *
 * A capped container is judged by the range of hashes that it knows, a different one for each: the
 * first m counted shingles for some m. So the first m must hold m - needed(m) + 1 of the chosen for
 * each m from SP_CONTAIN_LEAST on. These numbers never fall as m grows, and grow by one at a time:
 * one pass chooses, each time, the cheapest of those passed. */
#include <stdlib.h>

#include "base/mem.h"
#include "contain/stage.h"

void sp_contain_costs(const struct sp_contain_stage *c, const struct sp_contain_counted *counted,
                      uint32_t *ret_costs)
{
    memset(ret_costs, 0, counted->count * sizeof *ret_costs);
    for (int kind = 0; kind < SP_CONTAIN_KINDS; kind++) {
        const struct sp_contain_index *x = &c->holders[kind];
        for (uint32_t i = 0; i < counted->count && x->pages; i++) {
            sp_contain_index_prefetch(x, counted->shingles, counted->count, i);
            struct sp_posting_list list = sp_contain_index_get(x, counted->shingles[i]);
            ret_costs[i] += list.count - sp_contain_index_left(x, counted->shingles[i], &list);
        }
    }
}

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

uint32_t sp_contain_pick(const struct sp_contain_stage *c, const struct sp_contain_counted *counted,
                         struct sp_contain_share bar, enum sp_contain_kind kind,
                         const uint32_t *costs, uint32_t *ret_picks)
{
    uint32_t first = kind == SP_CONTAIN_FULL ? counted->count : SP_CONTAIN_LEAST, picked = 0;
    if (counted->count < SP_CONTAIN_LEAST)
        return 0;
    struct heap heap = {sp_alloc(counted->count * sizeof(uint64_t)), 0};
    for (uint32_t m = 1; m <= counted->count; m++) {
        push(&heap, (uint64_t)costs[m - 1] << 32 | (m - 1));
        uint32_t needed = m < first ? m + 1 : sp_contain_needed(c, bar, m);
        while (needed <= m && picked < m - needed + 1)
            ret_picks[picked++] = (uint32_t)pop(&heap);
    }
    sp_free(heap.at);
    return picked;
}

/* ---- waiting ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool waits_under(const struct sp_contain_item *item, enum sp_contain_kind kind,
                        uint32_t shingle)
{
    const uint32_t *picks = item->picks + (kind == SP_CONTAIN_FULL ? 0 : item->pick_count[0]);
    return item->pick_count[kind] &&
           bsearch(&shingle, picks, item->pick_count[kind], sizeof *picks, by_number);
}

void sp_contain_wait(struct sp_contain_stage *c, const struct sp_contain_counted *counted,
                     const uint32_t *costs)
{
    struct sp_contain_item *item = counted->item;
    uint32_t total = 0;
    item->picks = sp_alloc((2ull * counted->count + 1) * sizeof *item->picks);
    for (int kind = 0; kind < SP_CONTAIN_KINDS; kind++) {
        uint32_t *picks = item->picks + total;
        uint32_t count =
            sp_contain_pick(c, counted, item->share, (enum sp_contain_kind)kind, costs, picks);
        if (count > 0)
            qsort(picks, count, sizeof *picks, by_number);
        for (uint32_t i = 0; i < count; i++) {
            picks[i] = counted->shingles[picks[i]];
            sp_contain_index_add(&c->seekers[kind], picks[i], item->slot);
        }
        item->pick_count[kind] = count;
        total += count;
    }
    item->picks = sp_realloc(item->picks, (total + 1) * sizeof *item->picks);
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
    sp_contain_costs(c, counted, costs);
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

void sp_contain_offer(struct sp_contain_stage *c, struct sp_contain_item *item,
                      const struct sp_signature *signature)
{
    struct sp_contain_list found = {0};
    struct sp_contain_index *x = &c->seekers[item->kind];
    item->stamp = ++c->stamp;
    for (uint32_t i = 0; i < signature->shingle_count; i++) {
        uint32_t shingle = signature->hashes[i];
        sp_contain_index_prefetch(x, signature->hashes, signature->shingle_count, i);
        struct sp_posting_list list = sp_contain_index_get(x, shingle);
        bool some_left = sp_contain_index_left(x, shingle, &list) > 0;
        c->stats.postings += list.count;
        for (uint32_t k = 0; k < list.count; k++) {
            struct sp_contain_item *other = c->slots.at[sp_contain_posting(&list, k)];
            if (some_left && (!other || !waits_under(other, item->kind, shingle)))
                continue;
            if (other->stamp != c->stamp && other->total < item->total)
                sp_contain_list_add(&found, other);
            other->stamp = c->stamp;
        }
    }
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
    for (uint32_t i = 0; i < items.count && c->err == SP_OK; i++) {
        struct sp_signature *s = sp_contain_signature(c, items.at[i]);
        if (s)
            sp_contain_item_enter(c, items.at[i], s);
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
