/* One record becomes a stored one: whole, a revisit or a patch.
 *
 * The base of a patch is the last version of the same URL if the patch is then small, else the best
 * of that version and a few records with similar text. A patch may be based on a patch, so that a
 * page that changes step by step costs only its steps. After a chain of `depth` patches the next
 * one is based on the record half way down; the larger patch that this causes comes once in depth /
 * 2 versions.
 *
 * Everything is verified: an exact copy is compared with the bytes that the archive would restore,
 * and a record whose header could not be restored is stored unchanged. */
#include <stdio.h>

#include "archive/cdxj.h"
#include "archive/digest.h"
#include "archive/fields.h"
#include "archive/writer.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "input/header.h"

enum {
    PAYLOAD_MIN = 256, /* bytes: below it a revisit's header is larger than what it saves */
    /* After a patch of at most SMALL_BYTES, or of a 32nd of the block, no better base is searched
     * for, and the record gets no sketch, because its base serves as well as the record would. */
    SMALL_BYTES = 256,
    SMALL_SHARE = 32
};

enum { WHOLE = -1 };

/* One record, and what was computed from it. */
struct about {
    struct sp_warc_record record;
    struct sp_view url;
    struct sp_view type;
    struct sp_view http; /* header of an HTTP response, or empty */
    struct sp_view payload;
    char digest[SP_DIGEST_BYTES]; /* set if the record has no digest */
    bool page;
    bool sketched; /* its signature was computed, or cannot be */
    struct sp_signature *signature;
};

static struct sp_view payload_digest(const struct about *a)
{
    struct sp_view given = sp_header_field(a->record.header, "WARC-Payload-Digest");
    return given.len > 0 ? given : sp_view_str(a->digest);
}

static struct sp_view content_type(const struct about *a)
{
    return sp_header_field(a->http.len ? a->http : a->record.header, "Content-Type");
}

static struct about look(struct sp_warc_record record)
{
    struct about a = {.record = record};
    a.type = sp_header_field(record.header, "WARC-Type");
    a.url = sp_header_field(record.header, "WARC-Target-URI");
    if (a.url.len >= 2 && a.url.data[0] == '<' && a.url.data[a.url.len - 1] == '>')
        a.url = sp_view(a.url.data + 1, a.url.len - 2);
    a.page = a.url.len > 0 &&
             (sp_view_is_word(a.type, "response") || sp_view_is_word(a.type, "resource") ||
              sp_view_is_word(a.type, "conversion"));
    a.http = sp_http_header(record.header, record.block);
    a.payload = sp_payload(record.header, record.block);
    if (a.page && sp_header_field(record.header, "WARC-Payload-Digest").len == 0)
        sp_digest(a.payload, a.digest);
    return a;
}

/* ---- the ways to store it ---- */

static void put_field(struct sp_buf *out, const char *name, struct sp_view value)
{
    sp_buf_put_str(out, name);
    sp_buf_put(out, ": ", 2);
    sp_buf_put_view(out, value);
    sp_buf_put(out, "\r\n", 2);
}

static void put_base(struct sp_buf *out, struct sp_view base, struct sp_place place)
{
    static const char *const fields[][2] = {{"WARC-Refers-To", "WARC-Record-ID"},
                                            {"WARC-Refers-To-Target-URI", "WARC-Target-URI"},
                                            {"WARC-Refers-To-Date", "WARC-Date"}};
    char text[SP_PLACE_BYTES];
    for (size_t i = 0; i < 3; i++) {
        struct sp_view value = sp_header_field(base, fields[i][1]);
        if (value.len > 0)
            put_field(out, fields[i][0], value);
    }
    sp_place_text(place, text);
    put_field(out, "Samepage-Base", sp_view_str(text));
}

static enum sp_err store_whole(struct sp_archive_writer *w, const struct about *a)
{
    struct sp_view header = a->record.header;
    sp_buf_reset(&w->header);
    /* The input is an archive itself: its own lines must be kept. */
    if (sp_fields_changed(header)) {
        if (!sp_fields_change(header, NULL, 0, sp_view("", 0), &w->header))
            return sp_fault_set(w->fault, SP_MALFORMED,
                                "a header has a Samepage-Version line, and line endings that "
                                "could not be restored");
        header = sp_buf_view(&w->header);
    }
    w->result->whole++;
    return sp_segments_append(w->segments, header, a->record.block, w->fault);
}

/* SP_NOT_FOUND: the header cannot be changed. */
static enum sp_err store_revisit(struct sp_archive_writer *w, const struct about *a,
                                 const struct sp_original *base, struct sp_place place)
{
    char length[24];
    struct sp_field_change changes[] = {
        {"WARC-Type", "revisit"}, {"Content-Length", length}, {"WARC-Block-Digest", NULL}};
    bool old = a->record.header.len > 8 && memcmp(a->record.header.data, "WARC/1.1", 8) != 0;
    snprintf(length, sizeof length, "%zu", a->http.len);
    sp_buf_reset(&w->added);
    sp_buf_reset(&w->header);
    put_field(
        &w->added, "WARC-Profile",
        sp_view_str(old ? "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
                        : "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"));
    if (a->digest[0])
        put_field(&w->added, "WARC-Payload-Digest", payload_digest(a));
    put_base(&w->added, base->header, place);
    if (!sp_fields_change(a->record.header, changes, 3, sp_buf_view(&w->added), &w->header))
        return SP_NOT_FOUND;
    w->result->revisits++;
    return sp_segments_append(w->segments, sp_buf_view(&w->header), a->http, w->fault);
}

