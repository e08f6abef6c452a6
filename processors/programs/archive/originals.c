/* See originals.h. */
#include "archive/originals.h"

#include <strings.h>

#include "archive/archive.h"
#include "archive/fields.h"
#include "archive/records.h"
#include "base/map.h"
#include "input/header.h"

enum { HEADER_ROOM = 1 << 17 };

struct kept {
    struct sp_id key;
    struct sp_lru age;
    struct sp_buf bytes;
    size_t header_len;
    uint64_t next;
};

struct sp_originals {
    struct sp_segments *segments;
    struct sp_patcher *patcher;
    uint64_t max_record;
    uint64_t limit;
    uint64_t bytes;
    struct sp_map map;
    struct sp_lru ages;
};

struct sp_originals *sp_originals_new(struct sp_segments *segments, struct sp_patcher *patcher,
                                      uint64_t max_record, uint64_t cache_bytes)
{
    struct sp_originals *o = sp_calloc(1, sizeof *o);
    o->segments = segments;
    o->patcher = patcher;
    o->max_record = max_record;
    o->limit = cache_bytes;
    sp_lru_init(&o->ages);
    return o;
}

static void drop(struct sp_originals *o, struct kept *k)
{
    sp_map_remove(&o->map, k->key);
    sp_lru_remove(&k->age);
    o->bytes -= k->bytes.cap + sizeof *k;
    sp_buf_done(&k->bytes);
    sp_free(k);
}

static void trim_to(struct sp_originals *o, uint64_t limit)
{
    while (o->bytes > limit)
        drop(o, SP_LRU_OBJECT(o->ages.prev, struct kept, age));
}

void sp_originals_trim(struct sp_originals *o)
{
    trim_to(o, o->limit);
}

void sp_originals_free(struct sp_originals *o)
{
    if (!o)
        return;
    trim_to(o, 0);
    sp_map_done(&o->map);
    sp_free(o);
}

static struct sp_id key_of(struct sp_place place)
{
    return (struct sp_id){place.segment, sp_mix64(place.offset)};
}

static struct kept *keep(struct sp_originals *o, struct sp_place place, struct sp_buf bytes,
                         size_t header_len, uint64_t next)
{
    struct kept *k = sp_calloc(1, sizeof *k);
    k->key = key_of(place);
    k->bytes = bytes;
    k->header_len = header_len;
    k->next = next;
    o->bytes += bytes.cap + sizeof *k;
    sp_map_add(&o->map, k);
    sp_lru_push(&o->ages, &k->age);
    return k;
}

void sp_originals_put(struct sp_originals *o, struct sp_place place, struct sp_view header,
                      struct sp_view block)
{
    struct sp_buf bytes = {0};
    sp_buf_reserve(&bytes, header.len + block.len);
    sp_buf_put_view(&bytes, header);
    sp_buf_put_view(&bytes, block);
    keep(o, place, bytes, header.len, 0);
}

struct sp_view sp_http_header(struct sp_view header, struct sp_view block)
{
    struct sp_view type = sp_header_field(header, "WARC-Type");
    bool http = type.len == 8 && strncasecmp(type.data, "response", 8) == 0 && block.len > 5 &&
                memcmp(block.data, "HTTP/", 5) == 0;
    return sp_view(block.data, http ? sp_header_end(block) : 0);
}

struct sp_view sp_payload(struct sp_view header, struct sp_view block)
{
    size_t http = sp_http_header(header, block).len;
    return sp_view(block.data + http, block.len - http);
}

static enum sp_err damaged(struct sp_place place, enum sp_err err, struct sp_fault *fault)
{
    char text[SP_PLACE_BYTES];
    sp_place_text(place, text);
    return sp_fault_set(
        fault, err,
        "%s: the stored record cannot be restored: %s; restore the archive's files from a copy",
        text, sp_err_text(err));
}

/* Whether the header says that its block has more bytes than a record may have. */
static bool is_too_large(const struct sp_originals *o, struct sp_view header, uint64_t *ret_bytes)
{
    return sp_header_number(sp_header_field(header, "Content-Length"), ret_bytes) &&
           *ret_bytes > o->max_record;
}

static enum sp_err too_large(struct sp_place place, uint64_t bytes, struct sp_fault *fault)
{
    char text[SP_PLACE_BYTES];
    sp_place_text(place, text);
    return sp_fault_set(
        fault, SP_TOO_LARGE,
        "%s: the record has %llu bytes, more than input.max_record_bytes: raise it, "
        "as by --set input.max_record_bytes=%llu",
        text, (unsigned long long)bytes, (unsigned long long)bytes);
}

static enum sp_err get(struct sp_originals *o, struct sp_place place, unsigned depth,
                       struct kept **ret_kept, struct sp_fault *fault);

