/* The best container of a page. The lists of the rarest shingles first; each time a better
 * container is found the bar rises, and fewer lists need be read: where a page of 20,000 on a site
 * has a container that has all of the site's menu, only the lists of the page's own shingles are
 * left, which are short. A page in a list also names its own container, which is likely to be that
 * of this one too: among a million pages of one manual the manual is found at once. */
#include "base/mem.h"
#include "contain/stage.h"

struct search {
    struct sp_contain_stage *c;
    struct sp_contain_counted counted;
    struct sp_contain_item *best;
    struct sp_contain_share bar;
    uint32_t *costs;
    uint32_t *left; /* of the costs, for the kind in work: 0 where the list was read to its end */
    bool *done;
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

/* True: a better one was found, so fewer lists may be enough. */
static bool read_picked(struct search *s, enum sp_contain_kind kind)
{
    uint32_t count = sp_contain_pick(s->c, &s->counted, s->bar, kind, s->left, s->picks);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = s->picks[i];
        if (s->done[number])
            continue;
        if (read_list(s, kind, s->counted.shingles[number]))
            return true;
        s->done[number] = true;
        s->left[number] = 0;
    }
    return false;
}

static void search_kind(struct search *s, enum sp_contain_kind kind)
{
    if (s->c->holders[kind].pages == 0)
        return;
    memcpy(s->left, s->costs, s->counted.count * sizeof *s->left);
    memset(s->done, 0, s->counted.count * sizeof *s->done);
    while (s->c->err == SP_OK && read_picked(s, kind))
        ;
}

void sp_contain_search(struct sp_contain_stage *c, struct sp_contain_item *item)
{
    struct search s = {.c = c};
    if (!sp_contain_count(c, item, &s.counted))
        return;
    size_t room = s.counted.count + 1;
    s.costs = sp_alloc(room * sizeof *s.costs);
    s.left = sp_alloc(room * sizeof *s.left);
    s.picks = sp_alloc(room * sizeof *s.picks);
    s.done = sp_alloc(room * sizeof *s.done);
    item->stamp = ++c->stamp;
    c->stats.searches++;
    sp_contain_costs(c, &s.counted, s.costs);
    search_kind(&s, SP_CONTAIN_CAPPED);
    search_kind(&s, SP_CONTAIN_FULL);
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
