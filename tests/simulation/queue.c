/* Lists of messages, for channels and transactions: see queue.h. */
#include "queue.h"

#include <string.h>

#include "base/mem.h"

void queue_push(struct queue *q, struct sp_message *m)
{
    m->next = NULL;
    if (q->first)
        q->last->next = m;
    else
        q->first = m;
    q->last = m;
}

struct sp_message *queue_pop(struct queue *q)
{
    struct sp_message *m = q->first;
    if (m)
        q->first = m->next;
    return m;
}

void queue_clear(struct queue *q)
{
    struct sp_message *m;
    while ((m = queue_pop(q)))
        sp_message_free(m);
}

struct sp_message *message_copy(const struct sp_message *m)
{
    struct sp_message *c = sp_message_new(m->kind);
    *c = *m;
    if (c->signature)
        sp_signature_ref(c->signature);
    c->url = m->url ? sp_memdup(m->url, strlen(m->url) + 1) : NULL;
    c->target_url = m->target_url ? sp_memdup(m->target_url, strlen(m->target_url) + 1) : NULL;
    c->edges = m->edge_count ? sp_memdup(m->edges, m->edge_count * sizeof *m->edges) : NULL;
    c->rows = m->row_count ? sp_memdup(m->rows, m->row_count * sizeof *m->rows) : NULL;
    for (uint32_t i = 0; i < m->row_count; i++) {
        if (c->rows[i].signature)
            sp_signature_ref(c->rows[i].signature);
        c->rows[i].url = sp_memdup(m->rows[i].url, strlen(m->rows[i].url) + 1);
    }
    return c;
}
