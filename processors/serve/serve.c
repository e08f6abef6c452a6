/* Start, stop, the threads' own things, and the ticker: once a second the state is followed and
 * connections that finish nothing are closed. See serve.h. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/listen.h"
#include "base/mem.h"
#include "serve/internal.h"

enum { RECENT_SETS = 1024, REFRESH_MOST_MS = 3000 };

/* ---- threads that answer: libmicrohttpd starts and ends them */

struct sp_serve_thread *sp_serve_thread(struct sp_serve *s)
{
    static _Thread_local struct sp_serve_thread *mine;
    if (mine && mine->serve == s)
        return mine;
    struct sp_serve_thread *t = sp_calloc(1, sizeof *t);
    t->serve = s;
    t->reader = sp_state_reader_new(s->state);
    t->filter = samepage_filter_new(s->options.threshold, RECENT_SETS);
    t->json = sp_json_lists_new(SP_SERVE_LIST);
    pthread_mutex_lock(&s->threads_lock);
    t->next = s->threads;
    s->threads = t;
    pthread_mutex_unlock(&s->threads_lock);
    mine = t;
    return t;
}

static void free_threads(struct sp_serve *s)
{
    for (struct sp_serve_thread *t = s->threads, *next; t; t = next) {
        next = t->next;
        sp_state_reader_free(t->reader);
        samepage_filter_free(t->filter);
        sp_text_free(t->text);
        sp_json_lists_free(t->json);
        sp_parser_free(t->parser);
        sp_buf_done(&t->out);
        sp_free(t);
    }
    s->threads = NULL;
}

/* ---- the ticker */

/* A look costs what the run's log is long: at most a quarter of the time is spent on it. */
static void refresh(struct sp_serve *s)
{
    uint64_t before = sp_state_version(s->state);
    int64_t start = sp_clock_ms();
    if (start < s->refresh_after_ms)
        return;
    if (sp_state_refresh(s->state, false) != SP_OK) {
        __atomic_add_fetch(&s->counters.refresh_failures, 1, __ATOMIC_RELAXED);
        return;
    }
    int64_t now = sp_clock_ms(), took = now - start;
    s->refresh_after_ms = now + 3 * (took < REFRESH_MOST_MS ? took : REFRESH_MOST_MS);
    __atomic_store_n(&s->counters.refreshed_ms, now, __ATOMIC_RELAXED);
    if (sp_state_version(s->state) != before)
        __atomic_store_n(&s->counters.changed_ms, now, __ATOMIC_RELAXED);
}

/* How many records there are; nothing new is nothing to look up. */
static void sample(struct sp_serve *s)
{
    struct sp_history *h = &s->history;
    uint64_t records = h->records, version = sp_state_version(s->state);
    bool ended = h->ended;
    if (version != s->history_version) {
        sp_state_begin(s->history_reader);
        sp_state_position(s->history_reader, &records, &ended);
        sp_state_end(s->history_reader);
        s->history_version = version;
    }
    pthread_mutex_lock(&h->lock);
    h->records = records;
    h->ended = ended;
    h->samples[(h->first + h->count) % SP_HISTORY] = (struct sp_sample){sp_clock_ms(), records};
    if (h->count < SP_HISTORY)
        h->count++;
    else
        h->first = (h->first + 1) % SP_HISTORY;
    pthread_mutex_unlock(&h->lock);
}

static void *tick(void *arg)
{
    struct sp_serve *s = arg;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    pthread_mutex_lock(&s->tick_lock);
    while (!s->ending) {
        until.tv_sec++;
        if (pthread_cond_timedwait(&s->tick_end, &s->tick_lock, &until) == 0)
            continue;
        pthread_mutex_unlock(&s->tick_lock);
        refresh(s);
        sample(s);
        sp_http_reap(s);
        clock_gettime(CLOCK_MONOTONIC, &until);
        pthread_mutex_lock(&s->tick_lock);
    }
    pthread_mutex_unlock(&s->tick_lock);
    return NULL;
}

static void start_ticker(struct sp_serve *s)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&s->tick_end, &attributes);
    pthread_condattr_destroy(&attributes);
    s->ticking = pthread_create(&s->ticker, NULL, tick, s) == 0;
}

