/* Figure 8: how many updates tier 1 can settle by itself, and the cost of keeping the groups
 * correct.
 *
 * Source: Zhu et al., WWW 2012, section 6.2 (Figure 8: updated pages similar to their group's
 * representative, as the second batch grows) and section 5.2 (verification against the winner). The
 * first half of a trace is the first batch; the second batch grows through the second half.
 *
 * Three replays: of two crawls that overlap by half, as printed (weeks.h); and of each trace,
 * mode=fast, whose tier 1 compares each changed page with its group's
 * representative, and exact, whose groups are verified and repaired. */
#include <math.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "evaluate/crawls.h"
#include "evaluate/experiment.h"
#include "evaluate/weeks.h"
#include "replay/pairs.h"

enum { STEPS = 10, EXACT = 0, FAST = 1, WAYS = 2 };

/* Counts since the beginning of a trace. */
struct updates {
    uint64_t refetched; /* content of a page that had content before */
    uint64_t changed;   /* of these, other content than before */
    uint64_t self;      /* of these, similar to the page's last version */
};

struct trace_result {
    const char *name;
    size_t points[STEPS + 1]; /* fetches: half of the trace, and on to all of it */
    struct updates updates[STEPS + 1];
    struct sp_group_stage_stats stats[WAYS][STEPS + 1];
    struct sp_winner_pairs verified[WAYS]; /* at the end */
    struct sp_week_counts weeks[SP_WEEK_STEPS];
    struct sp_replay_result replays[WAYS];
};

/* ---- measuring ---- */

static void count_updates(const struct sp_crawl *c, const struct sp_similarity_options *o,
                          struct trace_result *r)
{
    uint32_t *content = sp_alloc((c->page_count + 1) * sizeof *content);
    memset(content, 0xff, c->page_count * sizeof *content);
    struct updates n = {0};
    size_t step = 0;
    for (size_t i = 0; i < c->fetch_count; i++) {
        for (; step <= STEPS && r->points[step] <= i; step++)
            r->updates[step] = n;
        const struct sp_crawl_fetch *f = &c->fetches[i];
        if (f->late)
            continue;
        uint32_t before = content[f->page];
        content[f->page] = f->kind == SP_PAGE_CONTENT ? f->content : SP_NO_NUMBER;
        if (before == SP_NO_NUMBER || f->kind != SP_PAGE_CONTENT)
            continue;
        n.refetched++;
        if (before == f->content)
            continue;
        n.changed++;
        n.self += sp_similar(o, c->contents[before], c->contents[f->content], NULL);
    }
    for (; step <= STEPS; step++)
        r->updates[step] = n;
    sp_free(content);
}

struct measuring {
    const struct sp_crawl *crawl;
    const struct sp_replay_options *options;
    const struct sp_baseline *end; /* what is alive there */
    struct trace_result *result;
    enum sp_err errs[WAYS];
};

struct watch {
    struct measuring *m;
    size_t way;
};

static void look(void *arg, const struct sp_replay_moment *moment)
{
    struct watch *w = arg;
    struct measuring *m = w->m;
    m->result->stats[w->way][moment->point] = moment->stats.group;
    if (moment->point == STEPS)
        sp_winner_pairs_count(m->crawl, m->end, moment->said, &m->options->bus.group.similarity,
                              &m->result->verified[w->way]);
}

static void replay_one(struct measuring *m, size_t way)
{
    struct watch w = {m, way};
    struct sp_replay_options o = *m->options;
    o.points = m->result->points;
    o.point_count = STEPS + 1;
    o.look = look;
    o.arg = &w;
    o.bus.group.mode = way == FAST ? SP_MODE_FAST : SP_MODE_EXACT;
    m->errs[way] = sp_replay(m->crawl, &o, &m->result->replays[way]);
}

static void replay_some(void *arg, unsigned thread, size_t from, size_t to)
{
    for (size_t way = from; way < to; way++)
        replay_one(arg, way);
    if (thread > 0)
        sp_message_thread_done();
}