static enum sp_err store_patch(struct sp_archive_writer *w, const struct about *a, uint32_t base,
                               const struct sp_original *original)
{
    char length[24], depth[24];
    const struct sp_known_record *known = sp_known_at(w->known, base);
    struct sp_field_change changes[] = {{"WARC-Type", "patch"},
                                        {"Content-Type", "application/zstd"},
                                        {"Content-Length", length},
                                        {"WARC-Block-Digest", NULL},
                                        {"WARC-Payload-Digest", NULL}};
    snprintf(length, sizeof length, "%zu", w->best.len);
    snprintf(depth, sizeof depth, "%u", known->depth + 1);
    sp_buf_reset(&w->added);
    sp_buf_reset(&w->header);
    put_base(&w->added, original->header, known->place);
    put_field(&w->added, "Samepage-Depth", sp_view_str(depth));
    if (!sp_fields_change(a->record.header, changes, 5, sp_buf_view(&w->added), &w->header))
        return SP_NOT_FOUND;
    w->result->patches++;
    return sp_segments_append(w->segments, sp_buf_view(&w->header), sp_buf_view(&w->best),
                              w->fault);
}

/* ---- which way ---- */

/* Returns the record itself, or the ancestor to use as the base if its chain is too long. */
static uint32_t climb(const struct sp_archive_writer *w, uint32_t record)
{
    uint32_t most = w->options->depth;
    if (sp_known_at(w->known, record)->depth < most)
        return record;
    while (sp_known_at(w->known, record)->depth > most / 2)
        record = sp_known_at(w->known, record)->parent;
    return record;
}

/* Tries a base; *best becomes the base if its patch is the smallest so far. */
static enum sp_err try_base(struct sp_archive_writer *w, const struct about *a, uint32_t base,
                            int64_t *best)
{
    struct sp_original original;
    base = climb(w, base);
    if (base == *best)
        return SP_OK;
    enum sp_err err =
        sp_originals_get(w->originals, sp_known_at(w->known, base)->place, &original, w->fault);
    if (err != SP_OK)
        return err;
    sp_buf_reset(&w->patch);
    if (sp_patch_make(w->patcher, original.block, a->record.block, &w->patch) &&
        (*best == WHOLE || w->patch.len < w->best.len)) {
        struct sp_buf swap = w->best;
        w->best = w->patch;
        w->patch = swap;
        *best = base;
    }
    return SP_OK;
}

static void sketch(struct sp_archive_writer *w, struct about *a)
{
    struct sp_view type = content_type(a);
    if (!a->sketched && sp_text_readable(type) && a->payload.len >= PAYLOAD_MIN)
        a->signature = sp_text_signature(w->text, type, a->payload, false);
    a->sketched = true;
}

static bool small(const struct sp_archive_writer *w, const struct about *a)
{
    return w->best.len <= SMALL_BYTES || w->best.len <= a->record.block.len / SMALL_SHARE;
}

/* Whether a patch is worth the cost of reading it: it must save a quarter of the compressed
 * block. */
static bool pays(struct sp_archive_writer *w, const struct about *a)
{
    if (w->best.len <= a->record.block.len / SMALL_SHARE)
        return true;
    sp_buf_reset(&w->patch);
    return sp_patch_make(w->patcher, sp_view("", 0), a->record.block, &w->patch) &&
           w->best.len < w->patch.len / 4 * 3;
}

/* Chooses the base of a patch: *ret_base is the base, with the patch in w->best, or WHOLE. */
static enum sp_err choose(struct sp_archive_writer *w, struct about *a, struct sp_id url,
                          int64_t *ret_base)
{
    uint32_t like[SP_KNOWN_LIKE];
    int64_t best = WHOLE, last = sp_known_url(w->known, url);
    enum sp_err err = SP_OK;
    *ret_base = WHOLE;
    if (w->options->depth == 0 || a->payload.len < PAYLOAD_MIN)
        return SP_OK;
    if (last != SP_KNOWN_NONE)
        err = try_base(w, a, (uint32_t)last, &best);
    if (err == SP_OK && (best == WHOLE || !small(w, a))) {
        sketch(w, a);
        size_t count = a->signature ? sp_known_like(w->known, a->signature, like) : 0;
        for (size_t i = 0; i < count && err == SP_OK; i++)
            err = try_base(w, a, like[i], &best);
    }
    if (err == SP_OK && best != WHOLE && pays(w, a))
        *ret_base = best;
    return err;
}

