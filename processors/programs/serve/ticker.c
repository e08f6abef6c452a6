/* See ticker.h. */
#include "serve/ticker.h"

#include "base/clock.h"
#include "serve/http.h"
#include "serve/streams.h"

enum { TICK_MS = 1000, REFRESH_MOST_MS = 3000 };

/* The cost of opening the state grows with the length of the run's log, so opening may take at most
 * a quarter of the time. */
static void refresh(struct sp_serve *s)
{
    uint64_t before = sp_state_version(s->state);
    int64_t start = sp_clock_ms();
    if (start < s->ticker.refresh_after_ms)
        return;
    if (sp_state_refresh(s->state, false) != SP_OK) {
        __atomic_add_fetch(&s->counters.refresh_failures, 1, __ATOMIC_RELAXED);
        return;
    }
    int64_t now = sp_clock_ms(), took = now - start;
    s->ticker.refresh_after_ms = now + 3 * (took < REFRESH_MOST_MS ? took : REFRESH_MOST_MS);
    __atomic_store_n(&s->counters.refreshed_ms, now, __ATOMIC_RELAXED);
    if (sp_state_version(s->state) != before)
        __atomic_store_n(&s->counters.changed_ms, now, __ATOMIC_RELAXED);
}

/* Reads the number of records; if it has not changed, there is nothing to read. */
static void sample(struct sp_serve *s)
{
    struct sp_history *h = &s->history;
    uint64_t records = h->records, version = sp_state_version(s->state);
    bool ended = h->ended;
    if (version != s->ticker.seen) {
        sp_state_begin(s->ticker.reader);
        sp_state_position(s->ticker.reader, &records, &ended);
        sp_state_end(s->ticker.reader);
        s->ticker.seen = version;
    }
    pthread_mutex_lock(&h->lock);
    h->records = records;
    h->ended = ended;
    h->points[(h->first + h->count) % SP_HISTORY] =
        (struct sp_history_point){sp_clock_ms(), records};
    if (h->count < SP_HISTORY)
        h->count++;
    else
        h->first = (h->first + 1) % SP_HISTORY;
    pthread_mutex_unlock(&h->lock);
}

static void *tick(void *arg)
{
    struct sp_serve *s = arg;
    while (sp_service_sleep(&s->ticker.service, TICK_MS)) {
        refresh(s);
        sample(s);
        sp_streams_wake(s->streams);
        sp_serve_http_reap(s);
    }
    return NULL;
}

void sp_ticker_init(struct sp_serve *s)
{
    sp_service_init(&s->ticker.service);
    pthread_mutex_init(&s->history.lock, NULL);
    s->ticker.reader = sp_state_reader_new(s->state);
    sample(s);
}

void sp_ticker_start(struct sp_serve *s)
{
    struct sp_fault ignored; /* without the ticker requests are still served */
    sp_service_start(&s->ticker.service, tick, s, &ignored);
}

void sp_ticker_stop(struct sp_serve *s)
{
    if (s->ticker.reader)
        sp_service_stop(&s->ticker.service);
}

void sp_ticker_done(struct sp_serve *s)
{
    if (!s->ticker.reader)
        return;
    sp_state_reader_free(s->ticker.reader);
    sp_service_done(&s->ticker.service);
    pthread_mutex_destroy(&s->history.lock);
}
