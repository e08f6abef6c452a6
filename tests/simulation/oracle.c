/* The oracle computes the groups and statuses of a crawl from scratch, by definition. It shares
 * only F, the rank of a URL, the class of a popularity and the evaluation of a relation with the
 * stages. */
#include <stdio.h>

#include "base/mem.h"
#include "world.h"

const char *sim_url(uint32_t page)
{
    static char urls[MAX_PAGES][64];
    if (urls[page][0])
        return urls[page];
    /* Lengths and queries differ, so that every part of the rank counts. */
    snprintf(urls[page], sizeof urls[page], "http://site/%.*s%u%s", (int)(page % 4), "aaaa", page,
             page % 5 == 4 ? "?q" : "");
    return urls[page];
}

struct sp_id sim_page_id(uint32_t page)
{
    static struct sp_id ids[MAX_PAGES];
    if (sp_id_is_zero(ids[page]))
        ids[page] = sp_hash128(sim_url(page), strlen(sim_url(page)));
    return ids[page];
}

static uint32_t find(const uint32_t *set, uint32_t x)
{
    while (set[x] != x)
        x = set[x];
    return x;
}

static void join(uint32_t *set, uint32_t a, uint32_t b)
{
    uint32_t x = find(set, a), y = find(set, b);
    if (x < y)
        set[y] = x;
    else
        set[x] = y;
}

static bool both_content(const struct truth *a, const struct truth *b)
{
    return a->kind == SP_PAGE_CONTENT && b->kind == SP_PAGE_CONTENT;
}

void oracle_components(const struct truth *truth, uint32_t pages,
                       const struct sp_similarity_options *similarity, uint32_t *ret_component)
{
    for (uint32_t i = 0; i < pages; i++)
        ret_component[i] = i;
    for (uint32_t i = 0; i < pages; i++) {
        if (truth[i].kind == SP_PAGE_REDIRECT)
            join(ret_component, i, truth[i].target);
        for (uint32_t k = 0; k < i; k++)
            if (both_content(&truth[i], &truth[k]) &&
                sp_similar(similarity, truth[i].signature, truth[k].signature, NULL))
                join(ret_component, i, k);
    }
    for (uint32_t i = 0; i < pages; i++)
        ret_component[i] = find(ret_component, i);
}

void oracle_print_edges(const struct truth *truth, uint32_t pages,
                        const struct sp_similarity_options *similarity)
{
    for (uint32_t i = 0; i < pages; i++)
        for (uint32_t k = 0; k < i; k++)
            if (both_content(&truth[i], &truth[k]) &&
                sp_similar(similarity, truth[i].signature, truth[k].signature, NULL))
                printf("edge %u (%016llx) - %u (%016llx)\n", k,
                       (unsigned long long)sim_page_id(k).lo, i,
                       (unsigned long long)sim_page_id(i).lo);
}

void oracle_groups(const struct sp_group_id *group, const bool *there, uint32_t pages,
                   uint32_t *ret_group)
{
    for (uint32_t i = 0; i < pages; i++) {
        ret_group[i] = i;
        for (uint32_t k = 0; k < i && there[i] && ret_group[i] == i; k++)
            if (there[k] && sp_group_id_eq(group[i], group[k]))
                ret_group[i] = ret_group[k];
    }
}

/* What the winners of a group depend on. */
struct crawl {
    const struct truth *truth;
    uint32_t pages;
    const struct sp_group_stage_options *rules;
    const struct published *said;
    double *covers; /* for each two pages, as `covered`; < 0: unknown */
};

static struct sp_rank rank_of(const struct crawl *c, uint32_t page)
{
    const enum sp_page_status said = c->said[page].status;
    double popularity =
        sp_popularity_class(c->truth[page].popularity, c->rules->popularity_tolerance);
    if (said == SP_STATUS_WINNER || said == SP_STATUS_UNIQUE)
        popularity += c->rules->winner_margin;
    return sp_rank_of(sp_view_str(sim_url(page)), popularity);
}

static bool outranks(const struct crawl *c, uint32_t a, uint32_t b)
{
    struct sp_rank x = rank_of(c, a), y = rank_of(c, b);
    if (x.popularity != y.popularity)
        return x.popularity > y.popularity;
    if (x.dynamic != y.dynamic)
        return x.dynamic < y.dynamic;
    if (x.url_bytes != y.url_bytes)
        return x.url_bytes < y.url_bytes;
    return sp_id_cmp(sim_page_id(a), sim_page_id(b)) < 0;
}

/* Whether page a may lose to page b, and how similar they are. */
static bool compare(const struct crawl *c, uint32_t a, uint32_t b, double *ret_similarity)
{
    const struct sp_group_stage_options *rules = c->rules;
    const struct truth *truth = c->truth;
    const uint32_t pages[] = {a, b};
    struct sp_winner_facts facts[2];
    if (a == b ||
        !sp_similar(&rules->similarity, truth[b].signature, truth[a].signature, ret_similarity))
        return false;
    if (!rules->winner_relation)
        return true;
    for (int i = 0; i < 2; i++) {
        const struct truth *t = &truth[pages[i]];
        sp_winner_facts_init(&facts[i], rules->winner_relation, sp_view_str(sim_url(pages[i])),
                             t->content_version, t->popularity, t->signature);
    }
    bool holds = sp_winner_relation_holds(rules->winner_relation, &facts[0], &facts[1]);
    sp_winner_facts_done(&facts[0]);
    sp_winner_facts_done(&facts[1]);
    return holds;
}

