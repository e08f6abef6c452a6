/* See contents.h. An entry has the signature, the count, or both, so that hold and drop need not
 * read the signature of a content that is not in memory. */
#include "contents/contents.h"

#include "base/ages.h"
#include "base/assert.h"
#include "base/mem.h"
#include "base/prefetch.h"

struct entry {
    struct sp_id content;           /* key of the table: first */
    struct sp_age age;              /* while it is clean */
    struct sp_signature *signature; /* NULL: not read */
    uint64_t holders;
    uint64_t stored_holders; /* 0: it is not stored */
    bool counted;            /* both counts are known */
    bool dirty;
    struct entry *next_dirty;
};

struct sp_contents {
    struct sp_store *store;
    struct sp_map entries;
    struct sp_ages clean; /* a round is from flush to flush */
    struct entry *dirty;
    uint64_t usual_holders;
    size_t budget;
    struct sp_contents_stats stats;
    struct sp_buf value;
};

/* Of a signature; the hardware prefetcher loads the rest. */
enum { FETCHED_BYTES = 192 };

static const size_t ENTRY_BYTES = sizeof(struct entry) + 32;

struct sp_contents *sp_contents_new(struct sp_store *store, uint64_t usual_holders,
                                    size_t cache_bytes)
{
    struct sp_contents *t = sp_calloc(1, sizeof *t);
    t->store = store;
    t->usual_holders = usual_holders;
    t->budget = cache_bytes;
    sp_ages_init(&t->clean);
    return t;
}

/* ---- entries in memory ---- */

/* Until the next flush. */
static bool is_waste(const struct entry *e)
{
    return e->dirty && e->holders == 0;
}

static size_t bytes_of(const struct entry *e)
{
    return ENTRY_BYTES + (e->signature ? sp_signature_bytes(e->signature) : 0);
}

static void set_signature(struct sp_contents *t, struct entry *e, struct sp_signature *signature)
{
    e->signature = signature;
    t->stats.cache_bytes += sp_signature_bytes(signature);
    if (is_waste(e))
        t->stats.waste_bytes += sp_signature_bytes(signature);
}

static void entry_free(struct sp_contents *t, struct entry *e)
{
    sp_map_remove(&t->entries, e->content);
    if (!e->dirty)
        sp_ages_leave(&e->age);
    t->stats.cache_bytes -= bytes_of(e);
    sp_signature_unref(e->signature);
    sp_free(e);
}

static struct entry *entry_of(struct sp_contents *t, struct sp_id content)
{
    struct entry *e = sp_map_get(&t->entries, content);
    if (e) {
        sp_ages_use(&t->clean, &e->age);
        return e;
    }
    e = sp_calloc(1, sizeof *e);
    e->content = content;
    sp_map_add(&t->entries, e);
    sp_ages_enter(&t->clean, &e->age);
    t->stats.cache_bytes += ENTRY_BYTES;
    return e;
}

static void changed(struct sp_contents *t, struct entry *e)
{
    if (e->dirty)
        return;
    sp_ages_leave(&e->age);
    e->dirty = true;
    e->next_dirty = t->dirty;
    t->dirty = e;
}

void sp_contents_free(struct sp_contents *t)
{
    if (!t)
        return;
    for (struct entry *e = t->dirty, *next; e; e = next) {
        next = e->next_dirty;
        entry_free(t, e);
    }
    for (struct sp_age *oldest; (oldest = sp_ages_oldest(&t->clean));)
        entry_free(t, SP_LRU_OBJECT(oldest, struct entry, age));
    sp_map_done(&t->entries);
    sp_buf_done(&t->value);
    sp_free(t);
}

/* ---- rows ---- */

static enum sp_err decode_count(struct sp_view value, uint64_t *ret_holders)
{
    struct sp_reader r = sp_reader(value);
    *ret_holders = sp_read_varint(&r);
    return r.failed || sp_reader_left(&r) || *ret_holders == 0 ? SP_CORRUPT : SP_OK;
}

/* Without a count of its own, a content that is stored has the usual one. The signature of an entry
 * that is not counted yet was read from its row. */
