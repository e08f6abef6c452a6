/* Finds the best container of a page. The lists of the rarest shingles are read first. Each better
 * container raises the share that a further one must exceed, so fewer lists have to be read. For
 * example, once a page on a site of 20,000 pages has a container with all of the site's menu, only
 * the lists of its own shingles are left, which are short. A page in a list also names its own
 * container, which is likely to contain this page too: among a million pages of one manual the
 * manual is found at once. */
#include "base/mem.h"
#include "contain/stage.h"

enum { PATIENCE = 8, STEPS = 3 };
static const uint32_t LEVEL_NONE = UINT32_MAX;

struct search {
    struct sp_contain_stage *c;
    struct sp_contain_counted counted;
    struct sp_contain_item *best;
    struct sp_contain_share bar;
    uint32_t level; /* of the kind in work, whose costs are known; none of them: LEVEL_NONE */
    uint32_t *costs;
    uint32_t *left; /* of the costs, for the kind in work: 0 where the list was read to its end */
    bool *done;     /* the list of all pages of its kind was read to its end, or of capped ones */
    uint32_t *picks;
};

/* Whether it is the best one so far. */
static bool look_at(struct search *s, struct sp_contain_item *other)
{
    if (!other || other->stamp == s->c->stamp)
        return false;
    other->stamp = s->c->stamp;
    struct sp_contain_share share;
    if (!sp_contain_exceeds(s->c, &s->counted, other, s->bar, &share))
        return false;
    s->best = other;
    s->bar = share;
    return true;
}

/* Stops at the first better one, because the rest of the list may no longer be needed. */
static bool read_list(struct search *s, enum sp_contain_kind kind, uint32_t shingle)
{
    struct sp_contain_stage *c = s->c;
    struct sp_posting_list list = sp_contain_index_get(&c->holders[kind], shingle);
    for (uint32_t i = 0; i < list.count && c->err == SP_OK; i++) {
        struct sp_contain_item *other = c->slots.at[sp_contain_posting(&list, i)];
        c->stats.postings++;
        if (other && (look_at(s, other) || look_at(s, other->best)))
            return true;
    }
    return false;
}

static void take_costs(struct search *s)
{
    for (uint32_t i = 0; i < s->counted.count; i++)
        s->left[i] = s->done[i] ? 0 : s->costs[i];
}

/* By some levels; false: the level is the last one. */
static bool look_further(struct search *s, enum sp_contain_kind kind, uint32_t levels)
{
    uint32_t last = s->c->holders[kind].levels - 1;
    if (s->level == last)
        return false;
    for (; levels > 0 && s->level != last; levels--)
        sp_contain_costs(s->c, &s->counted, kind, ++s->level, s->costs);
    take_costs(s);
    return true;
}

/* The costs of these alone. */
static void look_at_picks(struct search *s, enum sp_contain_kind kind, uint32_t picks)
{
    const struct sp_contain_index *x = &s->c->holders[kind];
    uint32_t *shingles = sp_alloc((picks + 1) * sizeof *shingles);
    for (uint32_t i = 0; i < picks; i++)
        shingles[i] = s->counted.shingles[s->picks[i]];
    for (uint32_t i = 0; i < picks; i++) {
        uint32_t number = s->picks[i], shingle = shingles[i];
        sp_contain_index_prefetch(x, shingles, picks, i);
        struct sp_posting_list list = sp_contain_index_get(x, shingle);
        s->c->stats.lists++;
        s->left[number] = list.count - sp_contain_index_left(x, shingle, &list);
    }
    sp_free(shingles);
}

/* Whether to look for rarer shingles in the next level. That level may have to be filled first, so
 * some searches with long lists are allowed: until together they have read PATIENCE entries for
 * each page that was put. This count is stored, so that a stage that is loaded again makes the same
 * decisions. */
static bool are_dear(struct search *s, uint32_t picks)
{
    uint64_t entries = 0;
    for (uint32_t i = 0; i < picks; i++)
        entries += s->left[s->picks[i]];
    if (entries <= s->counted.count)
        return false;
    if (s->c->dear + entries > s->c->puts * PATIENCE)
        return true;
    s->c->dear += entries;
    return false;
}

/* True: a better one was found, so fewer lists may be enough, or there are more to choose from. */
static bool read_picked(struct search *s, enum sp_contain_kind kind)
{
    struct sp_contain_choice choice = {&s->counted, s->bar, kind, s->left, s->done};
    uint32_t count;
    bool enough = sp_contain_pick(s->c, &choice, s->picks, &count);
    if (s->level == LEVEL_NONE)
        look_at_picks(s, kind, count);
    if (!enough ? look_further(s, kind, 1) : are_dear(s, count) && look_further(s, kind, STEPS))
        return true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = s->picks[i];
        if (read_list(s, kind, s->counted.shingles[number]))
            return true;
        s->done[number] = true;
        s->left[number] = 0;
    }
    return false;
}

/* The lists of its shingles in the index of capped pages are not in the processor's caches. So any
 * shingles that level 0 has are tried first; most of them have short lists. */
static void take_any(struct search *s, enum sp_contain_kind kind)
{
    s->level = LEVEL_NONE;
    for (uint32_t i = 0; i < s->counted.count; i++) {
        uint32_t part = sp_contain_part(s->counted.shingles[i]);
        s->costs[i] = part < s->c->holders[kind].level_parts[0] ? 0 : SP_CONTAIN_UNKNOWN;
    }
    take_costs(s);
}

/* Reads the lists of all pages. They miss only capped containers whose range of hashes has too few
 * of these shingles; a few lists of capped pages alone find those. A capped page is larger than any
 * full one. */
static void search_lists(struct search *s)
{
    enum sp_contain_kind kind = s->counted.item->kind;
    sp_contain_costs(s->c, &s->counted, kind, s->level = 0, s->costs);
    take_costs(s);
    while (s->c->err == SP_OK && read_picked(s, kind))
        ;
    if (kind == SP_CONTAIN_CAPPED || s->c->holders[SP_CONTAIN_CAPPED].pages == 0)
        return;
    uint32_t *costs = s->costs; /* of waiting */
    s->costs = sp_alloc((s->counted.count + 1) * sizeof *s->costs);
    take_any(s, SP_CONTAIN_CAPPED);
    while (s->c->err == SP_OK && read_picked(s, SP_CONTAIN_CAPPED))
        ;
    sp_free(s->costs);
    s->costs = costs;
}

void sp_contain_search(struct sp_contain_stage *c, struct sp_contain_item *item)
{
    struct search s = {.c = c};
    if (!sp_contain_count(c, item, &s.counted))
        return;
    size_t room = s.counted.count + 1;
    s.left = sp_alloc(room * sizeof *s.left);
    s.picks = sp_alloc(room * sizeof *s.picks);
    s.done = sp_calloc(room, sizeof *s.done);
    item->stamp = ++c->stamp;
    c->stats.searches++;
    c->account_changed = true;
    s.costs = sp_alloc(room * sizeof *s.costs);
    search_lists(&s);
    if (s.best)
        sp_contain_attach(c, item, s.best, s.bar);
    if (c->err == SP_OK)
        sp_contain_wait(c, &s.counted, s.costs);
    sp_contain_item_changed(c, item);
    sp_contain_counted_done(&s.counted);
    sp_free(s.costs);
    sp_free(s.left);
    sp_free(s.picks);
    sp_free(s.done);
    sp_contents_trim(c->contents);
}