static enum sp_err measure(const struct sp_evaluate_options *o, const struct sp_trace *t,
                           const struct sp_trace_file *file, struct trace_result *r)
{
    struct sp_partition_map map = {0};
    struct sp_baseline end = {0};
    struct sp_crawl *crawl = sp_evaluate_crawl(t, file);
    struct sp_replay_options options = sp_evaluate_replay(&o->bus, &map);
    const struct sp_similarity_options *similarity = &options.bus.group.similarity;
    struct measuring m = {crawl, &options, &end, r, {SP_OK, SP_OK}};
    size_t n = crawl->fetch_count;
    r->name = file->name;
    for (size_t i = 0; i <= STEPS; i++)
        r->points[i] = n / 2 + (n - n / 2) * i / STEPS;
    count_updates(crawl, similarity, r);
    enum sp_err err = sp_evaluate_map(crawl, similarity->threshold, 24, &map);
    if (err == SP_OK)
        err = sp_baseline_make(crawl, n, similarity, &end);
    if (err == SP_OK)
        sp_parallel(sp_evaluate_threads(o->threads), WAYS, 1, replay_some, &m);
    for (size_t i = 0; i < WAYS && err == SP_OK; i++)
        err = m.errs[i];
    if (err == SP_OK) {
        struct sp_weeks weeks = sp_weeks_make(t, file);
        err = sp_weeks_count(&weeks, &options, r->weeks);
        sp_crawl_free(weeks.crawl);
    }
    sp_baseline_done(&end);
    sp_partition_done(&map);
    sp_crawl_free(crawl);
    return err;
}

/* ---- report ---- */

/* The settled share of the pages that the second batch had updated up to that step. */
static double settled_share(const struct trace_result *r, size_t step)
{
    return sp_share(r->stats[FAST][step].settled - r->stats[FAST][0].settled,
                    r->updates[step].changed - r->updates[0].changed);
}

static void put_figure(const struct trace_result *results, size_t count, struct sp_report *report)
{
    double x[STEPS], y[SP_SERIES_MAX][STEPS], paper[STEPS];
    struct sp_series series[SP_SERIES_MAX];
    size_t shown = count < SP_SERIES_MAX - 1 ? count : SP_SERIES_MAX - 1;
    for (size_t k = 0; k < STEPS; k++) {
        x[k] = 100.0 * (double)(k + 1) / STEPS;
        paper[k] = 30;
        for (size_t i = 0; i < shown; i++)
            y[i][k] = 100 * settled_share(&results[i], k + 1);
    }
    for (size_t i = 0; i < shown; i++)
        series[i] = (struct sp_series){results[i].name, y[i], false};
    series[shown] = (struct sp_series){"paper, about", paper, true};
    struct sp_plot plot = {.name = "figure-8",
                           .caption = "Updated pages similar to their group's representative",
                           .x_label = "size of the second batch, % of the second half of the trace",
                           .y_label = "% of updated pages",
                           .x = x,
                           .x_count = STEPS,
                           .y_from_zero = true,
                           .series = series,
                           .series_count = shown + 1};
    sp_report_plot(report, &plot);
}

/* Returns the least count of all traces. */
static uint64_t least_of(const struct trace_result *results, size_t count,
                         uint64_t (*of)(const struct trace_result *))
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < count; i++)
        least = of(&results[i]) < least ? of(&results[i]) : least;
    return least;
}

static uint64_t updates_of_batch(const struct trace_result *r)
{
    return r->updates[STEPS].changed - r->updates[0].changed;
}

static uint64_t updates_of_trace(const struct trace_result *r)
{
    return r->updates[STEPS].changed;
}

static uint64_t updates_of_crawl(const struct trace_result *r)
{
    return r->weeks[SP_WEEK_STEPS - 1].updated;
}

static uint64_t pairs_of(const struct trace_result *r)
{
    return r->verified[EXACT].clustered;
}

