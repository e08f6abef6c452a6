/* The first failure in a round of the worker; later ones are its consequences. Private to this
 * folder. */
#ifndef SP_KAFKA_FAILURE_H
#define SP_KAFKA_FAILURE_H

#include "kafka/worker.h"

struct sp_failure {
    enum sp_err err;     /* SP_OK: nothing yet */
    enum sp_abort cause; /* of err */
    struct sp_fault fault;
};

/* Whether every other attempt would meet the error of librdkafka as well. */
bool sp_failure_lasts(rd_kafka_resp_err_t code);

/* Each notes a failure, "what: detail", unless there is one; all return the error that is kept. */
enum sp_err sp_failure_note(struct sp_failure *f, enum sp_err err, const char *what,
                            const char *detail);
/* One that passes, with its cause. */
enum sp_err sp_failure_note_cause(struct sp_failure *f, enum sp_abort cause, const char *what,
                                  const char *detail);
/* An error of librdkafka. `producer`: NULL, or the one that tells the reason if the error is only a
 * consequence: its fatal error, or what its open transaction has failed of. */
enum sp_err sp_failure_note_kafka(struct sp_failure *f, rd_kafka_t *producer,
                                  rd_kafka_resp_err_t code, const char *what, const char *detail);
/* The same; takes the error over. NULL is none. */
enum sp_err sp_failure_check(struct sp_failure *f, rd_kafka_t *producer, rd_kafka_error_t *error,
                             const char *what);

#endif
