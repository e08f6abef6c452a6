/* See samepage/status.h. The offset after an event is stored when the next event is asked for, or
 * on commit. So a commit covers what the caller has seen, and not what librdkafka has fetched
 * ahead. */
#include <librdkafka/rdkafka.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/consumer.h"
#include "client/decode.h"
#include "client/ends.h"
#include "client/seen.h"

enum { METADATA_MS = 10000, SEEK_MS = 10000, MESSAGE_BYTES = 512 };

struct samepage_status_client {
    rd_kafka_t *consumer;
    bool grouped;
    bool from_end;                             /* without a group: it began at the end */
    rd_kafka_topic_partition_list_t *returned; /* the next offset of each partition */
    struct sp_seen seen;
    rd_kafka_message_t *held; /* the next one, of a topic that was recreated */
    bool *ended;              /* by partition: its end was reached; NULL: nobody asks */
    int32_t behind;
    char *erased; /* URL; NULL: the last record was another */
    struct sp_buf text;
    char group_id[SP_GROUP_ID_TEXT];
    char message[MESSAGE_BYTES];
    char refusal[256]; /* why brokers refused the connection */
};

__attribute__((format(printf, 3, 4))) static void say(char *error, size_t size, const char *format,
                                                      ...)
{
    va_list args;
    if (!error || !size)
        return;
    va_start(args, format);
    vsnprintf(error, size, format, args);
    va_end(args);
}

/* ---- opening ---- */

static void (*log_to)(const rd_kafka_t *handle, int level, const char *facility, const char *line);

void sp_client_log_to(void (*log)(const rd_kafka_t *handle, int level, const char *facility,
                                  const char *line))
{
    log_to = log;
}

/* Forgets the offsets of revoked partitions, which must not be committed: another member may have
 * read further before the partitions come back. */
static void on_rebalance(rd_kafka_t *consumer, rd_kafka_resp_err_t code,
                         rd_kafka_topic_partition_list_t *list, void *arg)
{
    struct samepage_status_client *c = arg;
    bool cooperative = strcmp(rd_kafka_rebalance_protocol(consumer), "COOPERATIVE") == 0;
    bool assigned = code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;
    for (int i = 0; i < list->cnt; i++) {
        const rd_kafka_topic_partition_t *p = &list->elems[i];
        rd_kafka_topic_partition_list_del(c->returned, p->topic, p->partition);
        sp_seen_moved(&c->seen, p->partition);
    }
    if (!cooperative)
        rd_kafka_assign(consumer, assigned ? list : NULL);
    else
        rd_kafka_error_destroy(assigned ? rd_kafka_incremental_assign(consumer, list)
                                        : rd_kafka_incremental_unassign(consumer, list));
}

static bool set(rd_kafka_conf_t *conf, const char *key, const char *value, char *error, size_t size)
{
    char why[384];
    if (rd_kafka_conf_set(conf, key, value, why, sizeof why) == RD_KAFKA_CONF_OK)
        return true;
    say(error, size, "%s: %s", key, why);
    return false;
}

static bool configure(rd_kafka_conf_t *conf, const char *const *properties, const char *group,
                      char *error, size_t size)
{
    static const char *const first[] = {"bootstrap.servers",
                                        "127.0.0.1:9092",
                                        "auto.offset.reset",
                                        "earliest",
                                        "fetch.wait.max.ms",
                                        "20",
                                        NULL};
    /* librdkafka requires a name even without a group; nothing is committed under it */
    const char *last[] = {"group.id",
                          group ? group : "samepage-status",
                          "isolation.level",
                          "read_committed",
                          "enable.auto.commit",
                          "false",
                          "enable.auto.offset.store",
                          "false",
                          "enable.partition.eof",
                          "true",
                          NULL};
    const char *const *lists[] = {first, properties, last};
    for (int i = 0; i < 3; i++)
        for (const char *const *p = lists[i]; p && *p; p += 2) {
            if (!p[1]) {
                say(error, size, "%s: the property has no value", p[0]);
                return false;
            }
            if (!set(conf, p[0], p[1], error, size))
                return false;
        }
    return true;
}

