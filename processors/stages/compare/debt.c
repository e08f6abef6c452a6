/* Work that messages leave behind: recalls, and kids of stars that must move. Each message does a
 * bounded part of it. */
#include "base/mem.h"
#include "compare/cell.h"

static void ask_again(struct sp_compare_stage *c, const struct sp_recall *recall)
{
    struct sp_message *m = sp_message_new(SP_MSG_AGAIN);
    m->again.cell = recall->home;
    m->again.from = recall->at;
    m->again.content = recall->content;
    c->outbox.send(c->outbox.arg, m);
}

static void pay_recall(struct sp_compare_stage *c, const struct sp_recall *recall)
{
    if (!sp_maps_has_cell(&c->options.maps, recall->home))
        return;
    if (recall->at != EVERYWHERE && recall->at != recall->home) {
        ask_again(c, recall);
        return;
    }
    uint32_t slot = sp_cell_actor_find(c, sp_cell_actor_get(c, recall->home), recall->content);
    if (slot == NO_SLOT)
        return;
    if (recall->mark && sp_near_probe_star(c, slot, recall->mark))
        return;
    sp_near_probe_own(c, slot);
    if (recall->at == EVERYWHERE)
        sp_near_probe_others(c, slot);
}

/* `mark`: of the star that it has left. */
static void pay_left(struct sp_compare_stage *c, uint32_t slot, uint32_t mark)
{
    bool tell = c->options.canary != SP_COMPARE_QUIET_RETURN;
    sp_relied_end(c, slot, mark);
    c->slots[slot].anchor = NO_SLOT;
    sp_near_enter(c, slot, tell);
    if (tell)
        sp_near_probe_others(c, slot);
}

static void pay_stars(struct sp_compare_stage *c, struct sp_cell_actor *cell, uint32_t kids)
{
    struct sp_stars_left left;
    if (!sp_compare_note(c, sp_stars_work(cell->domain, kids, &left)))
        return;
    uint32_t *rows = sp_memdup(left.rows, left.count * sizeof *rows);
    uint32_t *marks = sp_memdup(left.row_marks, left.count * sizeof *marks);
    size_t count = left.count;
    for (size_t i = 0; i < left.ghost_count; i++) {
        uint32_t ghost = left.ghosts[i];
        sp_compare_note(c, sp_contents_drop(c->contents, c->slots[ghost].content));
        sp_compare_slot_free(c, ghost);
        cell->ghosts--;
    }
    /* Each kid that does not follow an heir probes again itself. */
    for (size_t i = 0; i < left.heir_count; i++)
        c->slots[left.heirs[i]].anchor = NO_SLOT;
    for (size_t i = 0; i < left.moved_count; i++) {
        struct sp_slot *s = &c->slots[left.moved[i]];
        sp_relied_end(c, left.moved[i], left.moved_marks[i]);
        sp_recalls_add(c, (struct sp_recall){EVERYWHERE, s->cell, s->content, 0});
    }
    /* Before rows enter: an heir may become a child again, as if it had never left its star. */
    sp_near_follow(c);
    for (size_t i = 0; i < count && !c->err; i++)
        pay_left(c, rows[i], marks[i]);
    sp_free(rows);
    sp_free(marks);
}

static void pay_recalls(struct sp_compare_stage *c, uint32_t *units)
{
    struct sp_recall recall;
    for (; *units > 0 && !c->err && sp_recalls_take(c, &recall); --*units)
        pay_recall(c, &recall);
}

void sp_compare_debt_pay(struct sp_compare_stage *c, struct sp_cell_actor *cell, uint32_t units)
{
    pay_recalls(c, &units);
    if (units > 0 && !c->err && sp_stars_owes(cell->domain))
        pay_stars(c, cell, units);
}

bool sp_compare_stage_work(struct sp_compare_stage *c, uint32_t units)
{
    pay_recalls(c, &units);
    for (uint32_t cells = 0; cells < SP_CELL_PLACES && units > 0 && !c->err; cells++) {
        struct sp_cell_actor *cell = c->cells[c->pay_cell];
        if (cell && sp_stars_owes(cell->domain)) {
            pay_stars(c, cell, units);
            break;
        }
        c->pay_cell = (c->pay_cell + 1) % SP_CELL_PLACES;
    }
    return sp_compare_stage_owes(c);
}

bool sp_compare_stage_owes(const struct sp_compare_stage *c)
{
    bool owes = c->queue_first < c->queue_count;
    for (uint32_t i = 0; i < SP_CELL_PLACES && !owes; i++)
        owes = c->cells[i] && sp_stars_owes(c->cells[i]->domain);
    return owes && !c->err;
}
