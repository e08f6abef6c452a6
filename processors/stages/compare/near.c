/* Puts rows into the index of their cell, takes them out, and sends the edges that follow.
 *
 * Invariant: the edges that were sent for the present rows connect all rows of the stage that
 * similarity connects, except for the work that is still to be done (debt.c).
 *
 *   anchor    A row that is attached to another one of its star is linked to it, and again whenever
 *             it is attached to another one. So the members of a star are connected.
 *   reliance  A row that touched a star is linked to one member of it, and relies on that member
 *             being in one star with those that it also resembles. When the member leaves the star,
 *             the row probes again (relied.c).
 *   twin      A row whose twin (stars.h) is in its star is linked to the star only, and relies on
 *             the twin for all that both resemble.
 *   return    A row that leaves its star while others stay takes what it resembles with it: others
 *             rely on those that stay. So it probes again itself, all cells that it visits. */
#include "base/mem.h"
#include "base/prefetch.h"
#include "compare/cell.h"

/* ---- callbacks of the index ---- */

static enum sp_err signature_of(void *arg, uint32_t row, const struct sp_signature **ret_signature)
{
    struct sp_compare_stage *c = arg;
    struct sp_signature *s = sp_cell_actor_signature(c, row);
    *ret_signature = s;
    return c->err;
}

static uint64_t name_of(void *arg, uint32_t row)
{
    const struct sp_compare_stage *c = arg;
    return c->slots[row].content.lo;
}

static void prefetch(void *arg, const uint32_t *rows, size_t count)
{
    const struct sp_compare_stage *c = arg;
    struct sp_id contents[SP_CONTENTS_PREFETCHED];
    size_t n = count < SP_CONTENTS_PREFETCHED ? count : SP_CONTENTS_PREFETCHED;
    for (size_t i = 0; i < n; i++)
        sp_prefetch(&c->slots[rows[i]].content);
    for (size_t i = 0; i < n; i++)
        contents[i] = c->slots[rows[i]].content;
    sp_contents_prefetch_all(c->contents, contents, n);
}

static void on_changed(void *arg, uint32_t row)
{
    struct sp_compare_stage *c = arg;
    sp_grow(&c->changed, &c->changed_cap, c->changed_count + 1);
    c->changed[c->changed_count++] = row;
}

void sp_near_open(struct sp_compare_stage *c)
{
    struct sp_stars_options o = {.similarity = c->options.similarity,
                                 .signature = signature_of,
                                 .name = name_of,
                                 .prefetch = prefetch,
                                 .changed = on_changed,
                                 .arg = c,
                                 .twins = true,
                                 .orphans_apart = true,
                                 .marks = true};
    c->stars = sp_stars_new(&o);
}

/* The row and its signature. NULL: an error, which is in the stage. */
static const struct sp_row *row_of(struct sp_compare_stage *c, uint32_t slot,
                                   struct sp_signature **ret_signature)
{
    *ret_signature = sp_cell_actor_signature(c, slot);
    return *ret_signature ? sp_cell_actor_row(c, slot) : NULL;
}

/* ---- edges ---- */

/* Edges of one asker, sent in messages of bounded size. */
struct telling {
    struct sp_compare_stage *compare;
    struct sp_owner asker;
    struct sp_message *message; /* NULL: none begun */
};

static void send_told(struct telling *t)
{
    struct sp_compare_stage *c = t->compare;
    if (!t->message)
        return;
    c->stats.matches += t->message->link.edge_count;
    c->outbox.send(c->outbox.arg, t->message);
    t->message = NULL;
}

static void tell(struct telling *t, struct sp_owner to)
{
    uint32_t most = t->compare->options.edges_per_match;
    if (!t->message) {
        t->message = sp_message_new(SP_MSG_MATCH);
        t->message->page = t->asker.page;
        t->message->link.content_version = t->asker.content_version;
        t->message->link.edges = sp_alloc(most * sizeof(struct sp_edge));
    }
    struct sp_link *link = &t->message->link;
    link->edges[link->edge_count++] = (struct sp_edge){to.page, to.content_version};
    if (link->edge_count == most)
        send_told(t);
}

