/* The store interface: partitions as key prefixes, and the dispatch to memory.c or
 * rocksdb.c.
 *
 * A full key is the partition number (two bytes, big-endian) and the stage's key, so a
 * partition is one contiguous range and a scan cannot leave it: the full prefix starts
 * with the partition.
 *
 * Fails only as the implementation does; calls from inside a scan are asserted, because
 * they would invalidate the views that the callback holds. */
#include "store/store.h"

#include "base/assert.h"
#include "store/impl.h"

struct sp_store *sp_db_store(struct sp_db *db, uint16_t number)
{
    struct sp_store **high = &db->stores[number >> 8];
    if (!*high)
        *high = sp_calloc(256, sizeof **high);
    struct sp_store *s = &(*high)[number & 0xff];
    s->db = db;
    s->partition[0] = (unsigned char)(number >> 8);
    s->partition[1] = (unsigned char)number;
    return s;
}

void sp_db_interrupt(struct sp_db *db, bool (*is_over)(void *arg), void *arg)
{
    db->is_over = is_over;
    db->is_over_arg = arg;
}

static bool is_interrupted(const struct sp_db *db)
{
    return db->is_over && db->is_over(db->is_over_arg);
}

void sp_store_leave_uncached(struct sp_store *s)
{
    s->uncached = true;
}

static struct sp_view full_key(const struct sp_store *s, struct sp_buf *buf, struct sp_view key)
{
    sp_buf_reset(buf);
    sp_buf_put(buf, s->partition, SP_PARTITION_BYTES);
    sp_buf_put_view(buf, key);
    return sp_buf_view(buf);
}

static void count_read(struct sp_db_counts *c, struct sp_view key, struct sp_view value)
{
    c->rows_read++;
    c->bytes_read += SP_PARTITION_BYTES + key.len + value.len;
}

enum sp_err sp_store_get(struct sp_store *s, struct sp_view key, struct sp_view *ret_value)
{
    struct sp_db *db = s->db;
    SP_ASSERT(!db->scanning);
    if (is_interrupted(db))
        return SP_BUSY;
    db->uncached = s->uncached;
    enum sp_err err = db->ops->get(db, full_key(s, &db->key, key), ret_value);
    db->counts.gets++;
    if (err == SP_OK)
        count_read(&db->counts, key, *ret_value);
    return err;
}

void sp_store_prefetch(struct sp_store *s, struct sp_view key)
{
    SP_ASSERT(!s->db->scanning);
    if (s->db->ops->prefetch)
        s->db->ops->prefetch(s->db, full_key(s, &s->db->key, key));
}

bool sp_store_may_have(struct sp_store *s, struct sp_view key)
{
    return s->db->ops->may_have(s->db, full_key(s, &s->db->key, key));
}

void sp_store_expect(struct sp_store *s, struct sp_view key)
{
    s->db->uncached = s->uncached;
    if (s->db->ops->expect)
        s->db->ops->expect(s->db, full_key(s, &s->db->key, key));
}

bool sp_store_peek(struct sp_store *s, struct sp_view key, struct sp_view *ret_value)
{
    struct sp_db *db = s->db;
    return db->ops->peek && db->ops->peek(db, full_key(s, &db->key, key), ret_value);
}

static void count_put(struct sp_db *db, struct sp_view key, struct sp_view value)
{
    SP_ASSERT(!db->scanning);
    db->counts.rows_put++;
    db->counts.bytes_written += key.len + value.len;
}

static void put(struct sp_db *db, struct sp_view key, struct sp_view value)
{
    count_put(db, key, value);
    db->ops->put(db, key, value);
}

static void erase(struct sp_db *db, struct sp_view key)
{
    SP_ASSERT(!db->scanning);
    db->ops->erase(db, key);
    db->counts.rows_deleted++;
    db->counts.bytes_written += key.len;
}

void sp_store_put(struct sp_store *s, struct sp_view key, struct sp_view value)
{
    put(s->db, full_key(s, &s->db->key, key), value);
}

void sp_store_put_lent(struct sp_store *s, struct sp_view key, struct sp_view value,
                       void (*release)(void *arg), void *arg)
{
    struct sp_db *db = s->db;
    if (!db->ops->put_lent) {
        sp_store_put(s, key, value);
        release(arg);
        return;
    }
    struct sp_view full = full_key(s, &db->key, key);
    count_put(db, full, value);
    db->ops->put_lent(db, full, value, release, arg);
}

void sp_store_delete(struct sp_store *s, struct sp_view key)
{
    erase(s->db, full_key(s, &s->db->key, key));
}

