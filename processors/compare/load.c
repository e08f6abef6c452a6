/* Rebuilding the cells from the store: slots and index from the 'R' rows (only the sketch of each
 * signature is read), owner counts from the 'O' rows. */
#include "base/mem.h"
#include "compare/cell.h"
#include "signature/signature.h"

enum { KEY_BYTES = 3 + 16, OWNER_BYTES = 16 + 8 };

static uint32_t key_cell(struct sp_view key)
{
    return (uint32_t)((uint8_t)key.data[1] << 8 | (uint8_t)key.data[2]);
}

/* Whether the stage has the cell that a stored key names. */
static bool check_cell(struct sp_compare *c, struct sp_view key)
{
    enum sp_cell_standing standing = sp_maps_standing(&c->options.maps, key_cell(key));
    if (standing == SP_CELL_NONE)
        c->err = SP_CORRUPT;
    else if (standing == SP_CELL_PAST || standing == SP_CELL_AHEAD)
        c->err = SP_OTHER_MAP;
    return c->err == SP_OK;
}

static bool load_row(void *arg, struct sp_view key, struct sp_view value)
{
    struct sp_compare *c = arg;
    struct sp_id content;
    uint32_t sketch[SP_SKETCH_MAX];
    if (key.len != KEY_BYTES || value.len < OWNER_BYTES) {
        c->err = SP_CORRUPT;
        return false;
    }
    if (!check_cell(c, key))
        return false;
    memcpy(&content, key.data + 3, sizeof content);
    struct sp_view packed = sp_view(value.data + OWNER_BYTES, value.len - OWNER_BYTES);
    size_t count = sp_signature_peek(packed, sketch, c->rule.sketch);
    cell_restore(cell_get(c, key_cell(key)), content, sketch, (uint32_t)count);
    return true;
}

static bool load_owner(void *arg, struct sp_view key, struct sp_view value)
{
    struct sp_compare *c = arg;
    struct sp_id content;
    (void)value;
    uint32_t slot = NO_SLOT;
    struct cell *cell = NULL;
    if (key.len == KEY_BYTES + 16 && check_cell(c, key)) {
        memcpy(&content, key.data + 3, sizeof content);
        cell = cell_get(c, key_cell(key));
        slot = cell_find(cell, content);
    }
    if (slot == NO_SLOT) {
        c->err = c->err ? c->err : SP_CORRUPT;
        return false;
    }
    cell->slots[slot].owners++;
    return true;
}

enum sp_err sp_compare_load(struct sp_compare *c)
{
    enum sp_err err = maps_check(c);
    if (err == SP_OK)
        err = sp_store_scan(c->store, sp_view("R", 1), sp_view(NULL, 0), load_row, c);
    if (err == SP_OK && c->err == SP_OK)
        err = sp_store_scan(c->store, sp_view("O", 1), sp_view(NULL, 0), load_owner, c);
    if (err != SP_OK && c->err == SP_OK)
        c->err = err;
    return c->err;
}
