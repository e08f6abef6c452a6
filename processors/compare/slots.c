/* The slots of a cell, and which content has which. */
#include "base/mem.h"
#include "base/prefetch.h"
#include "compare/cell.h"

/* Of an entry of by_content: slots are told apart without a look at most that have another content.
 * The index takes as many slots (candidates/postings.c). */
enum { SLOT_BITS = 27, MARK_BITS = 32 - SLOT_BITS };

static uint32_t place(const struct cell *cell, struct sp_id content)
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

static uint32_t place_of(const struct cell *cell, struct sp_id content)
{
    uint32_t at = place(cell, content), mark = entry_for(content, 0) >> SLOT_BITS;
    for (;; at = (at + 1) & (cell->by_content_cap - 1)) {
        uint32_t entry = cell->by_content[at];
        if (!entry ||
            (entry >> SLOT_BITS == mark && sp_id_eq(cell->slots[slot_in(entry)].content, content)))
            return at;
    }
}

uint32_t cell_find(const struct cell *cell, struct sp_id content)
{
    if (!cell->by_content_cap)
        return NO_SLOT;
    uint32_t entry = cell->by_content[place_of(cell, content)];
    return entry ? slot_in(entry) : NO_SLOT;
}

void cell_prefetch(const struct cell *cell, struct sp_id content)
{
    if (cell->by_content_cap)
        sp_prefetch(&cell->by_content[place(cell, content)]);
}

void cell_prefetch_slots(const struct cell *cell, const uint32_t *slots, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sp_prefetch(&cell->slots[slots[i]]);
}

static void grow_by_content(struct cell *cell)
{
    if ((cell->used + 1) * 5ull < cell->by_content_cap * 4ull)
        return;
    uint32_t *old = cell->by_content;
    uint32_t old_cap = cell->by_content_cap;
    cell->by_content_cap = old_cap ? old_cap * 2 : 64;
    cell->by_content = sp_calloc(cell->by_content_cap, sizeof *cell->by_content);
    for (uint32_t i = 0; i < old_cap; i++)
        if (old[i])
            cell->by_content[place_of(cell, cell->slots[slot_in(old[i])].content)] = old[i];
    sp_free(old);
}

void cell_slot_forget(struct cell *cell, struct sp_id content)
{
    uint32_t mask = cell->by_content_cap - 1, hole = place_of(cell, content), at = hole;
    for (;;) {
        at = (at + 1) & mask;
        if (!cell->by_content[at])
            break;
        uint32_t want = place(cell, cell->slots[slot_in(cell->by_content[at])].content);
        if (((at - want) & mask) >= ((at - hole) & mask)) {
            cell->by_content[hole] = cell->by_content[at];
            hole = at;
        }
    }
    cell->by_content[hole] = 0;
}

uint32_t cell_slot_new(struct cell *cell, struct sp_id content)
{
    grow_by_content(cell);
    uint32_t slot = cell->free_slot;
    if (slot != NO_SLOT) {
        cell->free_slot = cell->slots[slot].next;
    } else {
        if (cell->slot_count == cell->slot_cap) {
            cell->slot_cap = cell->slot_cap ? cell->slot_cap + cell->slot_cap / 4 : 64;
            cell->slots = sp_realloc(cell->slots, cell->slot_cap * sizeof *cell->slots);
        }
        slot = cell->slot_count++;
    }
    cell->slots[slot] = (struct slot){content, 0, NO_SLOT, NULL};
    cell->by_content[place_of(cell, content)] = entry_for(content, slot);
    cell->used++;
    return slot;
}
