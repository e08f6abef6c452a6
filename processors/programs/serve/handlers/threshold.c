/* /v1/threshold: what a group would look like with another threshold, from what the state keeps of
 * its pages. */
#include <stdlib.h>

#include "base/json_write.h"
#include "base/mem.h"
#include "base/sets.h"
#include "codec/lines.h"
#include "serve/handler.h"
#include "serve/members.h"
#include "similarity/similarity.h"
#include "winners/winners.h"

enum { TRIED_MAX = 1000 };

struct trial {
    struct sp_serve_thread *t;
    struct sp_members members;
    struct sp_similarity_options options; /* of the state, but with the threshold to be tried */
    const struct sp_relation *relation;   /* or NULL */
    uint32_t *set;                        /* union-find over the members' places */
    uint32_t *winner;                     /* place of the winner; its own if it is a winner */
    float *similarity;
};

static bool similar(const struct trial *x, size_t i, size_t k, float *ret_similarity)
{
    const struct sp_group_member *a = &x->members.list[i], *b = &x->members.list[k];
    double similarity;
    if (!a->signature || !b->signature ||
        !sp_similar(&x->options, a->signature, b->signature, &similarity))
        return false;
    *ret_similarity = (float)similarity;
    return true;
}

static bool covers(void *trial, uint32_t loser, uint32_t winner, float *ret_similarity)
{
    const struct trial *x = trial;
    if (!similar(x, loser, winner, ret_similarity))
        return false;
    const struct sp_group_member *pair[] = {&x->members.list[loser], &x->members.list[winner]};
    struct sp_winner_facts facts[2];
    if (!x->relation)
        return true;
    for (size_t i = 0; i < 2; i++)
        sp_winner_facts_init(&facts[i], x->relation, sp_view_str(pair[i]->view.url),
                             pair[i]->view.content_version, pair[i]->view.rank.popularity,
                             pair[i]->signature);
    bool holds = sp_winner_relation_holds(x->relation, &facts[0], &facts[1]);
    sp_winner_facts_done(&facts[0]);
    sp_winner_facts_done(&facts[1]);
    return holds;
}

static int by_rank(const void *a, const void *b)
{
    const struct sp_member_view *x = &((const struct sp_group_member *)a)->view;
    const struct sp_member_view *y = &((const struct sp_group_member *)b)->view;
    return sp_rank_cmp(&x->rank, x->page, &y->rank, y->page);
}

/* The member to which it redirects, or itself. */
static uint32_t target_of(const struct sp_members *m, uint32_t i)
{
    const struct sp_member_view *v = &m->list[i].view;
    const struct sp_group_member *target =
        v->kind == SP_PAGE_REDIRECT ? sp_members_find(m, v->target) : NULL;
    return target ? (uint32_t)(target - m->list) : i;
}

/* A redirect loses to the winner of the page at the end of its chain; in a loop, to none. */
static void follow_redirects(struct trial *x)
{
    const struct sp_members *m = &x->members;
    uint32_t *target = sp_alloc((m->count + 1) * sizeof *target);
    for (uint32_t i = 0; i < m->count; i++)
        target[i] = target_of(m, i);
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t end = i;
        for (size_t hops = 0; hops < m->count && target[end] != end; hops++)
            end = target[end];
        if (target[i] != i)
            sp_sets_unite(x->set, i, target[i]);
        if (m->list[end].view.kind != SP_PAGE_REDIRECT)
            x->winner[i] = x->winner[end];
    }
    sp_free(target);
}

