/* Which hubs of a large group win. They are the cover of verdicts.c, by content: hubs in the order
 * of the ranks of their best members; a hub wins unless it is similar to one that wins before it,
 * and the best member of the first such winner is the winner of all its members.
 *
 * A hub that becomes a winner deposes the winners ranked behind it that it resembles. The hubs that
 * a deposed winner covered are open: each finds another winner or becomes one. So a change costs a
 * search among the winners (winning.c) for each hub that it leaves without one. If the order of the
 * ranks is random, it changes O(1) winners on average (Censor-Hillel, Haramaty, Karnin 2016, on
 * maximal independent sets).
 *
 * If a deposed winner covered many, those are not visited: all hubs ranked behind it become
 * undecided, and are decided in the order of the ranks, only when needed. A hub is needed when one
 * of its members is to be told its status. If a winner in the decided part covers it, that is its
 * winner, whatever the hubs between them turn out to be; otherwise those are decided first, a
 * limited number of them in each step. A member whose hub is not decided then is told by a round.
 *
 * A hub that has been decided need be compared with newer winners only: it knows up to which winner
 * it has been judged. The statuses that a step tells depend on the members and on what they were
 * told before, never on which hubs are decided: that state is lost when the group is read again. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/prefetch.h"
#include "group/debt.h"
#include "group/large.h"

void sp_cover_judge_later(struct sp_large *l, struct sp_hub *h)
{
    sp_hub_follow(h, NULL);
    if (h->todo)
        return;
    h->todo = true;
    sp_hub_list_add(&l->todo, h);
}

/* ---- winners come and go */

static void move_up(struct sp_rank_place *p, const struct sp_hub *h)
{
    if (!sp_place_precedes(p, h))
        *p = sp_place_of(h);
}

/* As of the last decision. */
static bool wins(const struct sp_hub *h)
{
    return h->best && h->winner == h;
}

static void crown(struct sp_large *l, struct sp_hub *h)
{
    sp_hub_follow(h, h);
    h->similarity = 0;
    sp_winning_add(l, h);
}

void sp_cover_open(struct sp_large *l, struct sp_hub *h)
{
    sp_hub_follow(h, NULL);
    if (h->open || h->todo)
        return;
    h->open = true;
    sp_hub_shelve(&l->open, h);
}

static void close_one(struct sp_large *l, struct sp_hub *h)
{
    if (!h->open)
        return;
    h->open = false;
    sp_hub_unshelve(&l->open, h);
}

/* The hubs that it covered are opened one by one if earlier steps have paid for so many, so that a
 * page that outranks the winner of all others costs O(1) on average. */
static void depose(struct sp_large *l, struct sp_hub *h)
{
    sp_winning_remove(l, h);
    sp_hub_follow(h, NULL);
    if (h->followers > l->paid) {
        move_up(&l->decided, h);
        return;
    }
    l->paid -= h->followers;
    while (h->first_follower)
        sp_cover_open(l, h->first_follower);
}

/* Whether other members may have been told that m wins, or may have been skipped by a round because
 * they knew it. */
static bool may_be_known_to_win(const struct sp_group *g, const struct sp_member *m)
{
    bool round = sp_round_runs(g) && g->large->stage->options.canary != SP_CANARY_QUIET_LEAVE;
    return round || m->said_epoch != m->epoch || sp_member_was_kept(m);
}

void sp_cover_leave(struct sp_group *g, struct sp_hub *h)
{
    close_one(g->large, h);
    if (h->winner == h)
        depose(g->large, h);
    sp_hub_follow(h, NULL);
    if (may_be_known_to_win(g, h->best))
        move_up(&g->large->changed, h);
}

void sp_cover_restore(struct sp_large *l, struct sp_hub *h, struct sp_hub *winner, float similarity)
{
    if (winner == h)
        crown(l, h);
    sp_hub_follow(h, winner);
    h->similarity = similarity;
}

void sp_cover_forget_all(struct sp_group *g)
{
    struct sp_large *l = g->large;
    for (uint32_t i = 0; i < l->todo.count; i++)
        l->todo.hubs[i]->todo = false;
    l->todo.count = 0;
    l->decided = sp_place_before_all();
}

/* ---- one hub */

/* The search for the winner of a hub. */
struct search {
    struct sp_group_stage *st;
    struct sp_large *l;
    struct sp_hub *hub;
    bool full;      /* the hub must be compared with all winners, also those it was compared with
                     * before */
    bool frontier;  /* all hubs ranked behind it are undecided */
    uint32_t tried; /* winners */
    struct sp_hub *winner;
    double similarity;
};

static bool found(struct search *s, struct sp_hub *w, double similarity)
{
    s->winner = w;
    s->similarity = similarity;
    return true;
}

/* Whether w, a winner ranked before the hub, covers it; if so, w becomes the winner found. */
static bool try_winner(struct search *s, struct sp_hub *w)
{
    double similarity;
    return sp_winning_resembles(s->l, s->hub, w, &s->tried, &similarity) && found(s, w, similarity);
}

/* The first decided winner that covers the hub: in full, of those ranked before it; otherwise of
 * the new ones ranked before the winner that it has. */
