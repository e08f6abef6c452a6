/* Messages: allocation from a per-thread free list, what each owns, and where each goes. */
#include "page/message.h"

#include "base/assert.h"
#include "base/mem.h"

enum { FREE_LIST_MAX = 4096 };
static _Thread_local struct sp_message *free_list;
static _Thread_local unsigned free_count;

int sp_group_id_cmp(struct sp_group_id a, struct sp_group_id b)
{
    if (a.birth != b.birth)
        return a.birth < b.birth ? -1 : 1;
    return sp_id_cmp(a.founder, b.founder);
}

struct sp_message *sp_message_new(enum sp_message_kind kind)
{
    struct sp_message *m = free_list;
    if (m) {
        free_list = m->next;
        free_count--;
        *m = (struct sp_message){0};
    } else {
        m = sp_calloc(1, sizeof *m);
    }
    m->kind = kind;
    return m;
}

void sp_member_row_done(struct sp_member_row *row)
{
    sp_signature_unref(row->signature);
    sp_free(row->url);
}

static void link_done(struct sp_link *link)
{
    sp_free(link->edges);
    for (uint32_t i = 0; i < link->row_count; i++)
        sp_member_row_done(&link->rows[i]);
    sp_free(link->rows);
    sp_free(link->url);
}

static void payload_done(struct sp_message *m)
{
    switch (m->kind) {
    case SP_MSG_CRAWLED:
        sp_signature_unref(m->crawled.signature);
        sp_free(m->crawled.url);
        sp_free(m->crawled.target_url);
        break;
    case SP_MSG_MATCH:
    case SP_MSG_FIND_GROUP:
    case SP_MSG_LINK:
    case SP_MSG_UNION:
    case SP_MSG_DISSOLVE:
    case SP_MSG_MEMBERS:
        link_done(&m->link);
        break;
    case SP_MSG_STATUS:
        sp_free(m->verdict.winner_url);
        break;
    case SP_MSG_MOVE:
        sp_signature_unref(m->move.signature);
        break;
    case SP_MSG_CHANGE:
        sp_signature_unref(m->change.signature);
        sp_free(m->change.url);
        break;
    case SP_MSG_PUT:
        sp_signature_unref(m->put.signature);
        break;
    case SP_MSG_PROBE:
        sp_signature_unref(m->probe.signature);
        break;
    case SP_MSG_APPLIED:
    case SP_MSG_ASSIGNED:
    case SP_MSG_REMOVE:
    case SP_MSG_AGAIN:
        break; /* own nothing */
    }
}

void sp_message_free(struct sp_message *m)
{
    if (!m)
        return;
    payload_done(m);
    if (free_count < FREE_LIST_MAX) {
        m->next = free_list;
        free_list = m;
        free_count++;
    } else {
        sp_free(m);
    }
}

void sp_message_thread_done(void)
{
    for (struct sp_message *next; free_list; free_list = next) {
        next = free_list->next;
        sp_free(free_list);
    }
    free_count = 0;
}

static bool holds_link(enum sp_message_kind kind)
{
    switch (kind) {
    case SP_MSG_MATCH:
    case SP_MSG_FIND_GROUP:
    case SP_MSG_LINK:
    case SP_MSG_UNION:
    case SP_MSG_DISSOLVE:
    case SP_MSG_MEMBERS:
        return true;
    case SP_MSG_CRAWLED:
    case SP_MSG_APPLIED:
    case SP_MSG_ASSIGNED:
    case SP_MSG_STATUS:
    case SP_MSG_MOVE:
    case SP_MSG_CHANGE:
    case SP_MSG_PUT:
    case SP_MSG_REMOVE:
    case SP_MSG_PROBE:
    case SP_MSG_AGAIN:
        return false;
    }
    return false;
}

const struct sp_link *sp_message_link(const struct sp_message *m)
{
    return holds_link(m->kind) ? &m->link : NULL;
}

void sp_message_turn(struct sp_message *m, enum sp_message_kind kind)
{
    SP_ASSERT(holds_link(m->kind) && holds_link(kind));
    m->kind = kind;
}

bool sp_message_next_edge(struct sp_message *m)
{
    struct sp_link *link = &m->link;
    SP_ASSERT(holds_link(m->kind) && link->edge_count > 0);
    if (link->edge_count == 1) {
        sp_message_free(m);
        return false;
    }
    link->edge_count--;
    memmove(link->edges, link->edges + 1, link->edge_count * sizeof *link->edges);
    return true;
}

const char *sp_message_name(enum sp_message_kind kind)
{
    switch (kind) {
    case SP_MSG_CRAWLED:
        return "crawled";
    case SP_MSG_APPLIED:
        return "applied";
    case SP_MSG_MATCH:
        return "match";
    case SP_MSG_FIND_GROUP:
        return "find_group";
    case SP_MSG_ASSIGNED:
        return "assigned";
    case SP_MSG_STATUS:
        return "status";
    case SP_MSG_MOVE:
        return "move";
    case SP_MSG_CHANGE:
        return "change";
    case SP_MSG_LINK:
        return "link";
    case SP_MSG_UNION:
        return "union";
    case SP_MSG_DISSOLVE:
        return "dissolve";
    case SP_MSG_MEMBERS:
        return "members";
    case SP_MSG_PUT:
        return "put";
    case SP_MSG_REMOVE:
        return "remove";
    case SP_MSG_PROBE:
        return "probe";
    case SP_MSG_AGAIN:
        return "again";
    }
    return "unknown";
}

