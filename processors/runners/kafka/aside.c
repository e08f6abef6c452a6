/* See aside.h. */
#include "kafka/aside.h"

#include <inttypes.h>

#include "codec/codec.h"
#include "kafka/internal.h"

enum { KEY_BYTES = 1 + sizeof(uint64_t) };

static struct sp_view key_of(uint64_t number, char key[KEY_BYTES])
{
    key[0] = 'W';
    sp_put_big_endian(key + 1, number, sizeof number);
    return sp_view(key, KEY_BYTES);
}

static bool on_row(void *arg, struct sp_view key, struct sp_view value)
{
    struct sp_aside *a = arg;
    (void)value;
    if (key.len != KEY_BYTES || a->count == SP_ASIDE_MOST) {
        a->count = SP_ASIDE_MOST + 1;
        return false;
    }
    a->numbers[a->count++] = sp_get_big_endian(key.data + 1, sizeof(uint64_t));
    return true;
}

enum sp_err sp_aside_load(struct sp_aside *a, struct sp_store *store, const struct sp_maps *maps)
{
    *a = (struct sp_aside){.store = store, .maps = maps};
    enum sp_err err = sp_store_scan(store, sp_view("W", 1), sp_view(NULL, 0), on_row, a);
    if (err == SP_OK && a->count > SP_ASIDE_MOST)
        err = SP_CORRUPT;
    a->due = a->count > 0;
    return err;
}

bool sp_aside_put(struct sp_aside *a, struct sp_view message)
{
    char key[KEY_BYTES];
    if (a->count == SP_ASIDE_MOST || message.len > SP_ASIDE_BYTES)
        return false;
    uint64_t number = a->count ? a->numbers[a->count - 1] + 1 : 0;
    sp_store_put(a->store, key_of(number, key), message);
    a->numbers[a->count++] = number;
    return true;
}

static enum sp_err take(struct sp_aside *a, struct sp_view value,
                        enum sp_err (*handle)(void *arg, struct sp_message *m), void *arg,
                        bool *ret_done)
{
    struct sp_message *m = NULL;
    if (sp_message_decode(value, &m) != SP_OK || sp_message_tier(m) != SP_TIER_2) {
        sp_message_free(m);
        return SP_CORRUPT;
    }
    bool past = sp_maps_standing(a->maps, sp_message_cell(m)) == SP_CELL_PAST;
    enum sp_err err = handle(arg, m);
    *ret_done = err == SP_OK || err == SP_MALFORMED;
    return *ret_done || (err == SP_OTHER_MAP && !past) ? SP_OK : err;
}

static enum sp_err take_one(struct sp_aside *a, uint64_t number,
                            enum sp_err (*handle)(void *arg, struct sp_message *m), void *arg,
                            bool *ret_done)
{
    char key[KEY_BYTES];
    struct sp_view value = {0};
    enum sp_err err = sp_store_get(a->store, key_of(number, key), &value);
    if (err == SP_OK)
        err = take(a, value, handle, arg, ret_done);
    if (*ret_done)
        sp_store_delete(a->store, key_of(number, key));
    return err == SP_NOT_FOUND ? SP_CORRUPT : err;
}

enum sp_err sp_aside_take(struct sp_aside *a,
                          enum sp_err (*handle)(void *arg, struct sp_message *m), void *arg)
{
    uint32_t kept = 0;
    if (!a->due)
        return a->err;
    a->due = false;
    for (uint32_t i = 0; i < a->count; i++) {
        bool done = false;
        if (a->err == SP_OK)
            a->err = take_one(a, a->numbers[i], handle, arg, &done);
        if (!done)
            a->numbers[kept++] = a->numbers[i];
    }
    a->count = kept;
    return a->err;
}

/* The first one, and those of which there have been twice as many. */
static void say(struct sp_worker *w, const rd_kafka_message_t *m)
{
    uint64_t count = ++w->set_aside;
    ADD(w, errors, 1);
    if ((count & (count - 1)) == 0)
        sp_worker_say(w, "warning",
                      "%s [%d], offset %" PRId64
                      ": is for a cell of a partition map that this stage does not have, and waits "
                      "until it has it (%" PRIu64 " such messages since the start): set "
                      "partition.map and partition.previous_map. If the map is neither newer nor "
                      "the one before these, another program wrote the message",
                      w->topics[w->options->stage.input], (int)m->partition, m->offset, count);
}

bool sp_worker_set_aside(struct sp_worker *w, struct sp_task *t, const rd_kafka_message_t *m)
{
    const struct sp_worker_stage *stage = &w->options->stage;
    if (!stage->set_aside || !stage->set_aside(t->stage, sp_view(m->payload, m->len)))
        return false;
    say(w, m);
    return true;
}
