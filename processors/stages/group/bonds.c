/* Is a large group still connected?
 *
 * The members of a star are connected. Stars are connected by bonds: when a hub enters the index,
 * the index reports a similar row of each star that has one, and the hub notes a bond to it. So of
 * two similar hubs in different stars, the one that was probed later has a bond into the star of
 * the other, as long as the other hub and the reported row stay in that star. When a row leaves its
 * star, it is probed again, and so are the hubs that have a bond to it: their bonds are found
 * again.
 *
 * When a row leaves, the hubs that it connected are in doubt. A search from the star of each
 * follows the bonds, the smallest search first, until all searches have met or all but one have
 * ended. The searches that have ended are pieces. So the cost is that of the smaller pieces.
 *
 * In most groups one winner covers all hubs, which shows that they are connected without any
 * search. So the index is built when it is needed for the first time, and hubs that come later wait
 * until it is needed again (sp_hubs_index). In the index each hub costs as much as in its cell's.
 *
 * A redirect belongs to the piece of its end. An end that is not a hub is a piece of its own. */
#include "base/mem.h"
#include "group/debt.h"
#include "group/large.h"

/* ---- bonds ---- */

static void bond_add(struct sp_hub *from, struct sp_hub *to)
{
    struct sp_bond *b = sp_alloc(sizeof *b);
    *b = (struct sp_bond){from, to, from->out, &from->out, to->in, &to->in};
    if (from->out)
        from->out->at_out = &b->next_out;
    if (to->in)
        to->in->at_in = &b->next_in;
    from->out = to->in = b;
}

void sp_bond_free(struct sp_bond *b)
{
    *b->at_out = b->next_out;
    if (b->next_out)
        b->next_out->at_out = b->at_out;
    *b->at_in = b->next_in;
    if (b->next_in)
        b->next_in->at_in = b->at_in;
    sp_free(b);
}

static void drop_out(struct sp_hub *h)
{
    while (h->out)
        sp_bond_free(h->out);
}

static void ask_again(struct sp_hub *h)
{
    if (h->asking)
        return;
    h->asking = true;
    sp_hub_list_add(&h->group->large->asking, h);
}

/* The hubs that have a bond to it must be probed again. */
static void ask_reliers(struct sp_hub *h)
{
    for (struct sp_bond *b = h->in; b; b = b->next_in)
        ask_again(b->from);
}

void sp_bonds_drop(struct sp_hub *h)
{
    drop_out(h);
    ask_reliers(h);
    while (h->in)
        sp_bond_free(h->in);
}

static void note(struct sp_hub *h, const struct sp_touches *touches)
{
    const struct sp_large *l = h->group->large;
    uint32_t star = sp_stars_pivot(l->stars, h->row);
    for (size_t i = 0; i < touches->count; i++) {
        uint32_t row = touches->items[i].row;
        uint32_t other = sp_stars_pivot(l->stars, row);
        if (row != h->row && (other != star || other == SP_STARS_NONE))
            bond_add(h, sp_hub_at(l, row));
    }
}

/* The row is in another star: it is probed again, and so are those that relied on it. */
static void note_moved(struct sp_hub *h)
{
    ask_again(h);
    ask_reliers(h);
}

void sp_bonds_enter(struct sp_group_stage *st, struct sp_hub *h)
{
    struct sp_touches touches = {0};
    const struct sp_signature *s = sp_hub_signature(st, h);
    if (!s)
        return;
    struct sp_large *l = h->group->large;
    st->stats.hub_probes++;
    enum sp_err err = sp_stars_insert(l->domain, h->row, s, &touches);
    if (err != SP_OK) {
        sp_group_stage_note(st, err);
        return;
    }
    note(h, &touches);
    if (touches.risen != SP_STARS_NONE)
        note_moved(sp_hub_at(l, touches.risen));
}

/* ---- doubts ---- */

void sp_bonds_doubt_one(struct sp_hub *h)
{
    if (h->doubted)
        return;
    h->doubted = true;
    sp_hub_list_add(&h->group->large->doubts, h);
}

void sp_bonds_doubt_new(struct sp_hub *h)
{
    h->fresh = true;
    sp_bonds_doubt_one(h);
}

void sp_bonds_trust_one(struct sp_hub *h)
{
    h->doubted = h->fresh = false;
    h->group->large->all_doubted = false;
}

static void doubt_row(void *arg, uint32_t row)
{
    sp_bonds_doubt_one(sp_hub_at(arg, row));
}

void sp_bonds_doubt(struct sp_hub *h)
{
    for (struct sp_bond *b = h->out; b; b = b->next_out)
        sp_bonds_doubt_one(b->to);
    for (struct sp_bond *b = h->in; b; b = b->next_in)
        sp_bonds_doubt_one(b->from);
    struct sp_large *l = h->group->large;
    uint32_t pivot = sp_stars_pivot(l->stars, h->row);
    if (pivot == h->row)
        sp_stars_each_member(l->stars, h->row, doubt_row, l);
    else if (pivot != SP_STARS_NONE)
        sp_bonds_doubt_one(sp_hub_at(l, pivot));
}

