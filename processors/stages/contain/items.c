/* Pages in memory. See stage.h. Slots are numbered in the order of puts and never used twice, so a
 * posting list is in the order of puts, also after pages have left and after the stage was made
 * again from its rows. Removals keep the order. Slots of pages that have left may stay in a long
 * list; they are skipped and not counted. */
#include <stdlib.h>

#include "base/mem.h"
#include "contain/stage.h"
#include "similarity/intersect.h"
#include "similarity/similarity.h"

/* Tolerance of the threshold, as a share of the shingles: exactly nine tenths must reach 0.9, which
 * has no exact binary form. */
static const double slack = 1e-9;

enum { LONG_LIST = 16 };

/* Of a long list. */
struct left {
    struct sp_id shingle; /* of the map: first */
    uint32_t count;
};

static struct sp_id shingle_id(uint32_t shingle)
{
    return (struct sp_id){.lo = sp_mix64(shingle), .hi = shingle};
}

bool sp_contain_note(struct sp_contain_stage *c, enum sp_err err)
{
    if (c->err == SP_OK)
        c->err = err;
    return c->err == SP_OK;
}

/* ---- what counts ---- */

struct sp_signature *sp_contain_signature(struct sp_contain_stage *c,
                                          const struct sp_contain_item *item)
{
    struct sp_signature *s = NULL;
    if (!sp_contain_note(c, sp_contents_get(c->contents, item->content, &s)))
        return NULL;
    return sp_signature_ref(s);
}

static uint32_t without(const uint32_t *shingles, uint32_t count,
                        const struct sp_contain_host *host, uint32_t *ret_shingles)
{
    uint32_t kept = 0, at = 0;
    for (uint32_t i = 0; i < count; i++) {
        while (at < host->boilerplate_count && host->boilerplate[at] < shingles[i])
            at++;
        if (at == host->boilerplate_count || host->boilerplate[at] != shingles[i])
            ret_shingles[kept++] = shingles[i];
    }
    return kept;
}

bool sp_contain_count(struct sp_contain_stage *c, struct sp_contain_item *item,
                      struct sp_contain_counted *ret_counted)
{
    struct sp_signature *s = sp_contain_signature(c, item);
    *ret_counted = (struct sp_contain_counted){.item = item, .signature = s};
    if (!s)
        return false;
    ret_counted->shingles = sp_signature_shingles(s);
    ret_counted->count = s->shingle_count;
    if (item->host->boilerplate_count) {
        ret_counted->room = sp_alloc((s->shingle_count + 1) * sizeof *ret_counted->room);
        ret_counted->count =
            without(ret_counted->shingles, ret_counted->count, item->host, ret_counted->room);
        ret_counted->shingles = ret_counted->room;
    }
    return true;
}

void sp_contain_counted_done(struct sp_contain_counted *counted)
{
    sp_signature_unref(counted->signature);
    sp_free(counted->room);
    *counted = (struct sp_contain_counted){0};
}

uint32_t sp_contain_needed(const struct sp_contain_stage *c, struct sp_contain_share bar,
                           uint32_t of)
{
    if (bar.of)
        return (uint32_t)((uint64_t)bar.hits * of / bar.of) + 1;
    double least = (c->options.threshold - slack) * of;
    return (uint32_t)least + (least > (uint32_t)least); /* a third of the time of ceil */
}

bool sp_contain_exceeds(struct sp_contain_stage *c, const struct sp_contain_counted *a,
                        const struct sp_contain_item *b, struct sp_contain_share bar,
                        struct sp_contain_share *ret_share)
{
    if (b->total <= a->item->total)
        return false;
    struct sp_signature *s = sp_contain_signature(c, b);
    if (!s || s->params != a->signature->params) {
        sp_signature_unref(s);
        return false;
    }
    uint32_t of = (uint32_t)sp_count_up_to(a->shingles, a->count, sp_known_up_to(s));
    uint32_t need = sp_contain_needed(c, bar, of), hits = 0;
    if (of >= SP_CONTAIN_LEAST && need <= of) {
        c->stats.candidates++;
        hits = (uint32_t)sp_intersect(a->shingles, of, s->hashes, s->shingle_count, need);
    }
    sp_signature_unref(s);
    *ret_share = (struct sp_contain_share){hits, of};
    return hits && hits >= need;
}

/* ---- items ---- */

struct sp_contain_item *sp_contain_item_new(struct sp_contain_stage *c, struct sp_id page,
                                            const char *url, const struct sp_signature *signature,
                                            uint64_t order)
{
    struct sp_contain_item *item = sp_calloc(1, sizeof *item);
    item->page = page;
    item->content = signature->content_hash;
    item->url = sp_strdup(url);
    item->order = order;
    item->total = signature->shingle_total;
    item->kind =
        signature->shingle_count < signature->shingle_total ? SP_CONTAIN_CAPPED : SP_CONTAIN_FULL;
    sp_map_add(&c->items, item);
    c->stats.pages++;
    return item;
}

void sp_contain_item_free(struct sp_contain_item *item)
{
    if (!item)
        return;
    sp_free(item->url);
    sp_free(item->picks);
    sp_free(item);
}

void sp_contain_item_changed(struct sp_contain_stage *c, struct sp_contain_item *item)
{
    if (!item->changed)
        sp_contain_keys_add(&c->changed_items, item->page);
    item->changed = true;
}

