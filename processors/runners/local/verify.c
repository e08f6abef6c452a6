/* Computes components from scratch: those of the distinct contents under F
 * (similarity/connected.h), united where they have a page or a redirect in common. Then computes
 * winners as a cover, by the definition (covered.h). Then compares everything with what the stages
 * stored and published. */
#include "local/verify.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/sets.h"
#include "base/url.h"
#include "local/contained.h"
#include "local/covered.h"
#include "similarity/connected.h"

enum { PRINTED_MAX = 100 };

struct node {
    struct sp_id page; /* key of the map: first */
    struct sp_page_view v;
    char *url;
    char *winner_url;
    struct sp_id said_winner; /* zero: none */
    char *contained_in;
    uint32_t number;
    uint32_t content; /* number of the distinct content; UINT32_MAX: none */
    const struct node *winner;
    double similarity;
    const struct node *end; /* of a redirect that was followed */
    bool followed;
};

struct content {
    struct sp_id hash; /* key of the map: first */
    uint32_t number;
};

struct verify {
    const struct sp_similarity_options *similarity;
    const struct sp_relation *relation; /* or NULL */
    struct node **nodes;
    size_t node_count;
    size_t node_cap;
    struct sp_map by_page;
    struct sp_buf url; /* scratch */
    struct sp_signature **contents;
    size_t content_count;
    size_t content_cap;
    struct sp_map by_content;
    uint32_t *set;           /* union-find over nodes */
    uint32_t *content_nodes; /* any node with that content */
    bool groups_only;
    struct sp_finder *finder;
    uint64_t differences;
    struct sp_connected_stats stats;
};

/* A status names the other page as that page was spelled at the time, so only the page itself can
 * be compared. Zero: none. */
static struct sp_id named_page(struct verify *x, const char *url)
{
    struct sp_id page = {0, 0};
    if (url)
        sp_url_page(sp_view_str(url), &x->url, &page);
    return page;
}

static void note_page(void *arg, const struct sp_page_view *v)
{
    struct verify *x = arg;
    struct node *n = sp_calloc(1, sizeof *n);
    n->page = v->page;
    n->v = *v;
    n->v.url = n->url = sp_strdup(v->url);
    n->v.winner_url = n->winner_url = sp_strdup(v->winner_url);
    n->said_winner = named_page(x, v->winner_url);
    n->v.contained_in = n->contained_in = sp_strdup(v->contained_in);
    n->number = (uint32_t)x->node_count;
    n->content = UINT32_MAX;
    sp_grow(&x->nodes, &x->node_cap, x->node_count + 1);
    x->nodes[x->node_count++] = n;
    sp_map_add(&x->by_page, n);
}

static void note_signature(void *arg, struct sp_signature *s)
{
    struct verify *x = arg;
    sp_grow(&x->contents, &x->content_cap, x->content_count + 1);
    struct content *c = sp_alloc(sizeof *c);
    *c = (struct content){s->content_hash, (uint32_t)x->content_count};
    sp_map_add(&x->by_content, c);
    x->contents[x->content_count++] = sp_signature_ref(s);
}

/* The root of b becomes the root of both. */
static void join_nodes(struct verify *x, uint32_t a, uint32_t b)
{
    x->set[sp_sets_root(x->set, a)] = sp_sets_root(x->set, b);
}

static void differ(struct verify *x, const struct node *n, const char *what)
{
    if (x->differences++ < PRINTED_MAX)
        fprintf(stderr, "verify: %s: %s\n", n->url, what);
}

static enum sp_err join_similar(struct verify *x)
{
    uint32_t *first = sp_alloc((x->content_count + 1) * sizeof *first);
    enum sp_err err = sp_connected(x->similarity, x->contents, x->content_count, first, &x->stats);
    for (size_t i = 0; err == SP_OK && i < x->content_count; i++)
        join_nodes(x, x->content_nodes[i], x->content_nodes[first[i]]);
    sp_free(first);
    return err;
}

/* Equal contents are one node in the join, so their pages are united here. A page without words
 * resembles nothing, not even its equals. */
