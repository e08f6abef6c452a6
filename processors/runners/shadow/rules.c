/* The rules that the statuses of watched pages must obey, whatever the statuses of other pages are.
 * Each rule follows from the definition of groups and winners (winners/winners.h), and none depends
 * on how the members of a group are linked:
 *
 *   both kept: similar pages are in one group, and each but the first in rank is covered by one
 *   before it, so not both are kept. Not under winner.relation.
 *
 *   alone: a page that resembles another is not `unique`.
 *
 *   apart: similar pages are in one group: that of a kept page is the one in its status, that of a
 *   loser the one in the status of its winner, if the winner is watched.
 *
 *   not similar: a loser by content resembles the winner that it names.
 *
 *   not a winner: the page that a loser names is a winner.
 *
 *   similarity: the status has the right similarity; `exact` if the contents are equal.
 *
 *   outranked: a loser names the first in rank of the kept pages that it resembles. In mode exact,
 *   without winner.margin and winner.relation.
 *
 *   not gone: a page whose server says that it is gone is `gone`.
 *
 * The first three concern pairs that should have been found (missing), the others what was
 * published (wrong). */
#include "shadow/internal.h"
#include "winners/winners.h"

bool sp_shadow_settled(const struct sp_watched *w)
{
    return !w->pending && w->kind != SP_PAGE_UNSEEN && w->said.status != SP_STATUS_NONE &&
           w->said.version == w->version;
}

static bool is_kept(const struct sp_watched *w)
{
    return sp_status_is_kept(w->said.status);
}

static bool is_loser(const struct sp_watched *w)
{
    return w->said.status == SP_STATUS_LOSER;
}

static bool is_ahead(const struct sp_watched *a, const struct sp_watched *b)
{
    return sp_rank_cmp(&a->rank, a->page, &b->rank, b->page) < 0;
}

/* Returns the winner that a loser names, if it is watched and settled. */
static const struct sp_watched *winner_of(const struct sp_shadow *s, const struct sp_watched *w)
{
    const struct sp_watched *winner = sp_map_get(&s->by_page, w->said.winner);
    return winner && sp_shadow_settled(winner) ? winner : NULL;
}

/* Returns false if the page's group is unknown. */
static bool group_of(const struct sp_shadow *s, const struct sp_watched *w,
                     struct sp_group_id *ret_group)
{
    const struct sp_watched *kept = is_loser(w) ? winner_of(s, w) : w;
    if (!kept || !is_kept(kept))
        return false;
    *ret_group = kept->said.group;
    return true;
}

/* Checks a loser `a` that names `b`. */
static enum sp_broken_rule of_winner(const struct sp_shadow *s, const struct sp_watched *a,
                                     const struct sp_watched *b, bool similar, double similarity)
{
    if (!similar)
        return SP_RULE_NOT_SIMILAR;
    if (b->said.status != SP_STATUS_WINNER)
        return SP_RULE_NOT_A_WINNER;
    bool equal = a->content == b->content;
    if (a->said.similarity != (float)similarity || equal != (a->said.reason == SP_REASON_EXACT))
        return SP_RULE_SIMILARITY;
    return s->options.ranked && !is_ahead(b, a) ? SP_RULE_OUTRANKED : SP_RULE_NONE;
}

/* Checks a loser `a` that resembles `b` but names another page. */
static enum sp_broken_rule of_other(const struct sp_shadow *s, const struct sp_watched *a,
                                    const struct sp_watched *b)
{
    const struct sp_watched *winner = winner_of(s, a);
    bool kept = winner && winner->content && is_kept(winner);
    return s->options.ranked && kept && is_kept(b) && is_ahead(b, winner) ? SP_RULE_OUTRANKED
                                                                          : SP_RULE_NONE;
}

static enum sp_broken_rule of_loser(const struct sp_shadow *s, const struct sp_watched *a,
                                    const struct sp_watched *b, bool similar, double similarity)
{
    if (!is_loser(a) || a->said.reason == SP_REASON_REDIRECT)
        return SP_RULE_NONE;
    if (sp_id_eq(a->said.winner, b->page))
        return of_winner(s, a, b, similar, similarity);
    return similar ? of_other(s, a, b) : SP_RULE_NONE;
}

static enum sp_broken_rule of_pair(const struct sp_shadow *s, const struct sp_watched *a,
                                   const struct sp_watched *b)
{
    struct sp_group_id x, y;
    if (is_kept(a) && is_kept(b) && !s->options.related)
        return SP_RULE_BOTH_KEPT;
    if (a->said.status == SP_STATUS_UNIQUE || b->said.status == SP_STATUS_UNIQUE)
        return SP_RULE_ALONE;
    if (group_of(s, a, &x) && group_of(s, b, &y) && !sp_group_id_eq(x, y))
        return SP_RULE_APART;
    return SP_RULE_NONE;
}

enum sp_broken_rule sp_shadow_rule(const struct sp_shadow *s, const struct sp_watched *a,
                                   const struct sp_watched *b, double *ret_similarity)
{
    enum sp_broken_rule rule = SP_RULE_NONE;
    *ret_similarity = 0;
    if (!sp_shadow_settled(a))
        return SP_RULE_NONE;
    if (!b)
        return a->kind == SP_PAGE_DEAD && a->said.status != SP_STATUS_GONE ? SP_RULE_NOT_GONE
                                                                           : SP_RULE_NONE;
    if (!sp_shadow_settled(b) || !a->content || !b->content)
        return SP_RULE_NONE;
    bool similar = sp_similar(&s->options.similarity, a->content->signature, b->content->signature,
                              ret_similarity);
    if (similar)
        rule = of_pair(s, a, b);
    if (rule == SP_RULE_NONE)
        rule = of_loser(s, a, b, similar, *ret_similarity);
    return rule == SP_RULE_NONE ? of_loser(s, b, a, similar, *ret_similarity) : rule;
}

enum sp_shadow_kind sp_shadow_rule_kind(enum sp_broken_rule rule)
{
    return rule <= SP_RULE_APART ? SP_SHADOW_MISSING : SP_SHADOW_WRONG;
}

const char *sp_shadow_rule_text(enum sp_broken_rule rule)
{
    static const char *const texts[] = {
        [SP_RULE_NONE] = "nothing",
        [SP_RULE_BOTH_KEPT] = "near duplicates, and both are kept",
        [SP_RULE_ALONE] = "near duplicates, and one is published as unique",
        [SP_RULE_APART] = "near duplicates in two groups",
        [SP_RULE_NOT_SIMILAR] = "a loser that does not resemble its winner",
        [SP_RULE_NOT_A_WINNER] = "a loser of a page that is no winner",
        [SP_RULE_SIMILARITY] = "a loser with another similarity to its winner than published",
        [SP_RULE_OUTRANKED] = "a loser of a page that ranks behind another one it resembles",
        [SP_RULE_NOT_GONE] = "a page that is not there, and is not published as gone"};
    return texts[rule];
}