void sp_near_send_edge(struct sp_compare_stage *c, struct sp_owner from, struct sp_owner to)
{
    struct sp_message *m = sp_message_new(SP_MSG_MATCH);
    m->page = from.page;
    m->link.content_version = from.content_version;
    m->link.edges = sp_alloc(sizeof *m->link.edges);
    m->link.edges[0] = (struct sp_edge){to.page, to.content_version};
    m->link.edge_count = 1;
    c->outbox.send(c->outbox.arg, m);
}

/* Whether anchors already connect the two. */
static bool are_linked(const struct sp_compare_stage *c, uint32_t a, uint32_t b)
{
    uint32_t anchor = sp_stars_anchor(c->stars, a);
    return sp_stars_together(c->stars, a, b) && (anchor == a || anchor == c->slots[a].anchor) &&
           sp_stars_anchor(c->stars, b) != NO_SLOT;
}

/* Notes that the row of an asker touched another row and was told of it. */
static void note_touch(struct sp_compare_stage *c, uint32_t slot, uint32_t home,
                       struct sp_id content, uint32_t touched)
{
    if (slot != NO_SLOT && sp_stars_anchor(c->stars, slot) == touched)
        c->slots[slot].anchor = touched;
    else if (slot == NO_SLOT || !sp_stars_together(c->stars, slot, touched))
        sp_relied_add(c, touched, home, content);
}

/* Tells the asker, which speaks for a row of content `content` in cell `home`, what it touched.
 * `slot`: that row if it is in this cell, else NO_SLOT. */
static void tell_touches(struct sp_compare_stage *c, struct sp_owner asker, uint32_t home,
                         struct sp_id content, uint32_t slot, struct sp_touches touches)
{
    struct telling t = {c, asker, NULL};
    for (size_t i = 0; i < touches.count && !c->err; i++) {
        uint32_t touched = touches.items[i].row;
        struct sp_owner owner;
        if (slot != NO_SLOT && are_linked(c, slot, touched))
            continue;
        if (sp_owners_other_than(c, touched, asker.page, &owner))
            tell(&t, owner);
        note_touch(c, slot, home, content, touched);
    }
    send_told(&t);
    if (touches.twin != NO_SLOT && c->options.canary != SP_COMPARE_NO_TWIN)
        sp_relied_add(c, touches.twin, home, content);
}

/* ---- rows enter and leave ---- */

/* The rows that rely on it probe again, and so does the row itself. */
static void left_star(struct sp_compare_stage *c, uint32_t slot)
{
    struct sp_slot *s = &c->slots[slot];
    s->anchor = NO_SLOT;
    sp_relied_end(c, slot, 0);
    sp_recalls_add(c, (struct sp_recall){EVERYWHERE, s->cell, s->content, 0});
}

static void follow_row(struct sp_compare_stage *c, uint32_t slot)
{
    struct sp_slot *s = &c->slots[slot];
    sp_form_changed(c, slot);
    if (!s->owners || !sp_stars_has(c->stars, slot))
        return;
    uint32_t anchor = sp_stars_anchor(c->stars, slot);
    if (anchor == s->anchor || (anchor == slot && s->anchor == NO_SLOT))
        return;
    if (anchor == slot || anchor == NO_SLOT) {
        if (s->anchor != NO_SLOT)
            left_star(c, slot);
        return;
    }
    s->anchor = anchor;
    if (c->options.canary == SP_COMPARE_QUIET_ANCHOR)
        return;
    const struct sp_row *from = sp_cell_actor_row(c, slot);
    const struct sp_row *to = from ? sp_cell_actor_row(c, anchor) : NULL;
    if (to && !sp_id_eq(from->first.page, to->first.page))
        sp_near_send_edge(c, from->first, to->first);
}

void sp_near_follow(struct sp_compare_stage *c)
{
    for (uint32_t i = 0; i < c->changed_count && !c->err; i++)
        follow_row(c, c->changed[i]);
    c->changed_count = 0;
}

