/* How long the stage takes with a message. A long step delays all that waits behind it, and a
 * metric alone does not tell which message it was. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "kafka/internal.h"

enum { LONG_US = 1000000 };

struct sp_step sp_step_begin(const struct sp_worker *w)
{
    const struct sp_worker_metrics *metrics = w->options->metrics;
    return (struct sp_step){sp_clock_us(), metrics->emitted, metrics->emitted_bytes, w->kept};
}

static void explain(struct sp_worker *w, const struct sp_step *step, const struct sp_task *t,
                    const rd_kafka_message_t *m, const char *what, uint64_t took_us)
{
    const struct sp_worker_metrics *metrics = w->options->metrics;
    char from[128] = "not from the topic";
    if (m)
        snprintf(from, sizeof from, "offset %" PRId64 ", %zu bytes", m->offset,
                 m->key_len + m->len);
    sp_worker_say(w, "warning",
                  "a message took %.1f s: %s [%d], %s%s%s; it sent %" PRIu64 " messages of %" PRIu64
                  " bytes, and %zu to partitions of this instance",
                  (double)took_us / 1e6, w->topics[w->options->stage.input], (int)t->partition,
                  from, what ? ", " : "", what ? what : "", metrics->emitted - step->emitted,
                  metrics->emitted_bytes - step->emitted_bytes,
                  w->kept > step->kept ? w->kept - step->kept : 0);
}

void sp_step_end(struct sp_worker *w, const struct sp_step *step, const struct sp_task *t,
                 const rd_kafka_message_t *m, const char *what, uint64_t read_us)
{
    uint64_t took_us = read_us + (uint64_t)(sp_clock_us() - step->started_us);
    if (took_us > w->options->metrics->longest_step_us)
        SET(w, longest_step_us, took_us);
    if (took_us < LONG_US || took_us < 2 * w->logged.step_us)
        return;
    w->logged.step_us = took_us;
    explain(w, step, t, m, what, took_us);
}