static void on_error(rd_kafka_t *consumer, int code, const char *reason, void *opaque)
{
    struct samepage_status_client *c = opaque;
    (void)consumer;
    sp_seen_interrupted(&c->seen);
    if (code == RD_KAFKA_RESP_ERR__AUTHENTICATION || code == RD_KAFKA_RESP_ERR__SSL)
        snprintf(c->refusal, sizeof c->refusal, "%s", reason);
}

/* Polls for errors, which wait in a queue; no messages can arrive yet. */
static bool wait_for_refusal(struct samepage_status_client *c)
{
    for (int i = 0; i < 20 && !c->refusal[0]; i++) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(c->consumer, 0);
        if (m)
            rd_kafka_message_destroy(m);
    }
    return c->refusal[0] != 0;
}

/* Returns the number of partitions; 0 with a message if there is no such topic or no broker is
 * reachable. */
static int32_t count_partitions(struct samepage_status_client *c, const char *topic, char *error,
                                size_t size)
{
    rd_kafka_t *consumer = c->consumer;
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_topic_t *t = rd_kafka_topic_new(consumer, topic, NULL);
    rd_kafka_resp_err_t code =
        t ? rd_kafka_metadata(consumer, 0, t, &metadata, METADATA_MS) : rd_kafka_last_error();
    int32_t count = 0;
    if (metadata && code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        code =
            metadata->topic_cnt == 1 ? metadata->topics[0].err : RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
            count = metadata->topics[0].partition_cnt;
        rd_kafka_metadata_destroy(metadata);
    }
    if (t)
        rd_kafka_topic_destroy(t);
    if (count == 0 && wait_for_refusal(c))
        say(error, size, "refused: %s", c->refusal);
    else if (count == 0 && code == RD_KAFKA_RESP_ERR__TRANSPORT)
        say(error, size, "no broker is reachable; see bootstrap.servers");
    else if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        say(error, size, "there is no topic %s; `samepage topics create` creates it", topic);
    else if (count == 0)
        say(error, size, "topic %s: %s", topic, rd_kafka_err2str(code));
    return count;
}

static bool starts_at_end(const rd_kafka_conf_t *conf)
{
    char value[32] = "";
    size_t size = sizeof value;
    rd_kafka_conf_get(conf, "auto.offset.reset", value, &size);
    return strcmp(value, "latest") == 0 || strcmp(value, "largest") == 0 ||
           strcmp(value, "end") == 0;
}

