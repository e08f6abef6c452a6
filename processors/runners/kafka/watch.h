/* A monitor beside the stages: a sample of the pages (shadow/shadow.h), from the topics alone.
 * docs/AUDIT.md.
 *
 * It reads the topic audit, to which the signature stage copies the fetches of the sample, and all
 * statuses, in laps:
 *
 *   1  where the statuses end, and then where the fetches end: each of these statuses speaks of a
 *      fetch before that end
 *   2  the fetches to there, then the statuses to there
 *
 * So it has seen the fetch of each status that it sees. A wrong status may only mean that a message
 * is still under way. A look (sp_shadow_judge) therefore comes only after the tiers have handled
 * everything that was there at the previous look: patience is counted in hops of messages and not
 * in time, and a tier that stands still raises no alarm.
 *
 * At each start it begins at the present ends with nothing watched, and judges only what it has
 * seen. A topic that was deleted and recreated under way is read from its beginning. It writes
 * nothing, and is a member of no group. Thread rule: one thread; the metrics may be read by others.
 */
#ifndef SP_KAFKA_WATCH_H
#define SP_KAFKA_WATCH_H

#include <signal.h>

#include "kafka/worker.h"
#include "shadow/shadow.h"

struct sp_watch_options {
    struct sp_kafka_options kafka;
    struct sp_shadow_options audit; /* without its functions */
    uint32_t interval_ms;           /* between laps */
    uint32_t restart_ms;            /* after an error of the broker; 0: 2,000 */
    void (*log)(const char *level, const char *text);
    struct sp_worker_metrics *metrics; /* received, errors, and those of the audit */
};

/* Runs until *stop is set. Errors of the broker are logged, and it begins again with nothing
 * watched; what was counted stays. SP_INVALID: a setting is wrong, a topic is missing (asking.h),
 * or the broker's ACLs refuse something. */
enum sp_err sp_watch_run(const struct sp_watch_options *options, const volatile sig_atomic_t *stop,
                         struct sp_fault *fault);

#endif
