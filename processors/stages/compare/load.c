/* Restores a stage from its store: slots and index from the 'P' and 'K' rows, owner counts from the
 * 'O' rows, reliance and the queue of recalls from 'E' and 'Q'. It reads no signature. */
#include "base/mem.h"
#include "compare/cell.h"

enum { KEY_BYTES = 3 + 16, ROW_VALUE_BYTES = 3 * 16 + 8 };

static bool load_form(void *arg, struct sp_view key, struct sp_view value)
{
    struct sp_compare_stage *c = arg;
    c->err = sp_form_load(c, key, value);
    return c->err == SP_OK;
}

static enum sp_err count_owner(struct sp_compare_stage *c, struct sp_view key)
{
    struct sp_id content;
    if (key.len != KEY_BYTES + 16)
        return SP_CORRUPT;
    uint32_t number = (uint32_t)sp_get_big_endian(key.data + 1, 2);
    enum sp_err err = sp_compare_check_cell(c, number);
    if (err != SP_OK)
        return err;
    memcpy(&content, key.data + 3, sizeof content);
    uint32_t slot = sp_cell_actor_find(c, sp_cell_actor_get(c, number), content);
    if (slot == NO_SLOT)
        return SP_CORRUPT;
    c->slots[slot].owners++;
    return SP_OK;
}

static bool load_owner(void *arg, struct sp_view key, struct sp_view value)
{
    struct sp_compare_stage *c = arg;
    c->err = count_owner(c, key);
    if (c->err == SP_OK)
        c->err = sp_owners_check(value);
    return c->err == SP_OK;
}

/* Detects older formats: rows without index rows, and rows that contain their signature. */
static bool check_first_row(void *arg, struct sp_view key, struct sp_view value)
{
    struct sp_compare_stage *c = arg;
    (void)key;
    if (!c->slot_count || value.len > ROW_VALUE_BYTES)
        c->err = SP_STATE_FORMAT;
    return false;
}

static bool load_relied(void *arg, struct sp_view key, struct sp_view value)
{
    struct sp_compare_stage *c = arg;
    struct sp_relied_row row;
    if (sp_relied_decode(key, value, &row) && row.slot < c->slot_count && c->slots[row.slot].owners)
        sp_relied_put(c, row.slot, row.home, row.content, row.clean_at);
    else
        c->err = SP_CORRUPT;
    return c->err == SP_OK;
}

static bool load_recall(void *arg, struct sp_view key, struct sp_view value)
{
    struct sp_compare_stage *c = arg;
    struct sp_recall recall;
    (void)value;
    if (sp_recall_decode(key, &recall))
        sp_recalls_restore(c, recall);
    else
        c->err = SP_CORRUPT;
    return c->err == SP_OK;
}

static void settle(struct sp_compare_stage *c)
{
    if (c->unsettled)
        sp_stars_settle(c->stars);
    sp_compare_slots_settle(c);
    c->changed_count = 0; /* all is as it was stored */
}

enum sp_err sp_compare_stage_load(struct sp_compare_stage *c)
{
    static const struct {
        char kind;
        bool (*each)(void *arg, struct sp_view key, struct sp_view value);
    } parts[] = {{'P', load_form},  {'K', load_form},   {'R', check_first_row},
                 {'O', load_owner}, {'E', load_relied}, {'Q', load_recall}};
    const struct sp_view all = {0};
    enum sp_err err = sp_compare_check_maps(c);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && err == SP_OK; i++) {
        err = sp_store_scan(c->store, sp_view(&parts[i].kind, 1), all, parts[i].each, c);
        err = c->err ? c->err : err;
    }
    c->err = err;
    if (err == SP_OK)
        settle(c);
    return err;
}
