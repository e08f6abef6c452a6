/* The messages that a transaction begins with, before librdkafka is given them.
 *
 * librdkafka adds a partition to the transaction once it is given a message for it: a millisecond
 * later, in one request with all partitions that came meanwhile. Before 2.4 its main thread polls
 * without a pause in that millisecond, and in another one after the reply. With two to four such
 * requests a transaction, that was an eighth of the processor time of the group stage. So the
 * messages of a stage with state wait here until the commit, or until there are MOST_BYTES, and
 * then the first one of each partition goes first. Before the commit librdkafka would send only
 * full batches, so hardly anything is sent later because of that.
 *
 * A large message does not wait, nor what waits before it. Order within a partition is kept. */
#include "kafka/internal.h"

enum { MOST_BYTES = 4 << 20, LARGE_BYTES = 64 << 10 };

/* Followed by key and value; not aligned. */
struct head {
    struct sp_outlet *outlet;
    enum sp_topic topic;
    int32_t partition;
    uint32_t key_len;
    uint32_t value_len;
    bool deleted; /* no value */
    bool given;
};

void sp_waiting_begin(struct sp_worker *w)
{
    sp_buf_reset(&w->waiting);
    w->waits = w->options->stage.stateful;
}

bool sp_waiting_put(struct sp_worker *w, const struct sp_outgoing *o, struct sp_outlet *outlet)
{
    size_t bytes = o->key.len + o->value.len;
    if (!w->waits || o->headers || bytes > LARGE_BYTES || bytes > w->message_bytes / 2)
        return false;
    struct head h = {.outlet = outlet,
                     .topic = o->topic,
                     .partition = o->partition,
                     .key_len = (uint32_t)o->key.len,
                     .value_len = (uint32_t)o->value.len,
                     .deleted = !o->value.data};
    sp_buf_put(&w->waiting, &h, sizeof h);
    sp_buf_put_view(&w->waiting, o->key);
    sp_buf_put_view(&w->waiting, o->value);
    if (w->waiting.len >= MOST_BYTES)
        sp_waiting_end(w);
    return true;
}

/* Returns the place after the message. */
static size_t take(const struct sp_worker *w, size_t at, struct head *ret_head,
                   struct sp_outgoing *ret_message)
{
    const char *bytes = w->waiting.data + at;
    memcpy(ret_head, bytes, sizeof *ret_head);
    bytes += sizeof *ret_head;
    struct sp_view value = sp_view(bytes + ret_head->key_len, ret_head->value_len);
    *ret_message = (struct sp_outgoing){.topic = ret_head->topic,
                                        .partition = ret_head->partition,
                                        .key = sp_view(bytes, ret_head->key_len),
                                        .value = ret_head->deleted ? sp_view(NULL, 0) : value};
    return at + sizeof *ret_head + ret_head->key_len + ret_head->value_len;
}

void sp_waiting_end(struct sp_worker *w)
{
    struct head h;
    struct sp_outgoing o;
    w->waits = false;
    for (size_t at = 0, next; at < w->waiting.len; at = next) {
        next = take(w, at, &h, &o);
        if (h.outlet->begun)
            continue;
        h.outlet->begun = h.given = true;
        memcpy(w->waiting.data + at, &h, sizeof h);
        sp_output_give(w, &o);
    }
    for (size_t at = 0; at < w->waiting.len;) {
        at = take(w, at, &h, &o);
        h.outlet->begun = false;
        if (!h.given)
            sp_output_give(w, &o);
    }
    sp_buf_reset(&w->waiting);
}
