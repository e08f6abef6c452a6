/* Messages: allocation from a per-thread free list, ownership and routing. */
#include "page/message.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/mem.h"

/* The actor that a message goes to. */
enum route {
    TO_PAGE,  /* the page actor of the head's page */
    TO_EDGE,  /* the page actor of the first edge's page */
    TO_GROUP, /* the group actor `group` */
    TO_CELL   /* the cell actor `cell` */
};

struct kind {
    const char *name;
    bool links; /* its payload is a struct sp_link */
    enum route route;
    enum route bounced; /* on its way back */
    size_t address;     /* offset of the group or cell in struct sp_message; 0: it has none */
};

/* One line for each kind. payload_done shows what each payload owns. */
#define AT(field) offsetof(struct sp_message, field)
#define KINDS(X)                                                                                   \
    X(CRAWLED, "crawled", false, TO_PAGE, TO_PAGE, 0)                                              \
    X(APPLIED, "applied", false, TO_PAGE, TO_PAGE, 0)                                              \
    X(MATCH, "match", true, TO_PAGE, TO_PAGE, 0)                                                   \
    X(FIND_GROUP, "find_group", true, TO_EDGE, TO_EDGE, 0)                                         \
    X(ASSIGNED, "assigned", false, TO_PAGE, TO_PAGE, 0)                                            \
    X(STATUS, "status", false, TO_PAGE, TO_PAGE, 0)                                                \
    X(MOVE, "move", false, TO_PAGE, TO_PAGE, 0)                                                    \
    X(CHANGE, "change", false, TO_GROUP, TO_PAGE, AT(change.group))                                \
    X(LINK, "link", true, TO_GROUP, TO_PAGE, AT(link.group))                                       \
    X(UNION, "union", true, TO_GROUP, TO_EDGE, AT(link.group))                                     \
    X(DISSOLVE, "dissolve", true, TO_GROUP, TO_GROUP, AT(link.group))                              \
    X(MEMBERS, "members", true, TO_GROUP, TO_GROUP, AT(link.group))                                \
    X(ERASE, "erase", false, TO_PAGE, TO_PAGE, 0)                                                  \
    X(WAIT, "wait", false, TO_GROUP, TO_GROUP, AT(wait.group))                                     \
    X(PUT, "put", false, TO_CELL, TO_CELL, AT(put.cell))                                           \
    X(REMOVE, "remove", false, TO_CELL, TO_CELL, AT(remove.cell))                                  \
    X(PROBE, "probe", false, TO_CELL, TO_CELL, AT(probe.cell))                                     \
    X(AGAIN, "again", false, TO_CELL, TO_CELL, AT(again.cell))

#define X(kind, ...) [SP_MSG_##kind] = {__VA_ARGS__},
static const struct kind kinds[] = {KINDS(X)};
#undef X
#define X(kind, ...) LINE_OF_##kind,
enum { KINDS(X) LINES };
_Static_assert(LINES == SP_MSG_KINDS - 1, "each kind of message has a line in KINDS");
#undef X

static const struct kind *kind_of(enum sp_message_kind kind)
{
    SP_ASSERT(kind > 0 && (int)kind < SP_MSG_KINDS);
    return &kinds[kind];
}

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
    case SP_MSG_ERASE:
        sp_free(m->erase.url);
        break;
    case SP_MSG_PUT:
        sp_signature_unref(m->put.signature);
        break;
    case SP_MSG_PROBE:
        sp_signature_unref(m->probe.signature);
        break;
    case SP_MSG_APPLIED:
    case SP_MSG_ASSIGNED:
    case SP_MSG_WAIT:
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

const struct sp_link *sp_message_link(const struct sp_message *m)
{
    return kind_of(m->kind)->links ? &m->link : NULL;
}

void sp_message_turn(struct sp_message *m, enum sp_message_kind kind)
{
    SP_ASSERT(kind_of(m->kind)->links && kind_of(kind)->links);
    m->kind = kind;
}

bool sp_message_next_edge(struct sp_message *m)
{
    struct sp_link *link = &m->link;
    SP_ASSERT(kind_of(m->kind)->links && link->edge_count > 0);
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
    return kind > 0 && (int)kind < SP_MSG_KINDS ? kinds[kind].name : "unknown";
}

/* ---- routing ---- */

static enum route route_of(const struct sp_message *m)
{
    const struct kind *k = kind_of(m->kind);
    return m->bounced ? k->bounced : k->route;
}

enum sp_actor sp_message_actor(const struct sp_message *m)
{
    enum route route = route_of(m);
    return route == TO_CELL ? SP_ACTOR_CELL : route == TO_GROUP ? SP_ACTOR_GROUP : SP_ACTOR_PAGE;
}

enum sp_tier sp_message_tier(const struct sp_message *m)
{
    return sp_message_actor(m) == SP_ACTOR_CELL ? SP_TIER_2 : SP_TIER_1;
}

struct sp_group_id *sp_message_group(struct sp_message *m)
{
    const struct kind *k = kind_of(m->kind);
    SP_ASSERT(k->route == TO_GROUP);
    return (struct sp_group_id *)((char *)m + k->address);
}

struct sp_id sp_message_home(const struct sp_message *m)
{
    switch (route_of(m)) {
    case TO_PAGE:
        return m->page;
    case TO_EDGE:
        SP_ASSERT(m->link.edge_count > 0);
        return m->link.edges[0].page;
    case TO_GROUP:
        return ((const struct sp_group_id *)((const char *)m + kinds[m->kind].address))->founder;
    case TO_CELL:
        break;
    }
    SP_ASSERT(!"a message of tier 1");
}

uint32_t sp_message_cell(const struct sp_message *m)
{
    const struct kind *k = kind_of(m->kind);
    SP_ASSERT(k->route == TO_CELL);
    return *(const uint32_t *)((const char *)m + k->address);
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
