/* Who wins in a large group? The cover of verdicts.c, by content: hubs in the order of the ranks of
 * their best members; a hub wins unless it is similar to one that wins before it, and its best
 * member is then the winner of all its members.
 *
 * Hubs are decided in that order, and only as far as somebody asks. When a winner comes or goes,
 * all hubs behind it are undecided again. One of them is asked about when one of its members is to
 * be told its status: if a winner in the decided part covers it, that is its winner, whatever
 * becomes of the hubs between them. Only otherwise those are decided first. Most hubs are held
 * against new winners only: each knows up to which winner it has been judged. What a hub is told
 * when depends on the members and on what they were told before, and not on which hubs are decided:
 * that is lost when the group is read again. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "group/large.h"
#include "group/untold.h"

void sp_cover_judge_later(struct sp_large *l, struct sp_hub *h)
{
    sp_hub_follow(h, NULL);
    if (h->todo)
        return;
    h->todo = true;
    sp_hub_list_add(&l->todo, h);
}

/* ---- places in the order of ranks */

static bool is_behind(const struct sp_rank_place *p, const struct sp_hub *h)
{
    return p->set && sp_rank_cmp(&p->rank, p->page, &h->rank, h->page) < 0;
}

static void put_at(struct sp_rank_place *p, const struct sp_hub *h)
{
    *p = (struct sp_rank_place){true, h->rank, h->page};
}

static void move_up(struct sp_rank_place *p, const struct sp_hub *h)
{
    if (!p->set || sp_rank_cmp(&h->rank, h->page, &p->rank, p->page) < 0)
        put_at(p, h);
}

static bool before(const struct sp_hub *a, const struct sp_hub *b)
{
    return sp_rank_cmp(&a->rank, a->page, &b->rank, b->page) < 0;
}

/* The hubs behind it, in order. */
static struct sp_shelf_place first_behind(const struct sp_large *l, const struct sp_rank_place *p)
{
    const struct sp_member at = {.rank = p->rank, .page = p->page};
    struct sp_shelf_place place = sp_shelf_find(&l->ranks, sp_hub_order, &at, 0), next = place;
    struct sp_hub *h = sp_shelf_next(&l->ranks, &next);
    return h && !is_behind(p, h) ? next : place;
}

/* ---- the list of winners */

/* So it was when it was decided last. */
static bool wins(const struct sp_hub *h)
{
    return h->best && h->winner == h;
}

static void crown(struct sp_large *l, struct sp_hub *h)
{
    sp_hub_follow(h, h);
    h->similarity = 0;
    h->won = ++l->wins;
    sp_shelf_add(&l->winners, sp_hub_order, h->best, 0, h);
    sp_hub_list_add(&l->recent, h);
}

static void depose(struct sp_large *l, struct sp_hub *h)
{
    sp_shelf_remove(&l->winners, sp_hub_order, h->best, 0);
    sp_hub_follow(h, NULL);
    move_up(&l->decided, h);
}

/* Whether others may have been told that m wins, or during a round may have found that they need
 * not be told. */
static bool may_be_known_to_win(const struct sp_group *g, const struct sp_member *m)
{
    bool round = g->untold && g->large->stage->options.canary != SP_CANARY_QUIET_LEAVE;
    return round || m->said_epoch != m->epoch || m->said_status == SP_STATUS_WINNER ||
           m->said_status == SP_STATUS_UNIQUE;
}

