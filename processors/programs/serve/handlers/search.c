/* /v1/search: finds pages by a part of their URL, or all pages of a host. /v1/hosts: lists hosts,
 * those with the most losers first. Both use the catalogue of the last pass over the pages; the
 * statuses of the found pages are current. */
#include <string.h>

#include "base/json_write.h"
#include "base/url.h"
#include "serve/handler.h"

enum { FOUND_DEFAULT = 100, FOUND_MAX = 1000 };

static unsigned not_yet(struct sp_serve_thread *t)
{
    return sp_respond_error(t, MHD_HTTP_SERVICE_UNAVAILABLE,
                            "the pages are still being counted: try again");
}

static const char *given(const struct sp_query *q, const char *name)
{
    const char *text = sp_argument(q, name);
    return text && *text ? text : NULL;
}

static bool is_short(const char *text)
{
    return !text || strlen(text) <= SP_URL_MAX_BYTES;
}

static unsigned too_long(struct sp_serve_thread *t)
{
    return sp_respond_error(t, MHD_HTTP_BAD_REQUEST, "q, host and after are at most %d bytes each",
                            SP_URL_MAX_BYTES);
}

/* Returns false if the argument is given and names no status. */
static bool status_argument(const struct sp_query *q, enum sp_page_status *ret_status)
{
    const char *name = given(q, "status");
    *ret_status = SP_STATUS_NONE;
    for (int s = SP_STATUS_UNIQUE; name && s <= SP_STATUS_GONE; s++)
        if (strcmp(name, sp_status_name((enum sp_page_status)s)) == 0)
            *ret_status = (enum sp_page_status)s;
    return !name || *ret_status != SP_STATUS_NONE;
}

static void put_found(void *arg, const struct sp_page_view *v)
{
    struct sp_buf *out = arg;
    sp_buf_put_str(out, "{\"url\":");
    sp_json_put_text(out, v->url);
    sp_buf_put_str(out, ",\"status\":");
    sp_json_put_text(out, v->status == SP_STATUS_NONE ? NULL : sp_status_name(v->status));
    sp_buf_put_str(out, ",\"winner_url\":");
    sp_json_put_text(out, v->winner_url);
    sp_buf_put_str(out, ",\"similarity\":");
    if (v->status == SP_STATUS_LOSER)
        sp_json_put_float(out, v->similarity);
    else
        sp_buf_put_str(out, "null");
    sp_buf_put_str(out, ",\"version_ms\":");
    sp_json_put_i64(out, v->version);
    sp_buf_put_u8(out, '}');
}

static void put_size(struct sp_buf *out, const struct sp_catalogue *c)
{
    sp_buf_put_str(out, ",\"searched\":");
    sp_json_put_i64(out, (int64_t)sp_catalogue_pages(c));
    sp_buf_put_str(out, sp_catalogue_is_cut(c) ? ",\"cut\":true}\n" : ",\"cut\":false}\n");
}

static unsigned put_pages(struct sp_serve_thread *t, const struct sp_catalogue *c,
                          const struct sp_catalogue_query *query, size_t limit)
{
    const char *urls[FOUND_MAX + 1];
    size_t found = sp_catalogue_find(c, query, limit + 1, urls), shown = 0;
    bool more = found > limit;
    sp_buf_put_str(&t->out, "{\"pages\":[");
    for (size_t i = 0; i < found - more; i++) {
        struct sp_id page;
        size_t before = t->out.len;
        if (shown)
            sp_buf_put_u8(&t->out, ',');
        enum sp_err err = sp_state_page_id(t->reader, sp_view_str(urls[i]), &page);
        if (err == SP_OK)
            err = sp_state_page(t->reader, page, put_found, &t->out);
        if (err == SP_STORE)
            return sp_respond_failed(t, err, urls[i]);
        if (err != SP_OK)
            t->out.len = before;
        shown += err == SP_OK;
    }
    sp_buf_put_str(&t->out, "],\"next\":");
    sp_json_put_text(&t->out, more ? urls[limit - 1] : NULL);
    put_size(&t->out, c);
    return MHD_HTTP_OK;
}

unsigned sp_handle_search(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    struct sp_catalogue_query query = {
        .text = given(q, "q"), .host = given(q, "host"), .after = given(q, "after")};
    size_t limit = FOUND_DEFAULT;
    if (!query.text && !query.host)
        return sp_respond_error(t, MHD_HTTP_BAD_REQUEST,
                                "give q, a part of a URL, or host, or both");
    if (!is_short(query.text) || !is_short(query.host) || !is_short(query.after))
        return too_long(t);
    if (!status_argument(q, &query.status))
        return sp_respond_error(t, MHD_HTTP_BAD_REQUEST, "status is unique, winner, loser or gone");
    if (!sp_argument_number(q, "limit", FOUND_MAX, &limit) || limit == 0)
        return sp_respond_error(t, MHD_HTTP_BAD_REQUEST, "limit is a number from 1 to %d",
                                FOUND_MAX);
    struct sp_catalogue *c = sp_overview_catalogue(s->overview);
    unsigned status = c ? put_pages(t, c, &query, limit) : not_yet(t);
    sp_catalogue_unref(c);
    return status;
}

static void put_host(struct sp_buf *out, const struct sp_catalogue_host *h)
{
    sp_buf_put_str(out, "{\"host\":");
    sp_json_put_string(out, h->name);
    sp_buf_put_str(out, ",\"pages\":");
    sp_json_put_i64(out, h->all);
    for (int s = SP_STATUS_UNIQUE; s <= SP_STATUS_GONE; s++) {
        sp_buf_put_str(out, ",\"");
        sp_buf_put_str(out, sp_status_name((enum sp_page_status)s));
        sp_buf_put_str(out, "\":");
        sp_json_put_i64(out, h->pages[s]);
    }
    sp_buf_put_u8(out, '}');
}

unsigned sp_handle_hosts(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    const struct sp_catalogue_host *hosts[FOUND_MAX];
    size_t offset = 0, limit = FOUND_DEFAULT, count = 0;
    if (!sp_argument_number(q, "offset", SP_CATALOGUE_HOSTS, &offset) ||
        !sp_argument_number(q, "limit", FOUND_MAX, &limit))
        return sp_respond_error(t, MHD_HTTP_BAD_REQUEST,
                                "offset is a number up to %d, limit one up to %d",
                                SP_CATALOGUE_HOSTS, FOUND_MAX);
    const char *part = given(q, "q");
    if (!is_short(part))
        return too_long(t);
    struct sp_catalogue *c = sp_overview_catalogue(s->overview);
    if (!c)
        return not_yet(t);
    size_t found = sp_catalogue_hosts(c, part, offset, limit, hosts, &count);
    sp_buf_put_str(&t->out, "{\"hosts\":[");
    for (size_t i = 0; i < found; i++) {
        if (i)
            sp_buf_put_u8(&t->out, ',');
        put_host(&t->out, hosts[i]);
    }
    sp_buf_put_str(&t->out, "],\"count\":");
    sp_json_put_i64(&t->out, (int64_t)count);
    sp_buf_put_str(&t->out, ",\"offset\":");
    sp_json_put_i64(&t->out, (int64_t)offset);
    put_size(&t->out, c);
    sp_catalogue_unref(c);
    return MHD_HTTP_OK;
}
