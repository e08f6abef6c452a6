/* See health.h. Source: prometheus.io, "Exposition formats", text format 0.0.4. */
#include "kafka/health.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/listen.h"
#include "base/mem.h"
#include "kafka/internal.h"

enum { CONNECTION_BYTES = 16 << 10, BODY_MAX = 64 << 10 };

struct sp_health {
    struct sp_health_options options;
    struct MHD_Daemon *daemon;
    uint16_t port;
    int64_t started_ms;
    /* Descriptors of the open connections, oldest first. */
    int open[SP_HEALTH_CONNECTIONS];
    size_t open_count;
};

/* ---- metrics ---- */

struct metric {
    const char *name;
    const char *type;
    size_t offset; /* in struct sp_worker_metrics */
    double scale;
    const char *help;
};

#define FIELD(name) offsetof(struct sp_worker_metrics, name)

static const struct metric metrics[] = {
    {"received_total", "counter", FIELD(received), 1, "Messages taken from the input topic."},
    {"emitted_total", "counter", FIELD(emitted), 1, "Messages sent to the output topics."},
    {"emitted_bytes_total", "counter", FIELD(emitted_bytes), 1,
     "Bytes of keys and values sent to the output topics."},
    {"largest_message_bytes", "gauge", FIELD(largest_message_bytes), 1,
     "Bytes of the largest message sent to the output topics."},
    {"longest_step_seconds", "gauge", FIELD(longest_step_us), 1e-6,
     "The longest that the stage took to handle a message."},
    {"messages_total", "counter", FIELD(messages), 1,
     "Messages sent to the tiers, by kind; docs/PROTOCOL.md describes each."},
    {"dead_letters_total", "counter", FIELD(dead_letters), 1,
     "Messages that could not be read, given to the dead letters."},
    {"errors_total", "counter", FIELD(errors), 1,
     "Dead letters, errors that the broker reported, and failures that led to a restart."},
    {"lost_total", "counter", FIELD(lost), 1,
     "Offsets of the input that were deleted before they were read."},
    {"discarded_total", "counter", FIELD(discarded), 1,
     "Versions of pages discarded because they were late or repeated, or referred to unknown content."},
    {"put_off_total", "counter", FIELD(put_off), 1,
     "Messages that waited for members on their way to their group."},
    {"bounces_total", "counter", FIELD(bounces), 1,
     "Messages sent back by a group whose page had left."},
    {"settled_total", "counter", FIELD(settled), 1,
     "Mode fast: changed pages that resembled their group's representative: tier 2 only stored them."},
    {"rechecks_total", "counter", FIELD(rechecks), 1,
     "Mode fast: groups re-checked because pages were unlike their winner."},
    {"rows_to_move", "gauge", FIELD(rows_to_move), 1,
     "Rows in cells of the previous partition map, which pages are leaving."},
    {"deferred_partitions", "gauge", FIELD(deferred), 1,
     "Partitions with work that is done later, such as statuses that are still to be published."},
    {"waiting_for_map", "gauge", FIELD(aside), 1,
     "Messages for cells of a partition map that this instance does not have, put aside until it has it."},
    {"cut_total", "counter", FIELD(cut), 1,
     "Pages of which only text.max_bytes were read, since their partitions were assigned."},
    {"contain_notes_total", "counter", FIELD(contain_notes), 1,
     "Messages sent to the contain stage."},
    {"lag", "gauge", FIELD(lag), 1,
     "Offsets of the input that are not handled yet; 0 where nothing waits."},
    {"state_bytes", "gauge", FIELD(state_bytes), 1, "Local state on disk."},
    {"rows_read_total", "counter", FIELD(rows_read), 1,
     "Rows read from the local databases that are open now."},
    {"bytes_read_total", "counter", FIELD(bytes_read), 1, "Bytes of these rows."},
    {"rows_written_total", "counter", FIELD(rows_written), 1,
     "Rows put into the local databases that are open now, or deleted."},
    {"bytes_written_total", "counter", FIELD(bytes_written), 1, "Bytes of these rows."},
    {"direct_total", "counter", FIELD(direct), 1,
     "Messages to partitions of this process that were handled without their topic."},
    {"commits_total", "counter", FIELD(commits), 1, "Transactions committed."},
    {"commit_seconds_total", "counter", FIELD(commit_microseconds), 1e-6,
     "Time spent in committing transactions."},
    {"aborts_total", "counter", FIELD(aborts), 1, "Transactions aborted."},
    {"restarts_total", "counter", FIELD(restarts), 1,
     "Times that the stage closed and reopened everything after an error."},
    {"changelog_records_total", "counter", FIELD(changelog_records), 1,
     "Records written to the changelog."},
    {"restore_remaining", "gauge", FIELD(restore_remaining), 1,
     "Changelog offsets still to read by the running restore."},
    {"standby_wanted", "gauge", FIELD(standby_wanted), 1,
     "States of other instances of which a copy is to be kept; 1 until it is known which."},
    {"standby_copies", "gauge", FIELD(standby_copies), 1,
     "States of other instances of which an up-to-date copy is kept."},
    {"standby_rounds_total", "counter", FIELD(standby_rounds), 1,
     "Times that all these copies were brought up to the present ends of their changelogs."},
    {"standby_remaining", "gauge", FIELD(standby_remaining), 1,
     "Changelog offsets that these copies lack."},
    {"tasks", "gauge", FIELD(tasks), 1, "Input partitions this process works on."},
    {"paused", "gauge", FIELD(paused), 1,
     "1 while intake waits, for the tiers or for room on the disk."},
    {"disk_full", "gauge", FIELD(disk_full), 1,
     "1 while there is no room on the disk for the local state."},
    {"registry_down", "gauge", FIELD(registry_down), 1,
     "1 while the schema registry does not respond."},
    {"ready", "gauge", FIELD(ready), 1,
     "1 while partitions are assigned and nothing is being restored."},
};

