/* See apart.h. Documents are sorted by a hash of F. The first one of each hash begins a class; the
 * others join it if the condition itself says that they have its value. NaN differs from itself,
 * so such a document has no class. */
#include "cover/apart.h"

#include <stdlib.h>

#include "base/mem.h"
#include "cover/quotient.h"

struct value {
    uint64_t hash;
    uint32_t document;
};

static int by_value(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->document < y->document ? -1 : x->document > y->document;
}

/* Sets the class of each of the documents in `values`; returns the number of classes. */
static uint32_t classify(const struct sp_atom *atom, const struct sp_documents *documents,
                         struct value *values, size_t count, uint32_t *classes)
{
    uint32_t class_count = 0, first = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t d = values[i].document;
        struct sp_relation_pair pair = sp_documents_pair(documents, d, d, 0);
        values[i].hash = sp_value_hash(atom->node->kid[0], &pair);
    }
    qsort(values, count, sizeof *values, by_value);
    for (size_t i = 0; i < count; i++) {
        uint32_t d = values[i].document;
        if (i == 0 || values[i].hash != values[i - 1].hash) {
            first = d;
            class_count++;
        }
        struct sp_relation_pair pair = sp_documents_pair(documents, first, d, 0);
        classes[d] = sp_atom_holds(atom, &pair) ? 0 : class_count;
    }
    return class_count;
}

uint32_t *sp_apart_make(const struct sp_path *path, const struct sp_documents *documents,
                        const uint32_t *stands_for)
{
    size_t count = 0;
    uint32_t *best = NULL, fewest = UINT32_MAX;
    if (path->apart_count == 0)
        return NULL;
    struct value *values = sp_alloc((documents->count + 1) * sizeof *values);
    for (uint32_t i = 0; i < documents->count; i++)
        if (stands_for[i] == i)
            values[count++].document = i;
    for (size_t i = 0; i < path->apart_count; i++) {
        uint32_t *classes = sp_calloc(documents->count + 1, sizeof *classes);
        uint32_t n = classify(&path->apart[i], documents, values, count, classes);
        if (n < fewest) {
            uint32_t *worse = best;
            best = classes;
            classes = worse;
            fewest = n;
        }
        sp_free(classes);
    }
    sp_free(values);
    return best;
}
