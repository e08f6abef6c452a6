/* See samepage/status.h. The offset after an event is stored when the next event is asked for, or
 * on commit. So a commit covers what the caller has seen, and not what librdkafka has fetched
 * ahead. */
#include <librdkafka/rdkafka.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "client/decode.h"
#include "client/ends.h"

enum { METADATA_MS = 10000, MESSAGE_BYTES = 512 };

struct samepage_status_client {
    rd_kafka_t *consumer;
    bool grouped;
    bool from_end;                             /* without a group: it began at the end */
    rd_kafka_topic_partition_list_t *returned; /* the next offset of each partition */
    rd_kafka_topic_partition_list_t *seen;     /* the same, also after a commit */
    rd_kafka_message_t *held;                  /* the next one, of a topic that was made again */
    bool *ended; /* by partition: its end was reached; NULL: nobody asks */
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
        rd_kafka_topic_partition_list_del(c->seen, p->topic, p->partition);
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
                      bool ends, char *error, size_t size)
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
                          ends ? "true" : "false",
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

/* A topic that was just created may have no leader that is known to clients. */
static rd_kafka_resp_err_t find_end(rd_kafka_t *consumer, const char *topic, int32_t partition,
                                    int64_t *ret_end)
{
    enum { PAUSE_US = 100000, TRIES = 50 };
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (int i = 0; i < TRIES; i++) {
        int64_t oldest = 0;
        code = rd_kafka_query_watermark_offsets(consumer, topic, partition, &oldest, ret_end,
                                                METADATA_MS);
        if (code != RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION &&
            code != RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE &&
            code != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
            break;
        usleep(PAUSE_US);
    }
    return code;
}

/* Assigns all partitions to a reader without a group, from auto.offset.reset on, as librdkafka does
 * for groups. The end is queried now, so that events after this call are new to the caller as well.
 */
static rd_kafka_resp_err_t assign_all(rd_kafka_t *consumer, rd_kafka_topic_partition_list_t *list,
                                      const char *topic, int32_t partitions, bool end)
{
    for (int32_t p = 0; p < partitions; p++) {
        int64_t first = RD_KAFKA_OFFSET_BEGINNING;
        if (end) {
            rd_kafka_resp_err_t code = find_end(consumer, topic, p, &first);
            if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
                return code;
        }
        rd_kafka_topic_partition_list_add(list, topic, p)->offset = first;
    }
    return rd_kafka_assign(consumer, list);
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
        code = assign_all(c->consumer, list, topic, partitions, c->from_end);
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
    if (!configure(conf, properties, group, ends, error, size)) {
        rd_kafka_conf_destroy(conf);
        return NULL;
    }
    struct samepage_status_client *c = sp_calloc(1, sizeof *c);
    c->grouped = group != NULL;
    c->from_end = !group && starts_at_end(conf);
    c->returned = rd_kafka_topic_partition_list_new(4);
    c->seen = rd_kafka_topic_partition_list_new(4);
    /* From now on an offset that does not exist is one of a topic that was made again: its first
     * events are new to the caller, wherever the reading began. */
    if (!group)
        set(conf, "auto.offset.reset", "earliest", NULL, 0);
    rd_kafka_conf_set_opaque(conf, c);
    rd_kafka_conf_set_error_cb(conf, on_error);
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
    if (client->consumer) {
        rd_kafka_consumer_close(client->consumer);
        rd_kafka_destroy(client->consumer);
    }
    rd_kafka_topic_partition_list_destroy(client->returned);
    rd_kafka_topic_partition_list_destroy(client->seen);
    sp_buf_done(&client->text);
    sp_free(client->ended);
    sp_free(client->erased);
    sp_free(client);
}

/* ---- events ---- */

/* Returns the offset that was next before. */
static int64_t move(rd_kafka_topic_partition_list_t *list, const rd_kafka_message_t *m)
{
    const char *topic = rd_kafka_topic_name(m->rkt);
    rd_kafka_topic_partition_t *p = rd_kafka_topic_partition_list_find(list, topic, m->partition);
    if (!p)
        p = rd_kafka_topic_partition_list_add(list, topic, m->partition);
    int64_t next = p->offset;
    p->offset = m->offset + 1;
    return next;
}

/* Offsets only go back when the topic has no longer what was read of it. Then its other partitions
 * will go back as well, which is no news. */
static bool goes_back(struct samepage_status_client *c, const rd_kafka_message_t *m)
{
    if (m->offset >= move(c->seen, m))
        return false;
    rd_kafka_topic_partition_list_destroy(c->seen);
    c->seen = rd_kafka_topic_partition_list_new(4);
    move(c->seen, m);
    say(c->message, sizeof c->message,
        "topic %s was deleted and made again: it is read from its beginning",
        rd_kafka_topic_name(m->rkt));
    return true;
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

int samepage_status_next(struct samepage_status_client *client, int timeout_ms,
                         struct samepage_status_event *out)
{
    rd_kafka_message_t *held = client->held;
    rd_kafka_message_t *m = held ? held : rd_kafka_consumer_poll(client->consumer, timeout_ms);
    int result = SAMEPAGE_NONE;
    client->held = NULL;
    sp_free(client->erased);
    client->erased = NULL;
    if (rd_kafka_fatal_error(client->consumer, client->message, sizeof client->message) !=
        RD_KAFKA_RESP_ERR_NO_ERROR) {
        result = SAMEPAGE_FATAL;
    } else if (m && m->err == RD_KAFKA_RESP_ERR_NO_ERROR && !held && goes_back(client, m)) {
        client->held = m;
        return SAMEPAGE_REMADE;
    } else if (m && m->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        result = take(client, m, out);
    } else if (m && m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF && client->ended) {
        note_end(client, m->partition);
    } else if (m) {
        say(client->message, sizeof client->message, "%s", rd_kafka_message_errstr(m));
        result = SAMEPAGE_RETRY;
    }
    if (m)
        rd_kafka_message_destroy(m);
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
    rd_kafka_resp_err_t code = rd_kafka_commit(client->consumer, client->returned, 0);
    /* Also on failure, because partitions that may have moved to another reader must not be
     * committed later. */
    rd_kafka_topic_partition_list_destroy(client->returned);
    client->returned = rd_kafka_topic_partition_list_new(4);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        return SAMEPAGE_NONE;
    say(error, size, "%s", rd_kafka_err2str(code));
    return rd_kafka_fatal_error(client->consumer, NULL, 0) ? SAMEPAGE_FATAL : SAMEPAGE_RETRY;
}

const char *samepage_status_error(const struct samepage_status_client *client)
{
    return client->message;
}
