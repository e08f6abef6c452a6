/* See search.h. */
#include "group/search.h"

#include "base/mem.h"

/* ---- one search ---- */

/* The search that this one was merged into, or itself. */
static uint32_t root_of(struct sp_searches *s, uint32_t at)
{
    while (sp_search_is_merged(s, at)) {
        struct sp_search *next = &s->items[s->items[at].merged_into];
        at = s->items[at].merged_into = next->merged_into; /* halves the path */
    }
    return at;
}

static int turn_order(const void *key, const void *object)
{
    const struct sp_search *k = key, *x = object;
    if (x->cost != k->cost)
        return x->cost < k->cost ? -1 : 1;
    return x < k ? -1 : x > k;
}

static void wait_for_turn(struct sp_searches *s, struct sp_search *x)
{
    if (!sp_search_has_ended(x))
        sp_shelf_add(&s->turns, turn_order, x, x->cost, x);
}

static void wait_no_longer(struct sp_searches *s, struct sp_search *x)
{
    sp_shelf_remove(&s->turns, turn_order, x, x->cost); /* if it is there */
}

static void add_star(struct sp_search *x, struct sp_found_star star)
{
    sp_grow(&x->found, &x->cap, x->count + 1);
    x->found[x->count++] = star;
}

static struct sp_hub *star_of(const struct sp_searches *s, const struct sp_hub *h)
{
    return sp_hub_at(s->g->large, sp_stars_pivot(s->g->large->stars, h->row));
}

/* The search at work has met another one: that of fewer stars is merged into the other. */
static void meet(struct sp_searches *s, uint32_t at_work, uint32_t met)
{
    at_work = root_of(s, at_work);
    met = root_of(s, met);
    if (at_work == met)
        return;
    wait_no_longer(s, &s->items[met]);
    struct sp_search *into = &s->items[at_work], *from = &s->items[met];
    if (into->count < from->count) {
        into = &s->items[met];
        from = &s->items[at_work];
    }
    from->merged_into = into->merged_into;
    /* Each star that is done changes places with the first one that is not. */
    for (uint32_t i = 0; i < from->next; i++) {
        struct sp_found_star star = from->found[i];
        add_star(into, sp_search_has_ended(into) ? star : into->found[into->next]);
        into->found[into->next++] = star;
    }
    for (uint32_t i = from->next; i < from->count; i++)
        add_star(into, from->found[i]);
    into->cost += from->cost;
    sp_free(from->found);
    from->found = NULL;
    from->count = from->cap = from->next = 0;
}

/* The search at work has come to h. */
static void reach(struct sp_searches *s, const struct sp_hub *h)
{
    struct sp_hub *star = star_of(s, h);
    if (star->label) {
        meet(s, s->at, star->label - 1);
        return;
    }
    star->label = s->at + 1;
    add_star(&s->items[root_of(s, s->at)], (struct sp_found_star){.pivot = star});
}

static void go_on_from(struct sp_searches *s, const struct sp_hub *h)
{
    s->st->stats.searched++;
    for (const struct sp_bond *b = h->out; b; b = b->next_out)
        reach(s, b->to);
    for (const struct sp_bond *b = h->in; b; b = b->next_in)
        reach(s, b->from);
}

/* Begins a search from the star of the hub, unless one has been there. */
static void begin(struct sp_searches *s, const struct sp_hub *h)
{
    struct sp_hub *star = star_of(s, h);
    if (star->label)
        return;
    sp_grow(&s->items, &s->cap, s->count + 1);
    s->items[s->count] = (struct sp_search){.merged_into = s->count};
    star->label = ++s->count;
    add_star(&s->items[s->count - 1], (struct sp_found_star){.pivot = star});
}

/* The star to look at: the last one if it is new, as it may lead on; else each in turn, so that one
 * large star does not keep the search. */
static uint32_t choose_star(struct sp_search *x)
{
    if (x->found[x->count - 1].place.litter == 0)
        return x->count - 1;
    if (x->at < x->next || x->at >= x->count)
        x->at = x->next;
    return x->at++;
}

static void put_done(struct sp_search *x, uint32_t star)
{
    struct sp_found_star done = x->found[star];
    x->found[star] = x->found[x->next];
    x->found[x->next++] = done;
}

/* Lets the search go on by a few rows; it may meet others. */
static void advance(struct sp_searches *s, uint32_t at)
{
    enum { ROWS = 8 };
    uint32_t rows[ROWS];
    const struct sp_large *l = s->g->large;
    struct sp_search *x = &s->items[at];
    wait_no_longer(s, x);
    uint32_t chosen = choose_star(x);
    struct sp_found_star *star = &x->found[chosen];
    uint32_t count = sp_stars_next_members(l->stars, star->pivot->row, &star->place, ROWS, rows);
    if (count < ROWS)
        put_done(x, chosen);
    x->cost += count;
    s->at = at;
    for (uint32_t i = 0; i < count; i++)
        go_on_from(s, sp_hub_at(l, rows[i]));
    wait_for_turn(s, &s->items[root_of(s, at)]);
}

void sp_search_finish(struct sp_searches *s, uint32_t at)
{
    while (!sp_search_has_ended(&s->items[at]))
        advance(s, at);
}

uint32_t sp_search_of(struct sp_searches *s, const struct sp_hub *h)
{
    uint32_t label = star_of(s, h)->label;
    return label ? root_of(s, label - 1) : UINT32_MAX;
}

/* ---- all of them ---- */

/* A hub that has left leaves a hub in doubt in each piece, but new hubs may be connected to none of
 * the others. So if only new hubs are in doubt, a search begins from one of the others as well. */
static void begin_with_rest(struct sp_searches *s)
{
    struct sp_shelf_place place = sp_shelf_first(&s->g->large->ranks);
    struct sp_hub *h;
    while ((h = sp_shelf_next(&s->g->large->ranks, &place)))
        if (!h->fresh) {
            begin(s, h);
            return;
        }
}

void sp_searches_begin(struct sp_searches *s, const struct sp_hub_list *doubts)
{
    bool rest = false;
    for (uint32_t i = 0; i < doubts->count; i++)
        if (doubts->hubs[i]->best) {
            begin(s, doubts->hubs[i]);
            rest |= !doubts->hubs[i]->fresh;
        }
    if (doubts->count && !rest)
        begin_with_rest(s);
}

void sp_searches_run(struct sp_searches *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        wait_for_turn(s, &s->items[i]);
    while (s->turns.count > 1) {
        struct sp_shelf_place place = sp_shelf_first(&s->turns);
        const struct sp_search *x = sp_shelf_next(&s->turns, &place);
        advance(s, (uint32_t)(x - s->items));
    }
}

uint32_t sp_searches_count(const struct sp_searches *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->count; i++)
        count += !sp_search_is_merged(s, i);
    return count;
}

void sp_searches_done(struct sp_searches *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        for (uint32_t k = 0; k < s->items[i].count; k++)
            s->items[i].found[k].pivot->label = 0;
        sp_free(s->items[i].found);
    }
    sp_shelf_done(&s->turns);
    sp_free(s->items);
}
