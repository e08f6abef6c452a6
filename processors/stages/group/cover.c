/* Who wins in a large group? The cover of verdicts.c, by content: hubs in the order of the ranks of
 * their best members; a hub wins unless it is similar to one that wins before it, and its best
 * member is then the winner of all its members.
 *
 * A hub that is new, or whose best member is another, is judged. Only if the list of winners
 * changes, those ranked behind are looked at again, and most of these are held against the new
 * winners only: each hub knows up to which winner it has been judged. */
#include <stdlib.h>

#include "base/mem.h"
#include "group/large.h"
#include "group/untold.h"

void sp_cover_judge_later(struct sp_large *l, struct sp_hub *h)
{
    h->winner = NULL;
    if (h->todo)
        return;
    h->todo = true;
    sp_hub_list_add(&l->todo, h);
}

/* ---- the list of winners */

static bool wins(const struct sp_hub *h)
{
    return h->best && h->winner == h;
}

static bool before(const struct sp_hub *a, const struct sp_hub *b)
{
    return sp_hub_order(b->best, a) < 0;
}

static void sweep_from(struct sp_large *l, const struct sp_member *best)
{
    if (l->swept && sp_rank_cmp(&l->from_rank, l->from_page, &best->rank, best->page) <= 0)
        return;
    l->swept = true;
    l->from_rank = best->rank;
    l->from_page = best->page;
}

/* Whether the sweep will come to h. */
static bool is_swept(const struct sp_large *l, const struct sp_hub *h)
{
    return l->swept && sp_rank_cmp(&l->from_rank, l->from_page, &h->best->rank, h->best->page) <= 0;
}

static void crown(struct sp_large *l, struct sp_hub *h)
{
    h->winner = h;
    h->similarity = 0;
    h->won = ++l->wins;
    sp_shelf_add(&l->winners, sp_hub_order, h->best, 0, h);
    sp_hub_list_add(&l->recent, h);
}

void sp_cover_depose(struct sp_large *l, struct sp_hub *h)
{
    sp_shelf_remove(&l->winners, sp_hub_order, h->best, 0);
    h->winner = NULL;
    sweep_from(l, h->best);
}

void sp_cover_restore(struct sp_large *l, struct sp_hub *h, struct sp_hub *winner, float similarity)
{
    if (winner == h)
        crown(l, h);
    h->winner = winner;
    h->similarity = similarity;
}

/* Forgets the older of the recent winners where they are many more than there are winners: what was
 * judged before them is judged in full. */
static void trim_recent(struct sp_large *l)
{
    if (l->recent.count < 64 || l->recent.count < 4 * (uint64_t)l->winners.count)
        return;
    l->recent_from += l->recent.count;
    l->recent.count = 0;
}

/* ---- one hub */

/* Whether w, a winner, covers h. */
static bool covers(struct sp_group_stage *st, struct sp_hub *w, struct sp_hub *h,
                   double *ret_similarity)
{
    const struct sp_signature *x = sp_hub_signature(st, w), *y = sp_hub_signature(st, h);
    st->stats.compared++;
    return x && y && sp_similar(&st->options.similarity, x, y, ret_similarity);
}

static bool is_touched(const struct sp_large *l, const struct sp_touches *touches,
                       const struct sp_hub *w)
{
    uint32_t star = sp_stars_pivot(l->stars, w->row);
    for (size_t i = 0; i < touches->count; i++)
        if (touches->items[i].row == w->row || touches->items[i].pivot == star)
            return true;
    return false;
}

/* The first winner ranked before h that covers it, or NULL. Where there are many winners, the index
 * says which stars can have one. */
static struct sp_hub *first_cover(struct sp_group_stage *st, struct sp_large *l, struct sp_hub *h,
                                  double *ret_similarity)
{
    enum { FEW = 8 };
    struct sp_touches touches = {NULL, 0};
    bool probed = l->winners.count > FEW;
    if (probed) {
        const struct sp_signature *s = sp_hub_signature(st, h);
        enum sp_err err = s ? sp_stars_probe(l->domain, s, h->row, &touches) : st->err;
        if (err != SP_OK) {
            sp_group_stage_note(st, err);
            return NULL;
        }
    }
    struct sp_shelf_place place = sp_shelf_first(&l->winners);
    for (struct sp_hub *w; !st->err && (w = sp_shelf_next(&l->winners, &place)) && before(w, h);)
        if ((!probed || is_touched(l, &touches, w)) && covers(st, w, h, ret_similarity))
            return w;
    return NULL;
}

