/* Keeps track of reliance between rows.
 *
 * A row that touched a star relies on the member to which it was linked. Each slot has a list of
 * the rows that rely on it. No message says when such a row is deleted, or no longer relies on the
 * slot; an outdated entry costs one probe when the member leaves, or nothing if the row is deleted.
 * So that such entries do not pile up, a list that has doubled is cleaned: deleted rows of this
 * cell are dropped, and rows of other cells, whose state is unknown, are recalled (recalls.c). Each
 * new row pays for O(1) of that.
 *
 * A recalled row probes the whole cell, where it may rely on many slots. So first a sample of the
 * rows of other cells is recalled, and the rest only if fewer than half of it come back. Otherwise
 * n rows of one cell that each rely on n of another one would probe n times each.
 *
 * Each entry is stored with the length at which the list is cleaned next. A restart would otherwise
 * begin with short lists, and rows that were just recalled would be recalled again; where restarts
 * are frequent, there was no end to that.
 *
 * A row that probes again enters the list of whatever it touches again. Such repeats are dropped
 * and do not count. Otherwise two lists of the same rows would recall these in turn endlessly. */
#include <stdlib.h>

#include "base/mem.h"
#include "compare/cell.h"

enum { CLEANED_AT = 16, SAMPLE = 8 };

struct relier {
    uint32_t home;
    uint32_t content[4]; /* struct sp_id, aligned as the rest */
};

/* A slot has the number of its list plus one, because few slots have one. */
struct sp_relied {
    struct relier *items;
    uint32_t count; /* of a free list: the next free one */
    uint32_t cap;
    uint32_t look_at;      /* number of items at which repeats are dropped */
    uint32_t clean_at;     /* rows */
    struct relier *sample; /* rows that were recalled to see how many there are still; NULL: none */
    uint32_t sampled;
};

static struct relier relier_of(uint32_t home, struct sp_id content)
{
    struct relier r = {home, {0}};
    memcpy(r.content, &content, sizeof content);
    return r;
}

static struct sp_id content_of(const struct relier *r)
{
    struct sp_id id;
    memcpy(&id, r->content, sizeof id);
    return id;
}

static int by_row(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct relier));
}

static bool is_here(const struct sp_compare_stage *c, const struct relier *r)
{
    const struct sp_cell_actor *cell = c->cells[sp_cell_place(r->home)];
    return cell && cell->number == r->home && sp_cell_actor_find(c, cell, content_of(r)) != NO_SLOT;
}

static void drop_repeats(struct sp_relied *list)
{
    uint32_t kept = 0;
    qsort(list->items, list->count, sizeof *list->items, by_row);
    for (uint32_t i = 0; i < list->count; i++)
        if (i == 0 || by_row(&list->items[i], &list->items[kept - 1]) != 0)
            list->items[kept++] = list->items[i];
    list->count = kept;
}

static uint32_t twice(uint32_t rows)
{
    return rows > CLEANED_AT / 2 ? 2 * rows : CLEANED_AT;
}

static bool is_foreign(const struct sp_compare_stage *c, uint32_t slot, const struct relier *r)
{
    return r->home != c->slots[slot].cell;
}

static void forget(struct sp_compare_stage *c, uint32_t slot, const struct relier *r)
{
    sp_relied_note(c, false, slot, r->home, content_of(r), 0);
}

/* Has the row probe the star of that mark (0: all), of which another cell knows nothing. */
static void recall(struct sp_compare_stage *c, uint32_t slot, const struct relier *r, uint32_t mark)
{
    sp_recalls_add(c, (struct sp_recall){c->slots[slot].cell, r->home, content_of(r),
                                         is_foreign(c, slot, r) ? 0 : mark});
}

static void drop_deleted(struct sp_compare_stage *c, uint32_t slot, struct sp_relied *list)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct relier r = list->items[i];
        if (is_foreign(c, slot, &r) || is_here(c, &r))
            list->items[kept++] = r;
        else
            forget(c, slot, &r);
    }
    list->count = kept;
}

static uint32_t count_foreign(const struct sp_compare_stage *c, uint32_t slot,
                              const struct sp_relied *list)
{
    uint32_t foreign = 0;
    for (uint32_t i = 0; i < list->count; i++)
        foreign += is_foreign(c, slot, &list->items[i]);
    return foreign;
}

/* Recalls so many of the `foreign` rows of other cells, at equal distances. They enter the list
 * again if they still rely on the slot. ret_recalled: NULL, or an array of `wanted`. */
static void recall_some(struct sp_compare_stage *c, uint32_t slot, struct sp_relied *list,
                        uint32_t foreign, uint32_t wanted, struct relier *ret_recalled)
{
    uint32_t passed = 0, kept = 0, recalled = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct relier r = list->items[i];
        if (!is_foreign(c, slot, &r) || (uint64_t)++passed * wanted / foreign == recalled) {
            list->items[kept++] = r;
            continue;
        }
        forget(c, slot, &r);
        recall(c, slot, &r, 0);
        if (ret_recalled)
            ret_recalled[recalled] = r;
        recalled++;
    }
    list->count = kept;
}