/* ---- where each goes ----------------------------------------------------------------------- */

enum sp_actor sp_message_actor(const struct sp_message *m)
{
    switch (m->kind) {
    case SP_MSG_CRAWLED:
    case SP_MSG_APPLIED:
    case SP_MSG_MATCH:
    case SP_MSG_FIND_GROUP:
    case SP_MSG_ASSIGNED:
    case SP_MSG_STATUS:
    case SP_MSG_MOVE:
        return SP_ACTOR_PAGE;
    case SP_MSG_CHANGE:
    case SP_MSG_LINK:
    case SP_MSG_UNION:
        return m->bounced ? SP_ACTOR_PAGE : SP_ACTOR_GROUP;
    case SP_MSG_DISSOLVE:
    case SP_MSG_MEMBERS:
        return SP_ACTOR_GROUP;
    case SP_MSG_PUT:
    case SP_MSG_REMOVE:
    case SP_MSG_PROBE:
    case SP_MSG_AGAIN:
        return SP_ACTOR_CELL;
    }
    SP_ASSERT(!"a kind of message");
}

enum sp_tier sp_message_tier(const struct sp_message *m)
{
    return sp_message_actor(m) == SP_ACTOR_CELL ? SP_TIER_2 : SP_TIER_1;
}

static struct sp_id first_edge(const struct sp_message *m)
{
    SP_ASSERT(m->link.edge_count > 0);
    return m->link.edges[0].page;
}

struct sp_id sp_message_home(const struct sp_message *m)
{
    switch (m->kind) {
    case SP_MSG_CRAWLED:
    case SP_MSG_APPLIED:
    case SP_MSG_MATCH:
    case SP_MSG_ASSIGNED:
    case SP_MSG_STATUS:
    case SP_MSG_MOVE:
        return m->page;
    case SP_MSG_FIND_GROUP:
        return first_edge(m);
    case SP_MSG_CHANGE:
        return m->bounced ? m->page : m->change.group.founder;
    case SP_MSG_LINK:
        return m->bounced ? m->page : m->link.group.founder;
    case SP_MSG_UNION:
        return m->bounced ? first_edge(m) : m->link.group.founder;
    case SP_MSG_DISSOLVE:
    case SP_MSG_MEMBERS:
        return m->link.group.founder;
    case SP_MSG_PUT:
    case SP_MSG_REMOVE:
    case SP_MSG_PROBE:
    case SP_MSG_AGAIN:
        break;
    }
    SP_ASSERT(!"a message of tier 1");
}

uint32_t sp_message_cell(const struct sp_message *m)
{
    switch (m->kind) {
    case SP_MSG_PUT:
        return m->put.cell;
    case SP_MSG_REMOVE:
        return m->remove.cell;
    case SP_MSG_PROBE:
        return m->probe.cell;
    case SP_MSG_AGAIN:
        return m->again.cell;
    case SP_MSG_CRAWLED:
    case SP_MSG_APPLIED:
    case SP_MSG_MATCH:
    case SP_MSG_FIND_GROUP:
    case SP_MSG_ASSIGNED:
    case SP_MSG_STATUS:
    case SP_MSG_MOVE:
    case SP_MSG_CHANGE:
    case SP_MSG_LINK:
    case SP_MSG_UNION:
    case SP_MSG_DISSOLVE:
    case SP_MSG_MEMBERS:
        break;
    }
    SP_ASSERT(!"a message of tier 2");
}

struct sp_group_id *sp_message_group(struct sp_message *m)
{
    switch (m->kind) {
    case SP_MSG_CHANGE:
        return &m->change.group;
    case SP_MSG_LINK:
    case SP_MSG_UNION:
    case SP_MSG_DISSOLVE:
    case SP_MSG_MEMBERS:
        return &m->link.group;
    case SP_MSG_CRAWLED:
    case SP_MSG_APPLIED:
    case SP_MSG_MATCH:
    case SP_MSG_FIND_GROUP:
    case SP_MSG_ASSIGNED:
    case SP_MSG_STATUS:
    case SP_MSG_MOVE:
    case SP_MSG_PUT:
    case SP_MSG_REMOVE:
    case SP_MSG_PROBE:
    case SP_MSG_AGAIN:
        break;
    }
    SP_ASSERT(!"a message for a group actor");
}

const char *sp_status_name(enum sp_page_status status)
{
    static const char *const text[] = {"none", "unique", "winner", "loser", "gone"};
    return (unsigned)status < sizeof text / sizeof *text ? text[status] : "unknown";
}

const char *sp_reason_name(enum sp_reason reason)
{
    static const char *const text[] = {NULL, "content", "redirect", "exact"};
    return (unsigned)reason < sizeof text / sizeof *text ? text[reason] : NULL;
}

const char *sp_rank_rule_name(enum sp_rank_rule rule)
{
    static const char *const text[] = {NULL,     "popularity", "static",  "short",
                                       "market", "id",         "override"};
    return (unsigned)rule < sizeof text / sizeof *text ? text[rule] : NULL;
}