/* A later winner ranked before the one it has that covers h, too. */
static struct sp_hub *newer_cover(struct sp_group_stage *st, struct sp_large *l, struct sp_hub *h,
                                  double *ret_similarity)
{
    struct sp_hub *best = NULL;
    double similarity;
    for (uint64_t n = h->judged; n < l->wins && !st->err; n++) {
        struct sp_hub *w = l->recent.hubs[n - l->recent_from];
        bool current = w && w != h && wins(w) && w->won == n + 1;
        if (!current || !before(w, h) || (h->winner && h->winner != h && !before(w, h->winner)) ||
            (best && !before(w, best)))
            continue;
        if (covers(st, w, h, &similarity)) {
            best = w;
            *ret_similarity = similarity;
        }
    }
    return best;
}

/* Whether the winner of h wins as it did when h was judged, and is ranked before it. */
static bool still_holds(const struct sp_hub *h)
{
    return wins(h->winner) && h->winner->won <= h->judged && before(h->winner, h);
}

/* Finds the winner of h, given those before it. */
static void judge(struct sp_group_stage *st, struct sp_large *l, struct sp_hub *h)
{
    double similarity = h->similarity;
    bool full = !h->winner || (h->winner != h && !still_holds(h)) || h->judged < l->recent_from ||
                l->wins - h->judged > l->winners.count;
    struct sp_hub *winner =
        full ? first_cover(st, l, h, &similarity) : newer_cover(st, l, h, &similarity);
    if (!full && !winner)
        winner = h->winner;
    if (st->err)
        return;
    h->judged = l->wins;
    if (winner && winner != h) {
        if (h->winner == h)
            sp_cover_depose(l, h);
        h->winner = winner;
        h->similarity = (float)similarity;
    } else if (h->winner != h) {
        crown(l, h);
        h->judged = l->wins;
        sweep_from(l, h->best);
    }
}

static void tell_one(struct sp_hub *h, struct sp_member *m)
{
    if (!m || m->hub != h || m->touched || !h->group->large->at_once)
        return;
    h->group->large->at_once--;
    sp_group_cover_touch(h->group, m);
}

/* Its members are told if their winner has changed: many of them in a round, but for those that win
 * now or have won until now. A round under way begins again in any case: it has told some what has
 * become of them in between. */
static void show(struct sp_group_stage *st, struct sp_hub *h)
{
    struct sp_large *l = h->group->large;
    struct sp_id page = h->winner->best->page, before = h->shown;
    bool later = h->holders > l->at_once;
    if (sp_id_eq(before, page) && h->shown_similarity == h->similarity)
        return;
    h->shown = page;
    h->shown_similarity = h->similarity;
    if (l->restoring)
        return;
    if (later || h->group->untold)
        sp_untold_begin(st, h->group);
    if (later) {
        tell_one(h, h->winner == h ? h->best : NULL);
        tell_one(h, sp_large_find(h->group, before));
        return;
    }
    l->at_once -= h->holders;
    struct sp_shelf_place place = sp_hub_first(h);
    for (struct sp_member *m; (m = sp_hub_next(h, &place));)
        sp_group_cover_touch(h->group, m);
}

/* ---- all of it */

static int by_rank(const void *a, const void *b)
{
    const struct sp_hub *x = *(struct sp_hub *const *)a, *y = *(struct sp_hub *const *)b;
    return sp_hub_order(y->best, x);
}

/* Judges all from the first change on. What a winner changes lies behind it, so that once over them
 * is enough. */
static void sweep(struct sp_group_stage *st, struct sp_large *l)
{
    const struct sp_member from = {.rank = l->from_rank, .page = l->from_page};
    struct sp_shelf_place place = sp_shelf_find(&l->ranks, sp_hub_order, &from, 0);
    for (struct sp_hub *h; !st->err && (h = sp_shelf_next(&l->ranks, &place));) {
        judge(st, l, h);
        if (!st->err)
            show(st, h);
    }
    l->swept = false;
}

void sp_cover_update(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_large *l = g->large;
    struct sp_hub_list *todo = &l->todo;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < todo->count; i++)
        if (todo->hubs[i]->best)
            todo->hubs[kept++] = todo->hubs[i];
    if (kept)
        qsort(todo->hubs, kept, sizeof *todo->hubs, by_rank);
    for (uint32_t i = 0; i < kept && !st->err && !is_swept(l, todo->hubs[i]); i++) {
        judge(st, l, todo->hubs[i]);
        if (!st->err)
            show(st, todo->hubs[i]);
    }
    if (l->swept && !st->err)
        sweep(st, l);
    for (uint32_t i = 0; i < kept; i++)
        todo->hubs[i]->todo = false;
    todo->count = 0;
    trim_recent(l);
}

void sp_cover_restore_all(struct sp_group_stage *st, struct sp_group *g)
{
    g->large->restoring = true;
    sp_cover_update(st, g);
    g->large->restoring = false;
}
