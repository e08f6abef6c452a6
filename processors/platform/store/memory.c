/* The memory store: committed rows, and those of the open batch, which a commit moves to the
 * committed ones. It fails only if sp_db_fail_after asks for it. */
#include <stdio.h>

#include "base/assert.h"
#include "base/mem.h"
#include "store/impl.h"
#include "store/rows.h"

struct memory_db {
    struct sp_db db;
    struct sp_rows rows;
    struct sp_rows batch;
    long calls_left; /* -1: never fail */
};

static struct memory_db *memory(struct sp_db *db)
{
    return (struct memory_db *)db;
}

static bool fails(struct memory_db *m)
{
    if (m->calls_left > 0) {
        m->calls_left--;
        return false;
    }
    if (m->calls_left < 0)
        return false;
    snprintf(m->db.message, sizeof m->db.message, "failed as sp_db_fail_after asked for");
    return true;
}

static enum sp_err memory_get(struct sp_db *db, struct sp_view key, struct sp_view *ret_value)
{
    struct memory_db *m = memory(db);
    SP_ASSERT(!sp_rows_find(&m->batch, key));
    if (fails(m))
        return SP_STORE;
    const struct sp_stored_row *row = sp_rows_find(&m->rows, key);
    if (!row)
        return SP_NOT_FOUND;
    *ret_value = row->value;
    return SP_OK;
}

static bool memory_may_have(struct sp_db *db, struct sp_view key)
{
    return sp_rows_find(&memory(db)->rows, key) != NULL;
}

static void memory_put(struct sp_db *db, struct sp_view key, struct sp_view value)
{
    sp_rows_put(&memory(db)->batch, sp_stored_row_new(key, value, false));
}

static void memory_erase(struct sp_db *db, struct sp_view key)
{
    sp_rows_put(&memory(db)->batch, sp_stored_row_new(key, sp_view(NULL, 0), true));
}

static enum sp_err memory_scan(struct sp_db *db, struct sp_view prefix, struct sp_view from,
                               bool (*each)(void *arg, struct sp_view key, struct sp_view value),
                               void *arg)
{
    struct memory_db *m = memory(db);
    if (fails(m))
        return SP_STORE;
    struct sp_rows_place place = sp_rows_seek(&m->rows, from);
    for (const struct sp_stored_row *row; (row = sp_rows_next(&place));) {
        if (row->key.len < prefix.len || memcmp(row->key.data, prefix.data, prefix.len) != 0)
            break;
        if (!each(arg, row->key, row->value))
            break;
    }
    return SP_OK;
}

static enum sp_err memory_commit(struct sp_db *db)
{
    struct memory_db *m = memory(db);
    if (!m->batch.count)
        return SP_OK;
    if (fails(m)) {
        sp_rows_clear(&m->batch);
        return SP_STORE;
    }
    struct sp_rows_place place = sp_rows_first(&m->batch);
    for (struct sp_stored_row *row; (row = sp_rows_next(&place));) {
        if (row->deleted) {
            sp_rows_erase(&m->rows, row->key);
            sp_free(row);
        } else {
            sp_rows_put(&m->rows, row);
        }
    }
    sp_rows_let_go(&m->batch);
    return SP_OK;
}

static void memory_discard(struct sp_db *db)
{
    sp_rows_clear(&memory(db)->batch);
}

static void memory_each_write(struct sp_db *db,
                              void (*each)(void *arg, struct sp_view key, struct sp_view value,
                                           bool deleted),
                              void *arg)
{
    struct sp_rows_place place = sp_rows_first(&memory(db)->batch);
    for (const struct sp_stored_row *row; (row = sp_rows_next(&place));)
        each(arg, row->key, row->value, row->deleted);
}

static void memory_size(struct sp_db *db, uint64_t *ret_disk_bytes, uint64_t *ret_memory_bytes)
{
    *ret_disk_bytes = 0;
    *ret_memory_bytes = memory(db)->rows.bytes + memory(db)->batch.bytes;
}

static void memory_fail_after(struct sp_db *db, long calls)
{
    memory(db)->calls_left = calls;
}

static void memory_close(struct sp_db *db)
{
    sp_rows_clear(&memory(db)->rows);
    sp_rows_clear(&memory(db)->batch);
}

static const struct sp_db_ops memory_ops = {
    .get = memory_get,
    .may_have = memory_may_have,
    .put = memory_put,
    .erase = memory_erase,
    .scan = memory_scan,
    .commit = memory_commit,
    .discard = memory_discard,
    .each_write = memory_each_write,
    .size = memory_size,
    .fail_after = memory_fail_after,
    .close = memory_close,
};

struct sp_db *sp_db_open_memory(void)
{
    struct memory_db *m = sp_calloc(1, sizeof *m);
    m->db.ops = &memory_ops;
    m->calls_left = -1;
    return &m->db;
}

struct sp_db *sp_db_copy_memory(const struct sp_db *db)
{
    SP_ASSERT(db->ops == &memory_ops);
    const struct memory_db *from = (const struct memory_db *)db;
    struct sp_db *copy = sp_db_open_memory();
    struct sp_rows_place place = sp_rows_first(&from->rows);
    for (const struct sp_stored_row *row; (row = sp_rows_next(&place));)
        sp_rows_put(&memory(copy)->rows, sp_stored_row_new(row->key, row->value, false));
    return copy;
}
