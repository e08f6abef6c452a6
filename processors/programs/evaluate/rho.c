/* How much bounded routing costs, and how many pairs it loses, for values of rho.
 *
 * Source: Zhu et al., WWW 2012, sections 4.2 and 6: rho estimated from delta and epsilon of a
 * sample, values of 1 to 1.3 tested. Every pair of distinct contents (of a sample, if there are
 * many: joined.h) with J >= tau is found by the exact join; it is lost where the later one does not
 * visit the earlier one's cell. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "evaluate/experiment.h"
#include "evaluate/joined.h"
#include "evaluate/kinds.h"
#include "partition/rho.h"

enum { GIVEN = 8, ESTIMATED = 3, RHOS = GIVEN + ESTIMATED, MAPS = 2 };

static const double given[GIVEN] = {1, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.5};
static const double shares[ESTIMATED] = {0.5, 0.9, 0.99};
static const size_t kinds[MAPS] = {SP_KIND_PAPER_3D, SP_KIND_KD_3D};

struct sweep {
    const struct sp_distinct *contents;
    const struct sp_partition_map *map;
    enum sp_split split;
    double tau;
    uint32_t *cells; /* home of each content */
    uint32_t *targets;
    const double *rhos;
    uint64_t pairs;
    uint64_t lost[RHOS];
};

static bool visits(struct sweep *s, size_t content, uint32_t cell, double rho)
{
    const uint32_t *length = s->contents->lengths[s->split][content].at;
    uint32_t n = sp_partition_targets(s->map, length, s->tau, SP_ROUTING_BOUNDED, rho, s->targets);
    for (uint32_t i = 0; i < n; i++)
        if (s->targets[i] == cell)
            return true;
    return false;
}

static void take_pair(void *arg, size_t i, size_t k, double similarity)
{
    struct sweep *s = arg;
    (void)similarity;
    s->pairs++;
    if (s->cells[i] == s->cells[k])
        return;
    for (size_t r = 0; r < RHOS; r++)
        s->lost[r] += !visits(s, k, s->cells[i], s->rhos[r]);
}

static void put_rows(struct sp_table *t, const struct sp_map_kind *kind, const struct sweep *s,
                     const double *deltas)
{
    for (size_t r = 0; r < RHOS; r++) {
        const struct sp_kind_routing routing = {s->tau, SP_ROUTING_BOUNDED, s->rhos[r]};
        struct sp_kind_measure m =
            sp_kind_measure(s->map, s->contents, s->split, SP_MACHINES_MOST, &routing);
        sp_table_text(t, kind->label);
        if (r < GIVEN) {
            sp_table_text(t, "given");
        } else {
            char text[48];
            snprintf(text, sizeof text, "delta of %g %% of the pages", 100 * shares[r - GIVEN]);
            sp_table_text(t, text);
        }
        sp_table_number(t, r < GIVEN ? NAN : deltas[r - GIVEN], 3);
        sp_table_number(t, s->rhos[r], 3);
        sp_table_number(t, m.visited, 2);
        sp_table_count(t, s->pairs);
        sp_table_count(t, s->lost[r]);
        sp_table_percent(t, s->pairs ? (double)s->lost[r] / (double)s->pairs : 0, 3);
    }
    const struct sp_kind_routing lossless = {s->tau, SP_ROUTING_LOSSLESS, 1};
    sp_table_text(t, kind->label);
    sp_table_text(t, "lossless routing");
    sp_table_blank(t);
    sp_table_blank(t);
    sp_table_number(
        t, sp_kind_measure(s->map, s->contents, s->split, SP_MACHINES_MOST, &lossless).visited, 2);
    sp_table_count(t, s->pairs);
    sp_table_count(t, 0);
    sp_table_percent(t, 0, 3);
}

static enum sp_err sweep_kind(const struct sp_evaluation *e, const struct sp_joined *joined,
                              const struct sp_map_kind *kind, struct sp_table *t)
{
    const struct sp_distinct *d = joined->contents;
    const struct sp_similarity_options *similarity = &e->options->bus.group.similarity;
    struct sp_partition_map map;
    double rhos[RHOS], deltas[ESTIMATED];
    enum sp_err err = sp_kind_train(kind, d, SP_MACHINES_MOST, similarity->threshold, &map);
    if (err != SP_OK)
        return err;
    for (size_t r = 0; r < RHOS; r++) {
        struct sp_rho estimate = {0, 1};
        if (r >= GIVEN) {
            estimate =
                sp_rho_of_sample(d->lengths[kind->split], d->count, kind->dims, shares[r - GIVEN]);
            deltas[r - GIVEN] = estimate.delta;
        }
        rhos[r] = r < GIVEN ? given[r] : estimate.rho;
    }
    struct sweep s = {.contents = d,
                      .map = &map,
                      .split = kind->split,
                      .tau = similarity->threshold,
                      .cells = sp_alloc((d->count + 1) * sizeof *s.cells),
                      .targets = sp_alloc(map.cells * sizeof *s.targets),
                      .rhos = rhos};
    for (size_t i = 0; i < d->count; i++)
        s.cells[i] = sp_partition_cell(&map, d->lengths[kind->split][i].at);
    err = sp_joined_each(joined, similarity, take_pair, &s);
    if (err == SP_OK)
        put_rows(t, kind, &s, deltas);
    sp_free(s.cells);
    sp_free(s.targets);
    sp_partition_done(&map);
    return err;
}

static enum sp_err run(struct sp_evaluation *e)
{
    static const char *const columns[] = {
        "map", "rho from", "delta", "rho", "machines visited", "similar pairs", "lost", "share"};
    const struct sp_distinct *d = NULL;
    struct sp_joined joined;
    enum sp_err err = sp_evaluation_alive(e, &d);
    if (err != SP_OK)
        return err;
    if (d->count == 0) {
        sp_report_text(e->report, "No page is alive at the end: there is nothing to send.");
        return SP_OK;
    }
    sp_evaluation_of_contents(e, d);
    sp_joined_choose(d, SP_JOINED_MOST, &joined);
    struct sp_table *t = sp_table_new("rho", "Bounded routing on 64 machines", columns, 8);
    for (size_t k = 0; k < MAPS && err == SP_OK; k++) {
        sp_evaluation_say(e, "rho", k, MAPS);
        err = sweep_kind(e, &joined, &sp_map_kinds[kinds[k]], t);
    }
    sp_report_text(
        e->report,
        "The paper's condition sends a page to the cells between L tau / rho and L rho / tau on "
        "each axis. rho follows from delta, the deviation of a page's three lengths from equal "
        "lengths, and epsilon, which is 0 here. delta is estimated as the bound that a given "
        "share of the pages keeps (`samepage train` prints the same for a map's sample). A pair "
        "is lost if the later content does not visit the cell of the earlier one. The proof "
        "allows for the worst case of both pages; but similar pages deviate alike, so even rho = "
        "1 loses few pairs.");
    sp_joined_say(&joined, e->report);
    sp_joined_done(&joined);
    sp_report_table(e->report, t);
    return err == SP_OK ? SP_OK : sp_fault_set(e->fault, err, "rho: a map cannot be trained");
}

const struct sp_experiment sp_experiment_rho = {"rho", "Section 4.2: rho, and what it loses", run,
                                                0.6, 0};
