/* Rebuilding the cells from the store: slots and index from the 'K' rows, owner counts from the 'O'
 * rows. Both are small: no signature is read. */
#include "base/mem.h"
#include "compare/cell.h"

enum { KEY_BYTES = 3 + 16, ROW_VALUE_BYTES = 16 + 8 };

struct loading {
    struct sp_compare *compare;
    struct cell *cell; /* of the last row; they come cell by cell */
};

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

static void enter_cell(struct loading *l, struct cell *cell)
{
    if (l->cell && l->cell != cell)
        sp_candidates_settle(l->cell->index);
    l->cell = cell;
}

static bool load_sketch(void *arg, struct sp_view key, struct sp_view value)
{
    struct loading *l = arg;
    struct sp_compare *c = l->compare;
    struct sp_id content;
    uint32_t keys[SP_SKETCH_MAX];
    size_t count = value.len / sizeof *keys;
    if (key.len != KEY_BYTES || value.len % sizeof *keys || count > c->rule.sketch) {
        c->err = SP_CORRUPT;
        return false;
    }
    if (!check_cell(c, key))
        return false;
    memcpy(&content, key.data + 3, sizeof content);
    if (count)
        memcpy(keys, value.data, value.len);
    enter_cell(l, cell_get(c, key_cell(key)));
    cell_restore(l->cell, content, keys, (uint32_t)count);
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

/* Rows without a single sketch were written before there were any; and rows used to have their
 * signature in them. */
static bool check_first_row(void *arg, struct sp_view key, struct sp_view value)
{
    const struct loading *l = arg;
    (void)key;
    if (!l->cell || value.len > ROW_VALUE_BYTES)
        l->compare->err = SP_STATE_FORMAT;
    return false;
}

enum sp_err sp_compare_load(struct sp_compare *c)
{
    struct loading l = {c, NULL};
    const struct sp_view all = {0};
    enum sp_err err = maps_check(c);
    if (err == SP_OK && c->own_contents)
        err = sp_contents_check(c->own_contents);
    if (err == SP_OK)
        err = sp_store_scan(c->store, sp_view("K", 1), all, load_sketch, &l);
    if (err == SP_OK && c->err == SP_OK)
        err = sp_store_scan(c->store, sp_view("R", 1), all, check_first_row, &l);
    if (err == SP_OK && c->err == SP_OK)
        err = sp_store_scan(c->store, sp_view("O", 1), all, load_owner, c);
    enter_cell(&l, NULL);
    if (err != SP_OK && c->err == SP_OK)
        c->err = err;
    return c->err;
}