static void try_in_order(struct search *s)
{
    struct sp_hub *h = s->hub;
    const struct sp_hub *end = s->full || h->winner == h ? h : h->winner;
    struct sp_winning_walk walk =
        sp_winning_before(s->l, h, end, s->full ? 0 : h->judged, &s->tried);
    double similarity;
    for (struct sp_hub *w; !s->st->err && (w = sp_winning_next(&walk));)
        if (sp_winning_compare(s->l, h, w, &similarity)) {
            found(s, w, similarity);
            return;
        }
}

/* Tries the winners added since the hub was judged that rank before the winner that it has. */
static void try_new(struct search *s)
{
    const struct sp_large *l = s->l;
    struct sp_hub *h = s->hub;
    for (uint64_t n = h->judged; n < l->wins && !s->st->err; n++) {
        struct sp_hub *w = l->recent.hubs[n - l->recent_from];
        bool current = w && w != h && wins(w) && w->won == n + 1;
        if (current && sp_hub_before(w, s->winner ? s->winner : h) &&
            !sp_place_precedes(&l->decided, w))
            try_winner(s, w);
    }
}

/* Whether the winner of h wins as it did when h was judged, and is ranked before it. */
static bool still_holds(const struct sp_large *l, const struct sp_hub *h)
{
    const struct sp_hub *w = h->winner;
    return wins(w) && w->won <= h->judged && sp_hub_before(w, h) &&
           !sp_place_precedes(&l->decided, w);
}

/* Whether no winner ranked before that of h has come since h was judged. */
static bool is_first(const struct sp_large *l, const struct sp_hub *h)
{
    struct sp_shelf_place place = sp_shelf_first(&l->winners);
    return h->judged == l->wins || sp_shelf_next(&l->winners, &place) == h->winner;
}

static void search_decided(struct search *s)
{
    enum { FEW = 32 };
    const struct sp_large *l = s->l;
    struct sp_hub *h = s->hub;
    s->full = !h->winner || (h->winner != h && !still_holds(l, h)) || h->judged < l->recent_from;
    if (!s->full && h->winner != h) {
        s->winner = h->winner;
        s->similarity = h->similarity;
    }
    if (s->full || l->wins - h->judged > FEW)
        try_in_order(s);
    else
        try_new(s);
}

/* The hub has just become a winner. */
static void depose_similar(struct sp_large *l, struct sp_hub *h)
{
    uint32_t tried = 0, count = 0;
    double similarity;
    struct sp_winning_walk walk = sp_winning_behind(l, h, &tried);
    for (struct sp_hub *w; (w = sp_winning_next(&walk));) {
        if (!sp_winning_compare(l, h, w, &similarity))
            continue;
        w->similarity = (float)similarity;
        sp_hub_list_add(&l->deposed, w);
    }
    for (; count < l->deposed.count; count++) {
        struct sp_hub *w = l->deposed.hubs[count];
        depose(l, w);
        sp_hub_follow(w, h);
        w->judged = l->wins;
    }
    l->deposed.count = 0;
}

/* Only winners keep their patterns. */
static void search_ended(struct sp_hub *h)
{
    if (h->winner != h)
        sp_pattern_forget(h);
}

/* Stores the result of the search. */
static void take(struct search *s)
{
    struct sp_large *l = s->l;
    struct sp_hub *h = s->hub;
    if (s->st->err)
        return;
    if (s->winner) {
        if (h->winner == h)
            depose(l, h);
        sp_hub_follow(h, s->winner);
        h->similarity = (float)s->similarity;
    } else if (h->winner != h) {
        crown(l, h);
        if (!s->frontier)
            depose_similar(l, h);
    }
    search_ended(h);
    h->judged = l->wins;
    h->todo = false;
}

static void decide_one(struct sp_group_stage *st, struct sp_large *l, struct sp_hub *h,
                       bool frontier)
{
    struct search s = {.st = st, .l = l, .hub = h, .frontier = frontier};
    search_decided(&s);
    take(&s);
}

/* ---- hubs one after another */

enum { AHEAD = 8 };

/* Hubs in the order of ranks are scattered in memory, and so are their signatures. */
struct ahead {
    struct sp_shelf_place place;
    struct sp_hub *hubs[AHEAD]; /* the last ones: the hub with number i is at i % AHEAD */
    uint32_t count;
};

static const struct sp_hub *hub_before(const struct ahead *a, uint32_t back)
{
    return a->count >= back ? a->hubs[(a->count - back) % AHEAD] : NULL;
}

/* Prefetches the next hub at the place, and what searches for those before it will read. */
static void read_ahead(struct sp_large *l, struct ahead *a)
{
    struct sp_hub *h = sp_shelf_next(&l->ranks, &a->place);
    sp_prefetch_bytes(h, h ? sizeof *h : 0);
    for (uint32_t step = 0; step < 3; step++) {
        const struct sp_hub *x = hub_before(a, 2 + 2 * step);
        if (x && !x->signature)
            sp_contents_prefetch(l->stage->contents, x->content, step);
    }
    const struct sp_hub *x = hub_before(a, 2);
    if (x && x->winner)
        sp_prefetch_bytes(x->winner, sizeof *x->winner);
    a->hubs[a->count++ % AHEAD] = h;
}