static enum sp_err find_components(struct verify *x)
{
    x->set = sp_alloc((x->node_count + 1) * sizeof *x->set);
    x->content_nodes = sp_alloc((x->content_count + 1) * sizeof *x->content_nodes);
    memset(x->content_nodes, 0xff, x->content_count * sizeof *x->content_nodes);
    sp_sets_init(x->set, x->node_count);
    for (uint32_t i = 0; i < x->node_count; i++) {
        struct node *n = x->nodes[i];
        if (n->v.kind == SP_PAGE_REDIRECT) {
            const struct node *target = sp_map_get(&x->by_page, n->v.target);
            if (target)
                join_nodes(x, i, target->number);
            else
                differ(x, n, "its redirect's target is not known");
        }
        if (n->v.kind != SP_PAGE_CONTENT)
            continue;
        const struct content *c = sp_map_get(&x->by_content, n->v.content);
        if (!c) {
            differ(x, n, "its signature is not stored");
            continue;
        }
        n->content = c->number;
        if (x->content_nodes[c->number] == UINT32_MAX)
            x->content_nodes[c->number] = i;
        else if (x->contents[c->number]->shingle_total)
            join_nodes(x, i, x->content_nodes[c->number]);
    }
    for (size_t i = 0; i < x->content_count; i++)
        if (x->content_nodes[i] == UINT32_MAX) { /* no page has it, so it is left out of the join */
            sp_signature_unref(x->contents[i]);
            x->contents[i] = x->contents[--x->content_count];
            struct content *moved = sp_map_get(&x->by_content, x->contents[i]->content_hash);
            fprintf(stderr, "verify: a signature is stored that no page has\n");
            x->differences++;
            x->content_nodes[i] = x->content_nodes[x->content_count];
            for (size_t k = 0; k < x->node_count; k++)
                if (x->nodes[k]->content == moved->number)
                    x->nodes[k]->content = (uint32_t)i;
            moved->number = (uint32_t)i--;
        }
    return join_similar(x);
}

static bool outranks(const struct sp_page_view *a, const struct sp_page_view *b)
{
    if (a->rank.popularity != b->rank.popularity)
        return a->rank.popularity > b->rank.popularity;
    if (a->rank.dynamic != b->rank.dynamic)
        return a->rank.dynamic < b->rank.dynamic;
    if (a->rank.url_bytes != b->rank.url_bytes)
        return a->rank.url_bytes < b->rank.url_bytes;
    if (a->rank.unfavoured != b->rank.unfavoured)
        return a->rank.unfavoured < b->rank.unfavoured;
    return sp_id_cmp(a->page, b->page) < 0;
}

static struct verify *sorting; /* qsort has no argument; verify runs in one thread */

static int by_component_and_rank(const void *a, const void *b)
{
    const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;
    uint32_t cx = sp_sets_root(sorting->set, x->number), cy = sp_sets_root(sorting->set, y->number);
    if (cx != cy)
        return cx < cy ? -1 : 1;
    if (x == y)
        return 0;
    return outranks(&x->v, &y->v) ? -1 : 1;
}

/* The page with content to which a redirect leads, or NULL. Each redirect is followed once. */
static const struct node *follow(const struct verify *x, struct node *n)
{
    struct node *end = n;
    while (end && end->v.kind == SP_PAGE_REDIRECT && !end->followed) {
        end->followed = true;
        end = sp_map_get(&x->by_page, end->v.target);
    }
    const struct node *content = NULL;
    if (end && end->v.kind == SP_PAGE_REDIRECT)
        content = end->end; /* NULL in a loop */
    else if (end && end->v.kind == SP_PAGE_CONTENT)
        content = end;
    for (; n != end; n = sp_map_get(&x->by_page, n->v.target))
        n->end = content;
    return content;
}

/* The members of a component that have content, in rank order. */
struct ranked {
    const struct verify *verify;
    struct node **members;
};

