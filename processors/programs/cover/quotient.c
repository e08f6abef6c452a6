/* See quotient.h. Documents are sorted into classes of equal content and equal exact fields, and
 * within a class by the first order, the best first. Each is compared with the documents of its
 * class that represent themselves so far. With one order that is one document; with several orders
 * it is a few, limited to FRONTIER so that the work stays linear. */
#include "cover/quotient.h"

#include <stdlib.h>

#include "base/mem.h"

enum { FRONTIER = 32 };

struct ref {
    uint64_t exact; /* hash of the exact fields */
    double first;   /* the greater of F and G of the first order */
    uint32_t content;
    uint32_t document;
};

static int by_class(const void *a, const void *b)
{
    const struct ref *x = a, *y = b;
    if (x->content != y->content)
        return x->content < y->content ? -1 : 1;
    if (x->exact != y->exact)
        return x->exact < y->exact ? -1 : 1;
    if (x->first != y->first)
        return x->first > y->first ? -1 : 1;
    return x->document < y->document ? -1 : x->document > y->document;
}

uint64_t sp_value_hash(const struct sp_node *value, const struct sp_relation_pair *pair)
{
    if (value->type == SP_TYPE_TEXT) {
        struct sp_view text = sp_relation_text(value, pair);
        return sp_hash64(text.data ? text.data : "", text.len);
    }
    double x = sp_relation_number(value, pair) + 0.0; /* -0 equals 0 */
    return sp_hash64(&x, sizeof x);
}

struct quotient {
    const struct sp_documents *documents;
    const struct sp_relation *relation;
    const struct sp_plan *plan;
};

static uint64_t exact_hash(const struct quotient *q, uint32_t document)
{
    struct sp_relation_pair pair = sp_documents_pair(q->documents, document, document, 0);
    uint64_t hash = 0;
    for (size_t f = 0; f < SP_FIELD_COUNT; f++) {
        if (!(q->plan->exact & 1u << f))
            continue;
        struct sp_node field = {.op = SP_OP_FIELD, .field = (enum sp_field)f};
        field.type = sp_field_is_text(field.field) ? SP_TYPE_TEXT : SP_TYPE_NUMBER;
        hash = sp_mix64(hash + f + 1) ^ sp_value_hash(&field, &pair);
    }
    return hash;
}

static bool same_exact(const struct quotient *q, uint32_t x, uint32_t y)
{
    const union sp_cell *a = sp_document_cells(q->documents, x);
    const union sp_cell *b = sp_document_cells(q->documents, y);
    for (size_t f = 0; f < SP_FIELD_COUNT; f++) {
        if (!(q->plan->exact & 1u << f))
            continue;
        uint8_t slot = q->documents->slot[f];
        bool same = sp_field_is_text((enum sp_field)f) ? a[slot].text == b[slot].text
                                                       : a[slot].number == b[slot].number;
        if (!same) /* equal texts are one object */
            return false;
    }
    return true;
}

/* Whether r may represent document a. */
static bool stands_for(const struct quotient *q, uint32_t r, uint32_t a)
{
    const struct sp_cover_document *item = &q->documents->items[a];
    uint32_t size = q->documents->contents[item->content].size;
    struct sp_relation_pair pair = sp_documents_pair(q->documents, a, r, size);
    struct sp_relation_pair turned = sp_documents_pair(q->documents, r, a, size);
    const double *weights = q->documents->weights;
    if (weights && weights[r] > weights[a])
        return false;
    if (!same_exact(q, r, a) || !sp_relation_holds(q->relation->root, &pair))
        return false;
    for (size_t i = 0; i < q->plan->order_count; i++) {
        const struct sp_plan_range *o = &q->plan->orders[i];
        double f_a = sp_relation_number(o->of_a, &pair), g_r = sp_relation_number(o->of_b, &pair);
        double f_r = sp_relation_number(o->of_a, &turned);
        double g_a = sp_relation_number(o->of_b, &turned);
        if (!(o->sign * f_a <= o->sign * f_r && o->sign * g_a <= o->sign * g_r))
            return false;
    }
    return true;
}

static struct ref make_ref(const struct quotient *q, uint32_t document)
{
    struct ref ref = {.content = q->documents->items[document].content,
                      .document = document,
                      .exact = exact_hash(q, document)};
    if (q->plan->order_count > 0) {
        const struct sp_plan_range *o = &q->plan->orders[0];
        struct sp_relation_pair pair = sp_documents_pair(q->documents, document, document, 0);
        double x = o->sign * sp_relation_number(o->of_b, &pair);
        ref.first = x == x ? x : 0; /* the place of NaN does not matter */
    }
    return ref;
}

size_t sp_quotient(const struct sp_documents *documents, const struct sp_relation *relation,
                   const struct sp_plan *plan, uint32_t *ret_stands_for)
{
    struct quotient q = {documents, relation, plan};
    size_t count = documents->count, own = 0, frontier_count = 0;
    struct ref *refs = sp_alloc((count + 1) * sizeof *refs);
    uint32_t frontier[FRONTIER];
    for (size_t i = 0; i < count; i++)
        refs[i] = make_ref(&q, (uint32_t)i);
    qsort(refs, count, sizeof *refs, by_class);
    for (size_t i = 0; i < count; i++) {
        uint32_t document = refs[i].document;
        if (i == 0 || refs[i].content != refs[i - 1].content || refs[i].exact != refs[i - 1].exact)
            frontier_count = 0;
        size_t k = 0;
        while (k < frontier_count && !stands_for(&q, frontier[k], document))
            k++;
        ret_stands_for[document] = k < frontier_count ? frontier[k] : document;
        own += k == frontier_count;
        if (k == frontier_count && frontier_count < FRONTIER)
            frontier[frontier_count++] = document;
    }
    sp_free(refs);
    return own;
}
