/* The stored rows of reliance ('E') and of recalls ('Q'). The index changes them while a step is
 * under way, so they are noted in order and written at the next flush. */
#include "compare/cell.h"

/* A recall with a mark has SP_MARK_BYTES more. */
enum { VALUE_BYTES = 4, KEY_BYTES = 1 + 4 + 4 + 16 };

/* Appends a record to c->unsaved: whether to put or delete, the value, and the key with a mark. */
static void note(struct sp_compare_stage *c, bool put, uint32_t value, char kind, uint32_t a,
                 uint32_t home, struct sp_id content, uint32_t mark)
{
    sp_buf_put_u8(&c->unsaved, put);
    sp_buf_put_big_endian(&c->unsaved, value, VALUE_BYTES);
    sp_buf_put_u8(&c->unsaved, (uint8_t)kind);
    sp_buf_put_big_endian(&c->unsaved, a, 4);
    sp_buf_put_big_endian(&c->unsaved, home, 4);
    sp_buf_put(&c->unsaved, &content, sizeof content);
    sp_buf_put_big_endian(&c->unsaved, mark, SP_MARK_BYTES);
}

void sp_relied_note(struct sp_compare_stage *c, bool put, uint32_t slot, uint32_t home,
                    struct sp_id content, uint32_t clean_at)
{
    note(c, put, clean_at, 'E', slot, home, content, 0);
}

/* The key has the mark because the row of one recall must outlast another recall of the same row,
 * which may probe another star. */
void sp_recall_note(struct sp_compare_stage *c, bool put, const struct sp_recall *recall)
{
    note(c, put, 0, 'Q', recall->at, recall->home, recall->content, recall->mark);
}

static uint32_t mark_at(const char *p)
{
    return (uint32_t)sp_get_big_endian(p, SP_MARK_BYTES);
}

void sp_relied_flush(struct sp_compare_stage *c)
{
    enum { RECORD_BYTES = 1 + VALUE_BYTES + KEY_BYTES + SP_MARK_BYTES };
    for (size_t at = 0; at < c->unsaved.len; at += RECORD_BYTES) {
        const char *p = c->unsaved.data + at, *k = p + 1 + VALUE_BYTES;
        struct sp_view value = sp_view(p + 1, VALUE_BYTES);
        struct sp_view key = sp_view(k, KEY_BYTES + (mark_at(k + KEY_BYTES) ? SP_MARK_BYTES : 0));
        if (*p)
            sp_store_put(c->store, key, value);
        else
            sp_store_delete(c->store, key);
    }
    sp_buf_reset(&c->unsaved);
}

static void take_key(struct sp_view key, uint32_t *ret_a, uint32_t *ret_home,
                     struct sp_id *ret_content)
{
    *ret_a = (uint32_t)sp_get_big_endian(key.data + 1, 4);
    *ret_home = (uint32_t)sp_get_big_endian(key.data + 5, 4);
    memcpy(ret_content, key.data + 9, sizeof *ret_content);
}

bool sp_relied_decode(struct sp_view key, struct sp_view value, struct sp_relied_row *ret_row)
{
    if (key.len != KEY_BYTES || value.len != VALUE_BYTES)
        return false;
    take_key(key, &ret_row->slot, &ret_row->home, &ret_row->content);
    ret_row->clean_at = (uint32_t)sp_get_big_endian(value.data, VALUE_BYTES);
    return true;
}

bool sp_recall_decode(struct sp_view key, struct sp_recall *ret_recall)
{
    bool marked = key.len == KEY_BYTES + SP_MARK_BYTES;
    if (key.len != KEY_BYTES && !marked)
        return false;
    take_key(key, &ret_recall->at, &ret_recall->home, &ret_recall->content);
    ret_recall->mark = marked ? mark_at(key.data + KEY_BYTES) : 0;
    return true;
}