static void put_weeks(const struct trace_result *results, size_t count, struct sp_report *report)
{
    static const char *const columns[] = {"trace",   "of 30",
                                          "fetches", "updated",
                                          "similar", "similar to their representative",
                                          "settled", "similar to their last version"};
    double y[SP_SERIES_MAX][SP_WEEK_STEPS], paper[SP_WEEK_STEPS];
    struct sp_series series[SP_SERIES_MAX];
    size_t shown = count < SP_SERIES_MAX - 1 ? count : SP_SERIES_MAX - 1;
    struct sp_table *t = sp_table_new("figure-8-weeks-table", "Updates in the second of two crawls",
                                      columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < SP_WEEK_STEPS; k++) {
            const struct sp_week_counts *n = &results[i].weeks[k];
            sp_table_text(t, results[i].name);
            sp_table_number(t, sp_week_parts[k], 1);
            sp_table_count(t, n->fetches);
            sp_table_count(t, n->updated);
            sp_table_count(t, n->representative);
            sp_table_percent(t, sp_share(n->representative, n->updated), 1);
            sp_table_percent(t, sp_share(n->settled, n->updated), 1);
            sp_table_percent(t, sp_share(n->self, n->updated), 1);
            if (i < shown)
                y[i][k] = n->updated ? 100 * sp_share(n->representative, n->updated) : NAN;
            paper[k] = 30;
        }
    for (size_t i = 0; i < shown; i++)
        series[i] = (struct sp_series){results[i].name, y[i], false};
    series[shown] = (struct sp_series){"paper, about", paper, true};
    struct sp_plot plot = {.name = "figure-8-weeks",
                           .caption = "Updated pages of the second crawl that are similar to their "
                                      "group's representative",
                           .x_label = "URLs of the second crawl processed, of 30",
                           .y_label = "% of updated pages",
                           .x = sp_week_parts,
                           .x_count = SP_WEEK_STEPS,
                           .y_from_zero = true,
                           .series = series,
                           .series_count = shown + 1};
    sp_report_heading(report, "As printed: two crawls that overlap by half");
    sp_report_text(
        report,
        "Two crawls: the last fetch of each URL in the first half and in the second half of a "
        "trace. URLs are left out of one of them until half of the URLs of the second crawl are "
        "also in the first. An updated page has another content in the second crawl. Its "
        "representative is the winner of its group at the end of the first crawl, or the page "
        "itself if it was alone or the winner. Settled are the pages for which mode=fast did not "
        "ask tier 2. The paper: 30 million URLs in each crawl, about 30 % of the updates.");
    sp_report_plot(report, &plot);
    sp_report_table(report, t);
}

static void put_updates(const struct trace_result *results, size_t count, struct sp_report *report)
{
    static const char *const columns[] = {"trace",
                                          "re-fetches",
                                          "unchanged",
                                          "updates",
                                          "similar to their last version",
                                          "settled",
                                          "of updates",
                                          "all that ends in tier 1, of re-fetches"};
    struct sp_table *t =
        sp_table_new("figure-8-updates", "Re-fetched pages over the whole trace, mode=fast",
                     columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        const struct updates *u = &results[i].updates[STEPS];
        uint64_t settled = results[i].stats[FAST][STEPS].settled;
        sp_table_text(t, results[i].name);
        sp_table_count(t, u->refetched);
        sp_table_percent(t, sp_share(u->refetched - u->changed, u->refetched), 1);
        sp_table_count(t, u->changed);
        sp_table_percent(t, sp_share(u->self, u->changed), 1);
        sp_table_count(t, settled);
        sp_table_percent(t, sp_share(settled, u->changed), 1);
        sp_table_percent(t, sp_share(u->refetched - u->changed + settled, u->refetched), 1);
    }
    sp_report_table(report, t);
}

static void put_verification(const struct trace_result *results, size_t count,
                             struct sp_report *report)
{
    static const char *const columns[] = {"trace",       "pairs, exact",   "rejected",     "share",
                                          "pairs, fast", "rejected, fast", "share in fast"};
    struct sp_table *t =
        sp_table_new("verification", "Members of groups against their group's winner", columns,
                     sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        sp_table_text(t, results[i].name);
        for (size_t way = 0; way < WAYS; way++) {
            const struct sp_winner_pairs *v = &results[i].verified[way];
            sp_table_count(t, v->clustered);
            sp_table_count(t, v->rejected);
            sp_table_percent(t, sp_share(v->rejected, v->clustered), 2);
        }
    }
    sp_report_table(report, t);
}

static double per(uint64_t part, uint64_t whole, double scale)
{
    return scale * sp_share(part, whole);
}

