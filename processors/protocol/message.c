/* Messages: allocation from a per-thread free list, and where each goes. */
#include "protocol/message.h"

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

void sp_message_free(struct sp_message *m)
{
    if (!m)
        return;
    sp_signature_unref(m->signature);
    sp_free(m->url);
    sp_free(m->target_url);
    sp_free(m->edges);
    for (uint32_t i = 0; i < m->row_count; i++)
        sp_member_row_done(&m->rows[i]);
    sp_free(m->rows);
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

bool sp_message_next_edge(struct sp_message *m)
{
    SP_ASSERT(m->edge_count > 0);
    if (m->edge_count == 1) {
        sp_message_free(m);
        return false;
    }
    m->edge_count--;
    memmove(m->edges, m->edges + 1, m->edge_count * sizeof *m->edges);
    return true;
}

static const char *const names[SP_MSG_KINDS] = {
    [SP_MSG_CRAWLED] = "crawled",   [SP_MSG_APPLIED] = "applied",
    [SP_MSG_MATCH] = "match",       [SP_MSG_FIND_GROUP] = "find_group",
    [SP_MSG_ASSIGNED] = "assigned", [SP_MSG_STATUS] = "status",
    [SP_MSG_MOVE] = "move",         [SP_MSG_CHANGE] = "change",
    [SP_MSG_LINK] = "link",         [SP_MSG_UNION] = "union",
    [SP_MSG_DISSOLVE] = "dissolve", [SP_MSG_MEMBERS] = "members",
    [SP_MSG_PUT] = "put",           [SP_MSG_REMOVE] = "remove",
    [SP_MSG_PROBE] = "probe",
};

const char *sp_message_name(enum sp_message_kind kind)
{
    return (unsigned)kind < SP_MSG_KINDS && names[kind] ? names[kind] : "unknown";
}

enum sp_tier sp_message_tier(const struct sp_message *m)
{
    return m->kind >= SP_MSG_PUT ? SP_TIER_2 : SP_TIER_1;
}

struct sp_id sp_message_home(const struct sp_message *m)
{
    if (m->kind == SP_MSG_FIND_GROUP || (m->bounced && m->kind == SP_MSG_UNION)) {
        SP_ASSERT(m->edge_count > 0);
        return m->edges[0].page;
    }
    return m->kind >= SP_MSG_CHANGE && !m->bounced ? m->group.founder : m->page;
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