static bool allows(void *arg, uint32_t loser, uint32_t winner)
{
    const struct ranked *r = arg;
    const struct verify *x = r->verify;
    const struct node *pair[] = {r->members[loser], r->members[winner]};
    struct sp_winner_facts facts[2];
    for (size_t i = 0; i < 2; i++)
        sp_winner_facts_init(&facts[i], x->relation, sp_view_str(pair[i]->url),
                             pair[i]->v.content_version, pair[i]->v.rank.popularity,
                             x->contents[pair[i]->content]);
    bool allowed = sp_winner_relation_holds(x->relation, &facts[0], &facts[1]);
    sp_winner_facts_done(&facts[0]);
    sp_winner_facts_done(&facts[1]);
    return allowed;
}

static enum sp_err find_winners(struct verify *x, struct node *const *members, size_t count)
{
    struct ranked r = {x, sp_alloc((count + 1) * sizeof *r.members)};
    uint32_t *contents = sp_alloc((count + 1) * sizeof *contents);
    uint32_t *winners = sp_alloc((count + 1) * sizeof *winners), ranked = 0;
    double *similarity = sp_alloc((count + 1) * sizeof *similarity);
    const struct sp_covered_options options = {.similarity = x->similarity,
                                               .signatures = x->contents,
                                               .finder = x->finder,
                                               .allows = x->relation ? allows : NULL,
                                               .arg = &r};
    for (size_t i = 0; i < count; i++)
        if (members[i]->content != UINT32_MAX) {
            r.members[ranked] = members[i];
            contents[ranked++] = members[i]->content;
        }
    enum sp_err err = sp_covered(&options, contents, ranked, winners, similarity, &x->stats);
    for (uint32_t i = 0; err == SP_OK && i < ranked; i++) {
        r.members[i]->winner = r.members[winners[i]];
        r.members[i]->similarity = similarity[i];
    }
    sp_free(r.members);
    sp_free(contents);
    sp_free(winners);
    sp_free(similarity);
    return err;
}

static void check_status(struct verify *x, struct node *n, size_t group_size)
{
    enum sp_page_status want = SP_STATUS_GONE;
    enum sp_reason reason = SP_REASON_NONE;
    const struct node *winner = NULL, *target = n;
    if (n->v.kind == SP_PAGE_UNSEEN)
        want = SP_STATUS_NONE;
    else if (n->v.kind != SP_PAGE_CONTENT)
        target = follow(x, n);
    if (want != SP_STATUS_NONE && target && target->v.kind == SP_PAGE_CONTENT) {
        if (!target->winner)
            return; /* its signature is missing, which was reported */
        bool loser = target != n || target->winner != n;
        want = loser ? SP_STATUS_LOSER : group_size == 1 ? SP_STATUS_UNIQUE : SP_STATUS_WINNER;
        winner = loser ? target->winner : NULL;
        if (loser)
            reason = target != n                             ? SP_REASON_REDIRECT
                     : n->content == target->winner->content ? SP_REASON_EXACT
                                                             : SP_REASON_CONTENT;
    }
    char text[2048];
    bool same_winner =
        winner ? sp_id_eq(winner->page, n->said_winner) : sp_id_is_zero(n->said_winner);
    if (want == n->v.status && same_winner && reason == n->v.reason &&
        (!winner || n->v.similarity == (float)target->similarity))
        return;
    snprintf(text, sizeof text,
             "published %s (winner %s, similarity %.9g), should be %s (winner %s, %.9g)",
             sp_status_name(n->v.status), n->winner_url ? n->winner_url : "none", n->v.similarity,
             sp_status_name(want), winner ? winner->url : "none",
             winner ? target->similarity : 0.0);
    differ(x, n, text);
}

/* Checks that the pages of one component are in one group, and no others are. */
static void check_group(struct verify *x, struct node **members, size_t count,
                        struct sp_map *groups)
{
    for (size_t i = 1; i < count; i++)
        if (!sp_group_id_eq(members[i]->v.group, members[0]->v.group))
            differ(x, members[i], "is in another group than a page it belongs to");
    struct content *g = sp_alloc(sizeof *g);
    struct sp_group_id id = members[0]->v.group;
    g->hash = sp_hash128(&id, sizeof id);
    if (sp_map_get(groups, g->hash)) {
        differ(x, members[0], "is in one group with a page it does not belong to");
        sp_free(g);
        return;
    }
    sp_map_add(groups, g);
}