/* Stores the record as a revisit if its payload is stored already; *ret_done says whether it was.
 */
static enum sp_err store_copy(struct sp_archive_writer *w, const struct about *a,
                              struct sp_id payload, struct sp_id url, bool *ret_done)
{
    struct sp_original base;
    int64_t same = sp_known_payload(w->known, payload);
    *ret_done = false;
    if (same == SP_KNOWN_NONE)
        return SP_OK;
    struct sp_place place = sp_known_at(w->known, (uint32_t)same)->place;
    enum sp_err err = sp_originals_get(w->originals, place, &base, w->fault);
    if (err != SP_OK)
        return err;
    if (!sp_view_eq(sp_payload(base.header, base.block), a->payload))
        return SP_OK; /* different bytes with equal hashes */
    err = store_revisit(w, a, &base, place);
    if (err == SP_NOT_FOUND)
        return SP_OK;
    *ret_done = true;
    sp_known_seen(w->known, url, (uint32_t)same, &w->known_log);
    return err;
}

static enum sp_err store_new(struct sp_archive_writer *w, struct about *a, struct sp_id payload,
                             struct sp_id url)
{
    struct sp_known_record known = {.payload = payload, .url = url};
    struct sp_original base;
    int64_t of = WHOLE;
    known.place = sp_segments_end(w->segments);
    known.parent = sp_known_count(w->known);
    enum sp_err err = choose(w, a, url, &of);
    bool patched = err == SP_OK && of != WHOLE;
    if (patched) {
        struct sp_place place = sp_known_at(w->known, (uint32_t)of)->place;
        err = sp_originals_get(w->originals, place, &base, w->fault);
        if (err == SP_OK)
            err = store_patch(w, a, (uint32_t)of, &base);
        patched = err != SP_NOT_FOUND;
        err = err == SP_NOT_FOUND ? SP_OK : err;
    }
    if (err == SP_OK && !patched)
        err = store_whole(w, a);
    if (err != SP_OK)
        return err;
    bool findable = !patched || !small(w, a);
    if (patched) {
        known.parent = (uint32_t)of;
        known.depth = sp_known_at(w->known, (uint32_t)of)->depth + 1;
        w->result->deepest = known.depth > w->result->deepest ? known.depth : w->result->deepest;
    }
    if (findable && w->options->depth > 0)
        sketch(w, a);
    sp_known_add(w->known, &known, findable ? a->signature : NULL, &w->known_log);
    sp_originals_put(w->originals, known.place, a->record.header, a->record.block);
    return SP_OK;
}

/* ---- the line of the index ---- */

static void put_line(struct sp_archive_writer *w, const struct about *a, struct sp_place place,
                     const char *stored_as)
{
    struct sp_cdxj line = {.url = a->url, .place = place};
    struct sp_view mime = content_type(a);
    line.date = sp_header_field(a->record.header, "WARC-Date");
    line.length = sp_segments_end(w->segments).offset - place.offset;
    line.digest = payload_digest(a);
    for (line.mime = sp_view(mime.data, 0);
         line.mime.len < mime.len && !strchr("; \t", mime.data[line.mime.len]);)
        line.mime.len++;
    if (stored_as)
        line.mime = sp_view_str(stored_as);
    if (a->http.len > 12 && a->http.data[8] == ' ')
        line.status = sp_view(a->http.data + 9, 3);
    sp_cdxj_line(&line, &w->line_log);
}

static enum sp_err store_page(struct sp_archive_writer *w, struct about *a)
{
    struct sp_id url = sp_hash128(a->url.data, a->url.len), payload = {0};
    struct sp_place place = sp_segments_end(w->segments);
    uint64_t patches = w->result->patches;
    bool copied = false;
    if (a->payload.len >= PAYLOAD_MIN)
        payload = sp_hash128(a->payload.data, a->payload.len);
    enum sp_err err = store_copy(w, a, payload, url, &copied);
    if (err == SP_OK && !copied)
        err = store_new(w, a, payload, url);
    if (err == SP_OK)
        put_line(w, a, place,
                 copied                         ? "warc/revisit"
                 : w->result->patches > patches ? "warc/patch"
                                                : NULL);
    return err;
}

enum sp_err sp_archive_store(struct sp_archive_writer *w, struct sp_warc_record record)
{
    struct about a = look(record);
    struct sp_place place = sp_segments_end(w->segments);
    enum sp_err err = a.page ? store_page(w, &a) : store_whole(w, &a);
    if (err == SP_OK && a.url.len > 0 && sp_view_is_word(a.type, "revisit"))
        put_line(w, &a, place, "warc/revisit");
    if (err == SP_OK) {
        w->result->records++;
        w->result->bytes += record.header.len + record.block.len + 4;
        w->result->stored_bytes += sp_segments_end(w->segments).offset - place.offset;
    }
    sp_signature_unref(a.signature);
    sp_originals_trim(w->originals);
    return err;
}
