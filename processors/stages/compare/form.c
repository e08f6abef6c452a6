/* The stored form of a slot: what the index needs to restore it without its signature.
 *
 *   cell 2, content 16, role 1, the pivot's (or heir's) slot 4, the adopter's slot 4, then numbers
 *   of variable length: how far an heir has come, kept, total, overlap, indexed, centred, words
 *   of parity, hashes; then the posted bits, the parity and the hashes
 *
 * Pivots and kids have different keys, because all pivots are restored before the kids. */
#include "base/mem.h"
#include "compare/cell.h"

enum { KEY_BYTES = 1 + 4 };

static struct sp_view key_of(char kind, uint32_t slot, char key[KEY_BYTES])
{
    key[0] = kind;
    sp_put_big_endian(key + 1, slot, 4);
    return sp_view(key, KEY_BYTES);
}

static void encode(const struct sp_slot *s, const struct sp_star_row *r, struct sp_buf *out)
{
    uint32_t words = r->parity ? sp_stars_parity_words(r->kept) : 0;
    sp_buf_reset(out);
    sp_buf_put_u8(out, (uint8_t)s->cell);
    sp_buf_put_u8(out, (uint8_t)(s->cell >> 8));
    sp_buf_put(out, &s->content, sizeof s->content);
    sp_buf_put_u8(out, (uint8_t)r->role);
    sp_buf_put_u32(out, r->other);
    sp_buf_put_u32(out, r->adopter);
    sp_buf_put_varint(out, r->passed);
    sp_buf_put_varint(out, r->kept);
    sp_buf_put_varint(out, r->total);
    sp_buf_put_varint(out, r->overlap);
    sp_buf_put_varint(out, r->indexed);
    sp_buf_put_varint(out, r->centred);
    sp_buf_put_varint(out, words);
    sp_buf_put_varint(out, r->hash_count);
    if (r->posted) {
        sp_buf_put(out, r->posted, (r->kept + 7) / 8);
        sp_buf_put(out, r->parity, words * sizeof *r->parity);
    }
    sp_buf_put(out, r->hashes, r->hash_count * sizeof *r->hashes);
}

static void flush_slot(struct sp_compare_stage *c, uint32_t slot, struct sp_buf *value)
{
    struct sp_slot *s = &c->slots[slot];
    struct sp_star_row form;
    char key[KEY_BYTES], kind = 0;
    s->reformed = false;
    if (s->owners || s->ghost) {
        if (!sp_compare_note(c, sp_stars_row_get(sp_cell_actor_of(c, slot)->domain, slot, &form)))
            return;
        kind = sp_star_role_is_pivot(form.role) ? 'P' : 'K';
        encode(s, &form, value);
        sp_store_put(c->store, key_of(kind, slot, key), sp_buf_view(value));
    }
    if (s->stored && s->stored != kind)
        sp_store_delete(c->store, key_of(s->stored, slot, key));
    s->stored = kind;
}

/* Signatures of new slots: those since the last flush exceed the processor's caches. */
static void prefetch_contents(const struct sp_compare_stage *c, uint32_t from)
{
    struct sp_id contents[SP_CONTENTS_PREFETCHED];
    uint32_t count = 0;
    for (uint32_t i = from; i < c->reformed_count && count < SP_CONTENTS_PREFETCHED; i++)
        contents[count++] = c->slots[c->reformed[i]].content;
    sp_contents_prefetch_all(c->contents, contents, count);
}

void sp_form_flush(struct sp_compare_stage *c)
{
    struct sp_buf value = {0};
    for (uint32_t i = 0; i < c->reformed_count && !c->err; i++) {
        if (i % SP_CONTENTS_PREFETCHED == 0)
            prefetch_contents(c, i);
        flush_slot(c, c->reformed[i], &value);
    }
    c->reformed_count = 0;
    sp_buf_done(&value);
}

/* ---- loading ---- */

struct form {
    uint32_t cell;
    struct sp_id content;
    struct sp_star_row row;
    struct sp_buf aligned; /* parity and hashes */
};

