/* How long the worker waits for the broker. */
#include "kafka/internal.h"

enum { TIMEOUT_MS = 30000, STOP_MS = 15000, LEAST_MS = 5000 };

static int64_t or_usual(uint32_t ms, int64_t usual_ms)
{
    return ms ? ms : usual_ms;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t stop_left_ms(struct sp_worker *w, int64_t now_ms)
{
    if (!*w->stop)
        return INT64_MAX;
    if (!w->stopped_ms)
        w->stopped_ms = now_ms;
    return w->stopped_ms + or_usual(w->options->stop_ms, STOP_MS) - now_ms;
}

int sp_worker_left_ms(struct sp_worker *w, int64_t start_ms)
{
    int64_t now_ms = sp_clock_ms();
    int64_t left_ms = least(start_ms + or_usual(w->options->timeout_ms, TIMEOUT_MS) - now_ms,
                            stop_left_ms(w, now_ms));
    return left_ms > 0 ? (int)left_ms : 0;
}

int sp_worker_timeout_ms(struct sp_worker *w)
{
    int64_t most_ms = or_usual(w->options->timeout_ms, TIMEOUT_MS);
    int64_t left_ms = stop_left_ms(w, sp_clock_ms());
    left_ms = left_ms > LEAST_MS ? left_ms : LEAST_MS;
    return (int)least(most_ms, left_ms);
}
