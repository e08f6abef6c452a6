/* See parser.h. */
#include "input/parser.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/url.h"
#include "input/flat.h"
#include "input/json.h"

/* HTTP statuses of a success without a body. */
enum { NO_CONTENT = 204, RESET_CONTENT = 205 };

struct sp_parser *sp_parser_new(const struct sp_input_options *options)
{
    struct sp_parser *p = sp_calloc(1, sizeof *p);
    p->max_record = options->max_record_bytes;
    p->json = &sp_json_ops_portable;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("pclmul"))
        p->json = &sp_json_ops_haswell;
#endif
    p->fields = options->fields;
    p->json_parser = p->json->make(&p->fields);
    p->flat = sp_flat_new(&p->fields, p->json, NULL);
    return p;
}

void sp_parser_free(struct sp_parser *p)
{
    if (!p)
        return;
    p->json->free(p->json_parser);
    sp_flat_free(p->flat);
    sp_buf_done(&p->body);
    sp_buf_done(&p->plain);
    sp_buf_done(&p->doc);
    sp_buf_done(&p->url);
    sp_buf_done(&p->target);
    sp_buf_done(&p->target_utf8);
    sp_free(p);
}

void sp_item_fail(struct sp_input_item *item, enum sp_err err, const char *why)
{
    item->err = err;
    item->why = why;
}

static bool is_url(struct sp_view id)
{
    size_t i = 0;
    while (i < id.len && (unsigned)((id.data[i] | 0x20) - 'a') < 26u)
        i++;
    return (i > 0 && id.len - i > 3 && memcmp(id.data + i, "://", 3) == 0) ||
           (id.len > 4 && memcmp(id.data, "doc:", 4) == 0);
}

void sp_parser_identify(struct sp_parser *p, struct sp_page_record *page, uint64_t number)
{
    char digits[24];
    struct sp_view id = page->url;
    if ((!p->fields.any_id && !p->fields.dataset) || is_url(id))
        return;
    if (id.len == 0 && p->fields.dataset) {
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
        id = sp_view_str(digits);
    }
    if (id.len == 0)
        return;
    sp_buf_reset(&p->doc);
    sp_input_put_doc(&p->doc, id);
    page->url = sp_buf_view(&p->doc);
    page->id = page->url.len == id.len + 4 ? sp_view(page->url.data + 4, id.len) : id;
}

static struct sp_view in_utf8(struct sp_view url, struct sp_buf *out)
{
    uint8_t high = 0;
    for (size_t i = 0; i < url.len; i++)
        high |= (uint8_t)url.data[i];
    if (high < 0x80)
        return url;
    sp_buf_reset(out);
    sp_input_put_utf8(out, url);
    return sp_buf_view(out);
}

struct sp_view sp_parser_url(struct sp_parser *p, struct sp_view url)
{
    return in_utf8(url, &p->url);
}

void sp_parser_resolve(struct sp_parser *p, struct sp_page_record *page)
{
    bool empty = page->http_status == NO_CONTENT || page->http_status == RESET_CONTENT;
    if (empty && !page->content.data && !page->content_like) /* `content` may be left out */
        page->content = sp_view("", 0);
    if (page->redirect_url.len == 0)
        return;
    sp_buf_reset(&p->target);
    /* What cannot be resolved is kept unchanged: the reader of the record reports what is wrong
     * with it. */
    if (sp_url_resolve(page->url, page->redirect_url, &p->target) == SP_OK)
        page->redirect_url = in_utf8(sp_buf_view(&p->target), &p->target_utf8);
}