static enum sp_err is_stored(struct sp_contents *t, const struct entry *e, bool held,
                             bool *ret_stored)
{
    char key[SP_ID_KEY_BYTES];
    struct sp_view row, of_signature = sp_id_key(key, 'S', e->content);
    *ret_stored = e->signature || sp_store_may_have(t->store, of_signature);
    if (!*ret_stored || e->signature || held)
        return SP_OK;
    enum sp_err err = sp_store_get(t->store, of_signature, &row);
    *ret_stored = err == SP_OK;
    return err == SP_NOT_FOUND ? SP_OK : err;
}

/* `held`: there is a holder, so the row of the signature, a block of the disk, need not be read to
 * know that. */
static enum sp_err count(struct sp_contents *t, struct entry *e, bool held)
{
    char key[SP_ID_KEY_BYTES];
    struct sp_view value;
    bool stored = false;
    if (e->counted)
        return SP_OK;
    enum sp_err err = sp_store_get(t->store, sp_id_key(key, 'N', e->content), &value);
    if (err == SP_OK) {
        err = decode_count(value, &e->stored_holders);
    } else if (err == SP_NOT_FOUND) {
        err = is_stored(t, e, held, &stored);
        e->stored_holders = stored ? t->usual_holders : 0;
    }
    if (err != SP_OK)
        return err;
    e->holders = e->stored_holders;
    e->counted = true;
    return SP_OK;
}

enum sp_err sp_contents_read(struct sp_store *store, struct sp_id content,
                             struct sp_signature **ret_signature)
{
    char key[SP_ID_KEY_BYTES];
    struct sp_view value;
    enum sp_err err = sp_store_get(store, sp_id_key(key, 'S', content), &value);
    if (err != SP_OK)
        return err;
    return sp_signature_decode(value, ret_signature) ? SP_CORRUPT : SP_OK;
}

/* ---- use ---- */

enum sp_err sp_contents_hold(struct sp_contents *t, struct sp_signature *signature)
{
    struct entry *e = entry_of(t, signature->content_hash);
    enum sp_err err = count(t, e, false);
    if (err != SP_OK)
        return err;
    if (!e->signature)
        set_signature(t, e, sp_signature_ref(signature));
    if (is_waste(e))
        t->stats.waste_bytes -= bytes_of(e);
    e->holders++;
    changed(t, e);
    return SP_OK;
}

enum sp_err sp_contents_drop(struct sp_contents *t, struct sp_id content)
{
    struct entry *e = entry_of(t, content);
    enum sp_err err = count(t, e, true);
    if (err == SP_OK && e->holders == 0)
        err = SP_CORRUPT;
    if (err != SP_OK)
        return err;
    e->holders--;
    changed(t, e);
    if (is_waste(e))
        t->stats.waste_bytes += bytes_of(e);
    return SP_OK;
}

enum sp_err sp_contents_find(struct sp_contents *t, struct sp_id content,
                             struct sp_signature **ret_signature)
{
    struct entry *e = entry_of(t, content);
    if (e->counted && e->holders == 0)
        return SP_NOT_FOUND;
    if (!e->signature) {
        struct sp_signature *s;
        enum sp_err err = sp_contents_read(t->store, content, &s);
        if (err != SP_OK)
            return err;
        set_signature(t, e, s);
        t->stats.loads++;
    }
    *ret_signature = e->signature;
    return SP_OK;
}

enum sp_err sp_contents_get(struct sp_contents *t, struct sp_id content,
                            struct sp_signature **ret_signature)
{
    enum sp_err err = sp_contents_find(t, content, ret_signature);
    return err == SP_NOT_FOUND ? SP_CORRUPT : err;
}

void sp_contents_expect(struct sp_contents *t, struct sp_id content)
{
    char key[SP_ID_KEY_BYTES];
    const struct entry *e = sp_map_get(&t->entries, content);
    if (!e || !e->signature)
        sp_store_expect(t->store, sp_id_key(key, 'S', content));
}

