/* Lists of messages, for channels and transactions: see queue.h. */
#include "queue.h"

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

void queue_put_before(struct queue *q, struct queue *first)
{
    if (!first->first)
        return;
    first->last->next = q->first;
    if (!q->first)
        q->last = first->last;
    q->first = first->first;
    first->first = NULL;
}
