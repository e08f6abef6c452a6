/* Starts and stops the server. See serve.h. */
#include "serve/serve.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/listen.h"
#include "base/mem.h"
#include "serve/http.h"
#include "serve/routes.h"
#include "serve/server.h"
#include "serve/streams.h"
#include "serve/ticker.h"

static enum sp_err failed(const struct sp_serve *s, enum sp_err err, const char *why,
                          struct sp_fault *fault)
{
    return sp_fault_set(fault, err, "--listen \"%s\": %s", s->options.listen, why);
}

static enum sp_err open_socket(struct sp_serve *s, int *ret_fd, struct sp_fault *fault)
{
    int fd = -1;
    enum sp_err err = sp_listen(s->options.listen, &fd, fault);
    if (err != SP_OK)
        return failed(s, err, fault->text, fault);
    s->port = sp_listen_port(fd);
    s->loopback = sp_listen_loopback(fd);
    if (!s->loopback && !s->options.token) {
        close(fd);
        return failed(s, SP_INVALID,
                      "other machines can reach it: give --token-file, or listen on 127.0.0.1",
                      fault);
    }
    *ret_fd = fd;
    return SP_OK;
}

static enum sp_err open_state(struct sp_serve *s, struct sp_fault *fault)
{
    const struct sp_serve_options *o = &s->options;
    struct sp_statuses *statuses = NULL;
    if (o->state)
        return sp_state_open(o->state, o->tier1, &s->state, fault);
    s->live = sp_live_new();
    enum sp_err err = sp_statuses_start(o, s->live, &statuses, fault);
    if (err == SP_OK)
        s->state = sp_state_of_statuses(statuses);
    return err;
}

/* Opens the files that pages and statuses are read from. */
static enum sp_err open_files(struct sp_serve *s, struct sp_fault *fault)
{
    const struct sp_serve_options *o = &s->options;
    enum sp_err err = SP_OK;
    if (o->page_count)
        err = sp_texts_start(o->pages, o->page_count, &o->text, &s->texts, fault);
    if (err != SP_OK || !o->status_count)
        return err;
    s->live = s->live ? s->live : sp_live_new();
    return sp_log_start(o->statuses, o->status_count, s->live, &s->log, fault);
}

static struct sp_serve *make(const struct sp_serve_options *options)
{
    struct sp_serve *s = sp_calloc(1, sizeof *s);
    s->options = *options;
    pthread_mutex_init(&s->threads_lock, NULL);
    s->streams = sp_streams_new();
    s->routes = sp_routes;
    s->route_count = sp_route_count;
    if (options->token) {
        sp_buf_put_str(&s->token, "Bearer ");
        sp_buf_put_str(&s->token, options->token);
    }
    s->counters.refreshed_ms = s->counters.changed_ms = sp_clock_ms();
    return s;
}

bool sp_serve_can(enum sp_method method)
{
    return sp_method_info(method)->jaccard;
}

enum sp_err sp_serve_start(const struct sp_serve_options *options, struct sp_serve **ret_serve,
                           struct sp_fault *fault)
{
    struct sp_serve *s = make(options);
    int fd = -1;
    enum sp_err err = open_socket(s, &fd, fault);
    if (err == SP_OK)
        err = open_state(s, fault);
    if (err == SP_OK)
        err = open_files(s, fault);
    if (err == SP_OK && options->rules.read)
        err = sp_followed_start(&options->rules, &s->followed, fault);
    if (err == SP_OK) {
        sp_ticker_init(s);
        s->overview = sp_overview_start(s->state, s->followed, options);
        s->index = sp_index_new(options->similarity.method, options->filter_sentences,
                                options->cache_bytes);
        err = s->overview ? sp_serve_http_open(s, fd, fault)
                          : sp_fault_set(fault, SP_IO, "the server cannot be started");
        if (err != SP_OK)
            failed(s, err, fault->text, fault);
        else
            fd = -1; /* the daemon owns it now */
    }
    if (fd >= 0)
        close(fd);
    if (err != SP_OK) {
        sp_serve_stop(s);
        return err;
    }
    sp_ticker_start(s);
    *ret_serve = s;
    return SP_OK;
}

uint16_t sp_serve_port(const struct sp_serve *s)
{
    return s->port;
}

void sp_serve_stop(struct sp_serve *s)
{
    if (!s)
        return;
    sp_ticker_stop(s);
    sp_serve_http_close(s);
    sp_serve_threads_done(s);
    sp_texts_stop(s->texts);
    sp_log_stop(s->log);
    sp_overview_stop(s->overview);
    sp_followed_stop(s->followed);
    sp_ticker_done(s);
    sp_index_free(s->index);
    sp_state_close(s->state);
    sp_live_free(s->live);
    sp_streams_free(s->streams);
    pthread_mutex_destroy(&s->threads_lock);
    sp_buf_done(&s->token);
    sp_free(s);
}