/* Appends the original block of a record that was stored changed, made from the stored block and
 * its base. */
static enum sp_err restore_block(struct sp_originals *o, struct sp_place base_place,
                                 struct sp_warc_record stored, unsigned depth, struct sp_buf *out,
                                 struct sp_fault *fault)
{
    struct kept *base = NULL;
    struct sp_view type = sp_header_field(stored.header, "WARC-Type");
    enum sp_err err = get(o, base_place, depth + 1, &base, fault);
    if (err != SP_OK)
        return err;
    struct sp_view header = sp_view(base->bytes.data, base->header_len);
    struct sp_view block =
        sp_view(base->bytes.data + base->header_len, base->bytes.len - base->header_len);
    if (type.len == 5 && memcmp(type.data, "patch", 5) == 0) {
        err = sp_patch_apply(o->patcher, block, stored.block, o->max_record, out);
        return err == SP_OK ? err : damaged(base_place, err, fault);
    }
    sp_buf_put_view(out, stored.block);
    sp_buf_put_view(out, sp_payload(header, block));
    return SP_OK;
}

/* Appends the original of a stored record, the header first. */
static enum sp_err restore(struct sp_originals *o, struct sp_place place,
                           struct sp_warc_record stored, unsigned depth, struct sp_buf *out,
                           size_t *ret_header_len, struct sp_fault *fault)
{
    struct sp_view base = sp_fields_own(stored.header, "Samepage-Base");
    struct sp_place base_place;
    uint64_t bytes = 0;
    if (!sp_fields_changed(stored.header))
        sp_buf_put_view(out, stored.header);
    else if (!sp_fields_restore(stored.header, out))
        return damaged(place, SP_CORRUPT, fault);
    *ret_header_len = out->len;
    if (is_too_large(o, sp_buf_view(out), &bytes))
        return too_large(place, bytes, fault);
    if (base.len == 0) {
        sp_buf_put_view(out, stored.block);
        return SP_OK;
    }
    if (!sp_place_parse(base, &base_place) || depth > SP_ARCHIVE_DEPTH_MAX)
        return damaged(place, SP_CORRUPT, fault);
    return restore_block(o, base_place, stored, depth, out, fault);
}

static struct sp_view header_of(struct sp_view bytes)
{
    return sp_view(bytes.data, sp_header_end(bytes));
}

/* Splits a stored record, which CR LF CR LF follows, into header and block. */
static bool parse(struct sp_view bytes, struct sp_warc_record *ret_record)
{
    uint64_t length = 0;
    struct sp_view header = header_of(bytes);
    size_t n = header.len;
    if (n == 0 || !sp_header_number(sp_header_field(header, "Content-Length"), &length) ||
        bytes.len - n < 4 || length != bytes.len - n - 4)
        return false;
    *ret_record = (struct sp_warc_record){header, sp_view(bytes.data + n, (size_t)length)};
    return true;
}

static enum sp_err get(struct sp_originals *o, struct sp_place place, unsigned depth,
                       struct kept **ret_kept, struct sp_fault *fault)
{
    struct sp_buf stored = {0}, bytes = {0};
    struct sp_warc_record record;
    struct kept *k = sp_map_get(&o->map, key_of(place));
    size_t header_len = 0;
    uint64_t next = 0, size = 0;
    if (k) {
        sp_lru_touch(&o->ages, &k->age);
        *ret_kept = k;
        return SP_OK;
    }
    enum sp_err err =
        sp_segments_read(o->segments, place, o->max_record + HEADER_ROOM, &stored, &next);
    if (err == SP_TOO_LARGE && is_too_large(o, header_of(sp_buf_view(&stored)), &size))
        too_large(place, size, fault);
    else if (err == SP_TOO_LARGE || (err == SP_OK && !parse(sp_buf_view(&stored), &record)))
        err = damaged(place, SP_CORRUPT, fault);
    else if (err != SP_OK)
        damaged(place, err, fault);
    else
        err = restore(o, place, record, depth, &bytes, &header_len, fault);
    if (err == SP_OK)
        *ret_kept = keep(o, place, bytes, header_len, next);
    else
        sp_buf_done(&bytes);
    sp_buf_done(&stored);
    return err;
}

enum sp_err sp_originals_get(struct sp_originals *o, struct sp_place place,
                             struct sp_original *ret_original, struct sp_fault *fault)
{
    struct kept *k = NULL;
    enum sp_err err = get(o, place, 0, &k, fault);
    if (err != SP_OK)
        return err;
    ret_original->header = sp_view(k->bytes.data, k->header_len);
    ret_original->block = sp_view(k->bytes.data + k->header_len, k->bytes.len - k->header_len);
    ret_original->next = k->next;
    return SP_OK;
}
