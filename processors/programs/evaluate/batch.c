/* How much tier 2 would save by comparing pages in batches.
 *
 * Source: Zhu et al., WWW 2012, section 5.1: tier 2 accumulates pages before it compares them, so
 * that stored signatures are loaded once for many pages. Here pages are compared through an index
 * in memory: a probe looks up each of its shingles in each cell that it visits, and loads few
 * signatures. A batch can save look-ups only where several of its pages have the same shingle in
 * the same cell; that share is a bound on what one pass over the postings for many probes would
 * gain. Pages are taken in the order of their fetches. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "evaluate/experiment.h"
#include "evaluate/kinds.h"

enum { SIZES = 4, MAPS = 2 };

static const size_t sizes[SIZES] = {1, 16, 256, 4096};

/* Look-ups of a batch: the cell above, the shingle below. */
struct batch {
    uint64_t *lookups;
    size_t count;
    size_t cap;
};

static uint64_t count_distinct(struct batch *b)
{
    uint64_t distinct = 0;
    if (b->count)
        qsort(b->lookups, b->count, sizeof *b->lookups, sp_by_u64);
    for (size_t i = 0; i < b->count; i++)
        distinct += i == 0 || b->lookups[i] != b->lookups[i - 1];
    return distinct;
}

static void add(struct batch *b, const struct sp_signature *s, uint32_t cell)
{
    sp_grow(&b->lookups, &b->cap, b->count + s->shingle_count);
    for (uint32_t i = 0; i < s->shingle_count; i++)
        b->lookups[b->count++] = (uint64_t)cell << 32 | sp_signature_shingles(s)[i];
}

/* Counts the look-ups of all pages in batches of `size`, each shingle once for each cell and batch.
 */
static uint64_t count_lookups(const struct sp_distinct *d, const struct sp_partition_map *map,
                              enum sp_split split, double tau, size_t size)
{
    struct batch b = {0};
    uint64_t sum = 0;
    uint32_t *targets = sp_alloc(map->cells * sizeof *targets);
    for (size_t i = 0; i < d->count; i++) {
        uint32_t n = sp_partition_targets(map, d->lengths[split][i].at, tau, SP_ROUTING_LOSSLESS, 1,
                                          targets);
        for (uint32_t t = 0; t < n; t++)
            add(&b, d->signatures[i], targets[t]);
        if ((i + 1) % size == 0 || i + 1 == d->count) {
            sum += count_distinct(&b);
            b.count = 0;
        }
    }
    sp_free(targets);
    sp_free(b.lookups);
    return sum;
}

static void put_rows(struct sp_table *t, const char *label, const uint64_t *lookups)
{
    for (size_t i = 0; i < SIZES; i++) {
        sp_table_text(t, label);
        sp_table_count(t, sizes[i]);
        sp_table_count(t, lookups[i]);
        sp_table_percent(t, 1 - (double)lookups[i] / (double)lookups[0], 1);
    }
}

static enum sp_err measure(struct sp_evaluation *e, const struct sp_distinct *d, struct sp_table *t)
{
    static const uint32_t machines[MAPS] = {1, SP_MACHINES_MOST};
    const struct sp_map_kind *kind = &sp_map_kinds[SP_KIND_KD_3D];
    double tau = e->options->bus.group.similarity.threshold;
    for (size_t m = 0; m < MAPS; m++) {
        struct sp_partition_map map;
        uint64_t lookups[SIZES];
        enum sp_err err = machines[m] == 1 ? sp_partition_default(1, &map)
                                           : sp_kind_train(kind, d, machines[m], tau, &map);
        if (err != SP_OK)
            return sp_fault_set(e->fault, err, "batch: a map cannot be trained");
        for (size_t i = 0; i < SIZES; i++) {
            sp_evaluation_say(e, "batch", (uint64_t)m * SIZES + i, (uint64_t)SIZES * MAPS);
            lookups[i] = count_lookups(d, &map, machines[m] == 1 ? SP_SPLIT_TOTAL : kind->split,
                                       tau, sizes[i]);
        }
        put_rows(t, machines[m] == 1 ? "one cell" : "64 machines, 3D k-d", lookups);
        sp_partition_done(&map);
    }
    return SP_OK;
}

static enum sp_err run(struct sp_evaluation *e)
{
    static const char *const columns[] = {"map", "pages a batch", "look-ups", "saved"};
    const struct sp_distinct *d = NULL;
    enum sp_err err = sp_evaluation_alive(e, &d);
    if (err != SP_OK)
        return err;
    uint64_t shingles = 0;
    for (size_t i = 0; i < d->count; i++)
        shingles += d->signatures[i]->shingle_count;
    if (shingles == 0) {
        sp_report_text(e->report, "No page with words is alive at the end: there is no look-up.");
        return SP_OK;
    }
    sp_evaluation_of_contents(e, d);
    struct sp_table *t =
        sp_table_new("batch", "Look-ups of shingles, pages compared a batch at a time", columns, 4);
    sp_report_text(
        e->report,
        "The paper's tier 2 collects pages and compares a batch of them, so that signatures are "
        "loaded from disk once for many pages. samepage looks up the shingles of a page in an "
        "index in memory. The table shows the largest share of these look-ups that a batch could "
        "save. Sorting the look-ups costs time, a batch must also be compared with itself, and "
        "its pages wait for one another.");
    err = measure(e, d, t);
    sp_report_table(e->report, t);
    return err;
}

const struct sp_experiment sp_experiment_batch = {
    "batch", "Section 5.1: a batch of pages at a time in tier 2", run, 0.5, 0};