void sp_near_enter(struct sp_compare_stage *c, uint32_t slot, bool to_tell)
{
    struct sp_signature *signature;
    const struct sp_row *row = row_of(c, slot, &signature);
    struct sp_touches touches;
    if (!row || !sp_compare_note(c, sp_stars_insert(sp_cell_actor_of(c, slot)->domain, slot,
                                                    signature, &touches)))
        return;
    c->stats.probes++;
    if (to_tell)
        tell_touches(c, row->first, c->slots[slot].cell, c->slots[slot].content, slot, touches);
    else if (sp_stars_anchor(c->stars, slot) != slot)
        c->slots[slot].anchor = sp_stars_anchor(c->stars, slot);
    sp_near_follow(c);
}

bool sp_near_leave(struct sp_compare_stage *c, uint32_t slot)
{
    bool ghost = false;
    sp_relied_delete(c, slot);
    sp_compare_note(c, sp_stars_remove(sp_cell_actor_of(c, slot)->domain, slot, &ghost));
    c->slots[slot].anchor = NO_SLOT;
    sp_form_changed(c, slot);
    sp_near_follow(c);
    return ghost;
}

/* ---- probes ---- */

void sp_near_probe(struct sp_compare_stage *c, struct sp_cell_actor *cell, struct sp_owner asker,
                   uint32_t home, const struct sp_signature *signature)
{
    struct sp_touches touches;
    c->stats.probes++;
    if (sp_compare_note(c, sp_stars_probe(cell->domain, signature, NO_SLOT, &touches)))
        tell_touches(c, asker, home, signature->content_hash, NO_SLOT, touches);
}

void sp_near_probe_own(struct sp_compare_stage *c, uint32_t slot)
{
    struct sp_signature *signature;
    const struct sp_row *row = row_of(c, slot, &signature);
    struct sp_touches touches;
    if (!row || !sp_compare_note(c, sp_stars_probe_row(sp_cell_actor_of(c, slot)->domain, slot,
                                                       signature, &touches)))
        return;
    c->stats.probes++;
    tell_touches(c, row->first, c->slots[slot].cell, c->slots[slot].content, slot, touches);
}

bool sp_near_probe_star(struct sp_compare_stage *c, uint32_t slot, uint32_t mark)
{
    struct sp_signature *signature;
    const struct sp_row *row = row_of(c, slot, &signature);
    struct sp_touches touches;
    bool known;
    if (!row || !sp_compare_note(c, sp_stars_probe_marked(sp_cell_actor_of(c, slot)->domain, mark,
                                                          slot, signature, &touches, &known)))
        return true;
    if (!known)
        return false;
    c->stats.star_probes++;
    tell_touches(c, row->first, c->slots[slot].cell, c->slots[slot].content, slot, touches);
    return true;
}

static void send_probe(struct sp_compare_stage *c, struct sp_owner asker,
                       struct sp_signature *signature, uint32_t cell)
{
    struct sp_message *m = sp_message_new(SP_MSG_PROBE);
    m->page = asker.page;
    m->probe.cell = cell;
    m->probe.content_version = asker.content_version;
    m->probe.signature = sp_signature_ref(signature);
    c->outbox.send(c->outbox.arg, m);
}

void sp_near_probe_others(struct sp_compare_stage *c, uint32_t slot)
{
    struct sp_signature *signature;
    const struct sp_row *row = row_of(c, slot, &signature);
    if (!row)
        return;
    uint32_t count = sp_maps_targets(&c->options.maps, signature, c->options.similarity.threshold,
                                     c->options.routing, c->options.rho, c->targets);
    c->stats.contacts += count;
    for (uint32_t i = 0; i < count; i++)
        if (c->targets[i] != c->slots[slot].cell)
            send_probe(c, row->first, signature, c->targets[i]);
}

void sp_near_probe_cell(struct sp_compare_stage *c, uint32_t slot, uint32_t cell)
{
    struct sp_signature *signature;
    const struct sp_row *row = row_of(c, slot, &signature);
    if (row && sp_maps_has_cell(&c->options.maps, cell))
        send_probe(c, row->first, signature, cell);
}
