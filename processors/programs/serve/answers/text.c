/* /v1/text: the text of a page, from the inputs of the run. */
#include "base/json_write.h"
#include "serve/answer.h"

enum { TEXT_SHOWN_BYTES = 512 << 10 };

static unsigned put_text(struct sp_serve_thread *t, const struct sp_page_record *page)
{
    struct sp_buf text = {0};
    enum sp_err err =
        sp_text_extract(t->text, page->content_type, page->content, page->content_is_utf8, &text);
    if (err == SP_OK) {
        bool cut = text.len > TEXT_SHOWN_BYTES;
        sp_buf_put_str(&t->out, "{\"url\":");
        sp_json_put_string(&t->out, page->url);
        sp_buf_put_str(&t->out, ",\"fetch_time_ms\":");
        sp_json_put_i64(&t->out, page->fetch_time_ms);
        sp_buf_put_str(&t->out, cut ? ",\"cut\":true,\"text\":" : ",\"cut\":false,\"text\":");
        sp_json_put_string(&t->out, sp_view(text.data, cut ? TEXT_SHOWN_BYTES : text.len));
        sp_buf_put_str(&t->out, "}\n");
    }
    sp_buf_done(&text);
    return err == SP_OK ? MHD_HTTP_OK : sp_answer_failed(t, err, "");
}

unsigned sp_answer_text(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    struct sp_id page;
    struct sp_buf line = {0};
    struct sp_page_record record;
    const char *why = "";
    unsigned status = sp_argument_page(t, q, "url", &page);
    if (status)
        return status;
    if (!s->texts)
        return sp_answer_error(t, MHD_HTTP_NOT_FOUND,
                               "a state keeps no texts: start the server with --pages INPUT...");
    enum sp_err err = sp_texts_line(s->texts, page, &line);
    if (!t->text)
        t->text = sp_text_new(&s->options.text);
    if (!t->parser) {
        struct sp_input_options options;
        sp_input_options_default(&options);
        t->parser = sp_parser_new(&options);
    }
    if (err == SP_BUSY)
        status = sp_answer_error(t, MHD_HTTP_SERVICE_UNAVAILABLE,
                                 "the files of --pages are still being read: try again");
    else if (err == SP_OK && sp_parser_json(t->parser, sp_buf_view(&line), &record, &why) == SP_OK)
        status = put_text(t, &record);
    else if (err == SP_OK)
        status = sp_answer_error(t, MHD_HTTP_INTERNAL_SERVER_ERROR,
                                 "the file of --pages has changed: %s", why);
    else
        status = sp_answer_failed(t, err, sp_argument(q, "url"));
    sp_buf_done(&line);
    return status;
}
