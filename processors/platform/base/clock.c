/* See clock.h. */
#include "base/clock.h"

#include <time.h>
#include <unistd.h>

static struct timespec read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t;
}

static double seconds(struct timespec t)
{
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double sp_clock_seconds(void)
{
    return seconds(read_clock(CLOCK_MONOTONIC));
}

int64_t sp_clock_us(void)
{
    struct timespec t = read_clock(CLOCK_MONOTONIC);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t sp_clock_ms(void)
{
    return sp_clock_us() / 1000;
}

int64_t sp_clock_wall_ms(void)
{
    struct timespec t = read_clock(CLOCK_REALTIME);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

double sp_clock_thread_seconds(void)
{
    return seconds(read_clock(CLOCK_THREAD_CPUTIME_ID));
}

double sp_clock_process_seconds(void)
{
    return seconds(read_clock(CLOCK_PROCESS_CPUTIME_ID));
}

bool sp_clock_pause(uint32_t ms, bool (*goes_on)(void *arg), void *arg)
{
    enum { SLICE_MS = 50 };
    bool on = goes_on(arg);
    while (ms && on) {
        uint32_t slice_ms = ms < SLICE_MS ? ms : SLICE_MS;
        usleep(1000 * slice_ms);
        ms -= slice_ms;
        on = goes_on(arg);
    }
    return on;
}
