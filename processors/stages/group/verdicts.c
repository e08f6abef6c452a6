/* Chooses the winners of a group. Members are judged in order of rank: a member that is similar to
 * a winner of higher rank is a loser of the first such winner; any other member is a winner. So
 * every loser resembles its own winner (the verification of Zhu et al., section 5). A user's
 * relation (winner.relation) can restrict which winner a member may lose to; see winners.h.
 *
 * The result depends only on the members, but it is updated incrementally: only members that
 * changed, and members whose winner changed, are judged again, in order of rank. A new winner takes
 * the members of lower rank that it resembles, except those that have a winner of higher rank than
 * its own. If such a member was itself a winner, its losers are judged again too. */
#include <stdlib.h>

#include "base/mem.h"
#include "group/members.h"

/* ---- rank ---- */

/* A winner, and a page that was one before it changed, gets `margin` more popularity. It has that
 * as soon as it wins, so that of the winners that cover a page it loses to the first by rank.
 * Negative if a comes before b. */
static int rank_cmp(const struct sp_member *a, const struct sp_member *b, double margin)
{
    struct sp_rank x = a->rank, y = b->rank;
    x.popularity += a->incumbent ? margin : 0;
    y.popularity += b->incumbent ? margin : 0;
    return sp_rank_cmp(&x, a->page, &y, b->page);
}

/* ---- the list of winners, by rank ---- */

static uint32_t winner_place(const struct sp_group *g, const struct sp_member *m, double margin)
{
    uint32_t lo = 0, hi = g->winner_count;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (rank_cmp(g->winners[mid], m, margin) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void winner_insert(struct sp_group *g, struct sp_member *m, double margin)
{
    m->incumbent = true;
    uint32_t at = winner_place(g, m, margin);
    sp_grow(&g->winners, &g->winner_cap, g->winner_count + 1);
    memmove(g->winners + at + 1, g->winners + at, (g->winner_count - at) * sizeof *g->winners);
    g->winners[at] = m;
    g->winner_count++;
}

static void winner_remove(struct sp_group *g, struct sp_member *m)
{
    for (uint32_t i = 0; i < g->winner_count; i++)
        if (g->winners[i] == m) {
            g->winner_count--;
            memmove(g->winners + i, g->winners + i + 1, (g->winner_count - i) * sizeof *g->winners);
            return;
        }
}

void sp_group_cover_restore_winner(struct sp_group_stage *st, struct sp_group *g,
                                   struct sp_member *m)
{
    winner_insert(g, m, st->options.winner_margin);
}

/* ---- what must be judged again ---- */

void sp_group_cover_touch(struct sp_group *g, struct sp_member *m)
{
    if (m->touched)
        return;
    m->touched = true;
    sp_grow(&g->touched, &g->touched_cap, g->touched_count + 1);
    m->touched_at = g->touched_count;
    g->touched[g->touched_count++] = m;
}

void sp_group_cover_judge_later(struct sp_group *g, struct sp_member *m)
{
    m->todo = !g->large;
    sp_group_cover_touch(g, m);
}

void sp_group_cover_untouch(struct sp_group *g, struct sp_member *m)
{
    if (!m->touched)
        return;
    struct sp_member *last = g->touched[--g->touched_count];
    g->touched[m->touched_at] = last;
    last->touched_at = m->touched_at;
    m->touched = false;
}

void sp_group_cover_forget(struct sp_group *g, struct sp_member *m)
{
    if (m->winner == m) {
        winner_remove(g, m);
        for (uint32_t i = 0; i < g->count; i++) {
            struct sp_member *x = g->members[i];
            if (x->winner == m && x != m) {
                x->winner = NULL;
                sp_group_cover_judge_later(g, x);
            }
        }
    }
    m->winner = NULL;
}

void sp_group_cover_forget_pieces(struct sp_group *g)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->winner_count; i++)
        if (g->winners[i]->mark == 0)
            g->winners[kept++] = g->winners[i];
    g->winner_count = kept;
    for (uint32_t i = 0; i < g->count; i++) {
        struct sp_member *m = g->members[i];
        if (m->mark == 0 && m->winner && m->winner->mark != 0) {
            m->winner = NULL;
            sp_group_cover_judge_later(g, m);
        }
    }
}

/* ---- who may lose to whom ---- */

/* Compares one member with many; keeps what the relation needs to know of it. */
struct judge {
    struct sp_group_stage *st;
    struct sp_group *g;
    const struct sp_relation *relation; /* winner.relation, or NULL */
    struct sp_member *held;             /* the one */
    bool known;                         /* its facts are */
    struct sp_winner_facts facts;
};

