/* See service.h. A condition on the monotonic clock; no pause is shortened by a change of the time
 * of day. */
#include "base/service.h"

#include <time.h>

#include "base/clock.h"
#include "base/thread.h"

void sp_service_init(struct sp_service *s)
{
    pthread_condattr_t attributes;
    *s = (struct sp_service){.running = false};
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&s->wake, &attributes);
    pthread_condattr_destroy(&attributes);
}

enum sp_err sp_service_start(struct sp_service *s, void *(*run)(void *arg), void *arg,
                             struct sp_fault *fault)
{
    enum sp_err err = sp_thread_start(&s->thread, run, arg, fault);
    s->running = err == SP_OK;
    return err;
}

static struct timespec after(int64_t ms)
{
    int64_t at_ms = sp_clock_ms() + ms;
    return (struct timespec){.tv_sec = at_ms / 1000, .tv_nsec = at_ms % 1000 * 1000000};
}

bool sp_service_pause(struct sp_service *s, int64_t ms)
{
    if (!s->ending && ms == SP_SERVICE_NO_LIMIT) {
        pthread_cond_wait(&s->wake, &s->lock);
    } else if (!s->ending) {
        struct timespec until = after(ms);
        pthread_cond_timedwait(&s->wake, &s->lock, &until);
    }
    return !s->ending;
}

bool sp_service_sleep(struct sp_service *s, int64_t ms)
{
    pthread_mutex_lock(&s->lock);
    bool more = sp_service_pause(s, ms);
    pthread_mutex_unlock(&s->lock);
    return more;
}

void sp_service_wake(struct sp_service *s)
{
    pthread_cond_signal(&s->wake);
}

bool sp_service_ending(struct sp_service *s)
{
    pthread_mutex_lock(&s->lock);
    bool ending = s->ending;
    pthread_mutex_unlock(&s->lock);
    return ending;
}

void sp_service_stop(struct sp_service *s)
{
    if (!s->running)
        return;
    pthread_mutex_lock(&s->lock);
    s->ending = true;
    sp_service_wake(s);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    s->running = false;
}

void sp_service_done(struct sp_service *s)
{
    sp_service_stop(s);
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->lock);
}
