/* The pages that own a row. All but the first form a list in the order in which they came;
 * compare.c explains the order. Each has a stored row that names its neighbours and is read on
 * demand. So if a million pages have a content (an error page), a page that gets or loses it reads
 * and writes only two or three small rows, whatever is in memory. */
#include "base/mem.h"
#include "compare/cell.h"

static const size_t OTHER_BYTES = sizeof(struct sp_other) + 24;
static const struct sp_id NOBODY;

static int by_page(const void *key, const void *object)
{
    return sp_id_cmp(((const struct sp_other *)object)->owner.page, *(const struct sp_id *)key);
}

static struct sp_other *cached(const struct sp_row *row, struct sp_id page)
{
    struct sp_shelf_place place = sp_shelf_find(&row->others, by_page, &page, page.hi);
    struct sp_other *other = sp_shelf_next(&row->others, &place);
    return other && sp_id_eq(other->owner.page, page) ? other : NULL;
}

/* Caches an entry; the page must not be cached already. */
static struct sp_other *put(struct sp_compare_stage *c, struct sp_row *row,
                            const struct sp_other *entry)
{
    struct sp_other *other = sp_memdup(entry, sizeof *entry);
    sp_shelf_add(&row->others, by_page, &other->owner.page, other->owner.page.hi, other);
    c->cache_bytes += OTHER_BYTES;
    return other;
}

static void drop(struct sp_compare_stage *c, struct sp_row *row, struct sp_other *other)
{
    sp_shelf_remove(&row->others, by_page, &other->owner.page, other->owner.page.hi);
    sp_free(other);
    c->cache_bytes -= OTHER_BYTES;
}

/* ---- stored forms */

static void encode(const struct sp_other *other, struct sp_buf *out)
{
    sp_buf_reset(out);
    sp_buf_put_u64(out, (uint64_t)other->owner.content_version);
    sp_buf_put_id(out, other->before);
    sp_buf_put_id(out, other->after);
}

static enum sp_err decode(struct sp_view value, struct sp_other *other)
{
    struct sp_reader r = sp_reader(value);
    other->owner.content_version = (int64_t)sp_read_u64(&r);
    other->before = sp_read_id(&r);
    other->after = sp_read_id(&r);
    return r.failed || sp_reader_left(&r) ? SP_CORRUPT : SP_OK;
}

enum sp_err sp_owners_check(struct sp_view value)
{
    enum { VERSION_AND_ORDER = 16 };
    struct sp_other other;
    return value.len == VERSION_AND_ORDER ? SP_STATE_FORMAT : decode(value, &other);
}

/* ---- one of them */

static struct sp_other *read(struct sp_compare_stage *c, uint32_t slot, struct sp_id page)
{
    const struct sp_slot *s = &c->slots[slot];
    struct sp_other other = {.owner.page = page};
    struct sp_buf key = {0};
    struct sp_view value;
    sp_compare_row_key(s->cell, 'O', s->content, &key);
    sp_buf_put(&key, &page, sizeof page);
    enum sp_err err = sp_store_get(c->store, sp_buf_view(&key), &value);
    if (err == SP_OK)
        err = decode(value, &other);
    sp_buf_done(&key);
    if (err == SP_NOT_FOUND || !sp_compare_note(c, err))
        return NULL;
    return put(c, s->row, &other);
}

/* NULL if the page is not among the others, or on an error. It may be gone. */
static struct sp_other *look_up(struct sp_compare_stage *c, uint32_t slot, struct sp_row *row,
                                struct sp_id page)
{
    struct sp_other *other = cached(row, page);
    return other || row->others_known ? other : read(c, slot, page);
}

/* NULL if the page is the first owner or not an owner, or on an error. */
static struct sp_other *find(struct sp_compare_stage *c, uint32_t slot, struct sp_id page)
{
    struct sp_row *row = sp_cell_actor_row(c, slot);
    if (!row || sp_id_is_zero(page) || sp_id_eq(row->first.page, page))
        return NULL;
    struct sp_other *other = look_up(c, slot, row, page);
    return other && !other->gone ? other : NULL;
}