/* The same. Each two pages are compared once: a relation takes long. */
static bool covered(const struct crawl *c, uint32_t a, uint32_t b, double *ret_similarity)
{
    double *known = &c->covers[a * c->pages + b];
    if (*known < 0 && !compare(c, a, b, known))
        *known = 0;
    *ret_similarity = *known;
    return *known > 0;
}

/* The first winner that covers the page, in order of rank, or -1. */
static int32_t winner_of(const struct crawl *c, const uint32_t *order, uint32_t count,
                         const bool *wins, uint32_t page, double *ret_similarity)
{
    for (uint32_t i = 0; i < count; i++)
        if (wins[order[i]] && covered(c, page, order[i], ret_similarity))
            return (int32_t)order[i];
    return -1;
}

/* Under a relation drops winners, the last first, if other winners cover all pages. */
static void drop_winners(const struct crawl *c, const uint32_t *order, uint32_t count, bool *wins)
{
    double j;
    for (uint32_t i = count; i-- > 0;) {
        if (!wins[order[i]])
            continue;
        wins[order[i]] = false;
        for (uint32_t k = 0; k < count; k++)
            if (!wins[order[k]] && winner_of(c, order, count, wins, order[k], &j) < 0) {
                wins[order[i]] = true;
                break;
            }
    }
}

static void cover(const struct crawl *c, const uint32_t *order, uint32_t count, bool alone,
                  struct published *ret_said)
{
    const struct truth *truth = c->truth;
    bool wins[MAX_PAGES] = {false};
    double j = 0;
    for (uint32_t i = 0; i < count; i++)
        wins[order[i]] = winner_of(c, order, i, wins, order[i], &j) < 0;
    if (c->rules->winner_relation)
        drop_winners(c, order, count, wins);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t p = order[i];
        struct published said = {alone ? SP_STATUS_UNIQUE : SP_STATUS_WINNER,
                                 SP_REASON_NONE,
                                 -1,
                                 0,
                                 truth[p].version,
                                 0,
                                 {0, {0, 0}}};
        if (!wins[p]) {
            int32_t w = winner_of(c, order, count, wins, p, &j);
            bool exact =
                sp_id_eq(truth[w].signature->content_hash, truth[p].signature->content_hash);
            said = (struct published){SP_STATUS_LOSER,
                                      exact ? SP_REASON_EXACT : SP_REASON_CONTENT,
                                      w,
                                      (float)j,
                                      truth[p].version,
                                      0,
                                      {0, {0, 0}}};
        }
        ret_said[p] = said;
    }
}

static void follow_redirect(const struct truth *truth, uint32_t page, uint32_t pages,
                            struct published *ret_said)
{
    uint32_t at = page, hops = 0;
    while (truth[at].kind == SP_PAGE_REDIRECT && hops++ <= pages)
        at = truth[at].target;
    struct published said = {
        .status = SP_STATUS_GONE, .winner = -1, .version = truth[page].version};
    if (truth[at].kind == SP_PAGE_CONTENT) {
        said.status = SP_STATUS_LOSER;
        said.reason = SP_REASON_REDIRECT;
        said.winner = ret_said[at].winner < 0 ? (int32_t)at : ret_said[at].winner;
        said.similarity = ret_said[at].winner < 0 ? 1 : ret_said[at].similarity;
    }
    if (truth[page].kind == SP_PAGE_UNSEEN)
        said.status = SP_STATUS_NONE; /* no status for a page that was never fetched */
    ret_said[page] = said;
}

void oracle_statuses(const struct truth *truth, uint32_t pages, const uint32_t *component,
                     const struct sp_group_stage_options *rules, const struct published *said,
                     struct published *ret_said)
{
    struct crawl crawl = {truth, pages, rules, said, sp_alloc(pages * pages * sizeof(double))};
    for (uint32_t i = 0; i < pages * pages; i++)
        crawl.covers[i] = -1;
    for (uint32_t c = 0; c < pages; c++) {
        uint32_t order[MAX_PAGES], count = 0, size = 0;
        for (uint32_t p = 0; p < pages; p++) {
            if (component[p] != c)
                continue;
            size++;
            if (truth[p].kind != SP_PAGE_CONTENT)
                continue;
            uint32_t at = count++;
            for (; at > 0 && outranks(&crawl, p, order[at - 1]); at--)
                order[at] = order[at - 1];
            order[at] = p;
        }
        cover(&crawl, order, count, size == 1, ret_said);
        for (uint32_t p = 0; p < pages; p++)
            if (component[p] == c && truth[p].kind != SP_PAGE_CONTENT)
                follow_redirect(truth, p, pages, ret_said);
    }
    sp_free(crawl.covers);
}
