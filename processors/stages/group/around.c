/* The piece of a changed page, while larger pieces of its group wait to leave (debt.h).
 *
 * While they wait, the index is not settled, because that takes a step for each row of the stars
 * that have lost their pivot, and a page that comes and goes would pay for it each time. So stars
 * say less, and bonds may be missing: each row that is found is probed, and if it is a member of a
 * headless star, it is taken out of it, so that a probe finds what it concealed. If more members
 * are found than may leave in one step, the search ends: so it costs a bounded number of probes,
 * and its result does not depend on the state of the index.
 *
 * If many hubs are not in the index at all, a page with a text leaves alone. Tier 2 reports what
 * its new text resembles, so it returns if that is in its group. */
#include "base/mem.h"
#include "group/large.h"

struct around {
    struct sp_group_stage *st;
    struct sp_group *g;
    struct sp_hub_list found;
    uint32_t revealed; /* so many of those; none of them is a member of a headless star */
    uint32_t members;  /* of those; more than `most`: the piece is too large */
    uint32_t most;
};

static bool goes_on(const struct around *a)
{
    return a->members <= a->most && !a->st->err;
}

static void note(struct around *a, struct sp_hub *h)
{
    struct sp_shelf_place place = {0, 0};
    if (!goes_on(a) || h->label)
        return;
    h->label = 1;
    sp_hub_list_add(&a->found, h);
    for (struct sp_member *m; goes_on(a) && (m = sp_hub_next(h, &place));)
        a->members += sp_large_size_behind(m);
}

static void note_row(struct around *a, uint32_t row)
{
    a->st->stats.searched++;
    note(a, sp_hub_at(a->g->large, row));
}

/* The members of the row's star, until they are too many. */
static void note_star(struct around *a, uint32_t row)
{
    enum { ROWS = 8 };
    struct sp_stars_place place = {0};
    uint32_t rows[ROWS], count = ROWS;
    while (count == ROWS && goes_on(a)) {
        count = sp_stars_next_members(a->g->large->stars, row, &place, ROWS, rows);
        for (uint32_t i = 0; i < count; i++)
            note_row(a, rows[i]);
    }
}

static bool is_concealed(const struct around *a, const struct sp_hub *h)
{
    return sp_stars_ghost(a->g->large->stars, h->row) != SP_STARS_NONE;
}

/* Takes the hub out of its headless star. If a child of the star adopts it again, that one is taken
 * out as well. */
static void reveal(struct around *a, struct sp_hub *h)
{
    const struct sp_large *l = a->g->large;
    while (goes_on(a) && is_concealed(a, h)) {
        uint32_t adopter = sp_stars_anchor(l->stars, h->row);
        if (adopter == SP_STARS_NONE) {
            sp_bonds_replace(a->st, h);
            continue;
        }
        note_row(a, adopter);
        sp_bonds_replace(a->st, sp_hub_at(l, adopter));
    }
}

/* Whether the hub has the content of the ghost of the other one's star: then it resembles all
 * children of that star. */
static bool has_come_back(const struct around *a, const struct sp_hub *h, uint32_t row)
{
    const struct sp_large *l = a->g->large;
    uint32_t ghost = sp_stars_ghost(l->stars, row);
    return ghost != SP_STARS_NONE && sp_id_eq(sp_hub_at(l, ghost)->content, h->content);
}

/* Whether there was something to reveal. */
static bool reveal_all(struct around *a)
{
    bool concealed = false;
    for (; a->revealed < a->found.count && goes_on(a); a->revealed++) {
        struct sp_hub *h = a->found.hubs[a->revealed];
        concealed |= is_concealed(a, h);
        reveal(a, h);
    }
    return concealed;
}

/* Notes a row of each star that the hub touches. */
static void touch(struct around *a, struct sp_hub *h)
{
    struct sp_touches touches;
    sp_hub_probe(a->st, h, &touches);
    for (size_t i = 0; i < touches.count && goes_on(a); i++)
        if (has_come_back(a, h, touches.items[i].row))
            note_star(a, touches.items[i].row);
        else
            note_row(a, touches.items[i].row);
}

static void look_around(struct around *a, struct sp_hub *h)
{
    note(a, h);
    reveal_all(a);
    for (uint32_t next = 0; next < a->found.count && goes_on(a); next++) {
        h = a->found.hubs[next];
        do
            touch(a, h);
        while (reveal_all(a));
        note_star(a, h->row);
        reveal_all(a);
    }
    for (uint32_t i = 0; i < a->found.count; i++)
        a->found.hubs[i]->label = 0;
}

/* Appends the members of what was found, unless they are too many. */
static void collect(struct around *a, struct sp_member_list *list)
{
    for (uint32_t i = 0; goes_on(a) && i < a->found.count; i++) {
        struct sp_shelf_place place = {0, 0};
        for (struct sp_member *m; (m = sp_hub_next(a->found.hubs[i], &place));)
            sp_large_behind(a->g, m, list);
    }
}

void sp_large_part_around(struct sp_group_stage *st, struct sp_group *g, struct sp_id changed)
{
    struct around a = {.st = st, .g = g, .most = sp_large_at_once(st)};
    struct sp_member_list leaving = {0};
    struct sp_member *m = sp_large_find(g, changed), *end = m ? sp_large_end(m) : NULL;
    sp_hubs_index(st, g);
    if (st->err || !end)
        return;
    bool many = sp_hubs_are_many(g->large);
    if (end->hub && !many) {
        look_around(&a, end->hub);
        collect(&a, &leaving);
    } else if ((end == m || !end->hub) && sp_large_leaves_at_once(st, end)) {
        sp_large_behind(g, end, &leaving);
    }
    sp_large_part_list(st, g, &leaving);
    sp_free(a.found.hubs);
}