static void put_repairs(const struct trace_result *results, size_t count, struct sp_report *report)
{
    static const char *const columns[] = {"trace",
                                          "mode",
                                          "updates",
                                          "re-checks",
                                          "repairs",
                                          "per 1,000 updates",
                                          "splits",
                                          "merges",
                                          "compared for connectivity",
                                          "per update",
                                          "compared in all, tier 1",
                                          "tier 2",
                                          "messages per fetch"};
    struct sp_table *t =
        sp_table_new("repairs", "Repairs of groups and their cost, in pairs of pages", columns,
                     sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++)
        for (size_t way = 0; way < WAYS; way++) {
            const struct trace_result *r = &results[i];
            const struct sp_local_bus_stats *s = &r->replays[way].stats;
            uint64_t changed = r->updates[STEPS].changed;
            sp_table_text(t, r->name);
            sp_table_text(t, way == EXACT ? "exact" : "fast");
            sp_table_count(t, changed);
            sp_table_count(t, s->group.rechecks);
            sp_table_count(t, s->group.repairs);
            sp_table_number(t, per(s->group.repairs, changed, 1000), 1);
            sp_table_count(t, s->group.splits);
            sp_table_count(t, s->group.merges);
            sp_table_count(t, s->group.repair_compared);
            sp_table_number(t, per(s->group.repair_compared, changed, 1), 2);
            sp_table_count(t, s->group.compared);
            sp_table_count(t, s->compare.candidates);
            sp_table_number(t, per(s->messages, r->points[STEPS], 1), 1);
        }
    sp_report_table(report, t);
}

static enum sp_err run(struct sp_evaluation *e)
{
    const struct sp_trace *t = e->trace;
    struct trace_result *results = sp_calloc(t->file_count + 1, sizeof *results);
    enum sp_err err = SP_OK;
    for (size_t i = 0; i < t->file_count && err == SP_OK; i++) {
        sp_evaluation_say(e, "Figure 8", i, t->file_count);
        err = measure(e->options, t, &t->files[i], &results[i]);
    }
    if (err != SP_OK) {
        sp_free(results);
        return sp_fault_set(e->fault, err, "figure 8: a trace cannot be replayed");
    }
    sp_report_text(
        e->report,
        "An update is a fetch that finds another content than the page's last fetch. In "
        "mode=fast an update is settled in tier 1, and tier 2 only stores it, if it is similar "
        "to the page's representative: the signature that the page's winner had before (a group "
        "that is connected by a chain has several winners). The representative of a winner, or "
        "of a page that is alone, is its own former signature. The first half of each trace is "
        "the first batch; the shares are of the updates in the second batch so far. The paper "
        "settles about 30 % of the updates.");
    sp_evaluation_of_events(e->report, least_of(results, t->file_count, updates_of_batch),
                            "updates in the second batch");
    put_figure(results, t->file_count, e->report);
    sp_evaluation_of_events(e->report, least_of(results, t->file_count, updates_of_trace),
                            "updates");
    put_updates(results, t->file_count, e->report);
    sp_evaluation_of_events(e->report, least_of(results, t->file_count, updates_of_crawl),
                            "updates");
    put_weeks(results, t->file_count, e->report);
    sp_report_text(
        e->report,
        "Verification: at the end of the trace each page alive in a group of two or more is "
        "compared with the best-ranked page of its group. Pages that are not similar to it are "
        "rejected: they are members through a chain. They are not losers of that winner, but "
        "have another winner that they resemble, or are winners themselves.");
    sp_evaluation_of_events(e->report, least_of(results, t->file_count, pairs_of), "pairs");
    put_verification(results, t->file_count, e->report);
    sp_report_text(
        e->report,
        "Repairs: changes after which the edges of a group no longer connected it. The pieces "
        "are compared with one another until they are connected again or known to be separate (a "
        "split). In mode=fast a page that is not similar to its representative leaves instead, "
        "and the rest is re-checked if more than fast.recheck_share of it is unlike its winner. "
        "Pairs compared in tier 1 are those of repairs, winners and representatives; in tier 2, "
        "the candidates of probes.");
    sp_evaluation_of_events(e->report, least_of(results, t->file_count, updates_of_trace),
                            "updates");
    put_repairs(results, t->file_count, e->report);
    sp_free(results);
    return SP_OK;
}

const struct sp_experiment sp_experiment_figure8 = {
    "figure8", "Figure 8: updates settled in tier 1, verification, repairs", run, 0.4, 0};