/* The owner that a neighbour names; NULL with an error if it is missing. */
static struct sp_other *named(struct sp_compare_stage *c, uint32_t slot, struct sp_id page)
{
    struct sp_other *other = find(c, slot, page);
    if (!other && !c->err)
        sp_compare_note(c, SP_CORRUPT);
    return other;
}

static void note_change(struct sp_compare_stage *c, uint32_t slot, struct sp_other *other)
{
    struct sp_row *row = c->slots[slot].row;
    sp_cell_actor_list_row(c, slot);
    if (other->changed)
        return;
    other->changed = true;
    sp_grow(&row->changed, &row->changed_cap, row->changed_count + 1);
    row->changed[row->changed_count++] = other->owner.page;
}

/* ---- the list */

/* Makes `after` follow `before`. A zero `before` is the first owner; a zero `after` is none. */
static void link(struct sp_compare_stage *c, uint32_t slot, struct sp_id before, struct sp_id after)
{
    struct sp_row *row = c->slots[slot].row;
    struct sp_other *left = sp_id_is_zero(before) ? NULL : named(c, slot, before);
    struct sp_other *right = sp_id_is_zero(after) ? NULL : named(c, slot, after);
    if (c->err)
        return;
    if (left) {
        left->after = after;
        note_change(c, slot, left);
    } else {
        row->second = after;
        sp_cell_actor_row_changed(c, slot);
    }
    if (right) {
        right->before = before;
        note_change(c, slot, right);
    } else {
        row->last = before;
        sp_cell_actor_row_changed(c, slot);
    }
}

/* `other`: its entry, if it left and that is not stored yet; or NULL. */
static void append(struct sp_compare_stage *c, uint32_t slot, struct sp_owner owner,
                   struct sp_other *other)
{
    struct sp_row *row = c->slots[slot].row;
    const struct sp_other entry = {.owner = owner, .before = row->last};
    struct sp_other *last = sp_id_is_zero(row->last) ? NULL : named(c, slot, row->last);
    if (c->err)
        return;
    if (other) {
        other->owner = owner;
        other->gone = false;
        other->before = row->last;
        other->after = NOBODY;
    } else {
        other = put(c, row, &entry);
    }
    note_change(c, slot, other);
    c->slots[slot].owners++;
    if (last) {
        last->after = owner.page;
        note_change(c, slot, last);
    } else {
        row->second = owner.page;
    }
    row->last = owner.page;
    sp_cell_actor_row_changed(c, slot);
}

static void take_out(struct sp_compare_stage *c, uint32_t slot, struct sp_other *other)
{
    link(c, slot, other->before, other->after);
    note_change(c, slot, other);
    other->gone = true;
    c->slots[slot].owners--;
}

/* ---- owners come and go */

enum sp_owners_change sp_owners_add(struct sp_compare_stage *c, uint32_t slot,
                                    struct sp_owner owner)
{
    struct sp_slot *s = &c->slots[slot];
    struct sp_row *row = sp_cell_actor_row(c, slot);
    if (!row)
        return SP_OWNERS_SAME;
    if (s->owners == 0 || sp_id_eq(row->first.page, owner.page)) {
        if (s->owners && row->first.content_version == owner.content_version)
            return SP_OWNERS_SAME;
        row->first = owner;
        sp_cell_actor_row_changed(c, slot);
        s->owners += s->owners == 0;
        return SP_OWNERS_FIRST;
    }
    struct sp_other *other = look_up(c, slot, row, owner.page);
    if (c->err)
        return SP_OWNERS_SAME;
    if (other && !other->gone) {
        other->owner = owner;
        note_change(c, slot, other);
    } else {
        append(c, slot, owner, other);
    }
    return SP_OWNERS_ONE;
}

/* Whether the last owner succeeds the first, else the second one. A successor costs as much as all
 * rows that hang on this one, so it must not be the next to leave: where owners leave in the order
 * in which they came, or in the reverse order, one of the two ends stays, and each second choice
 * hits that one. */
static bool last_succeeds(const struct sp_row *row)
{
    return sp_mix64(row->first.page.lo ^ row->last.lo) % 2;
}

