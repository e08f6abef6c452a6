/* See failure.h. */
#include "kafka/failure.h"

#include <stdio.h>

const char *sp_abort_name(enum sp_abort cause)
{
    static const char *const names[SP_ABORT_COUNT] = {
#define X(name, lower) #lower,
        SP_ABORTS(X)
#undef X
    };
    return (unsigned)cause < SP_ABORT_COUNT ? names[cause] : "unknown";
}

static enum sp_err keep(struct sp_failure *f, enum sp_err err, enum sp_abort cause,
                        const char *what, const char *detail)
{
    if (f->err == SP_OK) {
        f->err = sp_fault_set(&f->fault, err, "%s: %s", what, detail);
        f->cause = cause;
    }
    return f->err;
}

enum sp_err sp_failure_note(struct sp_failure *f, enum sp_err err, const char *what,
                            const char *detail)
{
    bool passes = sp_err_class(err) == SP_CLASS_RETRIABLE;
    return keep(f, err, passes ? SP_ABORT_BROKER : SP_ABORT_STAGE, what, detail);
}

enum sp_err sp_failure_note_cause(struct sp_failure *f, enum sp_abort cause, const char *what,
                                  const char *detail)
{
    return keep(f, SP_BUSY, cause, what, detail);
}

static enum sp_abort cause_of(rd_kafka_resp_err_t code)
{
    switch ((int)code) {
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
        return SP_ABORT_FENCED;
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__QUEUE_FULL:
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
        return SP_ABORT_TIMEOUT;
    case RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST:
    case RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED:
    case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
    case RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
        return SP_ABORT_REBALANCE;
    default:
        return SP_ABORT_BROKER;
    }
}

/* What to do about an error that every other attempt would meet as well; NULL: it may pass. */
static const char *way_out(rd_kafka_resp_err_t code)
{
    if (sp_kafka_is_forbidden(code))
        return SP_KAFKA_FORBIDDEN;
    switch ((int)code) {
    case RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT:
        return "lower kafka.transaction.timeout.ms, or raise transaction.max.timeout.ms of the "
               "brokers";
    case RD_KAFKA_RESP_ERR_INVALID_SESSION_TIMEOUT:
        return "kafka.session.timeout.ms must be between the brokers' "
               "group.min.session.timeout.ms and group.max.session.timeout.ms";
    default:
        return NULL;
    }
}

bool sp_failure_lasts(rd_kafka_resp_err_t code)
{
    return way_out(code) != NULL;
}

/* Fills `why` if the error is only a consequence of another, which is returned: after a fatal error
 * everything else fails; in a transaction that has failed, messages are purged, and no other is
 * taken ("Erroneous state"). librdkafka tells why to the next caller that wants to begin a
 * transaction, which none can while one is open. */
static rd_kafka_resp_err_t cause_behind(rd_kafka_t *producer, rd_kafka_resp_err_t code, char *why,
                                        size_t why_size)
{
    rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(producer, why, why_size);
    if (fatal != RD_KAFKA_RESP_ERR_NO_ERROR)
        return fatal;
    if (code != RD_KAFKA_RESP_ERR__STATE && code != RD_KAFKA_RESP_ERR__PURGE_QUEUE)
        return code;
    rd_kafka_error_t *error = rd_kafka_begin_transaction(producer);
    if (error && rd_kafka_error_txn_requires_abort(error)) {
        code = rd_kafka_error_code(error);
        snprintf(why, why_size, "%s", rd_kafka_error_string(error));
    }
    if (error)
        rd_kafka_error_destroy(error);
    return code;
}

enum sp_err sp_failure_note_kafka(struct sp_failure *f, rd_kafka_t *producer,
                                  rd_kafka_resp_err_t code, const char *what, const char *detail)
{
    char why[512] = "";
    if (producer)
        code = cause_behind(producer, code, why, sizeof why);
    if (why[0])
        detail = why;
    const char *out = way_out(code);
    if (!out)
        return keep(f, SP_BUSY, cause_of(code), what, detail);
    char text[sizeof f->fault.text];
    snprintf(text, sizeof text, "%.500s: %s", detail, out);
    return keep(f, SP_INVALID, SP_ABORT_BROKER, what, text);
}

enum sp_err sp_failure_check(struct sp_failure *f, rd_kafka_t *producer, rd_kafka_error_t *error,
                             const char *what)
{
    if (!error)
        return SP_OK;
    sp_failure_note_kafka(f, producer, rd_kafka_error_code(error), what,
                          rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    return f->err;
}
