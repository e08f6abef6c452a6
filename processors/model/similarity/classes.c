/* See classes.h. */
#include "similarity/classes.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"

static int by_content(const void *a, const void *b)
{
    const struct sp_class_page *x = a, *y = b;
    if (x->signature->params != y->signature->params)
        return x->signature->params < y->signature->params ? -1 : 1;
    int order = sp_id_cmp(x->signature->content_hash, y->signature->content_hash);
    if (order)
        return order;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool same_content(const struct sp_class_page *a, const struct sp_class_page *b)
{
    return a->signature->params == b->signature->params &&
           sp_id_eq(a->signature->content_hash, b->signature->content_hash);
}

void sp_classes_make(struct sp_signature *const *signatures, size_t count,
                     struct sp_classes *ret_classes)
{
    struct sp_classes c = {.page_count = count};
    uint64_t *order = sp_alloc((count + 1) * sizeof *order); /* size and start of each class */
    c.sorted = sp_alloc((count + 1) * sizeof *c.sorted);
    for (size_t i = 0; i < count; i++)
        c.sorted[i] = (struct sp_class_page){signatures[i], i};
    qsort(c.sorted, count, sizeof *c.sorted, by_content);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || !same_content(&c.sorted[i - 1], &c.sorted[i]))
            order[c.count++] = (uint64_t)c.sorted[i].signature->shingle_count << 32 | i;
    qsort(order, c.count, sizeof *order, sp_by_u64);
    c.firsts = sp_alloc((c.count + 1) * sizeof *c.firsts);
    for (size_t i = 0; i < c.count; i++)
        c.firsts[i] = (uint32_t)order[i];
    sp_free(order);
    *ret_classes = c;
}

void sp_classes_done(struct sp_classes *c)
{
    sp_free(c->sorted);
    sp_free(c->firsts);
    *c = (struct sp_classes){0};
}

size_t sp_class_end(const struct sp_classes *c, size_t start)
{
    size_t end = start + 1;
    while (end < c->page_count && same_content(&c->sorted[start], &c->sorted[end]))
        end++;
    return end;
}
