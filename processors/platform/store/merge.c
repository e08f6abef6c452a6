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

bool sp_merge_row(const struct sp_merge *m, struct sp_view prefix, struct sp_view *ret_key,
                  struct sp_view *ret_value, bool *ret_erased)
{
    struct sp_view stored = {0}, coming = {0};
    if (rocksdb_iter_valid(m->stored))
        stored.data = rocksdb_iter_key(m->stored, &stored.len);
    if (m->coming && m->next < m->coming->count)
        coming = sp_write_batch_key(m->coming, &m->coming->writes[m->next]);
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
    const struct sp_write *w = &m->coming->writes[m->next];
    *ret_key = coming;
    *ret_value = sp_write_batch_value(m->coming, w);
    *ret_erased = w->value_len == SP_WRITE_ERASED;
    return true;
}

void sp_merge_next(struct sp_merge *m, struct sp_view key)
{
    size_t len = 0;
    const char *stored = rocksdb_iter_valid(m->stored) ? rocksdb_iter_key(m->stored, &len) : NULL;
    bool both = stored && len == key.len && memcmp(stored, key.data, len) == 0;
    if (m->coming && m->next < m->coming->count &&
        sp_view_eq(sp_write_batch_key(m->coming, &m->coming->writes[m->next]), key))
        m->next++;
    if (both)
        rocksdb_iter_next(m->stored);
}
