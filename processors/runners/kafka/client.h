/* Handles of librdkafka made from our settings, and topic names. */
#ifndef SP_KAFKA_CLIENT_H
#define SP_KAFKA_CLIENT_H

#include <librdkafka/rdkafka.h>

#include "base/bytes.h"
#include "base/fault.h"
#include "config/config.h"

struct sp_kafka_options {
    const struct sp_config_property *properties;
    size_t property_count;
    const char *prefix;   /* of topic names, consumer groups and transactional ids */
    const char *instance; /* names this process among those of its stage; stable over restarts */
    /* Gets librdkafka's own log lines, without the values of secret properties, from any thread;
     * NULL: they go to standard error as librdkafka writes them. One for the process: the options
     * opened last count, and must outlive the handles. */
    void (*log)(const char *level, const char *text);
};

/* Replaces the values of secret properties (passwords, keys, tokens) in a text by "***". */
void sp_kafka_redact(const struct sp_kafka_options *o, char *text);

enum sp_topic {
    SP_TOPIC_PAGES,
    SP_TOPIC_TIER1,
    SP_TOPIC_TIER2,
    SP_TOPIC_STATUS,
    SP_TOPIC_DEAD_LETTER,
    SP_TOPIC_TIER1_CHANGELOG,
    SP_TOPIC_TIER2_CHANGELOG,
    SP_TOPIC_CONTAIN,
    SP_TOPIC_CONTAIN_CHANGELOG,
    SP_TOPIC_RULES,
    SP_TOPIC_AUDIT,
    SP_TOPICS
};

enum { SP_TOPIC_NAME_MAX = 250 };

/* "<prefix>pages" and so on. */
void sp_topic_name(const struct sp_kafka_options *o, enum sp_topic topic,
                   char ret_name[SP_TOPIC_NAME_MAX]);
/* The consumer group of a stage: "<prefix>group" and so on. */
void sp_group_name(const struct sp_kafka_options *o, const char *stage,
                   char ret_name[SP_TOPIC_NAME_MAX]);

enum sp_kafka_role {
    SP_KAFKA_GROUP_CONSUMER,   /* member of the stage's group, read_committed, no auto commit; an
                                  offset that does not exist is an error */
    SP_KAFKA_PASSING_CONSUMER, /* the same, but leaves its group when it stops: stages without
                                  state */
    SP_KAFKA_READER,           /* read_committed, assigned by hand */
    SP_KAFKA_RESTORER,         /* the same, with a short queue, for restore.c */
    SP_KAFKA_WATCHER,          /* read_uncommitted: sees high watermarks */
    SP_KAFKA_TRANSACTIONAL,    /* producer */
    SP_KAFKA_PRODUCER          /* idempotent, without transactions */
};

/* `name`: of the consumer group, or of the transactional id, without the prefix; unused for other
 * roles. A SP_KAFKA_WATCHER without a name is in no group, and is the cheapest of the consumers.
 * `configure` may set callbacks; NULL. The fault says which property is wrong. */
enum sp_err sp_kafka_open(const struct sp_kafka_options *o, enum sp_kafka_role role,
                          const char *name, void (*configure)(rd_kafka_conf_t *conf, void *arg),
                          void *arg, rd_kafka_t **ret_handle, struct sp_fault *fault);

/* Opens a SP_KAFKA_PRODUCER. `on_delivery` gets `arg` and the outcome of each message, in the calls
 * of rd_kafka_poll and rd_kafka_flush. */
enum sp_err sp_kafka_open_producer(const struct sp_kafka_options *o,
                                   void (*on_delivery)(rd_kafka_t *handle,
                                                       const rd_kafka_message_t *m, void *arg),
                                   void *arg, rd_kafka_t **ret_handle, struct sp_fault *fault);

/* The log callback of all handles; an equal line is left out for a minute (repeats.h). Thread rule:
 * any thread. */
void sp_kafka_log(const rd_kafka_t *handle, int level, const char *facility, const char *line);

/* The error callback of all handles: logs, and notes refusals. One that `configure` sets calls it.
 */
void sp_kafka_error(rd_kafka_t *handle, int code, const char *reason, void *opaque);

/* Like rd_kafka_destroy, but waits for 10 s at most: then it logs that the handle is left behind,
 * with its threads. NULL is allowed. */
void sp_kafka_close(rd_kafka_t *handle);

/* The value of a property of librdkafka that is a number, as the handle has it; UINT64_MAX: it has
 * no such property. From any thread. */
uint64_t sp_kafka_number(rd_kafka_t *handle, const char *property);

/* Says why no broker replies: none is reachable, or they refuse us (TLS, user, password). Returns
 * SP_BUSY. Polls the handle; thread rule: as rd_kafka_poll. */
enum sp_err sp_kafka_no_reply(rd_kafka_t *handle, struct sp_fault *fault);