/* The second or the last owner becomes the first. *ret_gap: it must be linked to the first. */
static enum sp_owners_change succeed(struct sp_compare_stage *c, uint32_t slot,
                                     const struct sp_other **ret_gap)
{
    struct sp_slot *s = &c->slots[slot];
    if (s->owners == 1) {
        s->owners = 0;
        return SP_OWNERS_NONE;
    }
    bool last = last_succeeds(s->row);
    struct sp_other *next = named(c, slot, last ? s->row->last : s->row->second);
    if (!next)
        return SP_OWNERS_SAME;
    take_out(c, slot, next);
    s->row->first = next->owner;
    if (last)
        *ret_gap = sp_owners_second(c, slot);
    return SP_OWNERS_FIRST;
}

enum sp_owners_change sp_owners_remove(struct sp_compare_stage *c, uint32_t slot, struct sp_id page,
                                       const struct sp_other **ret_gap)
{
    const struct sp_row *row = sp_cell_actor_row(c, slot);
    *ret_gap = NULL;
    if (!row)
        return SP_OWNERS_SAME;
    if (sp_id_eq(row->first.page, page))
        return succeed(c, slot, ret_gap);
    struct sp_other *other = find(c, slot, page);
    if (!other)
        return SP_OWNERS_SAME;
    take_out(c, slot, other);
    *ret_gap = sp_owners_after(c, slot, other);
    return SP_OWNERS_ONE;
}

const struct sp_other *sp_owners_find(struct sp_compare_stage *c, uint32_t slot, struct sp_id page)
{
    return find(c, slot, page);
}

const struct sp_other *sp_owners_second(struct sp_compare_stage *c, uint32_t slot)
{
    const struct sp_row *row = sp_cell_actor_row(c, slot);
    return row && !sp_id_is_zero(row->second) ? named(c, slot, row->second) : NULL;
}

const struct sp_other *sp_owners_after(struct sp_compare_stage *c, uint32_t slot,
                                       const struct sp_other *other)
{
    return sp_id_is_zero(other->after) ? NULL : named(c, slot, other->after);
}

bool sp_owners_before(struct sp_compare_stage *c, uint32_t slot, const struct sp_other *other,
                      struct sp_owner *ret_owner)
{
    const struct sp_row *row = sp_cell_actor_row(c, slot);
    bool first = sp_id_is_zero(other->before);
    const struct sp_other *before = row && !first ? named(c, slot, other->before) : NULL;
    if (!row || (!first && !before))
        return false;
    *ret_owner = first ? row->first : before->owner;
    return true;
}

bool sp_owners_other_than(struct sp_compare_stage *c, uint32_t slot, struct sp_id page,
                          struct sp_owner *ret_owner)
{
    const struct sp_row *row = sp_cell_actor_row(c, slot);
    if (!row || c->slots[slot].owners == 0)
        return false;
    if (!sp_id_eq(row->first.page, page)) {
        *ret_owner = row->first;
        return true;
    }
    const struct sp_other *second = sp_owners_second(c, slot);
    if (second)
        *ret_owner = second->owner;
    return second;
}

/* ---- storing and freeing */

size_t sp_owners_bytes(const struct sp_row *row)
{
    return row->others.count * OTHER_BYTES;
}

void sp_owners_flush(struct sp_compare_stage *c, struct sp_row *row, struct sp_buf *key,
                     struct sp_buf *value)
{
    size_t prefix = key->len;
    key->data[0] = 'O';
    for (uint32_t i = 0; i < row->changed_count; i++) {
        struct sp_other *other = cached(row, row->changed[i]);
        key->len = prefix;
        sp_buf_put(key, &row->changed[i], sizeof row->changed[i]);
        if (other->gone) {
            sp_store_delete(c->store, sp_buf_view(key));
            drop(c, row, other);
            continue;
        }
        encode(other, value);
        sp_store_put(c->store, sp_buf_view(key), sp_buf_view(value));
        other->changed = false;
    }
    row->changed_count = 0;
}

void sp_owners_free(struct sp_row *row)
{
    struct sp_shelf_place place = sp_shelf_first(&row->others);
    for (struct sp_other *other; (other = sp_shelf_next(&row->others, &place));)
        sp_free(other);
    sp_shelf_done(&row->others);
}