static bool start(struct samepage_status_client *c, const char *topic, int32_t partitions,
                  char *error, size_t size)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
    rd_kafka_resp_err_t code;
    if (c->grouped) {
        rd_kafka_topic_partition_list_add(list, topic, RD_KAFKA_PARTITION_UA);
        code = rd_kafka_subscribe(c->consumer, list);
    } else {
        code = sp_consumer_assign_all(c->consumer, list, topic, partitions, c->from_end);
    }
    rd_kafka_topic_partition_list_destroy(list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        say(error, size, "topic %s: %s", topic, rd_kafka_err2str(code));
    return code == RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* `ends`: it can be asked whether it has caught up. */
static struct samepage_status_client *open_client(const char *const *properties, const char *topic,
                                                  const char *group, bool ends, char *error,
                                                  size_t size)
{
    char why[384];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    if (!configure(conf, properties, group, error, size)) {
        rd_kafka_conf_destroy(conf);
        return NULL;
    }
    struct samepage_status_client *c = sp_calloc(1, sizeof *c);
    c->grouped = group != NULL;
    c->from_end = !group && starts_at_end(conf);
    c->returned = rd_kafka_topic_partition_list_new(4);
    /* From now on an offset that does not exist is one of a topic that was recreated: its first
     * events are new to the caller, wherever the reading began. */
    if (!group)
        set(conf, "auto.offset.reset", "earliest", NULL, 0);
    rd_kafka_conf_set_opaque(conf, c);
    rd_kafka_conf_set_error_cb(conf, on_error);
    if (log_to)
        rd_kafka_conf_set_log_cb(conf, log_to);
    if (c->grouped)
        rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
    c->consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
    if (!c->consumer) {
        say(error, size, "%s", why);
        rd_kafka_conf_destroy(conf);
        samepage_status_close(c);
        return NULL;
    }
    rd_kafka_poll_set_consumer(c->consumer);
    int32_t partitions = count_partitions(c, topic, error, size);
    c->behind = partitions;
    c->ended = ends ? sp_calloc((size_t)partitions + 1, sizeof *c->ended) : NULL;
    if (partitions == 0 || !start(c, topic, partitions, error, size)) {
        samepage_status_close(c);
        return NULL;
    }
    return c;
}

struct samepage_status_client *samepage_status_open(const char *const *properties,
                                                    const char *topic, const char *group,
                                                    char *error, size_t size)
{
    return open_client(properties, topic, group, false, error, size);
}

struct samepage_status_client *sp_client_open(const char *const *properties, const char *topic,
                                              char *error, size_t size)
{
    return open_client(properties, topic, NULL, true, error, size);
}

void samepage_status_close(struct samepage_status_client *client)
{
    if (!client)
        return;
    if (client->held)
        rd_kafka_message_destroy(client->held);
    if (client->consumer)
        sp_consumer_close(client->consumer);
    rd_kafka_topic_partition_list_destroy(client->returned);
    sp_seen_done(&client->seen);
    sp_buf_done(&client->text);
    sp_free(client->ended);
    sp_free(client->erased);
    sp_free(client);
}

/* ---- events ---- */

/* A result of ours: nothing for the caller, poll again. */
enum { PASSED = 3 };

static void move(rd_kafka_topic_partition_list_t *list, const rd_kafka_message_t *m)
{
    const char *topic = rd_kafka_topic_name(m->rkt);
    rd_kafka_topic_partition_t *p = rd_kafka_topic_partition_list_find(list, topic, m->partition);
    if (!p)
        p = rd_kafka_topic_partition_list_add(list, topic, m->partition);
    p->offset = m->offset + 1;
}

static void begin_all(struct samepage_status_client *c)
{
    rd_kafka_topic_partition_list_t *list = NULL;
    if (rd_kafka_assignment(c->consumer, &list) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return;
    for (int i = 0; i < list->cnt; i++)
        list->elems[i].offset = RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_error_destroy(rd_kafka_seek_partitions(c->consumer, list, SEEK_MS));
    rd_kafka_topic_partition_list_destroy(list);
}

/* What was returned before is not committed any more: it would be an offset of the new topic. */
static int say_remade(struct samepage_status_client *c, const rd_kafka_message_t *m)
{
    rd_kafka_topic_partition_list_destroy(c->returned);
    c->returned = rd_kafka_topic_partition_list_new(4);
    say(c->message, sizeof c->message,
        "topic %s was deleted and recreated: it is read from its beginning",
        rd_kafka_topic_name(m->rkt));
    return SAMEPAGE_REMADE;
}

static int take(struct samepage_status_client *c, const rd_kafka_message_t *m,
                struct samepage_status_event *out)
{
    struct sp_view value = sp_view(m->payload, m->len);
    move(c->returned, m);
    if (!m->payload) {
        c->erased = m->key_len > 0 ? sp_view_dup(sp_view(m->key, m->key_len)) : NULL;
        return SAMEPAGE_NONE;
    }
    enum sp_err err = sp_client_decode(value, &c->text, c->group_id, out);
    if (err != SP_OK) {
        say(c->message, sizeof c->message, "topic %s, partition %d, offset %lld: %s",
            rd_kafka_topic_name(m->rkt), (int)m->partition, (long long)m->offset, sp_err_text(err));
        return SAMEPAGE_BAD;
    }
    return SAMEPAGE_EVENT;
}

static void note_end(struct samepage_status_client *c, int32_t partition)
{
    c->behind -= !c->ended[partition];
    c->ended[partition] = true;
}

bool sp_client_caught_up(const struct samepage_status_client *client)
{
    return client->behind == 0;
}

/* Whether the message is the next one is found out first. Keeps it in c->held if it is to be
 * returned by the next call. */
static int take_message(struct samepage_status_client *c, rd_kafka_message_t *m, bool was_held,
                        struct samepage_status_event *out)
{
    switch (was_held ? SP_SEEN_NEW : sp_seen_take(&c->seen, m, sp_clock_ms())) {
    case SP_SEEN_DOUBT:
        if (rd_kafka_seek(m->rkt, m->partition, sp_seen_last(&c->seen, m->partition), SEEK_MS) ==
            RD_KAFKA_RESP_ERR_NO_ERROR)
            return PASSED;
        sp_seen_take(&c->seen, m, sp_clock_ms()); /* it is asked once */
        break;
    case SP_SEEN_AGAIN:
        return PASSED;
    case SP_SEEN_BEGUN:
        c->held = m;
        return say_remade(c, m);
    case SP_SEEN_REPLACED:
        begin_all(c);
        return say_remade(c, m);
    case SP_SEEN_NEW:
        break;
    }
    return take(c, m, out);
}

static int take_end(struct samepage_status_client *c, int32_t partition)
{
    sp_seen_ended(&c->seen, partition, sp_clock_ms());
    if (!c->ended)
        return PASSED;
    note_end(c, partition);
    return SAMEPAGE_NONE;
}

/* One message, or none. */
static int next(struct samepage_status_client *c, int timeout_ms, struct samepage_status_event *out)
{
    rd_kafka_message_t *held = c->held;
    rd_kafka_message_t *m = held ? held : rd_kafka_consumer_poll(c->consumer, timeout_ms);
    int result = SAMEPAGE_NONE;
    c->held = NULL;
    if (rd_kafka_fatal_error(c->consumer, c->message, sizeof c->message) !=
        RD_KAFKA_RESP_ERR_NO_ERROR) {
        result = SAMEPAGE_FATAL;
    } else if (m && m->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        result = take_message(c, m, held != NULL, out);
    } else if (m && m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        result = take_end(c, m->partition);
    } else if (m) {
        sp_seen_interrupted(&c->seen);
        say(c->message, sizeof c->message, "%s", rd_kafka_message_errstr(m));
        result = SAMEPAGE_RETRY;
    }
    if (m && m != c->held)
        rd_kafka_message_destroy(m);
    return result;
}

int samepage_status_next(struct samepage_status_client *client, int timeout_ms,
                         struct samepage_status_event *out)
{
    int64_t end_ms = sp_clock_ms() + timeout_ms;
    int left_ms = timeout_ms, result;
    sp_free(client->erased);
    client->erased = NULL;
    while ((result = next(client, left_ms, out)) == PASSED) {
        int64_t now_ms = sp_clock_ms();
        if (timeout_ms >= 0)
            left_ms = end_ms > now_ms ? (int)(end_ms - now_ms) : 0;
    }
    return result;
}

const char *samepage_status_erased(const struct samepage_status_client *client)
{
    return client->erased;
}

int samepage_status_commit(struct samepage_status_client *client, char *error, size_t size)
{
    if (!client->grouped) {
        say(error, size, "a client without a group cannot commit");
        return SAMEPAGE_INVALID;
    }
    if (client->returned->cnt == 0)
        return SAMEPAGE_NONE;
    rd_kafka_resp_err_t code = sp_consumer_commit(client->consumer, client->returned);
    for (int i = 0; i < client->returned->cnt && code == RD_KAFKA_RESP_ERR_NO_ERROR; i++)
        sp_seen_committed(&client->seen, client->returned->elems[i].partition,
                          client->returned->elems[i].offset);
    /* Also on failure, because partitions that may have moved to another reader must not be
     * committed later. */
    rd_kafka_topic_partition_list_destroy(client->returned);
    client->returned = rd_kafka_topic_partition_list_new(4);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        return SAMEPAGE_NONE;
    if (code == RD_KAFKA_RESP_ERR__TIMED_OUT)
        say(error, size, "no broker has replied within %d seconds; events may be delivered again",
            SP_CONSUMER_COMMIT_MS / 1000);
    else
        say(error, size, "%s", rd_kafka_err2str(code));
    return rd_kafka_fatal_error(client->consumer, NULL, 0) ? SAMEPAGE_FATAL : SAMEPAGE_RETRY;
}

const char *samepage_status_error(const struct samepage_status_client *client)
{
    return client->message;
}
