/* See seen.h. A topic that was deleted and recreated is noticed by its offsets, which go back, or
 * by the last message, which is another one (kafka/last.h). The last one is read again before the
 * next one where there was time to make the topic again: after the end of the partition was reached
 * a while ago, and after an error.
 *
 * A reader of a group begins where the group has committed, not before, and the deletion of a topic
 * deletes what was committed. So a partition that is given to a reader again and begins before is
 * one of another topic. If nothing was committed it begins where it began, at the same message. */
#include "client/seen.h"

#include "base/mem.h"

enum { QUIET_MS = 1000 };

struct sp_seen_place {
    int64_t next;               /* no message before this one is expected */
    int64_t least;              /* where readers of the group begin at least */
    struct sp_topic_last first; /* the message at which reading began */
    struct sp_topic_last last;
    int64_t ended_ms; /* when the end was reached; 0: there were messages since */
    bool begun;       /* there was a message since the partition was assigned */
    bool interrupted; /* something failed since the last message */
    bool asked;       /* the last message was asked for again */
    bool unseen;      /* and is still to come */
};

void sp_seen_done(struct sp_seen *s)
{
    sp_free(s->places);
    *s = (struct sp_seen){0};
}

static struct sp_seen_place *place_of(struct sp_seen *s, int32_t partition)
{
    if (partition >= s->count) {
        int32_t count = 2 * partition + 4;
        struct sp_seen_place *places = sp_calloc((size_t)count, sizeof *places);
        if (s->count)
            memcpy(places, s->places, (size_t)s->count * sizeof *places);
        sp_free(s->places);
        s->places = places;
        s->count = count;
    }
    return &s->places[partition];
}

static void note(struct sp_seen_place *p, const struct sp_topic_last *is)
{
    if (!p->begun) {
        p->first = *is;
        p->least = is->offset > p->least ? is->offset : p->least;
    }
    p->begun = true;
    p->last = *is;
    p->next = is->offset + 1;
    p->ended_ms = 0;
    p->interrupted = p->asked = false;
}

static bool is_other(const struct sp_topic_last *was, const struct sp_topic_last *is)
{
    return sp_topic_last_is_known(was) && was->offset == is->offset && !sp_topic_last_is(was, is);
}

static bool is_in_doubt(const struct sp_seen_place *p, int64_t now_ms)
{
    return !p->asked && sp_topic_last_is_known(&p->last) &&
           (p->interrupted || (p->ended_ms && now_ms - p->ended_ms >= QUIET_MS));
}

/* The other partitions of another topic will go back as well, which is no news. */
static enum sp_seen_as start_over(struct sp_seen *s, int32_t partition,
                                  const struct sp_topic_last *is, enum sp_seen_as as)
{
    memset(s->places, 0, (size_t)s->count * sizeof *s->places);
    if (as == SP_SEEN_BEGUN)
        note(&s->places[partition], is);
    return as;
}

enum sp_seen_as sp_seen_take(struct sp_seen *s, const rd_kafka_message_t *m, int64_t now_ms)
{
    rd_kafka_timestamp_type_t type;
    struct sp_topic_last is = sp_topic_last_read(m, &type);
    struct sp_seen_place *p = place_of(s, m->partition);
    bool unseen = p->unseen;
    p->unseen = false;
    if (unseen && is_other(&p->last, &is))
        return start_over(s, m->partition, &is, SP_SEEN_REPLACED);
    if (unseen && is.offset == p->last.offset)
        return SP_SEEN_AGAIN;
    if (is.offset < p->next || is_other(&p->first, &is))
        return start_over(s, m->partition, &is, SP_SEEN_BEGUN);
    if (is_in_doubt(p, now_ms)) {
        p->asked = p->unseen = true;
        return SP_SEEN_DOUBT;
    }
    note(p, &is);
    return SP_SEEN_NEW;
}

int64_t sp_seen_last(const struct sp_seen *s, int32_t partition)
{
    return s->places[partition].last.offset;
}

void sp_seen_ended(struct sp_seen *s, int32_t partition, int64_t now_ms)
{
    struct sp_seen_place *p = place_of(s, partition);
    if (!p->ended_ms)
        p->ended_ms = now_ms;
}

void sp_seen_interrupted(struct sp_seen *s)
{
    for (int32_t p = 0; p < s->count; p++)
        s->places[p].interrupted = true;
}

void sp_seen_moved(struct sp_seen *s, int32_t partition)
{
    struct sp_seen_place *p = place_of(s, partition);
    *p = (struct sp_seen_place){.next = p->least, .least = p->least, .first = p->first};
}

void sp_seen_committed(struct sp_seen *s, int32_t partition, int64_t next)
{
    struct sp_seen_place *p = place_of(s, partition);
    p->least = next > p->least ? next : p->least;
}
