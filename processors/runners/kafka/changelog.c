/* See changelog.h. */
#include "kafka/changelog.h"

enum { COMMIT_BYTES = 16 << 20 };

static size_t batch_bytes(const struct sp_changelog *c)
{
    return c->batch_bytes ? c->batch_bytes : COMMIT_BYTES;
}

/* Batches end at a marker if one comes soon enough; few have to end before one. */
static bool may_end(const struct sp_changelog *c)
{
    return c->uncommitted >= batch_bytes(c) / 4 * 3;
}

/* Rows before their marker go to the database, not into memory. If the marker never comes, the
 * database is useless, and its row `task` says so (`partial`). */
static enum sp_err commit_part(struct sp_changelog *c, struct sp_task *t, int64_t next)
{
    struct sp_task part = *t;
    part.changelog_next = next;
    part.partial = t->partial = true;
    c->uncommitted = 0;
    sp_task_save(&part);
    return sp_db_commit(t->db);
}

static enum sp_err on_marker(struct sp_changelog *c, struct sp_task *t,
                             const struct sp_changelog_record *record)
{
    struct sp_marker marker;
    if (!sp_marker_read(record->value, &marker))
        return SP_INVALID;
    if (t->input_next >= 0 && !sp_id_eq(t->life, marker.life))
        return SP_STATE_FORMAT;
    c->markers++;
    if (record->offset < c->from)
        return SP_OK;
    t->input_next = marker.input_next;
    t->batch = marker.batch;
    t->life = marker.life;
    t->changelog_next = record->offset + 1;
    c->unmarked = 0;
    if (!c->each_marker && !t->partial && !may_end(c))
        return SP_OK;
    t->partial = false;
    c->uncommitted = 0;
    sp_task_save(t);
    return sp_db_commit(t->db);
}

enum sp_err sp_changelog_apply(struct sp_changelog *c, struct sp_task *t,
                               const struct sp_changelog_record *record)
{
    if (record->offset >= c->from)
        c->uncommitted += record->key.len + record->value.len;
    if (record->key.len < 2)
        return on_marker(c, t, record);
    if (record->offset < c->from)
        return SP_OK;
    sp_db_write(t->db, record->key, record->value);
    c->applied++;
    c->unmarked++;
    return c->uncommitted < batch_bytes(c) ? SP_OK : commit_part(c, t, record->offset + 1);
}

enum sp_err sp_changelog_end(struct sp_changelog *c, struct sp_task *t, bool *ret_again)
{
    if (c->unmarked && t->partial) { /* too many rows to drop: reads no further than the marker */
        t->read_until = t->changelog_next;
        return SP_STATE_FORMAT;
    }
    *ret_again = c->unmarked && !c->each_marker;
    if (c->unmarked || !c->uncommitted) {
        sp_db_discard(t->db);
        return SP_OK;
    }
    sp_task_save(t);
    return sp_db_commit(t->db);
}
