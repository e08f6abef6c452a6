/* /v1/text: the text of a page, from the inputs of the run. */
#include "base/json_write.h"
#include "base/url.h"
#include "serve/handler.h"

static void put_text(struct sp_buf *out, struct sp_view url, int64_t fetch_time_ms, bool cut,
                     struct sp_view text)
{
    sp_buf_put_str(out, "{\"url\":");
    sp_json_put_string(out, url);
    sp_buf_put_str(out, ",\"fetch_time_ms\":");
    sp_json_put_i64(out, fetch_time_ms);
    sp_buf_put_str(out, cut ? ",\"cut\":true,\"text\":" : ",\"cut\":false,\"text\":");
    sp_json_put_string(out, text);
    sp_buf_put_str(out, "}\n");
}

/* Reads the text from the line of a JSONL file. */
static unsigned put_line(struct sp_serve *s, struct sp_serve_thread *t, struct sp_view line)
{
    struct sp_page_record page;
    struct sp_buf text = {0};
    const char *why = "";
    if (!t->text)
        t->text = sp_text_new(&s->options.text);
    if (!t->parser) {
        struct sp_input_options options;
        sp_input_options_default(&options);
        t->parser = sp_parser_new(&options);
    }
    if (sp_parser_json(t->parser, line, &page, &why) != SP_OK)
        return sp_respond_error(t, MHD_HTTP_INTERNAL_SERVER_ERROR,
                                "the file of --pages has changed: %s", why);
    sp_text_extract(t->text, page.content_type, page.content, page.content_is_utf8, &text);
    bool cut = text.len > SP_TEXTS_SHOWN_BYTES;
    put_text(&t->out, page.url, page.fetch_time_ms, cut,
             sp_view(text.data, cut ? (size_t)SP_TEXTS_SHOWN_BYTES : text.len));
    sp_buf_done(&text);
    return MHD_HTTP_OK;
}

static unsigned put_kept(struct sp_serve_thread *t, const char *given,
                         const struct sp_found_text *found, struct sp_view text)
{
    struct sp_buf url = {0};
    sp_url_canonical(sp_view_str(given), &url); /* the URL was valid before */
    put_text(&t->out, sp_buf_view(&url), found->fetch_time_ms, found->cut, text);
    sp_buf_done(&url);
    return MHD_HTTP_OK;
}

unsigned sp_handle_text(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    struct sp_id page;
    struct sp_buf bytes = {0};
    struct sp_found_text found;
    unsigned status = sp_argument_page(t, q, "url", &page);
    if (status)
        return status;
    if (!s->texts)
        return sp_respond_error(t, MHD_HTTP_NOT_FOUND,
                                "a state holds no texts: start the server with --pages INPUT...");
    enum sp_err err = sp_texts_get(s->texts, page, &bytes, &found);
    if (err == SP_BUSY)
        status = sp_respond_error(t, MHD_HTTP_SERVICE_UNAVAILABLE,
                                  "the files of --pages are still being read: try again");
    else if (err == SP_TOO_LARGE)
        status = sp_respond_error(
            t, MHD_HTTP_NOT_FOUND,
            "there was no room for this text: texts of compressed files and of WARC take at most "
            "%d GiB in TMPDIR",
            SP_TEXTS_KEPT_GIB);
    else if (err == SP_OK && found.is_line)
        status = put_line(s, t, sp_buf_view(&bytes));
    else if (err == SP_OK)
        status = put_kept(t, sp_argument(q, "url"), &found, sp_buf_view(&bytes));
    else
        status = sp_respond_failed(t, err, sp_argument(q, "url"));
    sp_buf_done(&bytes);
    return status;
}
