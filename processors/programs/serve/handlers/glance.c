/* /v1/overview: the counts of the whole state; /v1/audit: what the run's own audit has found. */
#include "base/clock.h"
#include "base/json_write.h"
#include "serve/handler.h"

static void put_history(struct sp_serve *s, struct sp_buf *out)
{
    struct sp_history *h = &s->history;
    int64_t now = sp_clock_ms();
    sp_buf_put_str(out, ",\"history\":[");
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < h->count; i++) {
        const struct sp_history_point *point = &h->points[(h->first + i) % SP_HISTORY];
        sp_buf_put_str(out, i ? ",{\"age_ms\":" : "{\"age_ms\":");
        sp_json_put_i64(out, now - point->at_ms);
        sp_buf_put_str(out, ",\"records\":");
        sp_json_put_i64(out, (int64_t)point->records);
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

/* Appends the audit's report if the run has one. */
static void put_audit(struct sp_serve_thread *t)
{
    struct sp_watching_report report;
    if (sp_state_audit(t->reader, &report) != SP_OK)
        return;
    sp_buf_put_str(&t->out, ",\"audit\":{");
    sp_watching_put_json(&report, &t->out);
    sp_buf_put_u8(&t->out, '}');
    sp_watching_report_done(&report);
}

unsigned sp_handle_audit(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    struct sp_watching_report report;
    (void)s, (void)q;
    enum sp_err err = sp_state_audit(t->reader, &report);
    if (err == SP_NOT_FOUND)
        return sp_respond_error(t, MHD_HTTP_NOT_FOUND,
                                "the state was not audited: run with --set audit.share=0.001");
    if (err != SP_OK)
        return sp_respond_failed(t, err, "");
    sp_buf_put_u8(&t->out, '{');
    sp_watching_put_json(&report, &t->out);
    sp_buf_put_str(&t->out, "}\n");
    sp_watching_report_done(&report);
    return MHD_HTTP_OK;
}

unsigned sp_handle_overview(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    struct sp_buf *out = &t->out;
    (void)q;
    sp_buf_put_str(out, "{\"threshold\":");
    sp_json_put_double(out, s->options.similarity.threshold);
    sp_buf_put_str(out, s->texts ? ",\"texts\":true" : ",\"texts\":false");
    sp_buf_put_str(out, s->log ? ",\"histories\":true" : ",\"histories\":false");
    sp_buf_put_str(out, s->live ? ",\"live\":true" : ",\"live\":false");
    put_history(s, out);
    put_audit(t);
    sp_buf_put_u8(out, ',');
    if (!sp_overview_put(s->overview, out))
        return sp_respond_error(t, MHD_HTTP_SERVICE_UNAVAILABLE,
                                "the pages are still being counted: try again");
    sp_buf_put_str(out, "}\n");
    return MHD_HTTP_OK;
}