/* Call it before each hub that is decided, with the number of those before it. The longer the walk,
 * the farther it reads ahead. */
static void keep_ahead(struct sp_large *l, struct ahead *a, uint32_t walked)
{
    enum { EACH = 2 };
    uint32_t far = EACH * walked < AHEAD ? EACH * walked : AHEAD;
    while (a->count < walked + far)
        read_ahead(l, a);
}

/* Whether one more hub may be decided. */
static bool may_go_on(struct sp_large *l)
{
    if (!l->may_decide)
        return false;
    l->may_decide--;
    return true;
}

/* Decides the undecided hubs up to h, unless a decided winner covers it. */
static bool decide_behind(struct sp_group_stage *st, struct sp_large *l, struct sp_hub *h)
{
    struct search s = {.st = st, .l = l, .hub = h, .frontier = true};
    search_decided(&s);
    struct sp_shelf_place place =
        s.winner ? sp_shelf_first(&l->ranks) : sp_place_after(&l->ranks, &l->decided);
    struct ahead ahead = {.place = place};
    uint32_t walked = 0;
    for (struct sp_hub *x; !s.winner && !st->err && (x = sp_shelf_next(&l->ranks, &place));) {
        keep_ahead(l, &ahead, walked++);
        if (x != h && !may_go_on(l)) {
            search_ended(h);
            return false;
        }
        if (x != h)
            decide_one(st, l, x, true);
        if (st->err)
            break;
        l->decided = sp_place_of(x);
        if (x == h)
            break;
        if (wins(x) && (s.full || x->won > h->judged))
            try_winner(&s, x);
    }
    take(&s);
    return true;
}

bool sp_cover_is_decided(const struct sp_hub *h)
{
    const struct sp_large *l = h->group->large;
    if (!h->best || !h->winner || h->todo || sp_place_precedes(&l->decided, h))
        return false;
    return h->winner == h || (still_holds(l, h) && is_first(l, h));
}

bool sp_cover_loses(const struct sp_hub *h)
{
    return h->best && h->winner && h->winner != h && !h->todo && still_holds(h->group->large, h);
}

bool sp_cover_decide(struct sp_group_stage *st, struct sp_hub *h)
{
    struct sp_large *l = h->group->large;
    if (sp_cover_is_decided(h) || st->err ||
        (h->winner && h->winner->best && st->options.canary == SP_CANARY_STALE_COVER))
        return true;
    if (sp_place_precedes(&l->decided, h))
        return decide_behind(st, l, h);
    decide_one(st, l, h, false);
    return true;
}

bool sp_cover_decide_all(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_large *l = g->large;
    if (!l->decided.set)
        return true;
    struct sp_shelf_place place = sp_place_after(&l->ranks, &l->decided);
    struct ahead ahead = {.place = place};
    uint32_t walked = 0;
    for (struct sp_hub *h; !st->err && (h = sp_shelf_next(&l->ranks, &place));) {
        keep_ahead(l, &ahead, walked++);
        if (!may_go_on(l))
            return false;
        decide_one(st, l, h, true);
        l->decided = sp_place_of(h);
    }
    l->decided.set = st->err;
    return true;
}

/* ---- all of it */

/* The next hub to decide in this step, in the order of ranks; NULL: none. `at`: the next of
 * todo. */
static struct sp_hub *next_hub(struct sp_large *l, uint32_t *at, bool *ret_todo)
{
    struct sp_shelf_place place = sp_shelf_first(&l->open);
    struct sp_hub *open = sp_shelf_next(&l->open, &place);
    struct sp_hub *todo = *at < l->todo.count ? l->todo.hubs[*at] : NULL;
    *ret_todo = todo && (!open || sp_hub_before(todo, open));
    if (*ret_todo)
        (*at)++;
    else if (open)
        close_one(l, open);
    return *ret_todo ? todo : open;
}

void sp_cover_update(struct sp_group_stage *st, struct sp_group *g)
{
    enum { EACH = 4, MOST = 1024 };
    struct sp_large *l = g->large;
    uint32_t at = 0;
    bool todo;
    l->may_decide = l->may_read = sp_group_rows_at_once(st);
    sp_hub_list_drop_gone(&l->todo);
    l->paid = sp_min_u32(l->paid, MOST - EACH) + EACH * (l->todo.count ? l->todo.count : 1);
    if (l->todo.count)
        qsort(l->todo.hubs, l->todo.count, sizeof *l->todo.hubs, sp_hub_by_rank);
    for (struct sp_hub *h; !st->err && (h = next_hub(l, &at, &todo));) {
        if ((todo || !sp_place_precedes(&l->decided, h)) && !sp_cover_decide(st, h))
            h->todo = false; /* it is behind what is decided */
        if (todo && wins(h))
            move_up(&l->changed, h);
    }
}

void sp_cover_end_step(struct sp_group *g)
{
    struct sp_large *l = g->large;
    l->todo.count = 0;
    l->changed.set = false;
    sp_winning_trim(l);
}
