/* Signatures of the members of this partition's groups: exactly equal content is stored once, with
 * a count of the members that have it.
 *
 *   'S' content -> varint count, packed signature */
#include "base/mem.h"
#include "group/internal.h"

static const size_t ENTRY_BYTES = sizeof(struct signature_entry) + 48;

static void content_key(struct sp_group *st, struct sp_id content)
{
    sp_buf_reset(&st->key);
    sp_buf_put_u8(&st->key, 'S');
    sp_buf_put(&st->key, &content, sizeof content);
}

static void entry_changed(struct sp_group *st, struct signature_entry *e)
{
    if (e->dirty)
        return;
    e->dirty = true;
    e->next_dirty = st->dirty_signatures;
    st->dirty_signatures = e;
}

static struct signature_entry *entry_add(struct sp_group *st, struct sp_signature *signature)
{
    struct signature_entry *e = sp_calloc(1, sizeof *e);
    e->content = signature->content_hash;
    e->signature = signature;
    sp_map_add(&st->signatures, e);
    sp_lru_push(&st->signature_lru, &e->lru);
    st->signature_bytes += ENTRY_BYTES + sp_signature_bytes(signature);
    return e;
}

static enum sp_err entry_decode(struct sp_view value, uint64_t *ret_refs,
                                struct sp_signature **ret_signature)
{
    struct sp_reader r = sp_reader(value);
    *ret_refs = sp_read_varint(&r);
    if (r.failed || *ret_refs == 0 ||
        sp_signature_decode(sp_view(r.at, sp_reader_left(&r)), ret_signature))
        return SP_CORRUPT;
    return SP_OK;
}

/* The entry from memory or the store; NULL where there is none, or with st->err. */
static struct signature_entry *entry_find(struct sp_group *st, struct sp_id content)
{
    struct signature_entry *e = sp_map_get(&st->signatures, content);
    if (e) {
        sp_lru_touch(&st->signature_lru, &e->lru);
        return e;
    }
    struct sp_view value;
    struct sp_signature *signature;
    uint64_t refs;
    content_key(st, content);
    enum sp_err err = sp_store_get(st->store, sp_buf_view(&st->key), &value);
    if (err == SP_NOT_FOUND)
        return NULL;
    if (err == SP_OK)
        err = entry_decode(value, &refs, &signature);
    if (err != SP_OK) {
        st->err = err;
        return NULL;
    }
    e = entry_add(st, signature);
    e->refs = e->stored_refs = refs;
    return e;
}

void signature_expect(struct sp_group *st, struct sp_id content)
{
    if (sp_map_get(&st->signatures, content))
        return;
    content_key(st, content);
    sp_store_expect(st->store, sp_buf_view(&st->key));
}

void signature_hold(struct sp_group *st, struct sp_signature *signature)
{
    struct signature_entry *e = entry_find(st, signature->content_hash);
    if (st->err)
        return;
    if (!e)
        e = entry_add(st, sp_signature_ref(signature));
    e->refs++;
    entry_changed(st, e);
}

void signature_drop(struct sp_group *st, struct sp_id content)
{
    struct signature_entry *e = entry_find(st, content);
    if (!e) {
        if (!st->err)
            st->err = SP_CORRUPT;
        return;
    }
    SP_ASSERT(e->refs > 0);
    e->refs--;
    entry_changed(st, e);
}

struct sp_signature *signature_get(struct sp_group *st, struct sp_id content)
{
    struct signature_entry *e = entry_find(st, content);
    if (!e && !st->err)
        st->err = SP_CORRUPT;
    return e ? e->signature : NULL;
}

static void entry_free(struct sp_group *st, struct signature_entry *e)
{
    sp_map_remove(&st->signatures, e->content);
    sp_lru_remove(&e->lru);
    st->signature_bytes -= ENTRY_BYTES + sp_signature_bytes(e->signature);
    sp_signature_unref(e->signature);
    sp_free(e);
}

enum sp_err signatures_flush(struct sp_group *st)
{
    for (struct signature_entry *e = st->dirty_signatures, *next; e; e = next) {
        next = e->next_dirty;
        e->dirty = false;
        content_key(st, e->content);
        if (e->refs == 0) {
            if (e->stored_refs)
                sp_store_delete(st->store, sp_buf_view(&st->key));
            entry_free(st, e);
        } else if (e->refs != e->stored_refs) { /* else its member went from group to group */
            sp_buf_reset(&st->value);
            sp_buf_put_varint(&st->value, e->refs);
            sp_signature_encode(e->signature, &st->value);
            sp_store_put(st->store, sp_buf_view(&st->key), sp_buf_view(&st->value));
            e->stored_refs = e->refs;
        }
    }
    st->dirty_signatures = NULL;
    return SP_OK;
}

void signatures_evict(struct sp_group *st, size_t budget)
{
    while (st->signature_bytes > budget && st->signature_lru.prev != &st->signature_lru)
        entry_free(st, SP_LRU_OBJECT(st->signature_lru.prev, struct signature_entry, lru));
}

void signatures_free(struct sp_group *st)
{
    while (st->signature_lru.prev != &st->signature_lru)
        entry_free(st, SP_LRU_OBJECT(st->signature_lru.prev, struct signature_entry, lru));
    sp_map_done(&st->signatures);
}
