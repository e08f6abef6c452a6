/* The slots of a stage, and the table from the contents of a cell to its slots. */
#include "base/mem.h"
#include "base/prefetch.h"
#include "base/tight.h"
#include "compare/cell.h"

/* An entry of by_content has a slot and some bits of the hash, so that most slots with another
 * content are skipped unread. */
enum { SLOT_BITS = 30, MARK_BITS = 32 - SLOT_BITS };

static uint32_t place(const struct sp_cell_actor *cell, struct sp_id content)
{
    return (uint32_t)content.lo & (cell->by_content_cap - 1);
}

static uint32_t entry_for(struct sp_id content, uint32_t slot)
{
    return (uint32_t)(content.hi >> (64 - MARK_BITS)) << SLOT_BITS | (slot + 1);
}

static uint32_t slot_in(uint32_t entry)
{
    return (entry & ((1u << SLOT_BITS) - 1)) - 1;
}

static uint32_t place_of(const struct sp_compare_stage *c, const struct sp_cell_actor *cell,
                         struct sp_id content)
{
    uint32_t at = place(cell, content), mark = entry_for(content, 0) >> SLOT_BITS;
    for (;; at = (at + 1) & (cell->by_content_cap - 1)) {
        uint32_t entry = cell->by_content[at];
        if (!entry ||
            (entry >> SLOT_BITS == mark && sp_id_eq(c->slots[slot_in(entry)].content, content)))
            return at;
    }
}

uint32_t sp_cell_actor_find(const struct sp_compare_stage *c, const struct sp_cell_actor *cell,
                            struct sp_id content)
{
    if (!cell->by_content_cap)
        return NO_SLOT;
    uint32_t entry = cell->by_content[place_of(c, cell, content)];
    return entry ? slot_in(entry) : NO_SLOT;
}

uint32_t sp_cell_actor_guess(const struct sp_cell_actor *cell, struct sp_id content)
{
    if (!cell->by_content_cap)
        return NO_SLOT;
    uint32_t at = place(cell, content), mark = entry_for(content, 0) >> SLOT_BITS;
    while (cell->by_content[at] && cell->by_content[at] >> SLOT_BITS != mark)
        at = (at + 1) & (cell->by_content_cap - 1);
    return cell->by_content[at] ? slot_in(cell->by_content[at]) : NO_SLOT;
}

void sp_cell_actor_prefetch(const struct sp_cell_actor *cell, struct sp_id content)
{
    if (cell->by_content_cap)
        sp_prefetch(&cell->by_content[place(cell, content)]);
}

/* The first free place of a content that has none. */
static uint32_t free_place(const struct sp_cell_actor *cell, struct sp_id content)
{
    uint32_t at = place(cell, content);
    while (cell->by_content[at])
        at = (at + 1) & (cell->by_content_cap - 1);
    return at;
}

/* Reads the slots of all entries, which are in no order. */
static void grow_by_content(struct sp_compare_stage *c, struct sp_cell_actor *cell)
{
    enum { AHEAD = 32 };
    if ((cell->used + 1) * 5ull < cell->by_content_cap * 4ull)
        return;
    uint32_t *old = cell->by_content;
    uint32_t old_cap = cell->by_content_cap;
    cell->by_content_cap = old_cap ? old_cap * 2 : 64;
    cell->by_content = sp_calloc(cell->by_content_cap, sizeof *cell->by_content);
    c->by_content_bytes += (cell->by_content_cap - old_cap) * sizeof *cell->by_content;
    for (uint32_t i = 0; i < old_cap; i++) {
        if (i + AHEAD < old_cap && old[i + AHEAD])
            sp_prefetch(&c->slots[slot_in(old[i + AHEAD])]);
        if (old[i])
            cell->by_content[free_place(cell, c->slots[slot_in(old[i])].content)] = old[i];
    }
    sp_free(old);
}

void sp_cell_actor_slot_enter(struct sp_compare_stage *c, struct sp_cell_actor *cell, uint32_t slot)
{
    struct sp_id content = c->slots[slot].content;
    grow_by_content(c, cell);
    cell->by_content[place_of(c, cell, content)] = entry_for(content, slot);
    cell->used++;
}

void sp_cell_actor_slot_forget(struct sp_compare_stage *c, struct sp_cell_actor *cell,
                               struct sp_id content)
{
    uint32_t mask = cell->by_content_cap - 1, hole = place_of(c, cell, content), at = hole;
    for (;;) {
        at = (at + 1) & mask;
        if (!cell->by_content[at])
            break;
        uint32_t want = place(cell, c->slots[slot_in(cell->by_content[at])].content);
        if (((at - want) & mask) >= ((at - hole) & mask)) {
            cell->by_content[hole] = cell->by_content[at];
            hole = at;
        }
    }
    cell->by_content[hole] = 0;
    cell->used--;
}

/* ---- slots ---- */

static void clear(struct sp_slot *s)
{
    char stored = s->stored;
    bool reformed = s->reformed;
    *s = (struct sp_slot){.anchor = NO_SLOT};
    s->stored = stored;
    s->reformed = reformed;
}

/* Makes slots until there are `count`. */
static void make_slots(struct sp_compare_stage *c, uint32_t count)
{
    sp_tight_grow(&c->slots, &c->slot_cap, count);
    for (; c->slot_count < count; c->slot_count++) {
        c->slots[c->slot_count] = (struct sp_slot){0};
        clear(&c->slots[c->slot_count]);
    }
}

static void use(struct sp_compare_stage *c, const struct sp_cell_actor *cell, uint32_t slot,
                struct sp_id content)
{
    clear(&c->slots[slot]);
    c->slots[slot].content = content;
    c->slots[slot].cell = (uint16_t)cell->number;
}

uint32_t sp_cell_actor_slot_new(struct sp_compare_stage *c, struct sp_cell_actor *cell,
                                struct sp_id content)
{
    uint32_t slot = c->free_slot;
    if (slot != NO_SLOT) {
        c->free_slot = c->slots[slot].next;
    } else if (c->slot_count + 1 < SP_STARS_ROWS) {
        slot = c->slot_count;
        make_slots(c, slot + 1);
    } else {
        sp_compare_note(c, SP_FULL);
        return NO_SLOT;
    }
    use(c, cell, slot, content);
    return slot;
}

bool sp_cell_actor_slot_take(struct sp_compare_stage *c, struct sp_cell_actor *cell, uint32_t slot,
                             struct sp_id content)
{
    if (slot + 1 >= SP_STARS_ROWS)
        return false;
    make_slots(c, slot + 1);
    if (c->slots[slot].stored)
        return false;
    use(c, cell, slot, content);
    return true;
}

void sp_compare_slots_settle(struct sp_compare_stage *c)
{
    for (uint32_t slot = c->slot_count; slot-- > 0;) {
        struct sp_slot *s = &c->slots[slot];
        if (s->owners || s->ghost)
            continue;
        s->next = c->free_slot;
        c->free_slot = slot;
    }
}

void sp_compare_slot_free(struct sp_compare_stage *c, uint32_t slot)
{
    struct sp_slot *s = &c->slots[slot];
    clear(s);
    s->next = c->free_slot;
    c->free_slot = slot;
    sp_form_changed(c, slot);
}
