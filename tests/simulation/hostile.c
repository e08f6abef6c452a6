/* A hostile bus: see hostile.h. */
#include "hostile.h"

#include <string.h>

#include "base/assert.h"
#include "base/mem.h"
#include "codec/codec.h"
#include "message.h"

enum { OFTEN = 4 };  /* percent of the messages, for each kind of damage */
enum { PARTS = 50 }; /* percent of the parts of moving members that are kept: they are rare */

/* Another page of the crawl instead of the first that the bytes name. */
static void exchange_page(struct world *w, struct sp_buf *bytes)
{
    struct sp_id other = sim_page_id(rnd_below(&w->rnd, w->pages));
    uint32_t skip = rnd_below(&w->rnd, 3);
    for (size_t at = 0; at + sizeof other <= bytes->len; at++)
        for (uint32_t i = 0; i < w->pages; i++) {
            struct sp_id id = sim_page_id(i);
            if (memcmp(bytes->data + at, &id, sizeof id) != 0 || skip-- > 0)
                continue;
            memcpy(bytes->data + at, &other, sizeof other);
            return;
        }
}

static void damage(struct world *w, struct sp_buf *bytes)
{
    enum { HEAD = 10 };
    uint32_t times = 1 + rnd_below(&w->rnd, 2);
    if (rnd_chance(&w->rnd, 40))
        exchange_page(w, bytes);
    else
        for (uint32_t i = 0; i < times && bytes->len > HEAD; i++)
            bytes->data[HEAD + rnd_below(&w->rnd, (uint32_t)bytes->len - HEAD)] ^=
                (char)(1 << rnd_below(&w->rnd, 8));
    if (rnd_chance(&w->rnd, 5))
        bytes->len = rnd_below(&w->rnd, (uint32_t)bytes->len);
}

/* What a stage makes of the damaged bytes of a message; NULL: nothing. */
static struct sp_message *damaged(struct world *w, const struct sp_message *m)
{
    struct sp_buf bytes = {0};
    struct sp_message *made = NULL;
    sp_message_encode(m, &bytes);
    damage(w, &bytes);
    sp_message_decode(sp_buf_view(&bytes), &made);
    sp_buf_done(&bytes);
    if (made && sp_message_tier(made) == SP_TIER_2 &&
        sp_maps_standing(&w->compare.maps, sp_message_cell(made)) == SP_CELL_NONE) {
        sp_message_free(made);
        made = NULL;
    }
    return made;
}

/* Keeps a copy to be sent once more at any later time. */
static void keep(struct world *w, const struct sp_message *m)
{
    struct sp_message **place = &w->kept[rnd_below(&w->rnd, KEPT)];
    if (*place)
        sp_message_free(*place);
    *place = message_copy(m);
}

void sim_disturb(struct world *w, const struct sp_message *m)
{
    struct sp_message *more;
    bool part = m->kind == SP_MSG_MEMBERS && m->link.more;
    if (sim_is_left_alone(w))
        return;
    if (rnd_chance(&w->rnd, OFTEN))
        queue_push(&w->foreign, message_copy(m));
    if (sim_damages(w) && rnd_chance(&w->rnd, OFTEN) && (more = damaged(w, m)))
        queue_push(&w->foreign, more);
    if (rnd_chance(&w->rnd, OFTEN) && (more = w->kept[rnd_below(&w->rnd, KEPT)]))
        queue_push(&w->foreign, message_copy(more));
    if (rnd_chance(&w->rnd, part ? PARTS : 2 * OFTEN))
        keep(w, m);
}

bool sim_damages(const struct world *w)
{
    return w->o.seed % 2 == 1;
}

bool sim_is_left_alone(const struct world *w)
{
    return w->result.messages > DISTURBED_MAX;
}

void sim_disturb_done(struct world *w)
{
    queue_clear(&w->foreign);
    for (uint32_t i = 0; i < KEPT; i++)
        if (w->kept[i])
            sp_message_free(w->kept[i]);
}