void sp_contents_expect_drop(struct sp_contents *t, struct sp_id content)
{
    char key[SP_ID_KEY_BYTES];
    const struct entry *e = sp_map_get(&t->entries, content);
    if (!e || !e->counted)
        sp_store_expect(t->store, sp_id_key(key, 'N', content));
}

void sp_contents_expect_hold(struct sp_contents *t, struct sp_id content)
{
    sp_contents_expect_drop(t, content);
    sp_contents_expect(t, content);
}

void sp_contents_prefetch(const struct sp_contents *t, struct sp_id content, uint32_t step)
{
    char key[SP_ID_KEY_BYTES];
    const struct entry *e = step ? sp_map_guess(&t->entries, content) : NULL;
    if (step == 0) {
        sp_map_prefetch(&t->entries, content);
        sp_store_prefetch(t->store, sp_id_key(key, 'N', content));
        sp_store_prefetch(t->store, sp_id_key(key, 'S', content));
    } else if (e && step == 1) {
        sp_prefetch_bytes(e, sizeof *e);
    } else if (e && step == 2) {
        sp_prefetch_bytes(e->signature, e->signature ? FETCHED_BYTES : 0);
    }
}

/* Each loop follows one more pointer for all contents, so that the cache misses overlap. */
void sp_contents_prefetch_all(const struct sp_contents *t, const struct sp_id *contents,
                              size_t count)
{
    const struct entry *entries[SP_CONTENTS_PREFETCHED];
    size_t n = count < SP_CONTENTS_PREFETCHED ? count : SP_CONTENTS_PREFETCHED;
    for (size_t i = 0; i < n; i++)
        sp_map_prefetch(&t->entries, contents[i]);
    for (size_t i = 0; i < n; i++) {
        entries[i] = sp_map_guess(&t->entries, contents[i]);
        if (entries[i])
            sp_prefetch_bytes(entries[i], sizeof *entries[i]);
    }
    for (size_t i = 0; i < n; i++)
        if (entries[i] && entries[i]->signature)
            sp_prefetch_bytes(entries[i]->signature, FETCHED_BYTES);
}

/* The next entries to evict are probably not in the processor's caches. */
static void prefetch_younger(const struct sp_contents *t, const struct sp_age *age)
{
    if (!(age = sp_ages_younger(&t->clean, age)))
        return;
    const struct entry *next = SP_LRU_OBJECT(age, struct entry, age);
    sp_map_prefetch(&t->entries, next->content);
    sp_prefetch(next->signature);
    if ((age = sp_ages_younger(&t->clean, age)))
        sp_prefetch_bytes(SP_LRU_OBJECT(age, struct entry, age), sizeof *next);
}

void sp_contents_resize(struct sp_contents *t, size_t cache_bytes)
{
    t->budget = cache_bytes;
}

void sp_contents_trim(struct sp_contents *t)
{
    struct sp_age *oldest;
    while (t->stats.cache_bytes > t->budget && (oldest = sp_ages_oldest(&t->clean))) {
        prefetch_younger(t, oldest);
        if (!sp_ages_spare(&t->clean, oldest))
            entry_free(t, SP_LRU_OBJECT(oldest, struct entry, age));
    }
}

static void release(void *arg)
{
    sp_signature_unref(arg);
}

static bool has_count_row(const struct sp_contents *t, uint64_t holders)
{
    return holders && holders != t->usual_holders;
}

static void flush_count(struct sp_contents *t, const struct entry *e)
{
    char key[SP_ID_KEY_BYTES];
    if (e->holders == e->stored_holders)
        return; /* one holder replaced another */
    if (has_count_row(t, e->holders)) {
        sp_buf_reset(&t->value);
        sp_buf_put_varint(&t->value, e->holders);
        sp_store_put(t->store, sp_id_key(key, 'N', e->content), sp_buf_view(&t->value));
    } else if (has_count_row(t, e->stored_holders)) {
        sp_store_delete(t->store, sp_id_key(key, 'N', e->content));
    }
}