/* False: the store failed. */
static bool find_facts(struct sp_group_stage *st, struct sp_group *g, struct sp_member *m,
                       struct sp_winner_facts *ret_facts)
{
    const struct sp_signature *s = sp_member_signature(st, g, m);
    if (s)
        sp_winner_facts_init(ret_facts, st->options.winner_relation, sp_view_str(m->url),
                             m->content_version, m->rank.popularity, s);
    return s != NULL;
}

static void hold(struct judge *j, struct sp_member *m)
{
    if (j->known)
        sp_winner_facts_done(&j->facts);
    j->held = m;
    j->known = m && j->relation && find_facts(j->st, j->g, m, &j->facts);
}

/* Whether a symmetric relation holds for the held member and this one. */
static bool are_related(struct judge *j, struct sp_member *m)
{
    struct sp_winner_facts facts;
    if (!j->known || !find_facts(j->st, j->g, m, &facts))
        return false;
    bool holds = sp_winner_relation_holds(j->relation, &j->facts, &facts);
    sp_winner_facts_done(&facts);
    return holds;
}

/* Whether the held member and m cover each other. */
static bool is_covered(struct judge *j, struct sp_member *m, double *ret_similarity)
{
    bool cheap = j->relation && !sp_winner_relation_measures(j->relation);
    return (!cheap || are_related(j, m)) &&
           sp_member_similar(j->st, j->g, j->held, m, ret_similarity) &&
           (cheap || !j->relation || are_related(j, m));
}

/* ---- the cover ---- */

struct worklist {
    struct sp_member **members; /* by rank */
    uint32_t count;
    uint32_t cap;
    double margin;
};

static int by_rank(const void *a, const void *b, void *margin)
{
    return rank_cmp(*(struct sp_member *const *)a, *(struct sp_member *const *)b,
                    *(const double *)margin);
}

static void work_sort(struct worklist *w, uint32_t from)
{
    qsort_r(w->members + from, w->count - from, sizeof *w->members, by_rank, &w->margin);
}

static void work_add(struct worklist *w, struct sp_member *m)
{
    sp_grow(&w->members, &w->cap, w->count + 1);
    w->members[w->count++] = m;
}

/* The first winner ranked before the held member that covers it, or NULL. */
static struct sp_member *find_winner(struct judge *j, double *ret_similarity)
{
    for (uint32_t i = 0; i < j->g->winner_count && !j->st->err; i++) {
        struct sp_member *w = j->g->winners[i];
        if (rank_cmp(w, j->held, j->st->options.winner_margin) > 0)
            return NULL;
        if (is_covered(j, w, ret_similarity))
            return w;
    }
    return NULL;
}

static void lose(struct sp_member *m, struct sp_member *winner, double similarity)
{
    m->winner = winner;
    m->similarity = (float)similarity;
    m->incumbent = false;
}

/* The losers of a former winner must be judged again. */
static void release_losers(struct sp_group *g, struct sp_member *former, struct worklist *work)
{
    for (uint32_t i = 0; i < g->count; i++) {
        struct sp_member *m = g->members[i];
        if (m == former || m->winner != former)
            continue;
        m->winner = NULL;
        if (!m->todo) {
            sp_group_cover_judge_later(g, m);
            work_add(work, m);
        }
    }
}

/* y loses to the new winner x. */
static void take_over(struct sp_group_stage *st, struct sp_group *g, struct sp_member *x,
                      struct sp_member *y, double similarity, struct worklist *work)
{
    if (y->winner == y) {
        winner_remove(g, y);
        release_losers(g, y, work);
    }
    lose(y, x, similarity);
    sp_group_cover_touch(g, y);
    sp_member_changed(st, g, y);
}

/* The held member wins. The work before `next` is done; what is added to it comes in order. */
static void become_winner(struct judge *j, struct worklist *work, uint32_t next)
{
    struct sp_group_stage *st = j->st;
    struct sp_group *g = j->g;
    struct sp_member *x = j->held;
    double margin = st->options.winner_margin;
    uint32_t before = work->count;
    x->winner = x;
    x->similarity = 0;
    winner_insert(g, x, margin);
    for (uint32_t i = 0; i < g->count && g->count > 1 && !st->err; i++) {
        struct sp_member *y = g->members[i];
        double similarity;
        if (y == x || y->todo || y->kind != SP_PAGE_CONTENT || rank_cmp(y, x, margin) < 0)
            continue;
        if (y->winner && y->winner != y && rank_cmp(y->winner, x, margin) < 0)
            continue;
        if (is_covered(j, y, &similarity))
            take_over(st, g, x, y, similarity, work);
    }
    if (work->count > before)
        work_sort(work, next);
}

