/* /metrics: Prometheus text format 0.0.4. */
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "serve/handler.h"

__attribute__((format(printf, 2, 3))) static void put(struct sp_buf *out, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sp_buf_put(out, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

static void head(struct sp_buf *out, const char *name, const char *type, const char *help)
{
    put(out, "# HELP samepage_serve_%s %s\n# TYPE samepage_serve_%s %s\n", name, help, name, type);
}

static uint64_t get(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void by_route(const struct sp_serve *s, struct sp_buf *out, const char *name,
                     const char *help, const uint64_t counters[SP_ROUTES + 1], double scale)
{
    head(out, name, "counter", help);
    for (size_t i = 0; i <= s->route_count; i++) {
        bool other = i == s->route_count;
        double value = (double)get(&counters[other ? SP_ROUTES : i]) * scale;
        put(out, "samepage_serve_%s{path=\"%s\"} %.*f\n", name, other ? "" : s->routes[i].path,
            scale == 1 ? 0 : 6, value);
    }
}

static void one(struct sp_buf *out, const char *name, const char *type, const char *help,
                double value)
{
    head(out, name, type, help);
    put(out, "samepage_serve_%s %.*f\n", name, value == (double)(int64_t)value ? 0 : 3, value);
}

static void put_rules(struct sp_serve *s, struct sp_buf *out)
{
    struct sp_followed_stats r;
    if (!s->followed)
        return;
    sp_followed_stats(s->followed, &r);
    one(out, "rules", "gauge", "Rules about URLs in the topic.", (double)r.rules);
    one(out, "rules_unreadable", "gauge", "Records in the topic that are not rules.",
        (double)r.unreadable);
    one(out, "rules_age_seconds", "gauge",
        "Time since the topic of rules was last read to its end.",
        (double)(sp_clock_ms() - r.read_ms) / 1e3);
    one(out, "rules_failures_total", "counter", "Times that the topic of rules could not be read.",
        (double)r.failures);
}

/* Metrics of the run, which do not have the server's prefix. */
static void put_audit(struct sp_serve_thread *t)
{
    struct sp_watching_report r;
    if (sp_state_audit(t->reader, &r) != SP_OK)
        return;
    const struct {
        const char *name, *type, *help;
        double value;
    } rows[] = {
        {"samepage_audit_missing_total", "counter",
         "Pairs of watched near duplicates whose statuses do not show that they are.",
         (double)r.missing},
        {"samepage_audit_wrong_total", "counter",
         "Statuses of watched pages that the signatures show to be wrong.", (double)r.wrong},
        {"samepage_audit_judged_total", "counter",
         "Checks of pairs of watched near duplicates; a pair counts at each change of one of its "
         "pages.",
         (double)r.judged},
        {"samepage_audit_pages", "gauge", "Pages that are watched.", (double)r.pages},
        {"samepage_audit_late_seconds", "gauge",
         "The longest time for which a status looked wrong, by the times of the fetches.",
         (double)r.late_ms / 1e3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        put(&t->out, "# HELP %s %s\n# TYPE %s %s\n%s %.*f\n", rows[i].name, rows[i].help,
            rows[i].name, rows[i].type, rows[i].name,
            rows[i].value == (double)(int64_t)rows[i].value ? 0 : 3, rows[i].value);
    sp_watching_report_done(&r);
}

unsigned sp_handle_metrics(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    struct sp_serve_counters *c = &s->counters;
    struct sp_buf *out = &t->out;
    struct sp_index_stats x;
    int64_t now = sp_clock_ms();
    (void)q;
    sp_index_stats(s->index, &x);
    by_route(s, out, "requests_total", "Requests answered.", c->requests, 1);
    by_route(s, out, "refused_total", "Responses with a status of 400 and above.", c->refused, 1);
    by_route(s, out, "request_seconds_total", "Time from the headers to the response.",
             c->microseconds, 1e-6);
    one(out, "connections", "gauge", "Open connections.", (double)get(&c->connections));
    one(out, "connections_closed_total", "counter",
        "Connections closed by the server: too slow, or to make room.", (double)get(&c->closed));
    one(out, "body_bytes", "gauge", "Bytes of bodies of requests under way.",
        (double)get(&c->body_bytes));
    one(out, "filtered_documents_total", "counter", "Documents of filtered lists.",
        (double)get(&c->filtered));
    one(out, "dropped_documents_total", "counter", "Of these, near duplicates.",
        (double)get(&c->dropped));
    one(out, "cached_documents", "gauge", "Documents of known pages in memory.",
        (double)x.documents);
    one(out, "cached_bytes", "gauge", "Their bytes.", (double)x.bytes);
    one(out, "cache_hits_total", "counter", "Documents found in memory.", (double)x.hits);
    one(out, "cache_misses_total", "counter", "Documents read from the state.", (double)x.misses);
    one(out, "state_version", "gauge", "Grows when the state has changed.",
        (double)sp_state_version(s->state));
    one(out, "state_age_seconds", "gauge", "Time since the state was last checked.",
        (double)(now - __atomic_load_n(&c->refreshed_ms, __ATOMIC_RELAXED)) / 1e3);
    one(out, "state_unchanged_seconds", "gauge",
        "Time since the state was last found to have changed.",
        (double)(now - __atomic_load_n(&c->changed_ms, __ATOMIC_RELAXED)) / 1e3);
    one(out, "refresh_failures_total", "counter", "Times that the state could not be read.",
        (double)get(&c->refresh_failures));
    put_rules(s, out);
    put_audit(t);
    return MHD_HTTP_OK;
}
