/* /v1/text, /v1/overview, and the page with its description of the API. */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "serve/assets.h"
#include "serve/internal.h"

enum { TEXT_SHOWN_BYTES = 512 << 10 };

/* ---- the text of a page, from the inputs of the run */

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

/* ---- everything at a glance */

static void put_history(struct sp_serve *s, struct sp_buf *out)
{
    struct sp_history *h = &s->history;
    int64_t now = sp_clock_ms();
    sp_buf_put_str(out, ",\"history\":[");
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < h->count; i++) {
        const struct sp_sample *sample = &h->samples[(h->first + i) % SP_HISTORY];
        sp_buf_put_str(out, i ? ",{\"age_ms\":" : "{\"age_ms\":");
        sp_json_put_i64(out, now - sample->at_ms);
        sp_buf_put_str(out, ",\"records\":");
        sp_json_put_i64(out, (int64_t)sample->records);
        sp_buf_put_u8(out, '}');
    }
    sp_buf_put_u8(out, ']');
    sp_buf_put_str(out, ",\"records\":");
    sp_json_put_i64(out, (int64_t)h->records);
    sp_buf_put_str(out, h->ended ? ",\"inputs_ended\":true" : ",\"inputs_ended\":false");
    pthread_mutex_unlock(&h->lock);
    sp_buf_put_str(out, ",\"unchanged_ms\":");
    sp_json_put_i64(out, now - __atomic_load_n(&s->counters.changed_ms, __ATOMIC_RELAXED));
}

unsigned sp_answer_overview(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    struct sp_buf *out = &t->out;
    (void)q;
    sp_buf_put_str(out, "{\"threshold\":");
    sp_json_put_double(out, s->options.threshold);
    sp_buf_put_str(out, s->texts ? ",\"texts\":true" : ",\"texts\":false");
    put_history(s, out);
    sp_buf_put_u8(out, ',');
    if (!sp_overview_put(s->overview, out))
        return sp_answer_error(t, MHD_HTTP_SERVICE_UNAVAILABLE,
                               "the pages are still being counted: try again");
    sp_buf_put_str(out, "}\n");
    return MHD_HTTP_OK;
}

/* ---- files of the program */

/* What this answer's own scripts are known by, so that no other may run (Content-Security-Policy).
 */
static void choose_nonce(char nonce[SP_NONCE_TEXT])
{
    unsigned char bytes[(SP_NONCE_TEXT - 1) / 2] = {0};
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        bytes[0] = 1; /* before the machine has any randomness: no secret is in the page */
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(nonce + 2 * i, 3, "%02x", bytes[i]);
}

unsigned sp_answer_page(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    static const char mark[] = "@NONCE@";
    struct sp_view page = sp_asset_page();
    (void)s, (void)q;
    choose_nonce(t->nonce);
    for (;;) {
        const char *at = memmem(page.data, page.len, mark, sizeof mark - 1);
        size_t before = at ? (size_t)(at - page.data) : page.len;
        sp_buf_put(&t->out, page.data, before);
        if (!at)
            return MHD_HTTP_OK;
        sp_buf_put_str(&t->out, t->nonce);
        page = sp_view(at + sizeof mark - 1, page.len - before - (sizeof mark - 1));
    }
}

unsigned sp_answer_openapi(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    (void)s, (void)q;
    sp_buf_put_view(&t->out, sp_asset_openapi());
    return MHD_HTTP_OK;
}
