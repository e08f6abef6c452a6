/* Checks a world without pending messages against what the oracle computes from scratch. */
#include <stdio.h>
#include <string.h>

#include "state.h"

struct stored {
    struct world *w;
    struct sp_group_id group[MAX_PAGES];
    bool there[MAX_PAGES];
    bool husk[MAX_PAGES]; /* erased, but neither removed nor reset to never fetched */
};

static void note_page(void *arg, const struct sp_page_view *v)
{
    struct stored *s = arg;
    uint32_t page = sim_page_number(s->w, v->page);
    s->there[page] = true;
    s->group[page] = v->group;
    s->husk[page] = v->kind == SP_PAGE_UNSEEN && v->version > 0;
}

static bool same_said(const struct published *a, const struct published *b)
{
    return a->status == b->status && a->reason == b->reason && a->winner == b->winner &&
           a->similarity == b->similarity && a->version == b->version;
}

/* What mode fast guarantees for groups. If every page that differs from its winner causes a
 * re-check, groups are connected. If tier 2 has one cell, no edge is missed either, because a
 * settled page is told what its cell finds. */
static bool groups_hang_together(const struct world *w)
{
    return w->o.mode == SP_MODE_EXACT || w->group.fast_recheck_share == 0;
}

static bool groups_are_components(const struct world *w)
{
    bool one_cell = true;
    for (uint32_t i = 0; i <= w->map; i++)
        one_cell &= w->maps[i].cells == 1;
    return w->o.mode == SP_MODE_EXACT || (groups_hang_together(w) && one_cell);
}

static void check_hanging_together(struct world *w, const uint32_t *group,
                                   const uint32_t *component)
{
    for (uint32_t i = 0; i < w->pages; i++)
        if (component[i] != component[group[i]]) {
            char why[100];
            snprintf(why, sizeof why, "pages %u and %u are in one group, and nothing joins them",
                     group[i], i);
            sim_fail(w, why);
        }
}

/* The status of a kept page has its group, and the group's size within a factor of two. */
static void check_kept(struct world *w, const struct stored *s, const uint32_t *component,
                       uint32_t page)
{
    const struct published *said = &w->said[page];
    uint32_t size = 0;
    if (said->status != SP_STATUS_WINNER && said->status != SP_STATUS_UNIQUE)
        return;
    for (uint32_t i = 0; i < w->pages; i++)
        size += s->there[i] && component[i] == component[page];
    if (size >= 2 * said->group_size || 2 * size <= said->group_size ||
        !sp_group_id_eq(said->group, s->group[page])) {
        char why[100];
        snprintf(why, sizeof why, "page %u: in a group of %u, not %u, or in another", page,
                 said->group_size, size);
        sim_fail(w, why);
    }
}

/* An erasure tells nothing to the pages that redirect to the page. So a redirect that is announced
 * must not hold the URL of its target, unless it loses to it. */
static bool check_row(void *arg, struct sp_view key, struct sp_view value)
{
    struct world *w = arg;
    struct sp_id id;
    memcpy(&id, key.data + 1, sizeof id);
    uint32_t page = sim_page_number(w, id);
    const struct truth *t = &w->truth[page];
    if (t->kind != SP_PAGE_REDIRECT || t->target == page ||
        w->said[page].winner == (int32_t)t->target)
        return true;
    char needle[100]; /* a stored text begins with its length */
    const char *url = sim_url(t->target);
    snprintf(needle, sizeof needle, "%c%s", (char)strlen(url), url);
    if (memmem(value.data, value.len, needle, strlen(needle))) {
        char why[100];
        snprintf(why, sizeof why, "the row of page %u has the URL of page %u", page, t->target);
        sim_fail(w, why);
    }
    return true;
}

void sim_check(struct world *w)
{
    for (uint32_t i = 0; i < w->o.tier1; i++)
        sp_store_scan(sp_db_store(w->processes[i].db, 0), sp_view("P", 1), sp_view(NULL, 0),
                      check_row, w);
    if (w->o.trace)
        oracle_print_edges(w->truth, w->pages, &w->group.similarity);
    struct stored s = {.w = w};
    for (uint32_t i = 0; i < w->o.tier1; i++)
        sp_group_each_page(sp_db_store(w->processes[i].db, 0), note_page, &s);
    uint32_t component[MAX_PAGES], group[MAX_PAGES];
    struct published want[MAX_PAGES];
    char why[200];
    oracle_components(w->truth, w->pages, &w->group.similarity, component);
    oracle_groups(s.group, s.there, w->pages, group);
    if (groups_hang_together(w))
        check_hanging_together(w, group, component);
    if (!groups_are_components(w)) /* statuses must then follow from the stage's own groups */
        memcpy(component, group, sizeof group);
    oracle_statuses(w->truth, w->pages, component, &w->group, w->said, want);
    for (uint32_t i = 0; i < w->pages && w->result.ok; i++) {
        /* The target of a redirect that was soon replaced may be known or not. */
        bool crawled = w->truth[i].version > 0;
        if ((crawled && !s.there[i]) || (s.there[i] && !w->known[i])) {
            snprintf(why, sizeof why, "page %u is %s", i, crawled ? "lost" : "invented");
            sim_fail(w, why);
        }
        if (s.husk[i]) {
            snprintf(why, sizeof why, "page %u: something is left of it", i);
            sim_fail(w, why);
        }
        for (uint32_t k = 0; k < i && s.there[i]; k++)
            if (s.there[k] &&
                sp_group_id_eq(s.group[i], s.group[k]) != (component[i] == component[k])) {
                snprintf(why, sizeof why, "pages %u and %u %s one group", k, i,
                         component[i] == component[k] ? "are not in" : "are in");
                sim_fail(w, why);
            }
        if (!s.there[i] || w->truth[i].kind == SP_PAGE_UNSEEN)
            want[i] = (struct published){.winner = -1};
        if (!same_said(&want[i], &w->said[i])) {
            snprintf(why, sizeof why, "page %u: %s winner %d version %lld, not %s winner %d %lld",
                     i, sp_status_name(w->said[i].status), w->said[i].winner,
                     (long long)w->said[i].version, sp_status_name(want[i].status), want[i].winner,
                     (long long)want[i].version);
            sim_fail(w, why);
        }
        check_kept(w, &s, component, i);
    }
}
