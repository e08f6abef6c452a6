/* See merge.h. */
#include "store/merge.h"

#include <string.h>

static bool starts_with(struct sp_view v, struct sp_view prefix)
{
    return v.len >= prefix.len && memcmp(v.data, prefix.data, prefix.len) == 0;
}

static int by_bytes(struct sp_view a, struct sp_view b)
{
    int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);
    return order ? order : a.len < b.len ? -1 : a.len > b.len;
}

void sp_merge_add(struct sp_merge *m, const struct sp_write_batch *batch, size_t start, size_t end,
                  struct sp_view from)
{
    struct sp_merge_run run = {batch, sp_write_batch_from(batch, start, end, from), end};
    if (run.next < end)
        m->runs[m->count++] = run;
}

void sp_merge_add_held(struct sp_merge *m, const struct sp_held *held, struct sp_view from)
{
    for (size_t run = held->runs; run-- > 0;)
        sp_merge_add(m, &held->rows, run ? held->ends[run - 1] : 0, held->ends[run], from);
}

static struct sp_view key_of(const struct sp_merge_run *run)
{
    return sp_write_batch_key(run->batch, &run->batch->writes[run->next]);
}

/* The run with the least key, or NULL. */
static const struct sp_merge_run *first_run(const struct sp_merge *m)
{
    const struct sp_merge_run *first = NULL;
    for (size_t i = 0; i < m->count; i++)
        if (m->runs[i].next < m->runs[i].end &&
            (!first || by_bytes(key_of(&m->runs[i]), key_of(first)) < 0))
            first = &m->runs[i];
    return first;
}

bool sp_merge_row(const struct sp_merge *m, struct sp_view prefix, struct sp_view *ret_key,
                  struct sp_view *ret_value, bool *ret_erased)
{
    struct sp_view stored = {0}, coming = {0};
    const struct sp_merge_run *run = first_run(m);
    if (rocksdb_iter_valid(m->stored))
        stored.data = rocksdb_iter_key(m->stored, &stored.len);
    if (run)
        coming = key_of(run);
    bool is_stored = stored.data && starts_with(stored, prefix);
    bool is_coming = coming.data && starts_with(coming, prefix);
    int order = is_stored && is_coming ? by_bytes(stored, coming) : is_stored ? -1 : 1;
    if (!is_stored && !is_coming)
        return false;
    *ret_erased = false;
    if (order < 0) {
        *ret_key = stored;
        ret_value->data = rocksdb_iter_value(m->stored, &ret_value->len);
        return true;
    }
    const struct sp_write *w = &run->batch->writes[run->next];
    *ret_key = coming;
    *ret_value = sp_write_batch_value(run->batch, w);
    *ret_erased = w->value_len == SP_WRITE_ERASED;
    return true;
}

void sp_merge_next(struct sp_merge *m, struct sp_view key)
{
    size_t len = 0;
    const char *stored = rocksdb_iter_valid(m->stored) ? rocksdb_iter_key(m->stored, &len) : NULL;
    bool both = stored && len == key.len && memcmp(stored, key.data, len) == 0;
    for (size_t i = 0; i < m->count; i++)
        if (m->runs[i].next < m->runs[i].end && sp_view_eq(key_of(&m->runs[i]), key))
            m->runs[i].next++;
    if (both)
        rocksdb_iter_next(m->stored);
}
