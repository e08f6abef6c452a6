/* Writes files and reads them through the input module: see input_helper.h. */
#include "input_helper.h"

#include <brotli/encode.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "harness.h"

/* ---- making files ---- */

enum { NAME_BYTES = 256 };

static char folder[NAME_BYTES - 32];
static size_t file_count;

static void file_name(size_t number, char *name)
{
    snprintf(name, NAME_BYTES, "%s/%zu", folder, number);
}

static void remove_folder(void)
{
    char name[NAME_BYTES];
    for (size_t i = 0; i < file_count; i++) {
        file_name(i, name);
        unlink(name);
    }
    rmdir(folder);
}

const char *make_file(struct sp_view bytes)
{
    static char names[8][NAME_BYTES]; /* more than a test needs at a time */
    char *name = names[file_count % 8];
    if (!folder[0]) {
        const char *place = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/samepage-test-XXXXXX", place ? place : "/tmp");
        CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
        atexit(remove_folder);
    }
    file_name(file_count, name);
    file_count++;
    FILE *f = fopen(name, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL_FATAL(fwrite(bytes.data, 1, bytes.len, f), bytes.len);
    CU_ASSERT_EQUAL_FATAL(fclose(f), 0);
    return name;
}

const char *make_text(const char *text)
{
    return make_file(sp_view_str(text));
}

static void put_deflated(struct sp_buf *out, struct sp_view bytes, int level, int flush,
                         int expected)
{
    enum { SYNC_BYTES = 5 }; /* of an empty block that ends a flush */
    z_stream z = {0};
    CU_ASSERT_EQUAL_FATAL(deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
                          Z_OK);
    size_t bound = deflateBound(&z, bytes.len) + SYNC_BYTES;
    z.next_in = (Bytef *)(uintptr_t)bytes.data;
    z.avail_in = (uInt)bytes.len;
    z.next_out = (Bytef *)sp_buf_reserve(out, bound);
    z.avail_out = (uInt)bound;
    CU_ASSERT_EQUAL_FATAL(deflate(&z, flush), expected);
    out->len += z.total_out;
    deflateEnd(&z);
}

void put_gzip(struct sp_buf *out, struct sp_view bytes)
{
    put_gzip_level(out, bytes, Z_DEFAULT_COMPRESSION);
}

void put_gzip_level(struct sp_buf *out, struct sp_view bytes, int level)
{
    put_deflated(out, bytes, level, Z_FINISH, Z_STREAM_END);
}

void put_damaged_gzip(struct sp_buf *out, struct sp_view bytes)
{
    enum { NO_BLOCK = 7 }; /* the last one, of a type that does not exist */
    put_deflated(out, bytes, Z_DEFAULT_COMPRESSION, Z_SYNC_FLUSH, Z_OK);
    sp_buf_put_u8(out, NO_BLOCK);
}

void put_zstd(struct sp_buf *out, struct sp_view bytes)
{
    size_t bound = ZSTD_compressBound(bytes.len);
    char *at = sp_buf_reserve(out, bound);
    size_t n = ZSTD_compress(at, bound, bytes.data, bytes.len, 3);
    CU_ASSERT_FATAL(!ZSTD_isError(n));
    out->len += n;
}

void put_brotli(struct sp_buf *out, struct sp_view bytes)
{
    size_t len = BrotliEncoderMaxCompressedSize(bytes.len);
    uint8_t *at = (uint8_t *)sp_buf_reserve(out, len);
    CU_ASSERT_FATAL(BrotliEncoderCompress(5, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, bytes.len,
                                          (const uint8_t *)bytes.data, &len, at));
    out->len += len;
}

void put_format(struct sp_buf *out, const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    CU_ASSERT_FATAL(n >= 0 && (size_t)n < sizeof text);
    sp_buf_put(out, text, (size_t)n);
}

void put_noise(struct sp_buf *out, uint64_t seed, size_t bytes)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-";
    for (size_t i = 0; i < bytes; i++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        sp_buf_put_u8(out, (uint8_t)digits[seed >> 58]);
    }
}

void put_times(struct sp_buf *out, char byte, size_t count)
{
    char *at = sp_buf_reserve(out, count);
    memset(at, byte, count);
    out->len += count;
}

/* ---- reading ---- */

static struct sp_view copied(struct sp_view v)
{
    return sp_view(sp_memdup(v.len ? v.data : "", v.len + 1 - (v.len > 0)), v.len);
}

static void keep(void *arg, const struct sp_input_item *item)
{
    struct got *g = arg;
    sp_grow(&g->items, &g->cap, g->count + 1);
    struct sp_input_item *to = &g->items[g->count++];
    *to = (struct sp_input_item){.number = item->number,
                                 .records = item->records,
                                 .file = item->file ? sp_memdup(item->file, strlen(item->file) + 1)
                                                    : NULL,
                                 .offset = item->offset,
                                 .err = item->err};
    if (item->err != SP_OK) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(item->why);
        CU_ASSERT(item->raw.len <= 65536);
        CU_ASSERT_EQUAL(sp_err_class(item->err), SP_CLASS_BAD_RECORD);
        to->why = sp_memdup(item->why, strlen(item->why) + 1);
        to->raw = copied(item->raw);
        return;
    }
    CU_ASSERT_EQUAL(item->records, 1);
    to->page = item->page;
    to->page.url = copied(item->page.url);
    to->page.redirect_url = copied(item->page.redirect_url);
    to->page.content_type = copied(item->page.content_type);
    to->page.content = copied(item->page.content);
    to->page.payload_digest = copied(item->page.payload_digest);
    g->pages++;
}