/* Additional metrics of a monitor. */
static const struct metric audit_metrics[] = {
    {"audit_missing_total", "counter", FIELD(audit_missing), 1,
     "Pairs of watched near duplicates whose statuses do not show it."},
    {"audit_wrong_total", "counter", FIELD(audit_wrong), 1,
     "Statuses of watched pages that the signatures show to be wrong."},
    {"audit_judged_total", "counter", FIELD(audit_judged), 1,
     "Checks of pairs of watched near duplicates; a pair counts at each change of one of its pages."},
    {"audit_pages", "gauge", FIELD(audit_pages), 1, "Pages that are watched."},
    {"audit_late_seconds", "gauge", FIELD(audit_late_ms), 1e-3,
     "The longest time for which a status was wrong, in crawl time."},
    {"audit_looks_total", "counter", FIELD(audit_looks), 1,
     "Looks at the watched pages; stays while the tiers have not handled what was there before."},
};

/* Additional metrics of the contain stage. */
static const struct metric contain_metrics[] = {
    {"contain_pages", "gauge", FIELD(contain_pages), 1,
     "Kept pages that can contain others or be contained."},
    {"contain_contained", "gauge", FIELD(contained), 1,
     "Of these, pages that a larger one contains."},
    {"contain_index_bytes", "gauge", FIELD(contain_index_bytes), 1,
     "Memory of the indexes of containment."},
};

static uint64_t value_of(const struct sp_worker_metrics *m, size_t offset)
{
    return __atomic_load_n((const uint64_t *)(const void *)((const char *)m + offset),
                           __ATOMIC_RELAXED);
}

/* Sets the range of numbers of a metric's values; if there are several, each has a label. */
static void values_of(const struct metric *m, size_t *ret_from, size_t *ret_end)
{
    *ret_from = m->offset == FIELD(messages) ? SP_MSG_CRAWLED : 0;
    *ret_end = m->offset == FIELD(messages) ? SP_MSG_KINDS
               : m->offset == FIELD(aborts) ? SP_ABORT_COUNT
                                            : 1;
}

