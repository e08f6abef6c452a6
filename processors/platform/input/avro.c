/* Avro container files (specification 1.11, "Object Container Files"): the header, cutting at
 * blocks, and decompressing one.
 *
 *   "Obj" 1, map of metadata, sync marker
 *   blocks: number of records, size in bytes, bytes, sync marker
 *
 * A block without its marker in the right place is a dead letter; reading continues after the next
 * marker. */
#include "input/avro.h"

#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "input/parser.h"

enum { HEADER_MAX = 1 << 20 };

struct sp_avro_file *sp_avro_file_ref(struct sp_avro_file *f)
{
    __atomic_add_fetch(&f->refs, 1, __ATOMIC_RELAXED);
    return f;
}

void sp_avro_file_unref(struct sp_avro_file *f)
{
    if (!f || __atomic_sub_fetch(&f->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    sp_avro_schema_free(f->schema);
    sp_free(f);
}

/* ---- header ---- */

static const char *set_metadata(struct sp_avro_file *f, struct sp_view key, struct sp_view value)
{
    const char *why = NULL;
    if (sp_view_eq(key, sp_view_str("avro.schema"))) {
        sp_avro_schema_free(f->schema);
        f->schema = sp_avro_schema_parse(value, &why);
        return f->schema ? NULL : why;
    }
    if (!sp_view_eq(key, sp_view_str("avro.codec")) || sp_view_eq(value, sp_view_str("null")))
        return NULL;
    if (sp_view_eq(value, sp_view_str("deflate")))
        f->codec = SP_AVRO_DEFLATE;
    else if (sp_view_eq(value, sp_view_str("zstandard")))
        f->codec = SP_AVRO_ZSTANDARD;
    else
        return "the file's codec is not null, deflate or zstandard";
    return NULL;
}

/* Reads the header from r. Returns NULL with *ret_why NULL if it is not complete yet. */
static struct sp_avro_file *read_header(struct sp_reader *r, const char **ret_why)
{
    struct sp_avro_file *f = sp_calloc(1, sizeof *f);
    const char *why = NULL;
    f->refs = 1;
    sp_read_bytes(r, 4);
    for (int64_t count; !r->failed && !why && (count = sp_read_zigzag(r)) != 0;) {
        if (count < 0) {
            sp_read_zigzag(r);
            count = count == INT64_MIN ? 0 : -count;
        }
        for (; count > 0 && !r->failed && !why; count--) {
            struct sp_view key = sp_read_bytes(r, (uint64_t)sp_read_zigzag(r));
            struct sp_view value = sp_read_bytes(r, (uint64_t)sp_read_zigzag(r));
            if (!r->failed)
                why = set_metadata(f, key, value);
        }
    }
    struct sp_view sync = sp_read_bytes(r, SP_AVRO_SYNC);
    if (sync.len)
        memcpy(f->sync, sync.data, SP_AVRO_SYNC);
    if (!r->failed && !why && !f->schema)
        why = "the file has no schema";
    *ret_why = why;
    if (!r->failed && !why)
        return f;
    sp_avro_file_unref(f);
    return NULL;
}

/* Reads the header; returns its length, or 0 if the file cannot be read: the chunk then has a dead
 * letter that says why. A header that is not complete yet is read again when there are twice as
 * many bytes, because reading it parses its schema. */
static size_t open_file(struct sp_window *w, struct sp_chunk *chunk)
{
    const char *why = NULL;
    for (bool more = true; more && !why;) {
        size_t there = w->buf.len < HEADER_MAX ? w->buf.len : HEADER_MAX;
        struct sp_reader r = sp_reader(sp_view(w->buf.data, there));
        w->avro = read_header(&r, &why);
        if (w->avro)
            return (size_t)((const char *)r.at - w->buf.data);
        more = there < HEADER_MAX && sp_window_more(w);
        sp_window_want(w, 2 * there);
    }
    sp_window_want(w, SP_RAW_MAX); /* the dead letter must not depend on the size of reads */
    sp_chunk_add_bad(chunk, w, 0, w->buf.len, SP_MALFORMED,
                     why ? why : "the Avro file's header is not complete");
    return 0;
}

/* ---- blocks ---- */

/* Returns the place after the next sync marker from `from` on, or the end of the data if there is
 * none. */
static size_t behind_sync(struct sp_window *w, size_t from)
{
    for (;;) {
        const char *at = from < w->buf.len ? memmem(w->buf.data + from, w->buf.len - from,
                                                    w->avro->sync, SP_AVRO_SYNC)
                                           : NULL;
        if (at)
            return (size_t)(at - w->buf.data) + SP_AVRO_SYNC;
        if (w->buf.len - from > SP_AVRO_SYNC)
            from = w->buf.len - SP_AVRO_SYNC;
        if (w->buf.len > w->max_record + HEADER_MAX || !sp_window_more(w))
            return w->buf.len;
    }
}

struct block {
    bool sane;
    int64_t count;
    size_t start; /* of its data */
    size_t len;
    size_t end; /* behind its sync marker */
};

enum { BLOCK_RECORDS_MAX = 1 << 20, CHUNK_RECORDS = 1 << 16 };

/* The most bytes of a block without records: compressed, that is not nothing. */
static uint64_t empty_max(const struct sp_avro_file *f)
{
    enum { COMPRESSED = 64 };
    return f->codec == SP_AVRO_NULL ? 0 : COMPRESSED;
}

/* Whether a block that ends with its sync marker begins at `at`. */
static bool find_block(struct sp_window *w, size_t at, struct block *ret_block)
{
    enum { COUNTS_MAX = 20 };
    sp_window_want(w, at + COUNTS_MAX);
    struct sp_reader r = sp_reader(sp_view(w->buf.data + at, w->buf.len - at));
    int64_t count = sp_read_zigzag(&r), size = sp_read_zigzag(&r);
    size_t start = (size_t)((const char *)r.at - w->buf.data);
    *ret_block = (struct block){.count = count, .start = start};
    if (r.failed || count < 0 || count > BLOCK_RECORDS_MAX || size < 0 ||
        (uint64_t)size > (count ? w->max_record + HEADER_MAX : empty_max(w->avro)))
        return false;
    ret_block->sane = true;
    ret_block->len = (size_t)size;
    ret_block->end = start + (size_t)size + SP_AVRO_SYNC;
    return sp_window_want(w, ret_block->end) &&
           memcmp(w->buf.data + start + size, w->avro->sync, SP_AVRO_SYNC) == 0;
}

static size_t split_block(struct sp_window *w, struct sp_chunk *chunk, size_t at)
{
    static const char wrong[] = "the block's size, number of records (at most 1,048,576) or sync "
                                "marker is wrong";
    struct block b, next;
    if (find_block(w, at, &b)) {
        if (b.count > 0)
            sp_chunk_add(chunk, (struct sp_slice){.at = b.start,
                                                  .len = b.len,
                                                  .offset = w->offset + at,
                                                  .records = (uint32_t)b.count});
        return b.end;
    }
    if (b.sane && w->buf.len > b.end && find_block(w, b.end, &next)) {
        sp_chunk_add_bad(chunk, w, at, b.end - at, SP_MALFORMED, wrong);
        return b.end;
    }
    bool cut_off = b.sane && w->buf.len < b.end;
    size_t behind = behind_sync(w, at);
    if (cut_off && behind == w->buf.len)
        sp_chunk_add_cut(chunk, w, at, "the file ends within a block");
    else
        sp_chunk_add_bad(chunk, w, at, behind - at, cut_off ? SP_TRUNCATED : SP_MALFORMED,
                         cut_off ? "the file ends within a block" : wrong);
    return behind;
}

size_t sp_avro_split(struct sp_window *w, struct sp_chunk *chunk)
{
    size_t at = 0;
    if (!w->avro) {
        at = open_file(w, chunk);
        if (at == 0) { /* nothing of this file can be read */
            while (w->buf.len < HEADER_MAX && sp_window_more(w))
                ;
            w->end = true;
            return w->buf.len;
        }
    }
    while (at < w->block && chunk->count < CHUNK_RECORDS && sp_window_want(w, at + 1))
        at = split_block(w, chunk, at);
    return at;
}

/* ---- parsing ---- */

static enum sp_err inflate_block(struct sp_view block, uint64_t max, struct sp_buf *out)
{
    z_stream z = {0};
    int code = inflateInit2(&z, -15);
    sp_buf_reset(out);
    z.next_in = (Bytef *)(uintptr_t)block.data;
    z.avail_in = (uInt)block.len;
    while (code == Z_OK && out->len <= max) {
        z.next_out = (Bytef *)sp_buf_reserve(out, 1 << 18);
        z.avail_out = 1 << 18;
        code = inflate(&z, Z_NO_FLUSH);
        out->len += (size_t)((1 << 18) - z.avail_out);
    }
    inflateEnd(&z);
    return code == Z_STREAM_END ? SP_OK : out->len > max ? SP_TOO_LARGE : SP_MALFORMED;
}

static enum sp_err unzstd_block(struct sp_view block, uint64_t max, struct sp_buf *out)
{
    ZSTD_DStream *z = ZSTD_createDStream();
    ZSTD_inBuffer in = {block.data, block.len, 0};
    size_t left = 1;
    sp_buf_reset(out);
    while (in.pos < in.size && out->len <= max && !ZSTD_isError(left)) {
        ZSTD_outBuffer o = {sp_buf_reserve(out, 1 << 18), 1 << 18, 0};
        left = ZSTD_decompressStream(z, &o, &in);
        out->len += o.pos;
        while (!ZSTD_isError(left) && o.pos == o.size && out->len <= max) {
            o = (ZSTD_outBuffer){sp_buf_reserve(out, 1 << 18), 1 << 18, 0};
            left = ZSTD_decompressStream(z, &o, &in);
            out->len += o.pos;
        }
    }
    ZSTD_freeDStream(z);
    return out->len > max ? SP_TOO_LARGE : left == 0 ? SP_OK : SP_MALFORMED;
}

static enum sp_err decompress(struct sp_parser *p, const struct sp_avro_file *f,
                              struct sp_view block, struct sp_view *ret_plain)
{
    enum sp_err err = SP_OK;
    uint64_t max = p->max_record + HEADER_MAX;
    *ret_plain = block;
    if (f->codec == SP_AVRO_NULL)
        return SP_OK;
    err = f->codec == SP_AVRO_DEFLATE ? inflate_block(block, max, &p->plain)
                                      : unzstd_block(block, max, &p->plain);
    *ret_plain = sp_buf_view(&p->plain);
    return err;
}

void sp_avro_parse(struct sp_parser *p, const struct sp_chunk *chunk, const struct sp_slice *slice,
                   uint64_t skip, struct sp_input_item *item,
                   void (*each)(void *arg, const struct sp_input_item *item), void *arg)
{
    struct sp_view plain, block = sp_view(chunk->data.data + slice->at, slice->len);
    const char *why = "the block's compression is damaged";
    uint64_t first = item->number;
    enum sp_err err = decompress(p, chunk->avro, block, &plain);
    struct sp_avro_data data = sp_avro_data(plain);
    for (uint64_t i = 0; i < slice->records; i++) {
        bool readable = err == SP_OK && !data.bytes.failed;
        if (!readable && i < skip)
            i = skip;
        struct sp_input_item one = {
            .number = first + i, .records = 1, .file = item->file, .offset = item->offset};
        const char *start = (const char *)data.bytes.at;
        if (readable) {
            one.err = sp_avro_decode(chunk->avro->schema, &data, &one.page, &why);
            /* Billions of records could have no bytes. */
            data.bytes.failed |= (const char *)data.bytes.at == start;
            if (i + 1 == slice->records && one.err == SP_OK && sp_reader_left(&data.bytes) > 0) {
                /* The count is too low, or a length in this record is. */
                one.err = SP_MALFORMED;
                why = "the block has more bytes than its count of records; others may be lost";
            }
        } else {
            one.err = err != SP_OK ? err : SP_MALFORMED;
        }
        size_t len = readable ? (size_t)((const char *)data.bytes.at - start) : 0;
        one.raw = sp_view(start, len < SP_RAW_MAX ? len : SP_RAW_MAX);
        if (one.err != SP_OK) {
            one.why = why;
        } else {
            one.page.url = sp_parser_url(p, one.page.url);
            sp_parser_resolve(p, &one.page);
        }
        if (i < skip)
            continue;
        if (!readable)
            one.records = slice->records - i;
        each(arg, &one);
        if (!readable)
            return;
    }
}
