/* Messages copied and printed: see message.h. */
#include "message.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static char *copy_text(const char *text)
{
    return text ? sp_memdup(text, strlen(text) + 1) : NULL;
}

static struct sp_signature *hold(struct sp_signature *s)
{
    return s ? sp_signature_ref(s) : NULL;
}

static void own_link(struct sp_link *link)
{
    link->edges =
        link->edge_count ? sp_memdup(link->edges, link->edge_count * sizeof *link->edges) : NULL;
    link->rows =
        link->row_count ? sp_memdup(link->rows, link->row_count * sizeof *link->rows) : NULL;
    for (uint32_t i = 0; i < link->row_count; i++) {
        hold(link->rows[i].signature);
        link->rows[i].url = copy_text(link->rows[i].url);
    }
    link->url = copy_text(link->url);
}

struct sp_message *message_copy(const struct sp_message *m)
{
    struct sp_message *c = sp_message_new(m->kind);
    *c = *m;
    switch (c->kind) {
    case SP_MSG_CRAWLED:
        hold(c->crawled.signature);
        c->crawled.url = copy_text(c->crawled.url);
        c->crawled.target_url = copy_text(c->crawled.target_url);
        break;
    case SP_MSG_MATCH:
    case SP_MSG_FIND_GROUP:
    case SP_MSG_LINK:
    case SP_MSG_UNION:
    case SP_MSG_DISSOLVE:
    case SP_MSG_MEMBERS:
        own_link(&c->link);
        break;
    case SP_MSG_STATUS:
        c->verdict.winner_url = copy_text(c->verdict.winner_url);
        break;
    case SP_MSG_MOVE:
        hold(c->move.signature);
        break;
    case SP_MSG_CHANGE:
        hold(c->change.signature);
        c->change.url = copy_text(c->change.url);
        break;
    case SP_MSG_ERASE:
        c->erase.url = copy_text(c->erase.url);
        break;
    case SP_MSG_PUT:
        hold(c->put.signature);
        break;
    case SP_MSG_PROBE:
        hold(c->probe.signature);
        break;
    case SP_MSG_APPLIED:
    case SP_MSG_ASSIGNED:
    case SP_MSG_WAIT:
    case SP_MSG_REMOVE:
    case SP_MSG_AGAIN:
        break;
    }
    return c;
}

/* ---- printing ---- */

static void print_edges(const struct sp_link *link)
{
    printf("@%lld group %llu far %llu edges", (long long)link->content_version,
           (unsigned long long)link->group.birth, (unsigned long long)link->far.birth);
    for (uint32_t i = 0; i < link->row_count; i++)
        printf(" row %016llx", (unsigned long long)link->rows[i].page.lo);
    if (link->more)
        printf(" more");
    for (uint32_t i = 0; i < link->edge_count; i++)
        printf(" %016llx@%lld", (unsigned long long)link->edges[i].page.lo,
               (long long)link->edges[i].content_version);
}

static void print_content(int64_t content_version, const struct sp_signature *s)
{
    printf("@%lld", (long long)content_version);
    if (s)
        printf(" content %08x", (unsigned)s->content_hash.lo);
}

static void print_payload(const struct sp_message *m)
{
    switch (m->kind) {
    case SP_MSG_CRAWLED:
        print_content(m->crawled.version, m->crawled.signature);
        break;
    case SP_MSG_APPLIED:
        print_content(m->applied.content_version, NULL);
        break;
    case SP_MSG_MATCH:
    case SP_MSG_FIND_GROUP:
    case SP_MSG_LINK:
    case SP_MSG_UNION:
    case SP_MSG_DISSOLVE:
    case SP_MSG_MEMBERS:
        print_edges(&m->link);
        break;
    case SP_MSG_ASSIGNED:
        printf(" far %llu", (unsigned long long)m->assigned.far.birth);
        break;
    case SP_MSG_STATUS:
        print_content(m->verdict.content_version, NULL);
        printf(" far %llu", (unsigned long long)m->verdict.far.birth);
        break;
    case SP_MSG_MOVE:
        print_content(m->move.content_version, m->move.signature);
        break;
    case SP_MSG_CHANGE:
        print_content(m->change.content_version, m->change.signature);
        printf(" group %llu", (unsigned long long)m->change.group.birth);
        break;
    case SP_MSG_WAIT:
        printf(" group %llu far %llu", (unsigned long long)m->wait.group.birth,
               (unsigned long long)m->wait.far.birth);
        break;
    case SP_MSG_PUT:
        print_content(m->put.content_version, m->put.signature);
        printf(" old content %08x of cell %u", (unsigned)m->put.old_content.lo, m->put.cell);
        break;
    case SP_MSG_REMOVE:
        print_content(m->remove.content_version, NULL);
        printf(" old content %08x of cell %u", (unsigned)m->remove.old_content.lo, m->remove.cell);
        break;
    case SP_MSG_PROBE:
        print_content(m->probe.content_version, m->probe.signature);
        printf(" of cell %u", m->probe.cell);
        break;
    case SP_MSG_ERASE:
        break;
    case SP_MSG_AGAIN:
        printf(" content %08x of cell %u in cell %u", (unsigned)m->again.content.lo, m->again.cell,
               m->again.from);
        break;
    }
}

void message_print(const struct sp_message *m)
{
    printf("%s%s page %016llx", m->bounced ? "bounced " : "", sp_message_name(m->kind),
           (unsigned long long)m->page.lo);
    print_payload(m);
    printf("\n");
}
