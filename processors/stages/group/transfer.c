/* Open transfers: members that move in several messages. Records the groups that have sent a part
 * of their members and not yet the last one, and puts off what comes meanwhile. */
#include "base/mem.h"
#include "group/departures.h"

void sp_group_bounce(struct sp_group_stage *st, struct sp_message *m)
{
    m->bounced = true;
    st->stats.bounces++;
    sp_group_stage_send(st, m);
}

/* Members are moving to the group. A change comes back through its page actor, which drops it if
 * the page was forgotten meanwhile: the group itself could not tell it from a later one. */
static void put_off(struct sp_group_stage *st, struct sp_message *m)
{
    st->stats.put_off++;
    if (m->kind == SP_MSG_CHANGE)
        sp_group_bounce(st, m);
    else
        sp_group_stage_send(st, m);
}

struct sp_group *sp_group_resolve(struct sp_group_stage *st, struct sp_message *m)
{
    struct sp_group *g = sp_group_get(st, *sp_message_group(m));
    if (!g) {
        sp_message_free(m);
    } else if (g->open_count && m->kind != SP_MSG_MEMBERS &&
               st->options.canary != SP_CANARY_NO_OPENS) {
        put_off(st, m);
        g = NULL;
    }
    return g;
}

/* Asks the sender of a transfer for a message behind its last part. If that part came already, and
 * one before it was sent again by somebody else, nothing else would end the transfer. */
static void ask_for_end(struct sp_group_stage *st, const struct sp_group *g,
                        struct sp_group_id from)
{
    if (st->options.canary == SP_CANARY_NO_WAIT)
        return;
    struct sp_message *m = sp_message_new(SP_MSG_WAIT);
    m->wait.group = from;
    m->wait.far = g->id;
    sp_group_stage_send(st, m);
}

/* The group need not exist, and must not put this off: it could wait for the one that asks. If
 * members are still to be sent, the last of them ends the transfer; a reply would overtake them. */
void sp_group_wait(struct sp_group_stage *st, struct sp_message *m)
{
    if (sp_departures_include(st, m->wait.group, m->wait.far) &&
        st->options.canary != SP_CANARY_EARLY_END) {
        sp_message_free(m);
        return;
    }
    struct sp_message *end = sp_message_new(SP_MSG_MEMBERS);
    end->link.group = m->wait.far;
    end->link.far = m->wait.group;
    sp_group_stage_send(st, end);
    sp_message_free(m);
}

void sp_group_note_transfer(struct sp_group_stage *st, struct sp_group *g, struct sp_group_id from,
                            bool more)
{
    uint32_t at = 0;
    while (at < g->open_count && !sp_group_id_eq(g->opens[at], from))
        at++;
    if (more == (at < g->open_count))
        return;
    sp_group_changed(st, g);
    g->opens_changed = true;
    if (!more) {
        g->opens[at] = g->opens[--g->open_count];
        return;
    }
    sp_grow(&g->opens, &g->open_cap, g->open_count + 1);
    g->opens[g->open_count++] = from;
    ask_for_end(st, g, from);
}