void sp_contain_keys_add(struct sp_contain_keys *keys, struct sp_id id)
{
    sp_grow(&keys->at, &keys->cap, keys->count + 1);
    keys->at[keys->count++] = id;
}

void sp_contain_attach(struct sp_contain_stage *c, struct sp_contain_item *item,
                       struct sp_contain_item *best, struct sp_contain_share share)
{
    item->best = best;
    item->share = share;
    item->beside_prev = NULL;
    item->beside_next = best->contents;
    if (best->contents)
        best->contents->beside_prev = item;
    best->contents = item;
    c->stats.contained++;
}

void sp_contain_detach(struct sp_contain_stage *c, struct sp_contain_item *item)
{
    if (!item->best)
        return;
    if (item->beside_prev)
        item->beside_prev->beside_next = item->beside_next;
    else
        item->best->contents = item->beside_next;
    if (item->beside_next)
        item->beside_next->beside_prev = item->beside_prev;
    item->best = item->beside_prev = item->beside_next = NULL;
    item->share = (struct sp_contain_share){0, 0};
    c->stats.contained--;
}

void sp_contain_tell(struct sp_contain_stage *c, const struct sp_contain_item *item)
{
    float containment = item->best ? (float)((double)item->share.hits / (double)item->share.of) : 0;
    c->stats.changes++;
    c->say(c->say_arg, item->page, item->best ? item->best->url : NULL, containment);
}

/* ---- lists and indexes ---- */

void sp_contain_list_add(struct sp_contain_list *list, struct sp_contain_item *item)
{
    sp_grow(&list->at, &list->cap, list->count + 1);
    list->at[list->count++] = item;
}

static int by_slot(const void *a, const void *b)
{
    const struct sp_contain_item *x = *(struct sp_contain_item *const *)a;
    const struct sp_contain_item *y = *(struct sp_contain_item *const *)b;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

void sp_contain_list_sort(struct sp_contain_list *list)
{
    if (list->count > 1)
        qsort(list->at, list->count, sizeof(struct sp_contain_item *), by_slot);
}

struct sp_posting_list sp_contain_index_get(const struct sp_contain_index *x, uint32_t shingle)
{
    return x->postings ? sp_postings_get(x->postings, shingle)
                       : (struct sp_posting_list){NULL, 0, 0};
}

void sp_contain_hint(struct sp_contain_index *x, uint32_t shingle)
{
    uint32_t bit = (uint32_t)sp_mix64(shingle) % SP_CONTAIN_HINTS;
    x->hints[bit / 64] |= 1ull << (bit % 64);
}

bool sp_contain_hinted(const struct sp_contain_index *x, uint32_t shingle)
{
    uint32_t bit = (uint32_t)sp_mix64(shingle) % SP_CONTAIN_HINTS;
    return x->hints[bit / 64] >> (bit % 64) & 1;
}

uint32_t sp_contain_index_left(const struct sp_contain_index *x, uint32_t shingle,
                               const struct sp_posting_list *list)
{
    const struct left *left = list->count >= LONG_LIST && x->left.count
                                  ? sp_map_get(&x->left, shingle_id(shingle))
                                  : NULL;
    return left ? left->count : 0;
}

void sp_contain_index_prefetch(const struct sp_contain_index *x, const uint32_t *shingles,
                               uint32_t count, uint32_t at)
{
    if (x->postings && count - at > 2 * SP_CONTAIN_AHEAD)
        sp_postings_prefetch_shard(x->postings, shingles[at + 2 * SP_CONTAIN_AHEAD]);
    if (x->postings && count - at > SP_CONTAIN_AHEAD)
        sp_postings_prefetch(x->postings, shingles[at + SP_CONTAIN_AHEAD]);
}

uint32_t sp_contain_index_add(struct sp_contain_index *x, uint32_t shingle, uint32_t slot)
{
    if (!x->postings)
        x->postings = sp_postings_new();
    x->entries[sp_contain_part(shingle)]++;
    return sp_postings_add(x->postings, shingle, slot);
}

uint32_t sp_contain_index_leave(struct sp_contain_index *x, uint32_t shingle, uint32_t slot,
                                uint32_t times, bool (*stays)(void *arg, uint32_t slot), void *arg)
{
    struct sp_postings *table = x->postings;
    uint32_t length = table ? sp_postings_get(table, shingle).count : 0;
    x->entries[sp_contain_part(shingle)] -= times;
    if (length < LONG_LIST) {
        for (uint32_t i = 0; i < times && length > 0; i++)
            sp_postings_remove(table, shingle, slot);
        return length;
    }
    struct left *left = sp_map_get(&x->left, shingle_id(shingle));
    if (!left) {
        left = sp_alloc(sizeof *left);
        *left = (struct left){shingle_id(shingle), 0};
        sp_map_add(&x->left, left);
    }
    left->count += times;
    if (left->count < length / 2)
        return times;
    sp_postings_filter(table, shingle, stays, arg);
    sp_free(sp_map_remove(&x->left, left->shingle));
    return length;
}

void sp_contain_index_done(struct sp_contain_index *x)
{
    sp_postings_free(x->postings);
    sp_map_free_objects(&x->left);
    *x = (struct sp_contain_index){0};
}
