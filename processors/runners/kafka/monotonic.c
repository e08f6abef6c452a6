/* See monotonic.h. librdkafka 2.0 computes the end of each wait by the system's clock and waits for
 * it with cnd_timedwait, which means that clock, too. If the clock is set back meanwhile, the wait
 * is longer by as much: a stage without messages did not commit and did not send heartbeats until
 * the old time came again. A program's own function of that name has precedence over the C
 * library's.
 */
#include "kafka/monotonic.h"

#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

enum { SECOND_NS = 1000000000 };

/* The C library's types of <threads.h> are those of <pthread.h>. */
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t) && sizeof(mtx_t) == sizeof(pthread_mutex_t),
               "");

void sp_monotonic_waits(void)
{
}

__attribute__((visibility("default"))) int
cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict end)
{
    struct timespec now, until;
    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += end->tv_sec - now.tv_sec;
    until.tv_nsec += end->tv_nsec - now.tv_nsec;
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
