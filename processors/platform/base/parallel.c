/* Threads take the next range from a common counter until nothing is left. */
#include "base/parallel.h"

#include <stdatomic.h>

#include "base/assert.h"
#include "base/thread.h"

struct loop {
    atomic_size_t next;
    size_t count;
    size_t grain;
    void (*step)(void *arg, unsigned thread, size_t from, size_t to);
    void *arg;
};

struct hand {
    struct loop *loop;
    unsigned thread;
    pthread_t id;
};

static void *work(void *arg)
{
    struct hand *hand = arg;
    struct loop *loop = hand->loop;
    for (;;) {
        size_t from = atomic_fetch_add(&loop->next, loop->grain);
        if (from >= loop->count)
            return NULL;
        size_t to = loop->count - from > loop->grain ? from + loop->grain : loop->count;
        loop->step(loop->arg, hand->thread, from, to);
    }
}

void sp_parallel(unsigned threads, size_t count, size_t grain,
                 void (*step)(void *arg, unsigned thread, size_t from, size_t to), void *arg)
{
    struct loop loop = {.count = count, .grain = grain ? grain : 1, .step = step, .arg = arg};
    struct hand hands[SP_PARALLEL_THREADS];
    SP_ASSERT(threads >= 1 && threads <= SP_PARALLEL_THREADS);
    for (unsigned t = 0; t < threads; t++)
        hands[t] = (struct hand){.loop = &loop, .thread = t};
    struct sp_fault fault;
    unsigned started = 1;
    while (started < threads &&
           sp_thread_start(&hands[started].id, work, &hands[started], &fault) == SP_OK)
        started++;
    work(&hands[0]);
    for (unsigned t = 1; t < started; t++)
        pthread_join(hands[t].id, NULL);
}