void sp_db_write(struct sp_db *db, struct sp_view key, struct sp_view value)
{
    SP_ASSERT(key.len >= SP_PARTITION_BYTES);
    if (value.data)
        put(db, key, value);
    else
        erase(db, key);
}

struct scan {
    struct sp_db *db;
    bool (*each)(void *arg, struct sp_view key, struct sp_view value);
    void *arg;
};

static bool without_partition(void *arg, struct sp_view key, struct sp_view value)
{
    struct scan *scan = arg;
    if (is_interrupted(scan->db))
        return false;
    key.data += SP_PARTITION_BYTES;
    key.len -= SP_PARTITION_BYTES;
    count_read(&scan->db->counts, key, value);
    return scan->each(scan->arg, key, value);
}

enum sp_err sp_store_scan(struct sp_store *s, struct sp_view prefix, struct sp_view from,
                          bool (*each)(void *arg, struct sp_view key, struct sp_view value),
                          void *arg)
{
    struct sp_db *db = s->db;
    SP_ASSERT(!db->scanning);
    struct scan scan = {db, each, arg};
    struct sp_view full_prefix = full_key(s, &db->key, prefix);
    size_t common = from.len < prefix.len ? from.len : prefix.len;
    int order = common ? memcmp(from.data, prefix.data, common) : 0;
    bool after = order > 0 || (order == 0 && from.len > prefix.len);
    struct sp_view start = full_key(s, &db->from, after ? from : prefix);
    db->scanning = true;
    enum sp_err err = db->ops->scan(db, full_prefix, start, without_partition, &scan);
    db->scanning = false;
    return err == SP_OK && is_interrupted(db) ? SP_BUSY : err;
}

enum sp_err sp_db_commit(struct sp_db *db)
{
    SP_ASSERT(!db->scanning);
    struct sp_db_counts *c = &db->counts;
    uint64_t rows = c->rows_put + c->rows_deleted;
    if (rows - db->committed_rows > c->largest_commit)
        c->largest_commit = rows - db->committed_rows;
    db->committed_rows = rows;
    return db->ops->commit(db);
}

enum sp_err sp_db_compact(struct sp_db *db)
{
    SP_ASSERT(!db->scanning);
    return db->ops->compact ? db->ops->compact(db) : SP_OK;
}

enum sp_err sp_db_fill(struct sp_db *db, bool on)
{
    SP_ASSERT(!db->scanning);
    return db->ops->fill ? db->ops->fill(db, on) : SP_OK;
}

void sp_db_before_commits(struct sp_db *db, enum sp_err (*before)(void *arg), void *arg)
{
    if (db->ops->before_commits)
        db->ops->before_commits(db, before, arg);
}

enum sp_err sp_db_sync(struct sp_db *db)
{
    SP_ASSERT(!db->scanning);
    return db->ops->sync ? db->ops->sync(db) : SP_OK;
}

void sp_db_adopt(struct sp_db *db)
{
    if (db->ops->adopt)
        db->ops->adopt(db);
}

void sp_db_discard(struct sp_db *db)
{
    SP_ASSERT(!db->scanning);
    db->committed_rows = db->counts.rows_put + db->counts.rows_deleted;
    db->ops->discard(db);
}

void sp_db_counts(const struct sp_db *db, struct sp_db_counts *ret_counts)
{
    *ret_counts = db->counts;
}

const char *sp_db_message(const struct sp_db *db)
{
    return db->message;
}

const char *sp_db_err_text(const struct sp_db *db, enum sp_err err)
{
    return err == SP_STORE ? sp_db_message(db) : sp_err_text(err);
}

void sp_db_each_write(struct sp_db *db,
                      void (*each)(void *arg, struct sp_view key, struct sp_view value,
                                   bool deleted),
                      void *arg)
{
    SP_ASSERT(!db->scanning);
    db->ops->each_write(db, each, arg);
}

void sp_db_size(struct sp_db *db, uint64_t *ret_disk_bytes, uint64_t *ret_memory_bytes)
{
    db->ops->size(db, ret_disk_bytes, ret_memory_bytes);
}

void sp_db_fail_after(struct sp_db *db, long calls)
{
    SP_ASSERT(db->ops->fail_after);
    db->ops->fail_after(db, calls);
}

void sp_db_close(struct sp_db *db)
{
    if (!db)
        return;
    SP_ASSERT(!db->scanning);
    db->ops->close(db);
    for (size_t i = 0; i < 256; i++)
        sp_free(db->stores[i]);
    sp_buf_done(&db->key);
    sp_buf_done(&db->from);
    sp_free(db);
}