static enum sp_err compare_all(struct verify *x)
{
    enum sp_err err = SP_OK;
    struct node **order = sp_memdup(x->nodes, x->node_count * sizeof *order);
    struct sp_map groups = {0};
    sorting = x;
    qsort(order, x->node_count, sizeof *order, by_component_and_rank);
    x->finder = sp_finder_new(x->similarity, x->contents, x->content_count);
    for (size_t from = 0, to; from < x->node_count && err == SP_OK; from = to) {
        uint32_t component = sp_sets_root(x->set, order[from]->number);
        for (to = from; to < x->node_count && sp_sets_root(x->set, order[to]->number) == component;)
            to++;
        err = find_winners(x, order + from, to - from);
        check_group(x, order + from, to - from, &groups);
        for (size_t i = from; i < to && !x->groups_only; i++)
            check_status(x, order[i], to - from);
    }
    sp_map_free_objects(&groups);
    sp_finder_free(x->finder);
    sp_free(order);
    return err;
}

static void verify_done(struct verify *x)
{
    for (size_t i = 0; i < x->node_count; i++) {
        sp_free(x->nodes[i]->url);
        sp_free(x->nodes[i]->winner_url);
        sp_free(x->nodes[i]->contained_in);
        sp_free(x->nodes[i]);
    }
    for (size_t i = 0; i < x->content_count; i++)
        sp_signature_unref(x->contents[i]);
    sp_map_free_objects(&x->by_content);
    sp_map_done(&x->by_page);
    sp_buf_done(&x->url);
    sp_free(x->nodes);
    sp_free(x->contents);
    sp_free(x->set);
    sp_free(x->content_nodes);
}

struct kept {
    struct verify *x;
    const struct node **nodes;
};

static void differ_in_container(void *arg, size_t page, const char *what)
{
    const struct kept *kept = arg;
    differ(kept->x, kept->nodes[page], what);
}

/* Checks the containers of the pages that are published as kept; whether they are kept is checked
 * separately. */
static enum sp_err check_containers(struct verify *x, struct sp_db *db,
                                    const struct sp_contain_options *options)
{
    struct kept kept = {x, sp_alloc((x->node_count + 1) * sizeof(struct node *))};
    struct sp_contained_page *pages = sp_alloc((x->node_count + 1) * sizeof *pages);
    size_t count = 0;
    for (size_t i = 0; i < x->node_count; i++) {
        const struct node *n = x->nodes[i];
        struct sp_status_event said = sp_page_view_status(&n->v);
        if (n->content == UINT32_MAX || !sp_status_is_kept(said.status))
            continue;
        kept.nodes[count] = n;
        pages[count++] =
            (struct sp_contained_page){n->url, n->page, named_page(x, said.contained_in),
                                       said.containment, x->contents[n->content]};
    }
    enum sp_err err = sp_contained_check(sp_db_store(db, SP_BUS_STORE_CONTAIN), options, pages,
                                         count, differ_in_container, &kept);
    sp_free(kept.nodes);
    sp_free(pages);
    return err;
}

enum sp_err sp_verify(struct sp_db *db, const struct sp_local_bus_options *rules,
                      uint64_t *ret_differences, struct sp_connected_stats *stats)
{
    struct verify x = {.similarity = &rules->group.similarity,
                       .relation = rules->group.winner_relation,
                       .groups_only = rules->group.winner_margin > 0};
    enum sp_err err = SP_OK;
    for (uint32_t i = 0; i < rules->tier1 && err == SP_OK; i++)
        err =
            sp_group_each_page(sp_db_store(db, (uint16_t)(SP_BUS_STORE_TIER1 + i)), note_page, &x);
    if (err == SP_OK)
        err = sp_contents_each(sp_db_store(db, SP_BUS_STORE_CONTENTS), note_signature, &x);
    if (err == SP_OK)
        err = find_components(&x);
    if (err == SP_OK)
        err = compare_all(&x);
    if (err == SP_OK && rules->contain.threshold > 0)
        err = check_containers(&x, db, &rules->contain);
    if (err == SP_OK)
        *ret_differences = x.differences;
    if (err == SP_OK && stats) {
        stats->compared += x.stats.compared;
        stats->read += x.stats.read;
    }
    verify_done(&x);
    return err;
}
