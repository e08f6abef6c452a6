/* See reading.h. */
#include "kafka/reading.h"

#include "base/mem.h"

void sp_reading_open(struct reading *r, enum sp_topic id, int32_t partitions, bool each)
{
    size_t count = (size_t)partitions;
    r->id = id;
    r->partitions = partitions;
    r->next = sp_calloc(count, sizeof *r->next);
    r->end = sp_calloc(count, sizeof *r->end);
    r->data = sp_calloc(count, sizeof *r->data);
    r->last = each ? sp_calloc(count, sizeof *r->last) : NULL;
    r->unseen = sp_calloc(count, sizeof *r->unseen);
}

void sp_reading_close(struct reading *r)
{
    sp_free(r->next);
    sp_free(r->end);
    sp_free(r->data);
    sp_free(r->last);
    sp_free(r->unseen);
    *r = (struct reading){0};
}

void sp_reading_rewind(struct reading *r)
{
    memset(r->next, 0, (size_t)r->partitions * sizeof *r->next);
}

/* A topic that was deleted and recreated ends before what was read of it. Its first messages would
 * never be read, and the others only where it has grown longer. */
enum sp_err sp_reading_check(const char *topic, const int64_t *read, const int64_t *ends,
                             int32_t partitions, struct sp_fault *fault)
{
    for (int32_t p = 0; p < partitions; p++)
        if (ends[p] < read[p])
            return sp_fault_set(fault, SP_BUSY,
                                "%s [%d]: was read to offset %lld and ends at %lld, so it was "
                                "deleted and recreated, and is read from its beginning",
                                topic, (int)p, (long long)read[p], (long long)ends[p]);
    return SP_OK;
}

enum sp_err sp_reading_assign(struct reading *r, rd_kafka_t *reader, struct sp_fault *fault)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(r->partitions);
    for (int32_t p = 0; p < r->partitions; p++) {
        r->unseen[p] = r->last && sp_topic_last_is_known(&r->last[p]);
        if (r->next[p] < r->end[p])
            rd_kafka_topic_partition_list_add(list, r->topic, p)->offset =
                r->unseen[p] ? r->last[p].offset : r->next[p];
    }
    rd_kafka_resp_err_t code = rd_kafka_assign(reader, list);
    rd_kafka_topic_partition_list_destroy(list);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR
               ? SP_OK
               : sp_fault_set(fault, SP_BUSY, "%s: %s", r->topic, rd_kafka_err2str(code));
}

static enum sp_err replaced(const struct reading *r, int32_t partition, struct sp_fault *fault)
{
    return sp_fault_set(fault, SP_BUSY,
                        "%s [%d]: no longer has the message that was the last one, at offset %lld, "
                        "so it was deleted and recreated, and is read from its beginning",
                        r->topic, (int)partition, (long long)r->last[partition].offset);
}

/* Offsets have gaps where control records and aborted messages are. */
static bool pass(struct reading *r, const rd_kafka_message_t *m)
{
    int32_t p = m->partition;
    if (r->unseen[p])
        return false;
    if (m->offset > r->next[p])
        r->next[p] = m->offset < r->end[p] ? m->offset : r->end[p];
    return true;
}

/* False: it is another message than the last one. */
static bool see(struct reading *r, const rd_kafka_message_t *m, bool *ret_new)
{
    int32_t p = m->partition;
    rd_kafka_timestamp_type_t type;
    struct sp_topic_last is = {0};
    if (r->last)
        is = sp_topic_last_read(m, &type);
    if (r->last && r->unseen[p]) {
        r->unseen[p] = false;
        return sp_topic_last_is(&r->last[p], &is);
    }
    /* Messages after the end of the lap were read too early: the next lap reads them again. */
    if (m->offset >= r->end[p])
        return true;
    r->next[p] = r->data[p] = m->offset + 1;
    if (r->last)
        r->last[p] = is;
    *ret_new = true;
    return true;
}

enum sp_err sp_reading_take(struct reading *r, const rd_kafka_message_t *m, bool *ret_new,
                            bool *ret_remade, struct sp_fault *fault)
{
    *ret_new = false;
    bool good = true;
    if (m->err != RD_KAFKA_RESP_ERR_NO_ERROR && m->err != RD_KAFKA_RESP_ERR__PARTITION_EOF)
        return sp_kafka_replied(fault, r->topic, m->err, rd_kafka_message_errstr(m));
    if (m->partition < r->partitions)
        good = m->err == RD_KAFKA_RESP_ERR_NO_ERROR ? see(r, m, ret_new) : pass(r, m);
    *ret_remade = !good;
    return good ? SP_OK : replaced(r, m->partition, fault);
}

bool sp_reading_has_more(const struct reading *r)
{
    for (int32_t p = 0; p < r->partitions; p++)
        if (r->next[p] < r->end[p])
            return true;
    return false;
}

size_t sp_reading_left(const struct reading *r, size_t most)
{
    int64_t count = 0;
    for (int32_t p = 0; p < r->partitions; p++)
        count += r->end[p] > r->next[p] ? r->end[p] - r->next[p] : 0;
    return (uint64_t)count < most ? (size_t)count : most;
}

int64_t sp_reading_sum(const struct reading *r)
{
    int64_t sum = 0;
    for (int32_t p = 0; p < r->partitions; p++)
        sum += r->next[p];
    return sum;
}