static void end_ticker(struct sp_serve *s)
{
    if (s->ticking) {
        pthread_mutex_lock(&s->tick_lock);
        s->ending = true;
        pthread_cond_signal(&s->tick_end);
        pthread_mutex_unlock(&s->tick_lock);
        pthread_join(s->ticker, NULL);
        pthread_cond_destroy(&s->tick_end);
    }
    s->ticking = false;
}

/* ---- start and stop */

static enum sp_err failed(enum sp_err err, const char *listen_at, const char *why,
                          const char **ret_message)
{
    static _Thread_local char text[512];
    snprintf(text, sizeof text, "--listen \"%s\": %s", listen_at, why);
    *ret_message = text;
    return err;
}

static enum sp_err open_socket(struct sp_serve *s, int *ret_fd, const char **ret_message)
{
    const char *why = "", *at = s->options.listen;
    int fd = -1;
    enum sp_err err = sp_listen(at, &fd, &why);
    if (err != SP_OK)
        return failed(err, at, why, ret_message);
    s->port = sp_listen_port(fd);
    s->loopback = sp_listen_loopback(fd);
    if (!s->loopback && !s->options.token) {
        close(fd);
        return failed(SP_INVALID, at,
                      "other machines can reach it: give --token-file, or listen on 127.0.0.1",
                      ret_message);
    }
    *ret_fd = fd;
    return SP_OK;
}

static enum sp_err open_state(struct sp_serve *s, const char **ret_message)
{
    const struct sp_serve_options *o = &s->options;
    struct sp_statuses *statuses = NULL;
    if (o->state)
        return sp_state_open(o->state, o->tier1, &s->state, ret_message);
    enum sp_err err = sp_statuses_start(o->properties, o->topic, &statuses, ret_message);
    if (err == SP_OK)
        s->state = sp_state_of_statuses(statuses);
    return err;
}

static struct sp_serve *make(const struct sp_serve_options *options)
{
    struct sp_serve *s = sp_calloc(1, sizeof *s);
    s->options = *options;
    pthread_mutex_init(&s->threads_lock, NULL);
    pthread_mutex_init(&s->tick_lock, NULL);
    pthread_mutex_init(&s->history.lock, NULL);
    if (options->token) {
        sp_buf_put_str(&s->token, "Bearer ");
        sp_buf_put_str(&s->token, options->token);
    }
    s->counters.refreshed_ms = s->counters.changed_ms = sp_clock_ms();
    return s;
}

bool sp_serve_can(enum sp_method method)
{
    return sp_method_info(method)->jaccard || method == SP_METHOD_LCS;
}

enum sp_err sp_serve_start(const struct sp_serve_options *options, struct sp_serve **ret_serve,
                           const char **ret_message)
{
    struct sp_serve *s = make(options);
    int fd = -1;
    enum sp_err err = open_socket(s, &fd, ret_message);
    if (err == SP_OK)
        err = open_state(s, ret_message);
    if (err == SP_OK && options->page_count)
        err = sp_texts_start(options->pages, options->page_count, &s->texts, ret_message);
    if (err == SP_OK) {
        s->history_reader = sp_state_reader_new(s->state);
        sample(s);
        s->overview = sp_overview_start(s->state);
        s->index = sp_index_new(options->method, options->cache_bytes);
        err = s->overview ? sp_http_open(s, fd) : SP_IO;
        if (err != SP_OK)
            failed(err, options->listen, "the server cannot be started", ret_message);
        else
            fd = -1; /* the daemon's */
    }
    if (fd >= 0)
        close(fd);
    if (err != SP_OK) {
        sp_serve_stop(s);
        return err;
    }
    start_ticker(s);
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
    end_ticker(s);
    sp_http_close(s);
    free_threads(s);
    sp_texts_stop(s->texts);
    sp_overview_stop(s->overview);
    sp_state_reader_free(s->history_reader);
    sp_index_free(s->index);
    sp_state_close(s->state);
    pthread_mutex_destroy(&s->threads_lock);
    pthread_mutex_destroy(&s->tick_lock);
    pthread_mutex_destroy(&s->history.lock);
    sp_buf_done(&s->token);
    sp_free(s);
}
