/* See apart.h. Documents are sorted by a hash of F. The first one of each hash begins a class; the
 * others join it if the condition itself says that they have its value. NaN differs from itself,
 * so such a document has no class. */
#include "cover/apart.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "cover/quotient.h"

struct value {
    uint64_t hash; /* of F; later the content */
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

/* The classes by each condition. Those of different conditions have different numbers. */
struct choices {
    const struct sp_path *path;
    uint32_t *classes[SP_PLAN_ATOMS];
    uint32_t counts[SP_PLAN_ATOMS];
    size_t fewest; /* the condition with the fewest classes */
};

static void classify_by_each(struct choices *c, const struct sp_documents *documents,
                             struct value *values, size_t count)
{
    uint32_t before = 0;
    for (size_t i = 0; i < c->path->apart_count; i++) {
        c->classes[i] = sp_calloc(documents->count + 1, sizeof **c->classes);
        c->counts[i] = classify(&c->path->apart[i], documents, values, count, c->classes[i]);
        for (size_t k = 0; before > 0 && k < count; k++)
            if (c->classes[i][values[k].document])
                c->classes[i][values[k].document] += before;
        before += c->counts[i];
        if (c->counts[i] < c->counts[c->fewest])
            c->fewest = i;
    }
}

/* Returns how many of the documents are of the most frequent class. */
static size_t most_alike(const uint32_t *classes, const struct value *values, size_t count,
                         uint32_t *scratch)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        scratch[i] = classes[values[i].document];
    qsort(scratch, count, sizeof *scratch, sp_by_u32);
    for (size_t i = 0, n = 0; i < count; i++) {
        n = i > 0 && scratch[i] == scratch[i - 1] ? n + 1 : 1;
        most = scratch[i] && n > most ? n : most;
    }
    return most;
}

/* Chooses the condition for the documents of one content. */
static size_t choose(const struct choices *c, const struct value *values, size_t count,
                     uint32_t *scratch)
{
    size_t best = c->fewest, most = 0;
    if (count == 1 || c->path->apart_count == 1)
        return best;
    most = most_alike(c->classes[best], values, count, scratch);
    for (size_t i = 0; most < count && i < c->path->apart_count; i++) {
        size_t alike = most_alike(c->classes[i], values, count, scratch);
        if (alike > most || (alike == most && c->counts[i] < c->counts[best])) {
            most = alike;
            best = i;
        }
    }
    return best;
}

uint32_t *sp_apart_make(const struct sp_path *path, const struct sp_documents *documents,
                        const uint32_t *stands_for)
{
    struct choices c = {.path = path};
    size_t count = 0;
    if (path->apart_count == 0)
        return NULL;
    struct value *values = sp_alloc((documents->count + 1) * sizeof *values);
    for (uint32_t i = 0; i < documents->count; i++)
        if (stands_for[i] == i)
            values[count++].document = i;
    classify_by_each(&c, documents, values, count);
    for (size_t i = 0; i < count; i++)
        values[i].hash = documents->items[values[i].document].content;
    qsort(values, count, sizeof *values, by_value);
    uint32_t *classes = sp_calloc(documents->count + 1, sizeof *classes);
    uint32_t *scratch = sp_alloc((count + 1) * sizeof *scratch);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && values[to].hash == values[from].hash;)
            to++;
        size_t best = choose(&c, values + from, to - from, scratch);
        for (size_t i = from; i < to; i++)
            classes[values[i].document] = c.classes[best][values[i].document];
    }
    for (size_t i = 0; i < path->apart_count; i++)
        sp_free(c.classes[i]);
    sp_free(scratch);
    sp_free(values);
    return classes;
}
