/* See monotonic.h. librdkafka 2.0 computes the end of each wait by the system's clock
 * (timespec_get, gettimeofday) and waits for it with cnd_timedwait, which means that clock, too. If
 * the clock is set back meanwhile, the wait is longer by as much: a stage without messages did not
 * commit and did not send heartbeats until the old time came again. A program's own functions of
 * these names have precedence over the C library's. The clock may be set before the wait begins, so
 * those that return the time remember what the other clock showed then.
 */
#include "kafka/monotonic.h"

#include <errno.h>
#include <pthread.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>

enum { SECOND_NS = 1000000000 };

/* The C library's types of <threads.h> are those of <pthread.h>. */
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t) && sizeof(mtx_t) == sizeof(pthread_mutex_t),
               "");

/* What both clocks showed when this thread last asked for the time. */
static _Thread_local struct timespec utc, monotonic;

void sp_monotonic_waits(void)
{
}

static void look(void)
{
    clock_gettime(CLOCK_REALTIME, &utc);
    clock_gettime(CLOCK_MONOTONIC, &monotonic);
}

__attribute__((visibility("default"))) int timespec_get(struct timespec *ret_now, int base)
{
    if (base != TIME_UTC)
        return 0;
    look();
    *ret_now = utc;
    return base;
}

__attribute__((visibility("default"))) int gettimeofday(struct timeval *restrict ret_now,
                                                        void *restrict zone)
{
    (void)zone; /* nobody asks for it, and Linux has none */
    look();
    *ret_now = (struct timeval){utc.tv_sec, utc.tv_nsec / 1000};
    return 0;
}

__attribute__((visibility("default"))) int
cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict end)
{
    if (utc.tv_sec == 0)
        look();
    struct timespec until = monotonic;
    until.tv_sec += end->tv_sec - utc.tv_sec;
    until.tv_nsec += end->tv_nsec - utc.tv_nsec;
    if (until.tv_nsec < 0) {
        until.tv_nsec += SECOND_NS;
        until.tv_sec--;
    } else if (until.tv_nsec >= SECOND_NS) {
        until.tv_nsec -= SECOND_NS;
        until.tv_sec++;
    }
    switch (pthread_cond_clockwait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex,
                                   CLOCK_MONOTONIC, &until)) {
    case 0:
        return thrd_success;
    case ETIMEDOUT:
        return thrd_timedout;
    default:
        return thrd_error;
    }
}
