/* Keeps the pages that wait for a better container under shingles that pick.c chooses, and finds
 * those of them for which a new page is a better one. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "contain/stage.h"

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
    struct sp_contain_choice choice = {counted, counted->item->share, kind, costs, taken};
    uint32_t count;
    if (!sp_contain_pick(c, &choice, ret_picks, &count)) {
        guess_costs(&c->seekers[kind], counted, costs);
        sp_contain_pick(c, &choice, ret_picks, &count);
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

void sp_contain_wait_by_costs(struct sp_contain_stage *c, const struct sp_contain_counted *counted)
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
        sp_contain_wait_by_costs(c, &counted);
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