/* How long sp_kafka_reach waits. An interactive command without a broker has to fail within five
 * seconds, of which starting and ending librdkafka take a part. */
enum {
    SP_KAFKA_REACH_STEP_MS = 500,    /* of one request */
    SP_KAFKA_REACH_DOWN_MS = 4000,   /* if no address accepts connections */
    SP_KAFKA_REACH_SILENT_MS = 30000 /* if there is no reply at all */
};

/* Checks that a broker is reachable, before an interactive command sends a request. SP_BUSY: for
 * SP_KAFKA_REACH_DOWN_MS no address accepted a connection (or its name is unknown), or for
 * SP_KAFKA_REACH_SILENT_MS there was no reply at all; SP_INVALID: the broker refused the
 * connection. The fault says which, and what to do. Thread rule: as rd_kafka_poll. */
enum sp_err sp_kafka_reach(const struct sp_kafka_options *o, rd_kafka_t *handle,
                           struct sp_fault *fault);
/* The same, for that long whether connections are accepted or not. 0: SP_BUSY. */
enum sp_err sp_kafka_await(const struct sp_kafka_options *o, rd_kafka_t *handle, int64_t wait_ms,
                           struct sp_fault *fault);

/* Whether the broker's ACLs refuse what was asked. A retry meets the same until somebody grants it.
 */
bool sp_kafka_is_forbidden(rd_kafka_resp_err_t code);
/* What to do then, to follow the name of what is refused. */
#define SP_KAFKA_FORBIDDEN                                                                         \
    "the broker's ACLs refuse this to our user: grant it (docs/OPERATIONS.md, TLS and SASL, has "  \
    "the rights), and start again"

/* Sets the fault to what a broker replied about `what`. SP_INVALID, and what to do, if that is
 * forbidden; otherwise SP_BUSY. */
enum sp_err sp_kafka_replied(struct sp_fault *fault, const char *what, rd_kafka_resp_err_t code,
                             const char *text);

/* What to look at where brokers are reached and do not take messages: librdkafka retries and does
 * not tell why. */
#define SP_KAFKA_UNDELIVERED                                                                       \
    "see whether the brokers have room on their disks, and whether min.insync.replicas of the "    \
    "topic is more than it has replicas in sync"

/* The number of partitions of an existing topic; SP_NOT_FOUND, SP_BUSY (no broker is reachable),
 * SP_INVALID (sp_kafka_is_forbidden). */
enum sp_err sp_kafka_partitions(rd_kafka_t *handle, const char *topic, int32_t *ret_count);
/* The same; a fault says what is wrong, and what to do. */
enum sp_err sp_kafka_find_topic(rd_kafka_t *handle, const char *topic, int32_t *ret_count,
                                struct sp_fault *fault);

/* Where the consumer group of the handle has committed; the handle need not be a member
 * (SP_KAFKA_WATCHER with a name). Sets the offsets of the list, RD_KAFKA_OFFSET_INVALID where there
 * is none. SP_BUSY: no reply in time, or none for one of the partitions; SP_INVALID:
 * sp_kafka_is_forbidden. Not rd_kafka_ListConsumerGroupOffsets, which could ask for any group by
 * one handle: in librdkafka (also 2.10) a request that times out while the coordinator is away is
 * freed twice when the coordinator comes back, and ends the process. */
enum sp_err sp_kafka_committed(rd_kafka_t *handle, rd_kafka_topic_partition_list_t *list,
                               int timeout_ms, struct sp_fault *fault);
/* The same of another group than that of this process, by a handle of that group which reads
 * nothing. Also gives SP_INVALID if the broker refuses to say who has the offsets of the group. */
enum sp_err sp_kafka_committed_by(rd_kafka_t *handle, rd_kafka_topic_partition_list_t *list,
                                  int timeout_ms, struct sp_fault *fault);

/* The ends of all partitions, in one request to each broker: those that the handle's isolation
 * level permits to read. Array of `partitions`. SP_BUSY: the broker does not reply, or not with
 * these; SP_INVALID: sp_kafka_is_forbidden. */
enum sp_err sp_kafka_ends(rd_kafka_t *handle, const char *topic, int32_t partitions,
                          int64_t *ret_ends, int timeout_ms, struct sp_fault *fault);
/* The same of one partition: `where` is RD_KAFKA_OFFSET_BEGINNING or RD_KAFKA_OFFSET_END. */
rd_kafka_resp_err_t sp_kafka_end(rd_kafka_t *handle, const char *topic, int32_t partition,
                                 int64_t where, int64_t *ret_offset, int timeout_ms);
/* Both of them. Unlike rd_kafka_query_watermark_offsets of librdkafka 2.0, it ends after that time
 * if a broker keeps its connections and does not reply. */
rd_kafka_resp_err_t sp_kafka_watermarks(rd_kafka_t *handle, const char *topic, int32_t partition,
                                        int64_t *ret_low, int64_t *ret_high, int timeout_ms);

#endif
