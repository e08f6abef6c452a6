/* Whether this stage has the fixed settings of the others: looks at what they noted with their
 * offsets (agreement.h). The group stage is the measure of the other stages with state: their
 * messages come from it, so it has committed, and noted its settings, before they have anything to
 * commit. */
#include "kafka/internal.h"

void sp_agreed_own(struct sp_worker *w, const rd_kafka_topic_partition_list_t *committed)
{
    for (const rd_kafka_topic_partition_t *p = committed->elems;
         p < committed->elems + committed->cnt; p++)
        if (p->offset >= 0 && sp_agreement_look(&w->agreement, p) >= SP_NOTED_SETTINGS)
            sp_failure_note(&w->failure, SP_INVALID, w->topics[w->options->stage.changelog],
                            "was written with other fixed settings than these: use the same, or "
                            "create topics with another topics.prefix");
}

/* A database refuses other settings than its own, and says which; but one that was lost, or that is
 * a copy, was made with those of this process. */
static void look_at_own(struct sp_worker *w, const rd_kafka_topic_partition_list_t *list)
{
    struct sp_fault fault;
    rd_kafka_topic_partition_list_t *made = rd_kafka_topic_partition_list_new(list->cnt);
    for (const rd_kafka_topic_partition_t *p = list->elems; p < list->elems + list->cnt; p++)
        if (!sp_states_kept(w->options->state, w->options->stage.name, p->partition))
            rd_kafka_topic_partition_list_add(made, p->topic, p->partition);
    if (made->cnt &&
        sp_kafka_committed(w->consumer, made, sp_worker_timeout_ms(w), &fault) == SP_OK)
        sp_agreed_own(w, made);
    rd_kafka_topic_partition_list_destroy(made);
}

/* Databases that nothing was committed to would refuse the right settings. */
static void refuse(struct sp_worker *w)
{
    sp_failure_note(&w->failure, SP_INVALID, w->topics[SP_TOPIC_TIER1],
                    "the group stage has other fixed settings than these for what the tiers share "
                    "(similarity.*, signature.*, text.*, partition.map, .cells and .languages): "
                    "give all stages the same");
    for (int32_t p = 0; p < w->partitions[w->options->stage.input]; p++)
        if (w->tasks[p] && w->tasks[p]->input_next < 0)
            w->tasks[p]->mistaken = true;
}

static void look_at_group(struct sp_worker *w, const rd_kafka_topic_partition_list_t *committed)
{
    for (const rd_kafka_topic_partition_t *p = committed->elems;
         p < committed->elems + committed->cnt && w->failure.err == SP_OK; p++) {
        w->agreed |= p->offset >= 0;
        if (p->offset >= 0 && sp_agreement_look(&w->agreement, p) >= SP_NOTED_TIERS)
            refuse(w);
    }
}

enum sp_err sp_agreed_tiers(struct sp_worker *w)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    struct sp_fault fault;
    rd_kafka_t *reader = NULL;
    if (w->agreed || !stage->stateful || stage->input == SP_TOPIC_TIER1 ||
        !w->partitions[SP_TOPIC_TIER1])
        return w->failure.err;
    rd_kafka_topic_partition_list_t *list =
        rd_kafka_topic_partition_list_new(w->partitions[SP_TOPIC_TIER1]);
    for (int32_t p = 0; p < w->partitions[SP_TOPIC_TIER1]; p++)
        rd_kafka_topic_partition_list_add(list, w->topics[SP_TOPIC_TIER1], p);
    /* A commit of the group stage reaches our input a little before it reaches its offsets; a
     * reader of what is committed waits for these. */
    enum sp_err err =
        sp_kafka_open(&w->options->kafka, SP_KAFKA_READER, "group", NULL, NULL, &reader, &fault);
    if (err == SP_OK)
        err = sp_kafka_committed_by(reader, list, sp_worker_timeout_ms(w), &fault);
    if (err == SP_OK)
        look_at_group(w, list);
    else
        sp_failure_note(&w->failure, err, w->topics[SP_TOPIC_TIER1], fault.text);
    sp_kafka_close(reader);
    rd_kafka_topic_partition_list_destroy(list);
    return w->failure.err;
}

void sp_agreed_before(struct sp_worker *w, const rd_kafka_topic_partition_list_t *list)
{
    look_at_own(w, list);
    if (w->failure.err == SP_OK)
        sp_agreed_tiers(w);
}

void sp_agreed_signatures(struct sp_worker *w)
{
    /* Its signatures would be compared with others, and all statuses would be wrong. */
    const char *topic = sp_lag_unlike(w->lag);
    if (topic)
        sp_failure_note(&w->failure, SP_INVALID, topic,
                        "the stage that reads it has other fixed settings than these for what is "
                        "kept of a page (similarity.method, similarity.languages, signature.*, "
                        "text.*, partition.map): give all stages the same");
}