void sp_cover_leave(struct sp_group *g, struct sp_hub *h)
{
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
    l->decided = (struct sp_rank_place){.set = true, .rank = {.popularity = (double)INFINITY}};
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

/* The search for the winner of a hub. */
struct search {
    struct sp_group_stage *st;
    struct sp_large *l;
    struct sp_hub *hub;
    bool full; /* no winner can be passed over because the hub was held against it before */
    bool probed;
    struct sp_touches touches; /* if probed: no other star has what covers the hub */
    struct sp_hub *winner;
    double similarity;
};

static bool is_touched(const struct search *s, const struct sp_hub *w)
{
    uint32_t star = sp_stars_pivot(s->l->stars, w->row);
    for (size_t i = 0; i < s->touches.count; i++)
        if (s->touches.items[i].row == w->row || s->touches.items[i].pivot == star)
            return true;
    return false;
}

/* Whether w, a winner ranked before it, covers the hub; then it is the winner, until another is. */
static bool try_winner(struct search *s, struct sp_hub *w)
{
    double similarity;
    if (s->probed && !is_touched(s, w))
        return false;
    const struct sp_signature *x = sp_hub_signature(s->st, w), *y = sp_hub_signature(s->st, s->hub);
    s->st->stats.compared++;
    if (!x || !y || !sp_similar(&s->st->options.similarity, x, y, &similarity))
        return false;
    s->winner = w;
    s->similarity = similarity;
    return true;
}

/* Where there are many winners, the index says which stars can have one that covers the hub. */
static void probe(struct search *s)
{
    enum { FEW = 8 };
    struct sp_touches touches = {NULL, 0};
    const struct sp_signature *signature = sp_hub_signature(s->st, s->hub);
    if (s->l->winners.count <= FEW || !signature)
        return;
    enum sp_err err = sp_stars_probe(s->l->domain, signature, s->hub->row, &touches);
    if (err != SP_OK) {
        sp_group_stage_note(s->st, err);
        return;
    }
    s->probed = true; /* others are searched for before this one is found */
    s->touches.count = touches.count;
    s->touches.items = sp_memdup(touches.items, touches.count * sizeof *touches.items);
}

/* The first decided winner ranked before the hub that covers it. */
static void try_all(struct search *s)
{
    struct sp_shelf_place place = sp_shelf_first(&s->l->winners);
    for (struct sp_hub *w; !s->st->err && (w = sp_shelf_next(&s->l->winners, &place)) &&
                           before(w, s->hub) && !is_behind(&s->l->decided, w);)
        if (try_winner(s, w))
            return;
}

/* The first of those crowned since it was judged, ranked before the one that it has. */
static void try_newer(struct search *s)
{
    const struct sp_large *l = s->l;
    struct sp_hub *h = s->hub;
    if (h->winner != h) {
        s->winner = h->winner;
        s->similarity = h->similarity;
    }
    for (uint64_t n = h->judged; n < l->wins && !s->st->err; n++) {
        struct sp_hub *w = l->recent.hubs[n - l->recent_from];
        bool current = w && w != h && wins(w) && w->won == n + 1;
        if (current && before(w, s->winner ? s->winner : h) && !is_behind(&l->decided, w))
            try_winner(s, w);
    }
}

/* Whether the winner of h wins as it did when h was judged, and is ranked before it. */
static bool still_holds(const struct sp_large *l, const struct sp_hub *h)
{
    const struct sp_hub *w = h->winner;
    return wins(w) && w->won <= h->judged && before(w, h) && !is_behind(&l->decided, w);
}

static void search_decided(struct search *s)
{
    const struct sp_large *l = s->l;
    const struct sp_hub *h = s->hub;
    s->full = !h->winner || (h->winner != h && !still_holds(l, h)) || h->judged < l->recent_from ||
              l->wins - h->judged > l->winners.count;
    if (s->full)
        probe(s);
    if (s->st->err)
        return;
    if (s->full)
        try_all(s);
    else
        try_newer(s);
}

/* What was found is so. */
static void take(struct search *s)
{
    struct sp_large *l = s->l;
    struct sp_hub *h = s->hub;
    sp_free((void *)s->touches.items);
    if (s->st->err)
        return;
    if (s->winner) {
        if (h->winner == h)
            depose(l, h);
        sp_hub_follow(h, s->winner);
        h->similarity = (float)s->similarity;
    } else if (h->winner != h) {
        crown(l, h);
        move_up(&l->decided, h);
    }
    h->judged = l->wins;
    h->todo = false;
}

/* All before it are decided. */
static void decide_next(struct sp_group_stage *st, struct sp_large *l, struct sp_hub *h)
{
    struct search s = {.st = st, .l = l, .hub = h};
    search_decided(&s);
    take(&s);
}

static void decide_behind(struct sp_group_stage *st, struct sp_large *l, struct sp_hub *h)
{
    struct search s = {.st = st, .l = l, .hub = h};
    search_decided(&s);
    struct sp_shelf_place place = first_behind(l, &l->decided);
    for (struct sp_hub *x; !s.winner && !st->err && (x = sp_shelf_next(&l->ranks, &place));) {
        if (x != h)
            decide_next(st, l, x);
        if (st->err)
            break;
        put_at(&l->decided, x);
        if (x == h)
            break;
        if (wins(x) && (s.full || x->won > h->judged))
            try_winner(&s, x);
    }
    take(&s);
}

bool sp_cover_is_decided(const struct sp_hub *h)
{
    return h->best && h->winner && !h->todo && !is_behind(&h->group->large->decided, h);
}

void sp_cover_decide(struct sp_group_stage *st, struct sp_hub *h)
{
    struct sp_large *l = h->group->large;
    if (sp_cover_is_decided(h) || st->err ||
        (h->winner && h->winner->best && st->options.canary == SP_CANARY_STALE_COVER))
        return;
    if (is_behind(&l->decided, h))
        decide_behind(st, l, h);
    else
        decide_next(st, l, h);
}

void sp_cover_decide_all(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_large *l = g->large;
    if (!l->decided.set)
        return;
    struct sp_shelf_place place = first_behind(l, &l->decided);
    for (struct sp_hub *h; !st->err && (h = sp_shelf_next(&l->ranks, &place));) {
        decide_next(st, l, h);
        put_at(&l->decided, h);
    }
    l->decided.set = st->err;
}

/* ---- whom a step tells */

enum { AT_ONCE = 2 };

/* Those who do not know their status, besides the members that have changed. */
struct unaware {
    struct sp_member *losers[AT_ONCE]; /* that were losers before */
    uint32_t loser_count;
    bool more;
};

static void tell(struct sp_large *l, struct sp_member *m, struct unaware *u)
{
    if (l->at_once) {
        l->at_once--;
        sp_group_cover_touch(m->hub->group, m);
    } else {
        u->more = true;
    }
}

static void find(struct sp_large *l, struct sp_member *m, struct unaware *u)
{
    bool won = m->said_status == SP_STATUS_WINNER || m->said_status == SP_STATUS_UNIQUE;
    if (won || (m->hub->winner == m->hub && m->hub->best == m))
        tell(l, m, u);
    else if (u->loser_count < AT_ONCE)
        u->losers[u->loser_count++] = m;
    else
        u->more = true;
}

/* Of the members that knew their status before this step, all know it, or the first two do not: the
 * one that won, and one of the others. */
static void find_holders(struct sp_group_stage *st, struct sp_hub *h, struct unaware *u)
{
    enum { KINDS = 2 };
    uint32_t looked = 0, seen = 0;
    bool aware = true;
    struct sp_shelf_place place = sp_hub_first(h);
    sp_cover_decide(st, h);
    for (struct sp_member *m; !st->err && looked < KINDS && (m = sp_hub_next(h, &place)); seen++) {
        if (m->touched)
            continue;
        looked++;
        if (sp_group_is_told(h->group, m))
            continue;
        aware = false;
        find(h->group->large, m, u);
    }
    u->more |= !aware && seen < h->holders;
}

/* Looks at the hubs that come next behind the first change: one that has won until now, or does
 * now, is most often there. */
static void find_behind(struct sp_group_stage *st, struct sp_large *l, struct unaware *u)
{
    enum { NEXT = 8 };
    struct sp_shelf_place place = first_behind(l, &l->changed);
    struct sp_hub *h;
    for (uint32_t looked = 0; !st->err && (h = sp_shelf_next(&l->ranks, &place)); looked++) {
        if (looked == NEXT) {
            u->more = true;
            return;
        }
        find_holders(st, h, u);
    }
}

/* Tells those who win or have won until now. The others as well where they are few; otherwise they
 * are told in a round. A round that is under way begins again whatever has changed: it has told
 * some what has become of them in between. */
static void tell_unaware(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_large *l = g->large;
    struct unaware u = {.loser_count = 0};
    for (uint32_t i = 0; i < l->todo.count && !st->err; i++)
        find_holders(st, l->todo.hubs[i], &u);
    if (l->changed.set)
        find_behind(st, l, &u);
    u.more |= u.loser_count > l->at_once;
    for (uint32_t i = 0; i < u.loser_count && !u.more; i++)
        tell(l, u.losers[i], &u);
    if (u.more || (l->changed.set && g->untold))
        sp_untold_begin(st, g);
}

/* ---- all of it */

static int by_rank(const void *a, const void *b)
{
    const struct sp_hub *x = *(struct sp_hub *const *)a, *y = *(struct sp_hub *const *)b;
    return sp_rank_cmp(&x->rank, x->page, &y->rank, y->page);
}

void sp_cover_update(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_large *l = g->large;
    struct sp_hub_list *todo = &l->todo;
    l->at_once = st->options.only_rounds ? 0 : AT_ONCE;
    sp_hub_list_drop_gone(todo);
    if (todo->count)
        qsort(todo->hubs, todo->count, sizeof *todo->hubs, by_rank);
    for (uint32_t i = 0; i < todo->count && !st->err; i++) {
        sp_cover_decide(st, todo->hubs[i]);
        if (wins(todo->hubs[i]))
            move_up(&l->changed, todo->hubs[i]);
    }
    tell_unaware(st, g);
    todo->count = 0;
    l->changed.set = false;
    trim_recent(l);
}
