/* See streams.h. libmicrohttpd asks for bytes by a callback, in the thread of the connection. The
 * connection is suspended there and resumed by the ticker. */
#include "serve/streams.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "serve/live.h"

enum { BLOCK_BYTES = 16 << 10 };

struct stream {
    struct stream *prev;
    struct stream *next;
    struct sp_streams *streams;
    struct sp_live *live;
    struct MHD_Connection *connection;
    void (*sent)(struct MHD_Connection *connection);
    uint64_t at;       /* number of the next event */
    struct sp_buf out; /* being sent */
    size_t taken;      /* bytes of `out` that were sent */
    bool suspended;
    bool woken; /* since the last bytes were sent */
};

struct sp_streams {
    pthread_mutex_t lock;
    struct stream ring; /* head */
    unsigned places;    /* taken places */
    bool ending;
};

struct sp_streams *sp_streams_new(void)
{
    struct sp_streams *all = sp_calloc(1, sizeof *all);
    pthread_mutex_init(&all->lock, NULL);
    all->ring.next = all->ring.prev = &all->ring;
    return all;
}

void sp_streams_free(struct sp_streams *all)
{
    if (!all)
        return;
    pthread_mutex_destroy(&all->lock);
    sp_free(all);
}

bool sp_streams_take(struct sp_streams *all)
{
    pthread_mutex_lock(&all->lock);
    bool free_place = all->places < SP_SERVE_STREAMS && !all->ending;
    all->places += free_place;
    pthread_mutex_unlock(&all->lock);
    return free_place;
}

/* Called with the lock held. Fills x->out with what is to be sent now; leaves it empty if the
 * stream must wait. */
static void fill(struct stream *x)
{
    sp_buf_reset(&x->out);
    x->taken = 0;
    sp_live_read(x->live, &x->at, BLOCK_BYTES, &x->out);
    if (x->out.len == 0 && x->woken)
        sp_buf_put_str(&x->out, ":\n\n");
    x->woken = false;
}

static ssize_t read_stream(void *arg, uint64_t position, char *to, size_t most)
{
    struct stream *x = arg;
    struct sp_streams *all = x->streams;
    ssize_t n = 0;
    (void)position;
    pthread_mutex_lock(&all->lock);
    if (x->taken == x->out.len)
        fill(x);
    if (all->ending) {
        n = MHD_CONTENT_READER_END_OF_STREAM;
    } else if (x->out.len == 0) {
        x->suspended = true;
        MHD_suspend_connection(x->connection);
    } else {
        size_t len = x->out.len - x->taken < most ? x->out.len - x->taken : most;
        memcpy(to, x->out.data + x->taken, len);
        x->taken += len;
        n = (ssize_t)len;
    }
    pthread_mutex_unlock(&all->lock);
    if (n > 0)
        x->sent(x->connection);
    return n;
}

static void end_stream(void *arg)
{
    struct stream *x = arg;
    pthread_mutex_lock(&x->streams->lock);
    x->prev->next = x->next;
    x->next->prev = x->prev;
    x->streams->places--;
    pthread_mutex_unlock(&x->streams->lock);
    sp_buf_done(&x->out);
    sp_free(x);
}

struct MHD_Response *sp_stream_response(struct sp_serve *s, struct MHD_Connection *connection,
                                        uint64_t from, void (*sent)(struct MHD_Connection *c))
{
    struct sp_streams *all = s->streams;
    struct stream *x = sp_calloc(1, sizeof *x);
    *x = (struct stream){.streams = all,
                         .live = s->live,
                         .connection = connection,
                         .sent = sent,
                         .at = from ? from : sp_live_next(s->live)};
    sp_buf_put_str(&x->out, "retry: 2000\n\n");
    pthread_mutex_lock(&all->lock);
    x->next = all->ring.next;
    x->prev = &all->ring;
    x->next->prev = all->ring.next = x;
    pthread_mutex_unlock(&all->lock);
    struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES,
                                                                      read_stream, x, end_stream);
    if (!response)
        end_stream(x);
    return response;
}

static void resume_all(struct sp_streams *all)
{
    for (struct stream *x = all->ring.next; x != &all->ring; x = x->next) {
        if (!x->suspended)
            continue;
        x->suspended = false;
        x->woken = true;
        MHD_resume_connection(x->connection);
    }
}

void sp_streams_wake(struct sp_streams *all)
{
    pthread_mutex_lock(&all->lock);
    resume_all(all);
    pthread_mutex_unlock(&all->lock);
}

void sp_streams_end(struct sp_streams *all)
{
    if (!all)
        return;
    pthread_mutex_lock(&all->lock);
    all->ending = true;
    resume_all(all);
    pthread_mutex_unlock(&all->lock);
}
