/* See quota.h. */
#include "cover/quota.h"

#include <stdlib.h>

#include "base/mem.h"

struct candidate {
    const struct sp_view *host; /* equal texts are one object */
    double weight;
    uint32_t covers; /* 0 if it is dropped */
    uint32_t document;
    bool kept;
};

/* Sorts by host; within a host kept documents come first, in the order in which they stay, then the
 * others in the order in which they are added. Hosts are independent, so their order does not
 * matter. */
static int by_host(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->host != y->host)
        return (uintptr_t)x->host < (uintptr_t)y->host ? -1 : 1;
    if (x->kept != y->kept)
        return x->kept ? -1 : 1;
    if (x->covers != y->covers)
        return x->covers > y->covers ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    bool first = x->document < y->document;
    return x->document == y->document ? 0 : first == x->kept ? -1 : 1;
}

static struct candidate *make_candidates(const struct sp_documents *documents,
                                         const struct sp_decisions *decisions)
{
    struct candidate *c = sp_calloc(documents->count + 1, sizeof *c);
    uint8_t slot = documents->slot[SP_FIELD_host];
    for (size_t i = 0; i < documents->count; i++) {
        c[i].host = sp_document_cells(documents, i)[slot].text;
        c[i].weight = documents->weights ? documents->weights[i] : 1;
        c[i].document = (uint32_t)i;
        c[i].kept = decisions->covered_by[i] == SP_KEPT;
        if (!c[i].kept)
            c[decisions->covered_by[i]].covers++;
    }
    if (documents->count)
        qsort(c, documents->count, sizeof *c, by_host);
    return c;
}

void sp_quota_apply(const struct sp_quota *quota, const struct sp_documents *documents,
                    struct sp_decisions *decisions, struct sp_quota_stats *stats)
{
    if (quota->least == 0 && quota->most == 0)
        return;
    struct candidate *c = make_candidates(documents, decisions);
    for (size_t i = 0, rank = 0; i < documents->count; i++) {
        rank = i > 0 && c[i].host == c[i - 1].host ? rank + 1 : 0;
        if (c[i].kept && quota->most && rank >= quota->most) {
            decisions->covered_by[c[i].document] = SP_LEFT_OUT;
        } else if (!c[i].kept && rank < quota->least) {
            decisions->covered_by[c[i].document] = SP_KEPT;
            stats->added++;
        }
    }
    sp_free(c);
    for (size_t i = 0; i < documents->count; i++) {
        uint32_t by = decisions->covered_by[i];
        if (by < SP_LEFT_OUT && decisions->covered_by[by] == SP_LEFT_OUT)
            decisions->covered_by[i] = SP_LEFT_OUT;
        stats->left_out += decisions->covered_by[i] == SP_LEFT_OUT;
    }
}
