/* The pieces of a large group: finds them by searches along the bonds (search.h), and lets them
 * leave. bonds.c explains doubts and bonds. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "group/debt.h"
#include "group/search.h"

enum { AT_ONCE = 64 };

struct piece {
    struct sp_member_list list; /* filled if it leaves */
    uint32_t size;
    bool leaves;
};

struct collecting {
    struct sp_searches *s;
    struct piece *piece;
    bool count_only;
    uint32_t enough; /* members to count */
};

static void collect_hub(const struct collecting *c, const struct sp_hub *h)
{
    struct sp_shelf_place place = {0, 0};
    for (struct sp_member *m; c->piece->size < c->enough && (m = sp_hub_next(h, &place));)
        if (c->count_only)
            c->piece->size += sp_large_size_behind(m);
        else
            sp_large_behind(c->s->g, m, &c->piece->list);
}

static void collect_row(void *arg, uint32_t row)
{
    const struct collecting *c = arg;
    collect_hub(c, sp_hub_at(c->s->g->large, row));
}

static void collect_all(struct collecting *c, const struct sp_search *x)
{
    for (uint32_t i = 0; i < x->count; i++)
        sp_stars_each_member(c->s->g->large->stars, x->found[i].pivot->row, collect_row, c);
}

static void collect(struct sp_searches *s, const struct sp_search *x, struct piece *piece)
{
    struct collecting c = {s, piece, false, UINT32_MAX};
    collect_all(&c, x);
}

/* Counts members until there are `enough`. */
static void count_members(struct sp_searches *s, const struct sp_search *x, struct piece *piece,
                          uint32_t enough)
{
    struct collecting c = {s, piece, true, enough};
    collect_all(&c, x);
}

/* The larger first; among equals the one with the smaller first page. */
static int by_size(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->list.count != y->list.count)
        return x->list.count > y->list.count ? -1 : 1;
    return sp_member_by_page(&x->list.members[0], &y->list.members[0]);
}

/* Called when at most one search has not ended. Fills the sizes of the pieces: the hubs of each
 * search, and the loose trees. The size of the search that has not ended is what is left. */
static uint32_t measure(struct sp_searches *s, struct piece *pieces, uint32_t *ret_open)
{
    uint32_t count = 0, outside = 0;
    *ret_open = UINT32_MAX;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct sp_search *x = &s->items[i];
        if (sp_search_is_merged(s, i))
            continue;
        if (sp_search_has_ended(x))
            count_members(s, x, &pieces[count], UINT32_MAX);
        else
            *ret_open = count;
        outside += pieces[count++].size;
    }
    struct sp_shelf_place place = sp_shelf_first(&s->g->large->loose);
    for (struct sp_member *m; (m = sp_shelf_next(&s->g->large->loose, &place));) {
        pieces[count].size = sp_large_size_behind(m);
        outside += pieces[count++].size;
    }
    if (!s->count && s->g->large->ranks.count) { /* hubs that are not in doubt */
        *ret_open = count++;
    }
    if (*ret_open != UINT32_MAX)
        pieces[*ret_open].size = s->g->count - outside;
    return count;
}

/* Fills in the members of the pieces that leave. */
static void fill(struct sp_searches *s, struct piece *pieces)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (sp_search_is_merged(s, i))
            continue;
        if (pieces[number].leaves) {
            sp_search_finish(s, i);
            collect(s, &s->items[i], &pieces[number]);
        }
        number++;
    }
    struct sp_shelf_place place = sp_shelf_first(&s->g->large->loose);
    for (struct sp_member *m; (m = sp_shelf_next(&s->g->large->loose, &place)); number++)
        if (pieces[number].leaves)
            sp_large_behind(s->g, m, &pieces[number].list);
    if (!s->count && s->g->large->ranks.count && pieces[number].leaves) {
        place = sp_shelf_first(&s->g->large->ranks);
        for (struct sp_hub *h; (h = sp_shelf_next(&s->g->large->ranks, &place));) {
            struct collecting c = {s, &pieces[number], false, UINT32_MAX};
            collect_hub(&c, h);
        }
    }
}

/* The only largest piece, or UINT32_MAX if there are several. */
static uint32_t largest(const struct piece *pieces, uint32_t count)
{
    uint32_t best = 0;
    bool alone = true;
    for (uint32_t i = 1; i < count; i++) {
        alone = pieces[i].size > pieces[best].size || (alone && pieces[i].size < pieces[best].size);
        if (pieces[i].size > pieces[best].size)
            best = i;
    }
    return alone ? best : UINT32_MAX;
}

/* The number of the piece that the page belongs to; UINT32_MAX: it is no member. `open`: the piece
 * whose search has not ended, to which all belongs that no search has reached. */
static uint32_t piece_of(struct sp_searches *s, struct sp_id page, uint32_t open)
{
    struct sp_member *m = sp_large_find(s->g, page);
    const struct sp_member *end = m ? sp_large_end(m) : NULL;
    bool has_row = end && end->hub && end->hub->indexed;
    uint32_t number = 0, search = has_row ? sp_search_of(s, end->hub) : UINT32_MAX;
    for (uint32_t i = 0; i < s->count; i++) {
        if (sp_search_is_merged(s, i))
            continue;
        if (search == i)
            return number;
        number++;
    }
    struct sp_shelf_place place = sp_shelf_first(&s->g->large->loose);
    for (const struct sp_member *x; (x = sp_shelf_next(&s->g->large->loose, &place)); number++)
        if (x == end)
            return number;
    return has_row ? open : UINT32_MAX;
}

