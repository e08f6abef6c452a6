/* What a broker says of a topic: its partitions, where they end, and where a consumer group is in
 * them; see client.h. */
#include <unistd.h>

#include "base/clock.h"
#include "kafka/client.h"

bool sp_kafka_is_forbidden(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
           code == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED ||
           code == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED ||
           code == RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
}

enum sp_err sp_kafka_replied(struct sp_fault *fault, const char *what, rd_kafka_resp_err_t code,
                             const char *text)
{
    return sp_kafka_is_forbidden(code)
               ? sp_fault_set(fault, SP_INVALID, "%s: %s: %s", what, text, SP_KAFKA_FORBIDDEN)
               : sp_fault_set(fault, SP_BUSY, "%s: %s", what, text);
}

enum sp_err sp_kafka_partitions(rd_kafka_t *handle, const char *topic, int32_t *ret_count)
{
    enum { TIMEOUT_MS = 10000 };
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_topic_t *t = rd_kafka_topic_new(handle, topic, NULL);
    enum sp_err err = SP_BUSY;
    if (t && rd_kafka_metadata(handle, 0, t, &metadata, TIMEOUT_MS) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_resp_err_t code = metadata->topic_cnt == 1
                                       ? metadata->topics[0].err
                                       : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
        err = sp_kafka_is_forbidden(code) ? SP_INVALID : SP_NOT_FOUND;
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
            *ret_count = metadata->topics[0].partition_cnt;
            err = *ret_count > 0 ? SP_OK : SP_NOT_FOUND;
        }
        rd_kafka_metadata_destroy(metadata);
    }
    if (t)
        rd_kafka_topic_destroy(t);
    return err;
}

enum sp_err sp_kafka_find_topic(rd_kafka_t *handle, const char *topic, int32_t *ret_count,
                                struct sp_fault *fault)
{
    enum sp_err err = sp_kafka_partitions(handle, topic, ret_count);
    if (err == SP_NOT_FOUND)
        return sp_fault_set(fault, err, "there is no topic %s; `samepage topics create` creates it",
                            topic);
    if (err == SP_INVALID)
        return sp_fault_set(fault, err, "%s: %s", topic, SP_KAFKA_FORBIDDEN);
    return err == SP_OK ? SP_OK : sp_kafka_no_reply(handle, fault);
}

/* False: to be asked again, because a leader is not known or has just changed. */
static bool is_final(rd_kafka_resp_err_t code)
{
    return code != RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION &&
           code != RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE &&
           code != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
}

static rd_kafka_resp_err_t ask_once(rd_kafka_t *handle, rd_kafka_topic_partition_list_t *list,
                                    int64_t where, int timeout_ms)
{
    for (int i = 0; i < list->cnt; i++)
        list->elems[i].offset = where;
    rd_kafka_resp_err_t code = rd_kafka_offsets_for_times(handle, list, timeout_ms);
    for (int i = 0; i < list->cnt && code == RD_KAFKA_RESP_ERR_NO_ERROR; i++)
        code = list->elems[i].err;
    return code;
}

static rd_kafka_resp_err_t ask(rd_kafka_t *handle, rd_kafka_topic_partition_list_t *list,
                               int64_t where, int timeout_ms)
{
    enum { PAUSE_MS = 100 };
    int64_t until_ms = sp_clock_ms() + timeout_ms;
    rd_kafka_resp_err_t code = ask_once(handle, list, where, timeout_ms);
    for (int64_t left_ms = until_ms - sp_clock_ms(); !is_final(code) && left_ms > PAUSE_MS;
         left_ms = until_ms - sp_clock_ms()) {
        usleep(1000 * PAUSE_MS);
        code = ask_once(handle, list, where, (int)left_ms - PAUSE_MS);
    }
    return code;
}

enum sp_err sp_kafka_ends(rd_kafka_t *handle, const char *topic, int32_t partitions,
                          int64_t *ret_ends, int timeout_ms, struct sp_fault *fault)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
    for (int32_t p = 0; p < partitions; p++)
        rd_kafka_topic_partition_list_add(list, topic, p);
    rd_kafka_resp_err_t code = ask(handle, list, RD_KAFKA_OFFSET_END, timeout_ms);
    for (int i = 0; i < list->cnt && code == RD_KAFKA_RESP_ERR_NO_ERROR; i++)
        ret_ends[list->elems[i].partition] = list->elems[i].offset;
    rd_kafka_topic_partition_list_destroy(list);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR
               ? SP_OK
               : sp_kafka_replied(fault, topic, code, rd_kafka_err2str(code));
}

rd_kafka_resp_err_t sp_kafka_end(rd_kafka_t *handle, const char *topic, int32_t partition,
                                 int64_t where, int64_t *ret_offset, int timeout_ms)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, partition);
    rd_kafka_resp_err_t code = ask(handle, list, where, timeout_ms);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
        *ret_offset = list->elems[0].offset;
    rd_kafka_topic_partition_list_destroy(list);
    return code;
}

rd_kafka_resp_err_t sp_kafka_watermarks(rd_kafka_t *handle, const char *topic, int32_t partition,
                                        int64_t *ret_low, int64_t *ret_high, int timeout_ms)
{
    rd_kafka_resp_err_t code =
        sp_kafka_end(handle, topic, partition, RD_KAFKA_OFFSET_BEGINNING, ret_low, timeout_ms);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR
               ? sp_kafka_end(handle, topic, partition, RD_KAFKA_OFFSET_END, ret_high, timeout_ms)
               : code;
}

enum sp_err sp_kafka_committed(rd_kafka_t *handle, rd_kafka_topic_partition_list_t *list,
                               int timeout_ms, struct sp_fault *fault)
{
    rd_kafka_resp_err_t code = rd_kafka_committed(handle, list, timeout_ms);
    for (int i = 0; i < list->cnt && code == RD_KAFKA_RESP_ERR_NO_ERROR; i++)
        code = list->elems[i].err;
    return code == RD_KAFKA_RESP_ERR_NO_ERROR
               ? SP_OK
               : sp_kafka_replied(fault, "committed offsets", code, rd_kafka_err2str(code));
}

/* A broker that refuses to name the coordinator of a group leaves the request for offsets without a
 * reply; librdkafka reports the refusal in an event. */
static enum sp_err look_for_refusal(rd_kafka_t *handle, struct sp_fault *fault)
{
    enum { POLLS = 20 };
    enum sp_err err = SP_BUSY;
    for (int i = 0; i < POLLS && err == SP_BUSY; i++) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(handle, 0);
        if (m && sp_kafka_is_forbidden(m->err))
            err = sp_kafka_replied(fault, "committed offsets", m->err, rd_kafka_err2str(m->err));
        if (m)
            rd_kafka_message_destroy(m);
    }
    return err;
}

enum sp_err sp_kafka_committed_by(rd_kafka_t *handle, rd_kafka_topic_partition_list_t *list,
                                  int timeout_ms, struct sp_fault *fault)
{
    enum sp_err err = sp_kafka_committed(handle, list, timeout_ms, fault);
    return err == SP_BUSY ? look_for_refusal(handle, fault) : err;
}
