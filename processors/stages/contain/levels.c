/* Which shingles of which pages are in the indexes of holders.
 *
 * Of a page's n shingles a container lacks at most n - needed(n). So if a fixed share of all hashes
 * has more than n - needed(n) of the page's shingles, the container has at least one of these, and
 * an index of that share is enough. The hashes are divided into parts by their last bits. Level 0
 * is an index of some parts: with a threshold of 0.9 a sixth of them, while a tenth of the page's
 * shingles is needed. All pages are entered into level 0 as soon as they come.
 *
 * If level 0 has too few of a page's shingles, or only shingles with long lists, the search uses
 * the next level, which has an eighth more parts, and so on up to the last one, which has all. A
 * level above 0 is filled only when a search needs it, from the signatures of the pages that came
 * since it was last filled. Each page is entered there once, so at most all of its shingles are
 * entered, as without levels; if pages have nothing in common, only those of level 0 are. So that
 * no search waits for long, a level is never behind by more than BEHIND_MAX pages. */
#include <math.h>

#include "base/mem.h"
#include "contain/stage.h"

enum { BEHIND_MAX = 1 << 17, PARTS_LEAST = SP_CONTAIN_PARTS / 8 };

void sp_contain_levels_init(struct sp_contain_stage *c)
{
    /* One and a half times what is needed, and one more, because the share varies from page to
     * page. Twice that for capped pages: these need their share of the first 16 shingles, too. */
    uint32_t parts = (uint32_t)ceil(1.5 * (1 - c->options.threshold) * SP_CONTAIN_PARTS) + 1;
    if (parts < PARTS_LEAST)
        parts = PARTS_LEAST;
    for (int kind = 0; kind < SP_CONTAIN_KINDS; kind++, parts *= 2) {
        struct sp_contain_index *x = &c->holders[kind];
        x->levels = 0;
        for (uint32_t p = parts; p + 1 < SP_CONTAIN_PARTS; p += (p + 7) / 8)
            x->level_parts[x->levels++] = p;
        x->level_parts[x->levels++] = SP_CONTAIN_PARTS;
    }
}

struct sp_contain_selection sp_contain_select(const uint32_t *shingles, uint32_t count,
                                              uint32_t first, uint32_t end)
{
    struct sp_contain_selection s = {sp_alloc((count + 1) * sizeof(uint32_t)),
                                     sp_alloc((count + 1) * sizeof(uint32_t)), 0};
    for (uint32_t i = 0; i < count; i++) { /* without a branch: which part is a toss-up */
        uint32_t part = sp_contain_part(shingles[i]);
        s.shingles[s.count] = shingles[i];
        s.numbers[s.count] = i;
        s.count += part >= first && part < end;
    }
    return s;
}

void sp_contain_selection_done(struct sp_contain_selection *selection)
{
    sp_free(selection->shingles);
    sp_free(selection->numbers);
    *selection = (struct sp_contain_selection){0};
}

static void add(struct sp_contain_stage *c, const struct sp_contain_item *item,
                const struct sp_signature *signature, enum sp_contain_kind kind, uint32_t level)
{
    struct sp_contain_index *x = &c->holders[kind];
    struct sp_contain_selection s =
        sp_contain_select(sp_signature_shingles(signature), signature->shingle_count,
                          level ? x->level_parts[level - 1] : 0, x->level_parts[level]);
    bool keep = level == 0 && kind == SP_CONTAIN_FULL;
    for (uint32_t i = 0; i < s.count; i++) {
        sp_contain_index_prefetch(x, s.shingles, s.count, i);
        uint32_t length = sp_contain_index_add(x, s.shingles[i], item->slot);
        if (keep)
            c->lengths[s.numbers[i]] = length;
    }
    sp_contain_selection_done(&s);
}

static void enter(struct sp_contain_stage *c, struct sp_contain_item *item,
                  const struct sp_signature *signature)
{
    sp_grow(&c->lengths, &c->lengths_cap, signature->shingle_count);
    if (signature->shingle_count)
        memset(c->lengths, 0xff, signature->shingle_count * sizeof *c->lengths);
    c->lengths_of = item;
    for (enum sp_contain_kind kind = 0; kind < SP_CONTAIN_KINDS; kind++) {
        struct sp_contain_index *x = &c->holders[kind];
        if (kind <= item->kind) {
            add(c, item, signature, kind, 0);
            x->pages++;
        }
        x->entered[0] = c->slots.count;
        for (uint32_t level = 1; level < x->levels; level++)
            if (c->slots.count - x->entered[level] > BEHIND_MAX)
                sp_contain_level_fill(c, kind, level);
    }
}

static bool is_entered(const struct sp_contain_index *x, const struct sp_contain_item *item,
                       uint32_t shingle)
{
    uint32_t level = 0;
    while (sp_contain_part(shingle) >= x->level_parts[level])
        level++;
    return item->slot < x->entered[level];
}

void sp_contain_level_fill(struct sp_contain_stage *c, enum sp_contain_kind kind, uint32_t level)
{
    struct sp_contain_index *x = &c->holders[kind];
    for (; x->entered[level] < c->slots.count && c->err == SP_OK; x->entered[level]++) {
        const struct sp_contain_item *item = c->slots.at[x->entered[level]];
        struct sp_signature *s = item && kind <= item->kind ? sp_contain_signature(c, item) : NULL;
        if (!s)
            continue;
        add(c, item, s, kind, level);
        sp_signature_unref(s);
        sp_contents_trim(c->contents);
    }
}

void sp_contain_item_enter(struct sp_contain_stage *c, struct sp_contain_item *item,
                           const struct sp_signature *signature)
{
    item->slot = c->slots.count;
    sp_contain_list_add(&c->slots, item);
    enter(c, item, signature);
}

static bool is_there(void *arg, uint32_t slot)
{
    const struct sp_contain_stage *c = arg;
    return c->slots.at[slot] != NULL;
}

static void leave_lists(struct sp_contain_stage *c, const struct sp_contain_item *item,
                        const struct sp_signature *s, struct sp_contain_index *x)
{
    for (uint32_t i = 0, times; i < s->shingle_count; i += times) {
        for (times = 1; i + times < s->shingle_count && s->hashes[i + times] == s->hashes[i];)
            times++;
        if (!is_entered(x, item, s->hashes[i]))
            continue;
        sp_contain_index_prefetch(x, s->hashes, s->shingle_count, i);
        c->stats.moved += sp_contain_index_leave(x, s->hashes[i], item->slot, times, is_there, c);
    }
    x->pages--;
}

void sp_contain_item_leave(struct sp_contain_stage *c, struct sp_contain_item *item,
                           const struct sp_signature *signature, struct sp_contain_list *ret_left)
{
    c->slots.at[item->slot] = NULL;
    c->lengths_of = NULL; /* what it leaves is shorter */
    for (enum sp_contain_kind kind = 0; kind <= item->kind; kind++)
        leave_lists(c, item, signature, &c->holders[kind]);
    sp_map_remove(&c->items, item->page);
    sp_contain_keys_add(&c->changed_items, item->page);
    if (--c->stats.pages == 0)
        c->puts = c->dear = 0;
    c->account_changed = true;
    sp_contain_detach(c, item);
    for (struct sp_contain_item *inner; (inner = item->contents);) {
        sp_contain_detach(c, inner);
        sp_contain_list_add(ret_left, inner);
    }
}
