/* See live.h. */
#include "serve/live.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "base/mem.h"

struct sp_live {
    pthread_mutex_t lock;
    char *events[SP_LIVE_EVENTS]; /* a ring: event n at n % SP_LIVE_EVENTS */
    size_t lengths[SP_LIVE_EVENTS];
    uint64_t first;
    uint64_t next;
    size_t bytes;
};

struct sp_live *sp_live_new(void)
{
    struct sp_live *l = sp_calloc(1, sizeof *l);
    pthread_mutex_init(&l->lock, NULL);
    l->first = l->next = 1;
    return l;
}

static void drop_first(struct sp_live *l)
{
    size_t i = l->first++ % SP_LIVE_EVENTS;
    l->bytes -= l->lengths[i];
    sp_free(l->events[i]);
}

void sp_live_free(struct sp_live *l)
{
    if (!l)
        return;
    while (l->first < l->next)
        drop_first(l);
    pthread_mutex_destroy(&l->lock);
    sp_free(l);
}

void sp_live_put(struct sp_live *l, struct sp_view event)
{
    char *text = sp_view_dup(event);
    pthread_mutex_lock(&l->lock);
    while (l->first < l->next &&
           (l->next - l->first == SP_LIVE_EVENTS || l->bytes + event.len > (size_t)SP_LIVE_BYTES))
        drop_first(l);
    size_t i = l->next++ % SP_LIVE_EVENTS;
    l->events[i] = text;
    l->lengths[i] = event.len;
    l->bytes += event.len;
    pthread_mutex_unlock(&l->lock);
}

uint64_t sp_live_next(struct sp_live *l)
{
    pthread_mutex_lock(&l->lock);
    uint64_t next = l->next;
    pthread_mutex_unlock(&l->lock);
    return next;
}

void sp_live_read(struct sp_live *l, uint64_t *at, size_t bytes, struct sp_buf *out)
{
    char line[96];
    size_t end = out->len + bytes;
    pthread_mutex_lock(&l->lock);
    if (*at > l->next || *at == 0)
        *at = l->next;
    if (*at < l->first) {
        snprintf(line, sizeof line, "event: skipped\ndata: {\"skipped\":%" PRIu64 "}\n\n",
                 l->first - *at);
        sp_buf_put_str(out, line);
        *at = l->first;
    }
    for (; *at < l->next && out->len < end; ++*at) {
        size_t i = *at % SP_LIVE_EVENTS;
        snprintf(line, sizeof line, "id: %" PRIu64 "\nevent: status\ndata: ", *at);
        sp_buf_put_str(out, line);
        sp_buf_put(out, l->events[i], l->lengths[i]);
        sp_buf_put_str(out, "\n\n");
    }
    pthread_mutex_unlock(&l->lock);
}