struct got read_files(const char *const *files, size_t count, const struct reading *how)
{
    static const struct reading usual;
    struct got g = {0};
    struct sp_input_options o;
    struct sp_input *in = NULL;
    struct sp_fault fault = {""};
    if (!how)
        how = &usual;
    sp_input_options_default(&o);
    if (how->chunk_bytes)
        o.chunk_bytes = how->chunk_bytes;
    if (how->max_record_bytes)
        o.max_record_bytes = how->max_record_bytes;
    o.fields.unquoted = how->unquoted;
    g.end = sp_input_open(files, count, &o, &in, &fault);
    if (g.end == SP_OK) {
        struct sp_parser *p = sp_parser_new(&o);
        struct sp_chunk *chunk;
        uint64_t next = how->skip;
        sp_input_skip(in, how->skip);
        while ((g.end = sp_input_next_chunk(in, &chunk, &fault)) == SP_OK) {
            size_t before = g.count;
            uint64_t records = 0;
            CU_ASSERT_EQUAL(sp_chunk_first(chunk), next);
            sp_chunk_parse(p, chunk, keep, &g);
            for (size_t i = before; i < g.count; i++) {
                CU_ASSERT_EQUAL(g.items[i].number, next + records);
                records += g.items[i].records;
            }
            CU_ASSERT_EQUAL(sp_chunk_count(chunk), records);
            CU_ASSERT(records > 0);
            next += records;
            g.chunks++;
            if (g.chunks % 3 == 0) /* some chunks begin with fresh memory, others with used */
                sp_chunk_free(chunk);
            else
                sp_input_take_back(in, chunk);
        }
        sp_parser_free(p);
        sp_input_close(in);
    }
    if (g.end != SP_END)
        snprintf(g.message, sizeof g.message, "%s", fault.text);
    return g;
}

struct got read_file(const char *file, const struct reading *how)
{
    return read_files(&file, 1, how);
}

struct got read_bytes(struct sp_view bytes, const struct reading *how)
{
    const char *file = make_file(bytes);
    struct got g = read_file(file, how);
    unlink(file);
    return g;
}

struct got read_and_drop(struct sp_buf *file, const struct reading *how)
{
    struct got g = read_bytes(sp_buf_view(file), how);
    sp_buf_done(file);
    return g;
}

struct got read_text(const char *text)
{
    return read_bytes(sp_view_str(text), NULL);
}

void got_done(struct got *g)
{
    for (size_t i = 0; i < g->count; i++) {
        struct sp_input_item *item = &g->items[i];
        const void *owned[] = {item->file,
                               item->why,
                               item->raw.data,
                               item->page.url.data,
                               item->page.redirect_url.data,
                               item->page.content_type.data,
                               item->page.payload_digest.data,
                               item->page.content.data};
        for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
            sp_free((void *)(uintptr_t)owned[k]);
    }
    sp_free(g->items);
    *g = (struct got){0};
}

/* ---- checking ---- */

bool view_is(struct sp_view v, const char *text)
{
    return sp_view_eq(v, sp_view_str(text));
}

void check_page(const struct got *g, size_t i, const char *url, const char *content)
{
    CU_ASSERT_FATAL(i < g->count);
    const struct sp_input_item *item = &g->items[i];
    if (item->err != SP_OK)
        printf("item %zu: %s\n", i, item->why);
    CU_ASSERT_EQUAL_FATAL(item->err, SP_OK);
    CU_ASSERT(view_is(item->page.url, url));
    CU_ASSERT(view_is(item->page.content, content));
}

void check_bad(const struct got *g, size_t i, enum sp_err err, const char *part_of_why)
{
    CU_ASSERT_FATAL(i < g->count);
    const struct sp_input_item *item = &g->items[i];
    if (item->err != err)
        printf("item %zu: %s\n", i, item->err ? item->why : "a page");
    CU_ASSERT_EQUAL_FATAL(item->err, err);
    if (!strstr(item->why, part_of_why))
        printf("item %zu: %s\n", i, item->why);
    CU_ASSERT_PTR_NOT_NULL(strstr(item->why, part_of_why));
}

bool same_page(const struct sp_page_record *a, const struct sp_page_record *b)
{
    return sp_view_eq(a->url, b->url) && a->fetch_time_ms == b->fetch_time_ms &&
           a->http_status == b->http_status && sp_view_eq(a->redirect_url, b->redirect_url) &&
           sp_view_eq(a->content_type, b->content_type) && a->as_of_ms == b->as_of_ms &&
           a->as_elsewhere == b->as_elsewhere && sp_view_eq(a->payload_digest, b->payload_digest) &&
           a->popularity == b->popularity && sp_view_eq(a->content, b->content) &&
           a->content_is_utf8 == b->content_is_utf8;
}

bool same_item(const struct sp_input_item *a, const struct sp_input_item *b)
{
    if (a->number != b->number || a->records != b->records || a->offset != b->offset ||
        a->err != b->err)
        return false;
    if (a->err == SP_OK)
        return same_page(&a->page, &b->page);
    return strcmp(a->why, b->why) == 0 && (a->err == SP_TOO_LARGE || sp_view_eq(a->raw, b->raw));
}
