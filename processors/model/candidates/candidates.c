/* The index of candidates; see candidates.h for the argument, rules.c for the rules. */
#include "candidates/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "candidates/postings.h"

/* Postings in one sp_postings_add_many: about 128 for each of the 4,096 shards. */
enum { WAITING_MAX = 1 << 19 };

/* Slots that sp_candidates_latest looks at for each that it may return. */
enum { TRIED_EACH = 16 };

struct sp_candidates {
    struct sp_candidate_rule rule;
    struct sp_postings *postings;
    uint8_t *seen; /* how often the current probe has met each slot */
    uint32_t seen_cap;
    uint32_t *met;
    size_t met_cap;
    struct sp_posting *waiting; /* NULL, or room for twice WAITING_MAX */
    size_t waiting_count;
    uint64_t walked; /* postings, by all probes */
};

struct sp_candidates *sp_candidates_new(const struct sp_candidate_rule *rule)
{
    struct sp_candidates *c = sp_calloc(1, sizeof *c);
    c->rule = *rule;
    c->postings = sp_postings_new();
    return c;
}

void sp_candidates_free(struct sp_candidates *c)
{
    if (!c)
        return;
    sp_postings_free(c->postings);
    sp_free(c->seen);
    sp_free(c->met);
    sp_free(c->waiting);
    sp_free(c);
}

static void make_room(struct sp_candidates *c, uint32_t slot)
{
    if (slot < c->seen_cap)
        return;
    uint32_t cap = c->seen_cap ? c->seen_cap + c->seen_cap / 4 : 1024;
    if (cap <= slot)
        cap = slot + 1;
    c->seen = sp_realloc(c->seen, cap);
    memset(c->seen + c->seen_cap, 0, cap - c->seen_cap);
    c->seen_cap = cap;
}

static void prefetch(const struct sp_candidates *c, const uint32_t *keys, uint32_t count)
{
    uint32_t n = sp_min_u32(count, c->rule.sketch);
    for (uint32_t i = 0; i < n; i++)
        sp_postings_prefetch(c->postings, keys[i]);
}

void sp_candidates_add(struct sp_candidates *c, uint32_t slot, const uint32_t *keys, uint32_t count)
{
    make_room(c, slot);
    prefetch(c, keys, count);
    uint32_t n = sp_min_u32(count, c->rule.sketch);
    for (uint32_t i = 0; i < n; i++)
        sp_postings_add(c->postings, keys[i], slot);
}

static void add_waiting(struct sp_candidates *c)
{
    sp_postings_add_many(c->postings, c->waiting, c->waiting_count, c->waiting + WAITING_MAX);
    c->waiting_count = 0;
}

void sp_candidates_add_later(struct sp_candidates *c, uint32_t slot, const uint32_t *keys,
                             uint32_t count)
{
    make_room(c, slot);
    uint32_t n = sp_min_u32(count, c->rule.sketch);
    if (!c->waiting)
        c->waiting = sp_alloc((size_t)2 * WAITING_MAX * sizeof *c->waiting);
    if (c->waiting_count + n > WAITING_MAX)
        add_waiting(c);
    for (uint32_t i = 0; i < n; i++)
        c->waiting[c->waiting_count++] = (struct sp_posting){keys[i], slot};
}

void sp_candidates_settle(struct sp_candidates *c)
{
    if (!c->waiting)
        return;
    add_waiting(c);
    sp_postings_trim(c->postings);
    sp_free(c->waiting);
    c->waiting = NULL;
}

static int by_length(const void *a, const void *b)
{
    uint32_t x = ((const struct sp_posting_list *)a)->count;
    uint32_t y = ((const struct sp_posting_list *)b)->count;
    return x < y ? -1 : x > y;
}

