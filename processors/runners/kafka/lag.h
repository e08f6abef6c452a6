/* How far the tiers are behind. A thread queries the broker from time to time, so that the worker
 * does not wait for the result. Private to this folder. */
#ifndef SP_KAFKA_LAG_H
#define SP_KAFKA_LAG_H

#include "kafka/agreement.h"
#include "kafka/client.h"

struct sp_lag;

/* `partitions`: of each topic; copied. The options and the agreement are borrowed until the stop.
 * SP_INVALID: a property is wrong; SP_IO: there are no more threads. */
enum sp_err sp_lag_start(const struct sp_kafka_options *options,
                         const int32_t partitions[SP_TOPICS], const struct sp_agreement *agreement,
                         struct sp_lag **ret_lag, struct sp_fault *fault);
/* Messages of both tiers that their groups had not handled when last asked; -1: not known, or NULL
 * was given. Any thread. */
int64_t sp_lag(const struct sp_lag *lag);
/* The topic of a tier whose stage has noted that its signatures are made with other settings; NULL:
 * none, as far as is known, or NULL was given. Any thread. */
const char *sp_lag_unlike(const struct sp_lag *lag);
/* Why the broker refuses to say it, with what to do; NULL: it does not, as far as is known, or NULL
 * was given. Valid until the stop. Any thread. */
const char *sp_lag_refused(const struct sp_lag *lag);
/* Waits for a request that is under way. NULL is allowed. */
void sp_lag_stop(struct sp_lag *lag);

#endif
