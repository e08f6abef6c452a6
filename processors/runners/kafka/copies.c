/* See copies.h. */
#include "kafka/copies.h"

#include <stdio.h>

enum { TIMEOUT_MS = 5000 };
/* So many copies are expected before their absence means anything. If pages are drawn
 * independently, none of them is in the sample with a probability of e^-30. */
enum { EXPECTED = 30 };
/* Questions at once after a start: the coordinator of a group that has just begun may not be there
 * yet. Without a right there will never be a reply, so the later ones are rare. */
enum { AT_ONCE = 10 };

static bool is_committed(const struct sp_copies *c, int64_t *ret_sum)
{
    struct sp_fault fault;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(c->partitions);
    for (int32_t p = 0; p < c->partitions; p++)
        rd_kafka_topic_partition_list_add(list, c->topic, p);
    enum sp_err err = sp_kafka_committed(c->handle, list, TIMEOUT_MS, &fault);
    int64_t sum = 0;
    for (int i = 0; i < list->cnt; i++)
        sum += list->elems[i].offset > 0 ? list->elems[i].offset : 0;
    rd_kafka_topic_partition_list_destroy(list);
    if (err == SP_OK)
        *ret_sum = sum;
    return err == SP_OK;
}

/* Notes how far the signature stage is, from where on its fetches are counted. */
static void begin(struct sp_copies *c)
{
    if (sp_kafka_partitions(c->handle, c->topic, &c->partitions) != SP_OK ||
        !is_committed(c, &c->before)) {
        c->partitions = 0;
        c->unanswered++;
    }
}

enum sp_err sp_copies_open(struct sp_copies *c, const struct sp_kafka_options *options,
                           struct sp_fault *fault)
{
    *c = (struct sp_copies){.said = c->said && !c->copies};
    sp_topic_name(options, SP_TOPIC_PAGES, c->topic);
    enum sp_err err =
        sp_kafka_open(options, SP_KAFKA_WATCHER, "signature", NULL, NULL, &c->handle, fault);
    if (err == SP_OK)
        begin(c);
    return err;
}

void sp_copies_close(struct sp_copies *c)
{
    sp_kafka_close(c->handle);
    c->handle = NULL;
}

void sp_copies_ask(struct sp_copies *c, double share)
{
    int64_t now = 0;
    bool expected = (double)c->statuses * share >= EXPECTED;
    if (c->said || c->copies || (!expected && (c->partitions || c->unanswered > AT_ONCE)))
        return;
    if (!c->partitions) {
        begin(c);
        c->statuses = 0;
    } else if (is_committed(c, &now)) {
        c->handled = now - c->before;
    }
}

bool sp_copies_missing(struct sp_copies *c, double share)
{
    if (c->said || c->copies || (double)c->handled * share < EXPECTED)
        return false;
    c->said = true;
    return true;
}
