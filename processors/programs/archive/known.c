/* See known.h. The log is a sequence of entries:
 *
 *   1  payload 16  url 16  segment 4  offset 8  parent 4  depth 1  keys 1, 4 each
 *   2  url 16  record 4 */
#include "archive/known.h"

#include "archive/archive.h"
#include "base/bytes.h"
#include "base/map.h"
#include "candidates/candidates.h"

enum { RECORD = 1, SEEN = 2, LOOKED_AT = 256 };

struct spot {
    struct sp_id key;
    uint32_t record;
};

struct entry {
    struct sp_known_record record;
    uint64_t keys; /* index of its sketch's first key */
    uint32_t key_count;
};

struct sp_known {
    struct sp_candidate_rule rule;
    struct sp_candidates *like; /* its slots are indexes into `sketched` */
    struct sp_map payloads;     /* struct spot */
    struct sp_map urls;
    struct spot **spots; /* all of them, for freeing */
    size_t spot_count;
    size_t spot_cap;
    struct entry *entries;
    uint32_t count;
    uint32_t cap;
    uint32_t *sketched;
    uint32_t sketched_count;
    uint32_t sketched_cap;
    uint32_t *keys;
    size_t key_count;
    size_t key_cap;
};

struct sp_known *sp_known_new(double similarity)
{
    struct sp_known *k = sp_calloc(1, sizeof *k);
    k->rule = sp_candidate_rule(SP_METHOD_SHINGLES, similarity);
    k->like = sp_candidates_new(&k->rule);
    return k;
}

void sp_known_free(struct sp_known *k)
{
    if (!k)
        return;
    for (size_t i = 0; i < k->spot_count; i++)
        sp_free(k->spots[i]);
    sp_candidates_free(k->like);
    sp_map_done(&k->payloads);
    sp_map_done(&k->urls);
    sp_free(k->spots);
    sp_free(k->entries);
    sp_free(k->sketched);
    sp_free(k->keys);
    sp_free(k);
}

static void put_spot(struct sp_known *k, struct sp_map *map, struct sp_id key, uint32_t record)
{
    struct spot *spot = sp_alloc(sizeof *spot);
    *spot = (struct spot){key, record};
    sp_grow(&k->spots, &k->spot_cap, k->spot_count + 1);
    k->spots[k->spot_count++] = spot;
    sp_map_add(map, spot);
}

static void see(struct sp_known *k, struct sp_id url, uint32_t record)
{
    struct spot *spot = sp_map_get(&k->urls, url);
    if (spot)
        spot->record = record;
    else
        put_spot(k, &k->urls, url, record);
}

static uint32_t add(struct sp_known *k, const struct sp_known_record *record, const uint32_t *keys,
                    uint32_t key_count)
{
    uint32_t number = k->count;
    sp_grow(&k->entries, &k->cap, k->count + 1);
    k->entries[k->count++] = (struct entry){*record, k->key_count, key_count};
    if (!sp_id_is_zero(record->payload) && !sp_map_get(&k->payloads, record->payload))
        put_spot(k, &k->payloads, record->payload, number);
    see(k, record->url, number);
    if (key_count > 0) {
        sp_grow(&k->keys, &k->key_cap, k->key_count + key_count);
        memcpy(k->keys + k->key_count, keys, 4ull * key_count);
        k->key_count += key_count;
        sp_grow(&k->sketched, &k->sketched_cap, k->sketched_count + 1);
        k->sketched[k->sketched_count] = number;
        sp_candidates_add(k->like, k->sketched_count++, keys, key_count);
    }
    return number;
}

uint32_t sp_known_add(struct sp_known *k, const struct sp_known_record *record,
                      const struct sp_signature *signature, struct sp_buf *log)
{
    uint32_t scratch[SP_SKETCH_MAX], count = 0;
    const uint32_t *keys = scratch;
    if (signature && signature->shingle_total > 0)
        keys = sp_candidate_keys(&k->rule, signature, scratch, &count);
    sp_buf_put_u8(log, RECORD);
    sp_buf_put_id(log, record->payload);
    sp_buf_put_id(log, record->url);
    sp_buf_put_u32(log, record->place.segment);
    sp_buf_put_u64(log, record->place.offset);
    sp_buf_put_u32(log, record->parent);
    sp_buf_put_u8(log, (uint8_t)record->depth);
    sp_buf_put_u8(log, (uint8_t)count);
    sp_buf_put(log, keys, 4ull * count);
    return add(k, record, keys, count);
}