static void put_label(const struct metric *m, size_t at, char *ret_text, size_t bytes)
{
    ret_text[0] = 0;
    if (m->offset == FIELD(aborts))
        snprintf(ret_text, bytes, ",reason=\"%s\"", sp_abort_name((enum sp_abort)at));
    if (m->offset == FIELD(messages))
        snprintf(ret_text, bytes, ",kind=\"%s\"", sp_message_name((enum sp_message_kind)at));
}

static void put_sample(const struct sp_health *h, const struct metric *m, size_t at,
                       struct sp_buf *out)
{
    uint64_t value = value_of(h->options.metrics, m->offset + at * sizeof value);
    char text[256], number[64], label[64];
    put_label(m, at, label, sizeof label);
    if (m->scale == 1)
        snprintf(number, sizeof number, "%" PRIu64, value);
    else
        snprintf(number, sizeof number, "%.6f", (double)value * m->scale);
    int n = snprintf(text, sizeof text, "samepage_%s{stage=\"%s\"%s} %s\n", m->name,
                     h->options.stage, label, number);
    SP_ASSERT(n > 0 && (size_t)n < sizeof text);
    sp_buf_put(out, text, (size_t)n);
}

static void put_table(const struct sp_health *h, const struct metric *table, size_t count,
                      struct sp_buf *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct metric *m = &table[i];
        size_t at, end;
        char text[512];
        int n = snprintf(text, sizeof text, "# HELP samepage_%s %s\n# TYPE samepage_%s %s\n",
                         m->name, m->help, m->name, m->type);
        SP_ASSERT(n > 0 && (size_t)n < sizeof text);
        sp_buf_put(out, text, (size_t)n);
        for (values_of(m, &at, &end); at < end; at++)
            put_sample(h, m, at, out);
    }
}

static void put_metrics(const struct sp_health *h, struct sp_buf *out)
{
    put_table(h, metrics, sizeof metrics / sizeof *metrics, out);
    if (strcmp(h->options.stage, "watch") == 0)
        put_table(h, audit_metrics, sizeof audit_metrics / sizeof *audit_metrics, out);
    if (strcmp(h->options.stage, "contain") == 0)
        put_table(h, contain_metrics, sizeof contain_metrics / sizeof *contain_metrics, out);
}

/* ---- responses ---- */

static unsigned put_livez(const struct sp_health *h, struct sp_buf *out)
{
    int64_t last = __atomic_load_n(&h->options.metrics->last_poll_ms, __ATOMIC_RELAXED);
    int64_t age = sp_clock_ms() - (last ? last : h->started_ms);
    bool alive = age < SP_HEALTH_ALIVE_MS;
    char text[96];
    snprintf(text, sizeof text, "%s: last poll %" PRId64 " ms ago\n", alive ? "alive" : "stuck",
             age);
    sp_buf_put_str(out, text);
    return alive ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
}

static unsigned put_readyz(const struct sp_health *h, struct sp_buf *out)
{
    bool ready = __atomic_load_n(&h->options.metrics->ready, __ATOMIC_RELAXED) != 0;
    if (__atomic_load_n(&h->options.metrics->disk_full, __ATOMIC_RELAXED)) {
        sp_buf_put_str(out, "not ready: there is no room on the disk for the local state\n");
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    }
    if (__atomic_load_n(&h->options.metrics->registry_down, __ATOMIC_RELAXED)) {
        sp_buf_put_str(out, "not ready: the schema registry does not respond\n");
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    }
    sp_buf_put_str(out, ready ? "ready\n" : "not ready\n");
    return ready ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
}