void sp_bonds_trust(struct sp_group *g)
{
    struct sp_hub_list *doubts = &g->large->doubts;
    for (uint32_t i = 0; i < doubts->count; i++)
        sp_bonds_trust_one(doubts->hubs[i]);
    doubts->count = 0;
}

void sp_bonds_doubt_all(struct sp_group *g)
{
    struct sp_large *l = g->large;
    struct sp_shelf_place place = sp_shelf_first(&l->ranks);
    for (struct sp_hub *h; !l->all_doubted && (h = sp_shelf_next(&l->ranks, &place));)
        sp_bonds_doubt_one(h);
    l->all_doubted = true; /* new hubs are in doubt anyway */
}

void sp_bonds_check_later(struct sp_group_stage *st, struct sp_group *g)
{
    uint32_t contents = g->large->ranks.count;
    if (!sp_debt_is_apart(g))
        sp_debt_put_off(st, g, contents ? contents : 1);
    sp_bonds_doubt_all(g);
}

bool sp_bonds_one_covers_all(const struct sp_large *l)
{
    struct sp_shelf_place place = sp_shelf_first(&l->winners);
    const struct sp_hub *first = sp_shelf_next(&l->winners, &place);
    return l->ranks.count <= 1 || (first && first->followers + 1 == l->ranks.count);
}

static void probe_again(struct sp_group_stage *st, struct sp_hub *h)
{
    struct sp_touches touches;
    drop_out(h);
    if (sp_hub_probe(st, h, &touches))
        note(h, &touches);
    sp_bonds_doubt_one(h);
}

static void insert_again(struct sp_group_stage *st, struct sp_hub *h)
{
    drop_out(h);
    ask_reliers(h);
    sp_bonds_enter(st, h);
    sp_bonds_doubt_one(h);
}

void sp_bonds_replace(struct sp_group_stage *st, struct sp_hub *h)
{
    bool ghost;
    if (!sp_hub_signature(st, h))
        return;
    enum sp_err err = sp_stars_remove(h->group->large->domain, h->row, &ghost);
    if (err == SP_OK)
        insert_again(st, h);
    else
        sp_group_stage_note(st, err);
}

static void give_up(struct sp_large *l, struct sp_hub *ghost)
{
    ghost->ghost = false;
    sp_hub_list_add(&l->gone, ghost);
}

/* The lists of `left` are valid only until the next call of the index. */
static void follow(struct sp_group_stage *st, struct sp_large *l, const struct sp_stars_left *left)
{
    struct sp_hub_list again = {0};
    for (size_t i = 0; i < left->count; i++)
        sp_hub_list_add(&again, sp_hub_at(l, left->rows[i]));
    for (size_t i = 0; i < left->moved_count; i++)
        note_moved(sp_hub_at(l, left->moved[i]));
    for (size_t i = 0; i < left->ghost_count; i++)
        give_up(l, sp_hub_at(l, left->ghosts[i]));
    for (uint32_t i = 0; i < again.count && !st->err; i++)
        insert_again(st, again.hubs[i]);
    sp_free(again.hubs);
}

void sp_bonds_settle(struct sp_group_stage *st, struct sp_group *g)
{
    if (sp_debt_is_apart(g))
        return;
    if (sp_bonds_owed(g->large) > sp_group_rows_at_once(st))
        sp_bonds_check_later(st, g);
    else
        sp_bonds_settle_now(st, g);
}

static void work(struct sp_group_stage *st, struct sp_large *l, uint32_t kids)
{
    struct sp_stars_left left;
    enum sp_err err = sp_stars_work(l->domain, kids, &left);
    if (err == SP_OK)
        follow(st, l, &left);
    else
        sp_group_stage_note(st, err);
}

static void ask(struct sp_group_stage *st, struct sp_large *l, uint32_t hubs)
{
    for (; hubs > 0 && l->asking.count && !st->err; hubs--) {
        struct sp_hub *h = l->asking.hubs[--l->asking.count];
        h->asking = false;
        if (h->best)
            probe_again(st, h);
    }
}

uint32_t sp_bonds_owed(const struct sp_large *l)
{
    return l->stars ? sp_stars_owed(l->domain) + l->asking.count : 0;
}

void sp_bonds_settle_some(struct sp_group_stage *st, struct sp_group *g, uint32_t rows)
{
    struct sp_large *l = g->large;
    if (st->err || !l->stars)
        return;
    if (sp_stars_owes(l->domain))
        work(st, l, rows);
    else
        ask(st, l, rows);
}

void sp_bonds_settle_now(struct sp_group_stage *st, struct sp_group *g)
{
    struct sp_large *l = g->large;
    while (!st->err && l->stars && (sp_stars_owes(l->domain) || l->asking.count))
        sp_bonds_settle_some(st, g, UINT32_MAX);
}