/* The list must have no repeats, and is sorted. */
static bool has_come_back(const struct sp_relied *list)
{
    uint32_t back = 0;
    for (uint32_t i = 0; i < list->sampled; i++)
        back += bsearch(&list->sample[i], list->items, list->count, sizeof *list->items, by_row) !=
                NULL;
    return 2 * back >= list->sampled;
}

static void recall_sample(struct sp_compare_stage *c, uint32_t slot, struct sp_relied *list,
                          uint32_t foreign)
{
    list->sampled = foreign < SAMPLE ? foreign : SAMPLE;
    list->sample = sp_alloc(list->sampled * sizeof *list->sample);
    recall_some(c, slot, list, foreign, list->sampled, list->sample);
}

static void forget_sample(struct sp_relied *list)
{
    sp_free(list->sample);
    list->sample = NULL;
    list->sampled = 0;
}

/* The list must have no repeats, and is sorted. The rows recalled may all come back, which must not
 * trigger another round. */
static void clean(struct sp_compare_stage *c, uint32_t slot, struct sp_relied *list)
{
    bool sampled = list->sampled > 0, gone = sampled && !has_come_back(list);
    forget_sample(list);
    drop_deleted(c, slot, list);
    uint32_t rows = list->count, foreign = count_foreign(c, slot, list);
    if (foreign > 0 && gone)
        recall_some(c, slot, list, foreign, foreign, NULL);
    else if (foreign > 0 && !sampled)
        recall_sample(c, slot, list, foreign);
    list->clean_at = list->look_at = list->sampled ? rows + rows / 4 : twice(rows);
}

static uint32_t list_new(struct sp_compare_stage *c)
{
    uint32_t list = c->free_relied;
    if (list) {
        c->free_relied = c->relied[list - 1].count;
    } else {
        sp_grow(&c->relied, &c->relied_cap, c->relied_count + 1);
        list = ++c->relied_count;
    }
    c->relied[list - 1] = (struct sp_relied){.clean_at = CLEANED_AT, .look_at = CLEANED_AT};
    return list;
}

static struct sp_relied *list_of(const struct sp_compare_stage *c, uint32_t slot)
{
    uint32_t list = c->slots[slot].relied;
    return list ? &c->relied[list - 1] : NULL;
}

void sp_relied_put(struct sp_compare_stage *c, uint32_t slot, uint32_t home, struct sp_id content,
                   uint32_t clean_at)
{
    if (!c->slots[slot].relied)
        c->slots[slot].relied = list_new(c);
    struct sp_relied *list = list_of(c, slot);
    sp_grow(&list->items, &list->cap, list->count + 1);
    list->items[list->count++] = relier_of(home, content);
    if (clean_at > list->clean_at)
        list->clean_at = list->look_at = clean_at;
}

void sp_relied_add(struct sp_compare_stage *c, uint32_t slot, uint32_t home, struct sp_id content)
{
    sp_relied_put(c, slot, home, content, 0);
    struct sp_relied *list = list_of(c, slot);
    sp_relied_note(c, true, slot, home, content, list->clean_at);
    if (list->count < list->look_at)
        return;
    drop_repeats(list);
    if (list->count >= list->clean_at)
        clean(c, slot, list);
    else
        list->look_at = twice(list->count);
}

/* Frees the list. If `recalls`, recalls its rows, to probe the star of that mark (0: all). */
static void end(struct sp_compare_stage *c, uint32_t slot, bool recalls, uint32_t mark)
{
    struct sp_relied *list = list_of(c, slot);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct relier *r = &list->items[i];
        forget(c, slot, r);
        if (recalls)
            recall(c, slot, r, mark);
    }
    sp_free(list->items);
    sp_free(list->sample);
    *list = (struct sp_relied){.count = c->free_relied};
    c->free_relied = c->slots[slot].relied;
    c->slots[slot].relied = 0;
}

void sp_relied_end(struct sp_compare_stage *c, uint32_t slot, uint32_t mark)
{
    if (list_of(c, slot))
        end(c, slot, true, mark);
}

void sp_relied_delete(struct sp_compare_stage *c, uint32_t slot)
{
    if (!list_of(c, slot))
        return;
    /* Kids of a headless star have moved to the star of its heir, which is not reported. */
    bool headless = sp_stars_ghost(c->stars, slot) != NO_SLOT;
    bool recalls = headless || sp_stars_members(c->stars, slot) > 1;
    end(c, slot, recalls, recalls ? sp_stars_mark(c->stars, slot) : 0);
}

void sp_relied_free(struct sp_compare_stage *c)
{
    for (uint32_t i = 0; i < c->relied_count; i++) {
        sp_free(c->relied[i].items);
        sp_free(c->relied[i].sample);
    }
    sp_free(c->relied);
}
