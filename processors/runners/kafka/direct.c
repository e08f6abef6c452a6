/* Messages to partitions of the same instance. They are handled in the transaction that sends them,
 * without the topic: what one causes is committed together with what caused it, so nothing is lost
 * if none of it is written.
 *
 * Order on a channel: of the messages from one partition to another, some may lie in the topic,
 * sent by this instance when it had not caught up, or by the one that had the sending partition
 * before. So a message is kept until its receiver has handled all that was in its topic when the
 * partitions were assigned, and all that this instance has added since. What is kept at
 * the end of a transaction goes to the topic after all. */
#include "base/mem.h"
#include "kafka/internal.h"

/* How long one call delivers. A merge of large groups sends hundreds of thousands of messages,
 * which must not hold up the heartbeat and the commit; the rest goes to the topic. */
enum { DELIVER_MS = 1000, LOOK_EACH = 64 };

bool sp_worker_keep(struct sp_worker *w, enum sp_topic topic, int32_t partition,
                    struct sp_message *m)
{
    struct sp_task *t = topic == w->options->stage.input ? w->tasks[partition] : NULL;
    if (!t || !w->options->stage.take)
        return false;
    m->next = NULL;
    if (t->kept_last)
        t->kept_last->next = m;
    else
        t->kept = m;
    t->kept_last = m;
    w->kept++;
    return true;
}

static struct sp_message *pop(struct sp_worker *w, struct sp_task *t)
{
    struct sp_message *m = t->kept;
    t->kept = m->next;
    if (!t->kept)
        t->kept_last = NULL;
    m->next = NULL;
    w->kept--;
    return m;
}

/* Whether all messages were handled that this instance has sent to the partition through the topic.
 */
static bool has_caught_up(const struct sp_worker *w, const struct sp_task *t)
{
    int64_t next = t->handled_next >= 0 ? t->handled_next : t->input_next;
    const struct sp_outlet *outlet = &w->outlets[w->options->stage.input][t->partition];
    return next >= 0 && !outlet->unknown && next > outlet->last;
}

static void deliver_one(struct sp_worker *w, struct sp_task *t)
{
    if (t->handled_next < 0)
        t->handled_next = t->input_next;
    t->upkept = false;
    struct sp_message *m = pop(w, t);
    const char *what = sp_message_name(m->kind);
    struct sp_step step = sp_step_begin(w);
    enum sp_err err = w->options->stage.take(t->stage, m);
    sp_step_end(w, &step, t, NULL, what, 0);
    if (err != SP_OK)
        sp_damage_note(w, t, err, "the stage failed", sp_err_text(err));
    w->transaction.handled++;
    ADD(w, direct, 1);
}

static bool is_over(struct sp_worker *w, int64_t end_ms)
{
    sp_worker_alive(w);
    return sp_clock_ms() >= end_ms;
}

void sp_direct_deliver(struct sp_worker *w)
{
    int64_t end_ms = w->kept ? sp_clock_ms() + DELIVER_MS : 0;
    uint32_t count = 0;
    for (bool any = true; any && w->kept;) {
        any = false;
        for (int32_t p = 0; p < w->partitions[w->options->stage.input]; p++) {
            struct sp_task *t = w->tasks[p];
            for (; t && t->kept && has_caught_up(w, t); any = true) {
                deliver_one(w, t);
                if (w->failure.err != SP_OK || (++count % LOOK_EACH == 0 && is_over(w, end_ms)))
                    return;
            }
        }
    }
}

void sp_direct_post(struct sp_worker *w)
{
    for (int32_t p = 0; w->kept && p < w->partitions[w->options->stage.input]; p++)
        for (struct sp_task *t = w->tasks[p]; t && t->kept;)
            w->options->stage.post(t->stage, pop(w, t));
}

void sp_direct_drop(struct sp_worker *w, struct sp_task *t)
{
    while (t->kept)
        sp_message_free(pop(w, t));
}