uint32_t sp_large_at_once(const struct sp_group_stage *st)
{
    return st->options.split_at_once ? st->options.split_at_once : AT_ONCE;
}

uint32_t sp_large_pieces_at_once(const struct sp_group_stage *st, const struct sp_large *l)
{
    enum { MORE = 4, PART = 64 };
    uint32_t least = MORE * sp_group_rows_at_once(st), part = l->ranks.count / PART;
    return least > part ? least : part;
}

bool sp_large_leaves_at_once(const struct sp_group_stage *st, struct sp_member *m)
{
    return sp_large_size_behind(m) <= sp_large_at_once(st);
}

/* Chooses the pieces that leave now: all but the largest, or if these have more than `most` members
 * that of the changed page, if it has not. Returns the members that leave later. */
static uint32_t choose_leaving(struct sp_searches *s, struct piece *pieces, uint32_t count,
                               uint32_t stays, uint32_t open, const struct sp_id *changed,
                               uint32_t most)
{
    uint32_t total = 0, largest_size = 0;
    for (uint32_t i = 0; i < count; i++) {
        pieces[i].leaves = i != stays;
        total += pieces[i].size;
        if (pieces[i].size > largest_size)
            largest_size = pieces[i].size;
    }
    total -= largest_size;
    if (total <= most)
        return 0;
    uint32_t own = changed ? piece_of(s, *changed, open) : UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        pieces[i].leaves = i == own && pieces[i].size <= most;
    return own < count && pieces[own].leaves ? total - pieces[own].size : total;
}

static uint32_t part(struct sp_searches *s, uint32_t count, const struct sp_id *changed,
                     uint32_t most)
{
    uint32_t open, leaving = 0;
    struct piece *pieces = sp_calloc(count, sizeof *pieces);
    uint32_t measured = measure(s, pieces, &open);
    uint32_t stays = largest(pieces, measured);
    uint32_t later = choose_leaving(s, pieces, measured, stays, open, changed, most);
    bool first_stays = !later && stays == UINT32_MAX;
    fill(s, pieces);
    sp_searches_done(s);
    for (uint32_t i = 0; i < measured; i++) {
        if (!pieces[i].leaves)
            continue;
        qsort(pieces[i].list.members, pieces[i].list.count, sizeof *pieces[i].list.members,
              sp_member_by_page);
        pieces[leaving++] = pieces[i];
    }
    qsort(pieces, leaving, sizeof *pieces, by_size);
    uint32_t last = sp_min_u32(leaving, sp_large_pieces_at_once(s->st, s->g->large) + first_stays);
    for (uint32_t i = 0; i < leaving; i++) {
        if (i >= last)
            later += pieces[i].list.count;
        else if (i > 0 || !first_stays)
            sp_large_part(s->st, s->g, pieces[i].list.members, pieces[i].list.count);
        sp_free(pieces[i].list.members);
    }
    sp_free(pieces);
    s->st->stats.split_later += later > 0;
    return later;
}

/* Whether the first winner covers all hubs, but for a few that nobody has judged yet, and is
 * similar to these. */
static bool is_whole(struct sp_group_stage *st, struct sp_large *l)
{
    enum { FEW = 4 };
    struct sp_shelf_place place = sp_shelf_first(&l->winners);
    struct sp_hub *first = sp_shelf_next(&l->winners, &place);
    if (sp_bonds_one_covers_all(l))
        return true;
    if (!first || l->todo.count > FEW)
        return false;
    uint32_t similar = first->followers + 1;
    for (uint32_t i = 0; i < l->todo.count && !st->err; i++) {
        struct sp_hub *h = l->todo.hubs[i];
        const struct sp_signature *x, *y;
        if (!h->best || h->winner || !(x = sp_hub_signature(st, first)) ||
            !(y = sp_hub_signature(st, h)))
            continue;
        st->stats.repair_compared++;
        st->stats.compared++;
        similar += sp_similar(&st->options.similarity, x, y, NULL);
    }
    return similar == l->ranks.count;
}

/* Whether the only hub in doubt is new and resembles another one, all of which are connected. */
static bool has_joined(const struct sp_large *l)
{
    const struct sp_hub *h = l->doubts.count == 1 ? l->doubts.hubs[0] : NULL;
    if (!h || !h->fresh || !h->best)
        return false;
    return h->out || h->in || sp_stars_pivot(l->stars, h->row) != h->row ||
           sp_stars_members(l->stars, h->row) > 1;
}

uint32_t sp_bonds_split(struct sp_group_stage *st, struct sp_group *g, const struct sp_id *changed,
                        uint32_t most)
{
    struct sp_large *l = g->large;
    struct sp_searches s = {.st = st, .g = g};
    uint32_t later = 0;
    sp_bonds_settle_now(st, g); /* until then, nothing can be trusted */
    if (l->doubts.count && is_whole(st, l))
        sp_bonds_trust(g);
    if (l->doubts.count && changed)
        sp_hubs_index(st, g);
    else if (l->doubts.count)
        sp_hubs_index_now(st, g);
    if (changed && sp_debt_is_apart(g))
        return 0;
    sp_bonds_settle_now(st, g);
    if (st->err)
        return 0;
    if (changed && has_joined(l))
        sp_bonds_trust(g);
    sp_searches_begin(&s, &l->doubts);
    sp_searches_run(&s);
    uint32_t hubs = s.count ? sp_searches_count(&s) : (l->ranks.count > 0);
    if (hubs + l->loose.count > 1) {
        st->stats.repairs++;
        later = part(&s, hubs + l->loose.count, changed, most);
    } else {
        sp_searches_done(&s);
    }
    if (!later)
        sp_bonds_trust(g);
    return later;
}
