#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/json.h"
struct sp_input { char *name; int fd; uint64_t total, bytes, offset, number; struct sp_input_options o; struct sp_buf rest; bool eof; uint64_t skip; };
struct sp_chunk { char *file; uint64_t offset, first, count; struct sp_buf data; uint64_t skip; };
struct sp_parser { struct sp_json *json; struct sp_buf b; };
void sp_input_options_default(struct sp_input_options *o) { *o = (struct sp_input_options){64u << 20, 1u << 20}; }
enum sp_err sp_input_open(const char *const *files, size_t n, const struct sp_input_options *o, struct sp_input **ret, const char **msg)
{
    static char text[512]; (void)n;
    int fd = strcmp(files[0], "-") == 0 ? 0 : open(files[0], O_RDONLY);
    if (fd < 0) { snprintf(text, sizeof text, "%s: cannot be read: %s", files[0], strerror(errno)); *msg = text; return SP_IO; }
    struct sp_input *in = sp_calloc(1, sizeof *in);
    struct stat st; fstat(fd, &st);
    in->fd = fd; in->total = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0; in->o = *o; in->name = sp_memdup(files[0], strlen(files[0]) + 1);
    *ret = in; return SP_OK;
}
void sp_input_close(struct sp_input *in) { if (!in) return; if (in->fd > 0) close(in->fd); sp_free(in->name); sp_buf_done(&in->rest); sp_free(in); }
uint64_t sp_input_total_bytes(const struct sp_input *in) { return in->total; }
uint64_t sp_input_read_bytes(const struct sp_input *in) { return in->bytes; }
enum sp_err sp_input_skip(struct sp_input *in, uint64_t records) { in->skip = records; return SP_OK; }
enum sp_err sp_input_next_chunk(struct sp_input *in, struct sp_chunk **ret, const char **msg)
{
    (void)msg;
    for (;;) {
    struct sp_buf b = in->rest; in->rest = (struct sp_buf){0};
    size_t cut = 0;
    while (!in->eof && !cut) {
        char *at = sp_buf_reserve(&b, in->o.chunk_bytes);
        ssize_t n = read(in->fd, at, in->o.chunk_bytes);
        if (n <= 0) { in->eof = true; break; }
        b.len += (size_t)n; in->bytes += (uint64_t)n;
        if (b.len < in->o.chunk_bytes / 2) continue;
        const char *nl = memrchr(b.data, '\n', b.len);
        if (nl) cut = (size_t)(nl + 1 - b.data);
    }
    if (in->eof) cut = b.len;
    if (b.len == 0) { sp_buf_done(&b); return SP_END; }
    sp_buf_put(&in->rest, b.data + cut, b.len - cut);
    b.len = cut;
    sp_buf_reserve(&b, SP_JSON_PADDING);
    struct sp_chunk *c = sp_calloc(1, sizeof *c);
    c->data = b; c->file = in->name; c->offset = in->offset; c->first = in->number; in->offset += cut;
    for (const char *p = b.data, *e = b.data + b.len; p < e; ) { const char *nl = memchr(p, '\n', (size_t)(e - p)); if (!nl) nl = e; c->count += nl > p; p = nl + 1; }
    in->number += c->count;
    if (in->skip >= c->count) { in->skip -= c->count; sp_chunk_free(c); continue; }
    c->skip = in->skip; in->skip = 0;
    *ret = c; return SP_OK;
    }
}
void sp_chunk_free(struct sp_chunk *c) { if (c) { sp_buf_done(&c->data); sp_free(c); } }
struct sp_parser *sp_parser_new(const struct sp_input_options *o) { (void)o; struct sp_parser *p = sp_calloc(1, sizeof *p); p->json = sp_json_new(); return p; }
void sp_parser_free(struct sp_parser *p) { if (p) { sp_json_free(p->json); sp_buf_done(&p->b); sp_free(p); } }
void sp_chunk_parse(struct sp_parser *p, struct sp_chunk *c, void (*each)(void *arg, const struct sp_input_item *item), void *arg)
{
    uint64_t number = c->first;
    for (const char *at = c->data.data, *e = at + c->data.len; at < e;) {
        const char *nl = memchr(at, '\n', (size_t)(e - at)); if (!nl) nl = e;
        if (nl > at) {
            if (c->skip) c->skip--;
            else {
            struct sp_input_item item = {.number = number, .file = c->file, .offset = c->offset + (uint64_t)(at - c->data.data)};
            item.err = sp_json_parse(p->json, sp_view(at, (size_t)(nl - at)), &item.page, &item.why);
            if (item.err) item.raw = sp_view(at, (size_t)(nl - at) < 65536 ? (size_t)(nl - at) : 65536);
            each(arg, &item); }
            number++;
        }
        at = nl + 1;
    }
}