static struct worklist list_work(const struct sp_group_stage *st, struct sp_group *g)
{
    struct worklist work = {.margin = st->options.winner_margin};
    for (uint32_t i = 0; i < g->touched_count; i++) {
        struct sp_member *m = g->touched[i];
        m->todo &= m->kind == SP_PAGE_CONTENT;
        m->incumbent = m->todo ? sp_member_was_kept(m) : m->incumbent;
        if (m->todo)
            work_add(&work, m);
    }
    if (work.count > 1)
        work_sort(&work, 0);
    return work;
}

static void update_cover(struct sp_group_stage *st, struct sp_group *g)
{
    struct worklist work = list_work(st, g);
    struct judge j = {.st = st, .g = g, .relation = st->options.winner_relation};
    for (uint32_t next = 0; next < work.count && !st->err; next++) {
        struct sp_member *m = work.members[next];
        double similarity = 0;
        m->todo = false;
        hold(&j, m);
        struct sp_member *winner = find_winner(&j, &similarity);
        if (winner)
            lose(m, winner, similarity);
        else
            become_winner(&j, &work, next + 1);
        sp_member_changed(st, g, m);
    }
    hold(&j, NULL);
    sp_free(work.members);
}

/* ---- under a relation that is not symmetric ---- */

/* A page can win over one that is ranked before it, so any change may affect all of the cover, and
 * all of it is chosen again: O(members * winners) a step. */
struct candidates {
    struct sp_group_stage *st;
    struct sp_group *g;
    struct sp_member **members; /* with content, by rank */
    struct sp_winner_facts *facts;
};

static bool covers(void *arg, uint32_t loser, uint32_t winner, float *ret_similarity)
{
    const struct candidates *c = arg;
    const struct sp_relation *relation = c->st->options.winner_relation;
    double similarity;
    bool cheap = !sp_winner_relation_measures(relation);
    if (c->st->err ||
        (cheap && !sp_winner_relation_holds(relation, &c->facts[loser], &c->facts[winner])) ||
        !sp_member_similar(c->st, c->g, c->members[winner], c->members[loser], &similarity))
        return false;
    *ret_similarity = (float)similarity;
    return cheap || sp_winner_relation_holds(relation, &c->facts[loser], &c->facts[winner]);
}

static void take_choice(struct sp_group *g, const struct worklist *work, const uint32_t *winner,
                        const float *similarity)
{
    for (uint32_t i = 0; i < work->count; i++) {
        struct sp_member *m = work->members[i];
        m->winner = work->members[winner[i]];
        m->similarity = similarity[i];
        m->todo = false;
        if (m->winner == m)
            winner_insert(g, m, work->margin);
    }
}

static void choose_cover(struct sp_group_stage *st, struct sp_group *g)
{
    struct worklist work = list_work(st, g);
    struct candidates c = {st, g, work.members, sp_calloc(work.count + 1, sizeof *c.facts)};
    uint32_t *winner = sp_alloc((work.count + 1) * sizeof *winner), ready = 0;
    float *similarity = sp_alloc((work.count + 1) * sizeof *similarity);
    while (ready < work.count && !st->err &&
           find_facts(st, g, work.members[ready], &c.facts[ready]))
        ready++;
    if (!st->err)
        sp_winners_choose(work.count, covers, &c, winner, similarity);
    if (!st->err)
        take_choice(g, &work, winner, similarity);
    while (ready > 0)
        sp_winner_facts_done(&c.facts[--ready]);
    sp_free(c.facts);
    sp_free(winner);
    sp_free(similarity);
    sp_free(work.members);
}

static void restart_cover(struct sp_group *g)
{
    g->winner_count = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        g->members[i]->winner = NULL;
        sp_group_cover_judge_later(g, g->members[i]);
    }
}

/* With a symmetric relation no winner is covered by another one, as without a relation. */
void sp_group_cover_update(struct sp_group_stage *st, struct sp_group *g)
{
    const struct sp_relation *relation = st->options.winner_relation;
    if (!relation || relation->symmetric) {
        update_cover(st, g);
        return;
    }
    restart_cover(g);
    choose_cover(st, g);
}