static unsigned put_path(const struct sp_health *h, const char *path, const char *method,
                         struct sp_buf *out)
{
    bool live = strcmp(path, "/livez") == 0, ready = strcmp(path, "/readyz") == 0;
    if (!live && !ready && strcmp(path, "/metrics") != 0) {
        sp_buf_put_str(out, "there are /livez, /readyz and /metrics\n");
        return MHD_HTTP_NOT_FOUND;
    }
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
        sp_buf_put_str(out, "only GET and HEAD\n");
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    }
    if (live)
        return put_livez(h, out);
    if (ready)
        return put_readyz(h, out);
    put_metrics(h, out);
    return MHD_HTTP_OK;
}

static enum MHD_Result respond(struct MHD_Connection *connection, unsigned status,
                               const struct sp_buf *body)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(body->len, body->data, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, "Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "Connection", "close");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, "Allow", "GET, HEAD");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* Whether a body is announced that is too large to read; a body of unknown length counts as one. */
static bool large_body(struct MHD_Connection *connection)
{
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Transfer-Encoding") ||
           (length && strtoull(length, NULL, 10) > BODY_MAX);
}

/* Called with the headers, then with each piece of the body, then at the end. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *body,
                                  size_t *body_len, void **state)
{
    static char seen;
    struct sp_buf out = {0};
    unsigned status = MHD_HTTP_CONTENT_TOO_LARGE;
    (void)version, (void)body;
    bool first = *state == NULL, large = first && large_body(connection);
    *state = &seen;
    if (*body_len || (first && !large)) {
        *body_len = 0; /* read and discarded */
        return MHD_YES;
    }
    if (large)
        sp_buf_put_str(&out, "the request must not have a body\n");
    else
        status = put_path(arg, path, method, &out);
    enum MHD_Result result = respond(connection, status, &out);
    sp_buf_done(&out);
    return result;
}

/* Runs in the server's thread, like everything that touches a connection. A request takes less than
 * a millisecond, so when no place is left the oldest connection is an idle one. */
static void on_connection(void *arg, struct MHD_Connection *connection, void **state,
                          enum MHD_ConnectionNotificationCode code)
{
    struct sp_health *h = arg;
    (void)state;
    int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        if (h->open_count < SP_HEALTH_CONNECTIONS)
            h->open[h->open_count++] = fd;
        if (h->open_count == SP_HEALTH_CONNECTIONS)
            shutdown(h->open[0], SHUT_RDWR); /* the next turn of the server's loop closes it */
        return;
    }
    for (size_t i = 0; i < h->open_count; i++)
        if (h->open[i] == fd) {
            memmove(h->open + i, h->open + i + 1, (--h->open_count - i) * sizeof *h->open);
            return;
        }
}

/* ---- start and stop ---- */

enum sp_err sp_health_start(const struct sp_health_options *options, struct sp_health **ret_server,
                            struct sp_fault *fault)
{
    int fd = -1;
    enum sp_err err = sp_listen(options->listen, &fd, fault);
    if (err != SP_OK)
        return sp_fault_set(fault, err, "http.listen: \"%s\": %s", options->listen, fault->text);
    struct sp_health *h = sp_calloc(1, sizeof *h);
    h->options = *options;
    h->port = sp_listen_port(fd);
    h->started_ms = sp_clock_ms();
    /* poll, not select: with a database open, descriptors have large numbers. */
    h->daemon = MHD_start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD, 0, NULL, NULL, on_request, h, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)SP_HEALTH_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)SP_HEALTH_TIMEOUT_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_BYTES, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_END);
    if (!h->daemon) {
        close(fd);
        sp_free(h);
        return sp_fault_set(fault, SP_IO, "http.listen: \"%s\": the server cannot be started",
                            options->listen);
    }
    *ret_server = h;
    return SP_OK;
}

uint16_t sp_health_port(const struct sp_health *server)
{
    return server->port;
}

void sp_health_stop(struct sp_health *server)
{
    if (!server)
        return;
    MHD_stop_daemon(server->daemon);
    sp_free(server);
}