/* Forms components, and winners within them, as the group stage would. */
static void regroup(struct trial *x)
{
    struct sp_members *m = &x->members;
    float ignored;
    sp_members_order(m, by_rank);
    for (size_t i = 0; i < m->count; i++)
        sp_members_signature(x->t->reader, m, &m->list[i]);
    sp_sets_init(x->set, m->count);
    for (uint32_t i = 0; i < m->count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (sp_sets_root(x->set, i) != sp_sets_root(x->set, k) && similar(x, i, k, &ignored))
                sp_sets_unite(x->set, i, k);
    sp_winners_choose((uint32_t)m->count, covers, x, x->winner, x->similarity);
    follow_redirects(x);
}

static void put_trial_member(struct trial *x, size_t i)
{
    const struct sp_member_view *v = &x->members.list[i].view;
    struct sp_buf *out = &x->t->out;
    bool lost = x->winner[i] != i;
    const struct sp_group_member *was = sp_members_find(&x->members, v->winner);
    bool lost_before = v->status == SP_STATUS_LOSER;
    sp_buf_put_str(out, "{\"url\":");
    sp_json_put_text(out, v->url);
    sp_buf_put_str(out, lost ? ",\"winner_url\":" : ",\"winner_url\":null");
    if (lost)
        sp_json_put_text(out, x->members.list[x->winner[i]].view.url);
    sp_buf_put_str(out, ",\"similarity\":");
    if (lost && v->kind == SP_PAGE_CONTENT)
        sp_json_put_float(out, x->similarity[i]);
    else
        sp_buf_put_str(out, "null");
    sp_buf_put_str(out, ",\"was_winner_url\":");
    sp_json_put_text(out, lost_before && was ? was->view.url : NULL);
    bool same = lost == lost_before && (!lost || (was && was == &x->members.list[x->winner[i]]));
    sp_buf_put_str(out, same ? ",\"changes\":false}" : ",\"changes\":true}");
}

static void put_trial(struct trial *x, double was)
{
    struct sp_buf *out = &x->t->out;
    sp_buf_put_str(out, "{\"group_id\":");
    sp_lines_put_group_id(out, x->members.group);
    sp_buf_put_str(out, ",\"threshold\":");
    sp_json_put_double(out, x->options.threshold);
    sp_buf_put_str(out, ",\"was\":");
    sp_json_put_double(out, was);
    sp_buf_put_str(out, ",\"groups\":[");
    for (uint32_t set = 0, groups = 0; set < x->members.count; set++) {
        if (sp_sets_root(x->set, set) != set)
            continue;
        sp_buf_put_str(out, groups++ ? ",[" : "[");
        for (uint32_t i = set, put = 0; i < x->members.count; i++)
            if (sp_sets_root(x->set, i) == set) {
                if (put++)
                    sp_buf_put_u8(out, ',');
                put_trial_member(x, i);
            }
        sp_buf_put_u8(out, ']');
    }
    sp_buf_put_str(out, "]}\n");
}

static unsigned try_threshold(struct trial *x, double was)
{
    size_t count = x->members.count;
    if (x->members.more || count > TRIED_MAX)
        return sp_respond_error(x->t, MHD_HTTP_CONTENT_TOO_LARGE,
                                "the group has more than %d members: all pairs would be compared",
                                TRIED_MAX);
    x->set = sp_calloc(count, sizeof *x->set);
    x->winner = sp_calloc(count, sizeof *x->winner);
    x->similarity = sp_calloc(count, sizeof *x->similarity);
    regroup(x);
    put_trial(x, was);
    sp_free(x->set);
    sp_free(x->winner);
    sp_free(x->similarity);
    return MHD_HTTP_OK;
}

unsigned sp_handle_threshold(struct sp_serve *s, struct sp_serve_thread *t,
                             const struct sp_query *q)
{
    struct trial x = {
        .t = t, .options = s->options.similarity, .relation = s->options.winner_relation};
    double was = x.options.threshold;
    const char *text = sp_argument(q, "threshold");
    char *end = NULL;
    unsigned refused = sp_argument_page(t, q, "url", &x.members.page);
    if (refused)
        return refused;
    x.options.threshold = text ? strtod(text, &end) : 0;
    if (!text || end == text || *end || !(x.options.threshold > 0 && x.options.threshold <= 1))
        return sp_respond_error(t, MHD_HTTP_BAD_REQUEST,
                                "threshold is a number above 0 and at most 1");
    enum sp_err err = sp_members_read(t->reader, &x.members);
    unsigned status =
        err == SP_OK ? try_threshold(&x, was) : sp_respond_failed(t, err, sp_argument(q, "url"));
    sp_members_done(&x.members);
    return status;
}
