/* See refs.h. */
#include "cover/refs.h"

#include <stdlib.h>

static int by_unit(const void *a, const void *b)
{
    const struct sp_ref *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->content != y->content)
        return x->content < y->content ? -1 : 1;
    if (x->alike != y->alike)
        return x->alike < y->alike ? -1 : 1;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->document < y->document ? -1 : x->document > y->document;
}

static int by_class(const void *a, const void *b)
{
    const struct sp_ref *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->content != y->content)
        return x->content < y->content ? -1 : 1;
    if (x->apart != y->apart)
        return x->apart < y->apart ? -1 : 1;
    return x->document < y->document ? -1 : x->document > y->document;
}

static bool of_one_unit(const struct sp_ref *x, const struct sp_ref *y)
{
    return x->block == y->block && x->content == y->content;
}

/* Marks the documents of the unit [from, to), which are sorted by class, that have the class of
 * most. */
static void mark_alike(struct sp_ref *refs, size_t from, size_t to)
{
    size_t most = from, best = 0, start = from;
    for (size_t i = from; i < to; i++) {
        if (refs[i].apart != refs[start].apart)
            start = i;
        if (refs[i].apart > 0 && i + 1 - start > best) {
            best = i + 1 - start;
            most = start;
        }
    }
    for (size_t i = most; i < most + best; i++)
        refs[i].alike = true;
}

void sp_refs_sort(struct sp_ref *refs, size_t count, bool has_classes)
{
    if (has_classes) {
        qsort(refs, count, sizeof *refs, by_class);
        for (size_t from = 0, to; from < count; from = to) {
            for (to = from + 1; to < count && of_one_unit(&refs[from], &refs[to]);)
                to++;
            mark_alike(refs, from, to);
        }
    }
    qsort(refs, count, sizeof *refs, by_unit);
}
