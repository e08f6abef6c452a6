/* See classes.h. */
#include "similarity/classes.h"

#include <stdlib.h>

#include "base/mem.h"

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

struct sized {
    uint32_t size;
    uint32_t start;
};

static int by_size(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

void sp_classes_make(struct sp_signature *const *signatures, size_t count,
                     struct sp_classes *ret_classes)
{
    struct sp_classes c = {.page_count = count};
    struct sized *order = sp_alloc((count + 1) * sizeof *order);
    c.sorted = sp_alloc((count + 1) * sizeof *c.sorted);
    for (size_t i = 0; i < count; i++)
        c.sorted[i] = (struct sp_class_page){signatures[i], i};
    qsort(c.sorted, count, sizeof *c.sorted, by_content);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || !same_content(&c.sorted[i - 1], &c.sorted[i]))
            order[c.count++] = (struct sized){c.sorted[i].signature->shingle_count, (uint32_t)i};
    qsort(order, c.count, sizeof *order, by_size);
    c.firsts = sp_alloc((c.count + 1) * sizeof *c.firsts);
    for (size_t i = 0; i < c.count; i++)
        c.firsts[i] = order[i].start;
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