/* Counts the list's slots; returns the number of slots met so far. */
static size_t walk(struct sp_candidates *c, struct sp_posting_list list, size_t met)
{
    sp_grow(&c->met, &c->met_cap, met + list.count);
    c->walked += list.count;
    const uint32_t *slots = list.slots ? list.slots : &list.only;
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t slot = slots[i];
        if (c->seen[slot] == 0)
            c->met[met++] = slot;
        c->seen[slot] += c->seen[slot] < UINT8_MAX;
    }
    return met;
}

/* The lists of the keys that have one; returns their number. */
static uint32_t lists_of(struct sp_candidates *c, const uint32_t *keys, uint32_t count,
                         struct sp_posting_list ret_lists[SP_SKETCH_MAX])
{
    uint32_t n = sp_min_u32(count, c->rule.sketch), used = 0;
    prefetch(c, keys, count);
    for (uint32_t i = 0; i < n; i++) {
        ret_lists[used] = sp_postings_get(c->postings, keys[i]);
        used += ret_lists[used].count > 0;
    }
    return used;
}

size_t sp_candidates_find(struct sp_candidates *c, const uint32_t *keys, uint32_t count,
                          uint32_t total, const uint32_t **ret_slots)
{
    struct sp_posting_list lists[SP_SKETCH_MAX];
    uint32_t used = lists_of(c, keys, count, lists);
    *ret_slots = c->met;
    uint32_t needed = sp_candidate_needed(&c->rule, total);
    if (used < needed)
        return 0;
    qsort(lists, used, sizeof *lists, by_length);
    size_t met = 0;
    uint32_t walked = 0;
    /* Walking one more list than necessary costs its length but removes false candidates. */
    while (walked < used && (walked < used - needed + 1 || lists[walked].count <= 4 * met + 64))
        met = walk(c, lists[walked++], met);
    uint32_t unknown = used - walked;
    size_t kept = 0;
    for (size_t i = 0; i < met; i++) {
        uint32_t slot = c->met[i];
        if (c->seen[slot] + unknown >= needed)
            c->met[kept++] = slot;
        c->seen[slot] = 0;
    }
    qsort(c->met, kept, sizeof *c->met, sp_by_u32);
    *ret_slots = c->met;
    return kept;
}

static uint32_t last_slot(const struct sp_posting_list *list)
{
    return list->slots ? list->slots[list->count - 1] : list->only;
}

/* Takes the largest slot from the ends of the lists; returns how many lists had it. */
static uint32_t take_last(struct sp_posting_list *lists, uint32_t *used, uint32_t *ret_slot)
{
    uint32_t last = 0, had = 0;
    for (uint32_t i = 0; i < *used; i++)
        last = last_slot(&lists[i]) > last ? last_slot(&lists[i]) : last;
    for (uint32_t i = 0; i < *used;) {
        bool has = last_slot(&lists[i]) == last;
        had += has;
        lists[i].count -= has;
        if (lists[i].count > 0)
            i++;
        else
            lists[i] = lists[--*used];
    }
    *ret_slot = last;
    return had;
}

size_t sp_candidates_latest(struct sp_candidates *c, const uint32_t *keys, uint32_t count,
                            uint32_t total, uint32_t most, const uint32_t **ret_slots)
{
    struct sp_posting_list lists[SP_SKETCH_MAX];
    uint32_t used = lists_of(c, keys, count, lists), slot;
    uint32_t needed = sp_candidate_needed(&c->rule, total);
    size_t found = 0;
    sp_grow(&c->met, &c->met_cap, most);
    for (uint32_t tries = TRIED_EACH * most; tries > 0 && found < most && used >= needed; tries--) {
        uint32_t shared = take_last(lists, &used, &slot);
        c->walked += shared;
        if (shared >= needed)
            c->met[found++] = slot;
    }
    *ret_slots = c->met;
    return found;
}

uint64_t sp_candidates_walked(const struct sp_candidates *c)
{
    return c->walked;
}

size_t sp_candidates_bytes(const struct sp_candidates *c)
{
    return sizeof *c + sp_postings_bytes(c->postings) + c->seen_cap + c->met_cap * sizeof *c->met;
}