static uint32_t number(struct sp_reader *r)
{
    uint64_t n = sp_read_varint(r);
    r->failed |= n > SP_STARS_ROWS;
    return (uint32_t)n;
}

static bool decode(struct sp_view value, struct form *f)
{
    struct sp_reader r = sp_reader(value);
    struct sp_star_row *row = &f->row;
    f->cell = sp_read_u8(&r);
    f->cell |= (uint32_t)sp_read_u8(&r) << 8;
    struct sp_view content = sp_read_bytes(&r, sizeof f->content);
    if (content.len)
        memcpy(&f->content, content.data, content.len);
    row->role = (enum sp_star_role)sp_read_u8(&r);
    row->other = sp_read_u32(&r);
    row->adopter = sp_read_u32(&r);
    row->passed = sp_read_varint(&r);
    row->kept = number(&r);
    row->total = number(&r);
    row->overlap = number(&r);
    row->indexed = number(&r) > 0;
    row->centred = number(&r);
    uint32_t words = number(&r);
    row->hash_count = number(&r);
    if (r.failed || row->role > SP_STAR_ORPHAN ||
        (words && words != sp_stars_parity_words(row->kept)))
        return false;
    struct sp_view posted = sp_read_bytes(&r, words ? (row->kept + 7) / 8 : 0);
    struct sp_view parity = sp_read_bytes(&r, words * sizeof *row->parity);
    struct sp_view hashes = sp_read_bytes(&r, row->hash_count * sizeof *row->hashes);
    if (r.failed || sp_reader_left(&r))
        return false;
    sp_buf_reset(&f->aligned);
    sp_buf_reserve(&f->aligned, 1); /* NULL + 0 is undefined */
    sp_buf_put_view(&f->aligned, parity);
    sp_buf_put_view(&f->aligned, hashes);
    row->posted = words ? (const uint8_t *)posted.data : NULL;
    row->parity = words ? (const uint64_t *)(const void *)f->aligned.data : NULL;
    row->hashes = (const uint32_t *)(const void *)(f->aligned.data + parity.len);
    return true;
}

static enum sp_err restore(struct sp_compare_stage *c, uint32_t slot, char kind,
                           const struct form *f)
{
    struct sp_cell_actor *cell = sp_cell_actor_get(c, f->cell);
    const struct sp_star_row *row = &f->row;
    if (sp_star_role_is_pivot(row->role) != (kind == 'P') ||
        (row->role != SP_STAR_GHOST && sp_cell_actor_find(c, cell, f->content) != NO_SLOT) ||
        !sp_cell_actor_slot_take(c, cell, slot, f->content))
        return SP_CORRUPT;
    struct sp_slot *s = &c->slots[slot];
    s->stored = kind;
    if (row->role == SP_STAR_GHOST) {
        s->ghost = true;
        cell->ghosts++;
    } else {
        s->owners = 1;
        sp_cell_actor_slot_enter(c, cell, slot);
    }
    if (row->role == SP_STAR_CHILD)
        s->anchor = row->other;
    else if (row->role == SP_STAR_ADOPTED)
        s->anchor = row->adopter;
    c->unsettled |=
        sp_star_role_is_pivot(row->role) && (row->role == SP_STAR_GHOST || row->other != NO_SLOT);
    return sp_stars_row_put(cell->domain, slot, row);
}

enum sp_err sp_form_load(struct sp_compare_stage *c, struct sp_view key, struct sp_view value)
{
    struct form f = {0};
    if (key.len != KEY_BYTES)
        return SP_STATE_FORMAT;
    uint32_t slot = (uint32_t)sp_get_big_endian(key.data + 1, 4);
    enum sp_err err = decode(value, &f) ? SP_OK : SP_CORRUPT;
    if (err == SP_OK)
        err = sp_compare_check_cell(c, f.cell);
    if (err == SP_OK)
        err = restore(c, slot, key.data[0], &f);
    sp_buf_done(&f.aligned);
    return err;
}