void sp_known_seen(struct sp_known *k, struct sp_id url, uint32_t record, struct sp_buf *log)
{
    sp_buf_put_u8(log, SEEN);
    sp_buf_put_id(log, url);
    sp_buf_put_u32(log, record);
    see(k, url, record);
}

static bool load_record(struct sp_known *k, struct sp_reader *r)
{
    struct sp_known_record record;
    uint32_t keys[SP_SKETCH_MAX];
    record.payload = sp_read_id(r);
    record.url = sp_read_id(r);
    record.place.segment = sp_read_u32(r);
    record.place.offset = sp_read_u64(r);
    record.parent = sp_read_u32(r);
    record.depth = sp_read_u8(r);
    uint32_t count = sp_read_u8(r);
    if (r->failed || count > SP_SKETCH_MAX || record.parent > k->count ||
        record.depth > SP_ARCHIVE_DEPTH_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++)
        keys[i] = sp_read_u32(r);
    if (!r->failed)
        add(k, &record, keys, count);
    return !r->failed;
}

enum sp_err sp_known_load(struct sp_known *k, struct sp_view log)
{
    struct sp_reader r = sp_reader(log);
    while (sp_reader_left(&r) > 0) {
        uint8_t kind = sp_read_u8(&r);
        if (kind == RECORD) {
            if (!load_record(k, &r))
                return SP_CORRUPT;
            continue;
        }
        struct sp_id url = sp_read_id(&r);
        uint32_t record = sp_read_u32(&r);
        if (kind != SEEN || r.failed || record >= k->count)
            return SP_CORRUPT;
        see(k, url, record);
    }
    return SP_OK;
}

const struct sp_known_record *sp_known_at(const struct sp_known *k, uint32_t record)
{
    return &k->entries[record].record;
}

uint32_t sp_known_count(const struct sp_known *k)
{
    return k->count;
}

static int64_t spot_of(const struct sp_map *map, struct sp_id key)
{
    const struct spot *spot = sp_map_get(map, key);
    return spot ? (int64_t)spot->record : SP_KNOWN_NONE;
}

int64_t sp_known_payload(const struct sp_known *k, struct sp_id payload)
{
    return sp_id_is_zero(payload) ? SP_KNOWN_NONE : spot_of(&k->payloads, payload);
}

int64_t sp_known_url(const struct sp_known *k, struct sp_id url)
{
    return spot_of(&k->urls, url);
}

static uint32_t shared(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count)
{
    uint32_t n = 0;
    for (uint32_t i = 0, j = 0; i < a_count && j < b_count;) {
        n += a[i] == b[j];
        uint32_t x = a[i], y = b[j];
        i += x <= y;
        j += y <= x;
    }
    return n;
}

size_t sp_known_like(struct sp_known *k, const struct sp_signature *signature,
                     uint32_t ret_records[SP_KNOWN_LIKE])
{
    uint32_t scratch[SP_SKETCH_MAX], count = 0, best[SP_KNOWN_LIKE];
    const uint32_t *slots;
    size_t found = 0;
    if (signature->shingle_total == 0)
        return 0;
    const uint32_t *keys = sp_candidate_keys(&k->rule, signature, scratch, &count);
    size_t n =
        sp_candidates_latest(k->like, keys, count, signature->shingle_total, LOOKED_AT, &slots);
    for (size_t i = 0; i < n; i++) {
        uint32_t number = k->sketched[slots[i]];
        const struct entry *e = &k->entries[number];
        uint32_t same = shared(keys, count, k->keys + e->keys, e->key_count);
        size_t at = found < SP_KNOWN_LIKE ? found++ : SP_KNOWN_LIKE;
        while (at > 0 && best[at - 1] < same) {
            if (at < SP_KNOWN_LIKE) {
                best[at] = best[at - 1];
                ret_records[at] = ret_records[at - 1];
            }
            at--;
        }
        if (at < SP_KNOWN_LIKE) {
            best[at] = same;
            ret_records[at] = number;
        }
    }
    return found;
}