static void flush_entry(struct sp_contents *t, struct entry *e)
{
    char key[SP_ID_KEY_BYTES];
    flush_count(t, e);
    if (e->holders == 0) {
        if (e->stored_holders)
            sp_store_delete(t->store, sp_id_key(key, 'S', e->content));
        entry_free(t, e);
        return;
    }
    if (e->stored_holders == 0) {
        sp_store_put_lent(t->store, sp_id_key(key, 'S', e->content),
                          sp_signature_packed(e->signature), release,
                          sp_signature_ref(e->signature));
    }
    e->stored_holders = e->holders;
    e->dirty = false;
    sp_ages_enter(&t->clean, &e->age);
}

void sp_contents_flush(struct sp_contents *t)
{
    for (struct entry *e = t->dirty, *next; e; e = next) {
        next = e->next_dirty;
        if (next) {
            sp_prefetch_bytes(next->signature, sizeof *next->signature);
            sp_prefetch_bytes(next->next_dirty, next->next_dirty ? sizeof *next : 0);
        }
        flush_entry(t, e);
    }
    t->dirty = NULL;
    t->stats.waste_bytes = 0;
    sp_contents_trim(t);
    t->clean.round++;
}

/* `e` is being looked at. */
static void prefetch_dirty(const struct sp_contents *t, const struct entry *e)
{
    const struct entry *next = e->next_dirty;
    if (!next)
        return;
    if (next->holders == 0) {
        sp_map_prefetch(&t->entries, next->content);
        sp_prefetch(next->signature);
    }
    sp_prefetch_bytes(next->next_dirty, next->next_dirty ? sizeof *next : 0);
}

void sp_contents_sweep(struct sp_contents *t)
{
    for (struct entry **at = &t->dirty, *e; (e = *at);) {
        prefetch_dirty(t, e);
        t->stats.swept++;
        if (e->holders || e->stored_holders) {
            at = &e->next_dirty;
            continue;
        }
        *at = e->next_dirty;
        t->stats.waste_bytes -= bytes_of(e);
        entry_free(t, e);
    }
}

bool sp_contents_has_waste(const struct sp_contents *t, uint64_t few_bytes)
{
    return t->stats.waste_bytes > few_bytes && t->stats.waste_bytes > t->stats.cache_bytes / 2;
}

void sp_contents_stats(const struct sp_contents *t, struct sp_contents_stats *ret_stats)
{
    *ret_stats = t->stats;
}

/* ---- from outside ---- */

struct walk {
    void (*each)(void *arg, struct sp_signature *signature);
    void (*each_count)(void *arg, struct sp_id content, uint64_t holders);
    void *arg;
    enum sp_err err;
};

static bool visit(void *arg, struct sp_view key, struct sp_view value)
{
    struct walk *w = arg;
    struct sp_signature *s = NULL;
    (void)key;
    if (sp_signature_decode(value, &s)) {
        w->err = SP_CORRUPT;
        return false;
    }
    w->each(w->arg, s);
    sp_signature_unref(s);
    return true;
}

enum sp_err sp_contents_each(struct sp_store *store,
                             void (*each)(void *arg, struct sp_signature *signature), void *arg)
{
    struct walk w = {.each = each, .arg = arg};
    enum sp_err err = sp_store_scan(store, sp_view("S", 1), sp_view(NULL, 0), visit, &w);
    return err != SP_OK ? err : w.err;
}

static bool visit_count(void *arg, struct sp_view key, struct sp_view value)
{
    struct walk *w = arg;
    struct sp_id content;
    uint64_t holders;
    w->err = key.len == SP_ID_KEY_BYTES ? decode_count(value, &holders) : SP_CORRUPT;
    if (w->err != SP_OK)
        return false;
    memcpy(&content, key.data + 1, sizeof content);
    w->each_count(w->arg, content, holders);
    return true;
}

enum sp_err sp_contents_each_count(struct sp_store *store,
                                   void (*each)(void *arg, struct sp_id content, uint64_t holders),
                                   void *arg)
{
    struct walk w = {.each_count = each, .arg = arg};
    enum sp_err err = sp_store_scan(store, sp_view("N", 1), sp_view(NULL, 0), visit_count, &w);
    return err != SP_OK ? err : w.err;
}
