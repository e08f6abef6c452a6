/* Figure 9: the cost of finding the duplicates incrementally, and by recomputing everything.
 *
 * Source: Zhu et al., WWW 2012, section 6.4, whose idea it is; the model is ours, as the paper's
 * prices and machines are of 2011. It is a small calculator: rates are measured on the traces (one
 * thread's processor time), everything else is a parameter (struct sp_cost_options).
 *
 *   needs            R fetches a day, s, t1, t2 seconds a fetch in signing, tier 1, tier 2;
 *                    j seconds a page in the centralised run; N pages, of which a share d has
 *                    contents of their own, with i bytes of tier 2's index and g bytes of
 *                    signature each
 *   machines(x)      ceil(x / (cores * utilisation)), x in cores that are always busy
 *   signing          machines(R s / 86400)                     needed either way
 *   tier 1           machines(R t1 / 86400)
 *   tier 2           the larger of machines(R t2 / 86400) and ceil(N d i / memory)
 *   recomputed       the larger of machines(N j / (3600 H)) and ceil(N d g / memory), each H hours
 *   cost a day       machines * 24 * price
 *   break-even       H = 24 N j / (R (t1 + t2)): recomputing less often than that takes less
 *                    processor time
 *
 * i is a parameter: an index of the few pages of a trace is mostly free places
 * (docs/OPERATIONS.md has it of larger crawls). */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "evaluate/crawls.h"
#include "evaluate/experiment.h"
#include "evaluate/savings.h"
#include "input/source.h"
#include "replay/baseline.h"
#include "signature/signature.h"

enum {
    SAMPLE = 2000 /* fetches of each trace that are signed for the rate */,
    RATES = 7,
    MODES = 2
};

static const double DAY = 86400;
static const double GIB = 1024.0 * 1024 * 1024;

struct rates {
    double sign; /* seconds a fetch */
    double tier1[MODES];
    double tier2[MODES];
    double join;    /* seconds a page */
    double own;     /* share of pages with a content of their own */
    double bytes;   /* of signature, for each of these */
    uint64_t alive; /* pages that the centralised run was over */
};

/* Sums over the traces. */
struct sums {
    double sign_seconds;
    double signed_fetches;
    double tier_seconds[MODES][2];
    double fetches;
    double join_seconds;
    double alive;
    double contents;   /* distinct among the pages alive */
    double signatures; /* of all versions */
    double signature_bytes;
};

void sp_cost_options_default(struct sp_cost_options *ret_options)
{
    *ret_options = (struct sp_cost_options){.pages = 1e10,
                                            .rate = 1e9,
                                            .cores = 8,
                                            .utilisation = 0.6,
                                            .memory_gib = 32,
                                            .price = 0.4,
                                            .hours = 24,
                                            .index_bytes = 700,
                                            .online_pages = 5e6,
                                            .replicas = 2};
}

/* ---- measuring ---- */

struct signing {
    struct sp_text *text;
    struct sp_buf scratch;
    struct sums *sums;
};

static void sign_one(void *arg, const struct sp_input_item *item)
{
    struct signing *s = arg;
    struct sp_message *m = NULL;
    const char *why;
    if (item->err != SP_OK ||
        sp_record_message(s->text, &item->page, &s->scratch, &m, &why) != SP_OK || !m)
        return;
    s->sums->signed_fetches++;
    sp_message_free(m);
}

/* Times reading, parsing and signing, in this thread. */
static enum sp_err sample_signing(const struct sp_evaluate_options *o, const char *path,
                                  struct sums *sums, struct sp_fault *fault)
{
    struct sp_input *input;
    struct sp_chunk *chunk;
    if (sp_source_is_stream(path))
        return SP_OK; /* it cannot be read again */
    enum sp_err err = sp_input_open(&path, 1, &o->input, &input, fault);
    if (err != SP_OK)
        return err;
    struct sp_parser *parser = sp_parser_new(&o->input);
    struct signing s = {.text = sp_text_new(&o->text), .sums = sums};
    double start = sp_clock_thread_seconds(), enough = sums->signed_fetches + SAMPLE;
    while (sums->signed_fetches < enough &&
           (err = sp_input_next_chunk(input, &chunk, fault)) == SP_OK) {
        sp_chunk_parse(parser, chunk, sign_one, &s);
        sp_chunk_free(chunk);
    }
    sums->sign_seconds += sp_clock_thread_seconds() - start;
    sp_buf_done(&s.scratch);
    sp_text_free(s.text);
    sp_parser_free(parser);
    sp_input_close(input);
    return err == SP_END ? SP_OK : err;
}

/* Wall time gives each tier's share of a replay. Processor time gives the amount, because it does
 * not depend on the machine's other work. */
static void add_replay(const struct sp_replay_result *r, double ret_seconds[2])
{
    double both = r->tier_seconds[0] + r->tier_seconds[1];
    for (int tier = 0; tier < 2 && both > 0; tier++)
        ret_seconds[tier] += r->cpu_seconds * r->tier_seconds[tier] / both;
}

static enum sp_err measure_file(const struct sp_evaluate_options *o, const struct sp_trace *t,
                                const struct sp_trace_file *file, struct sums *sums,
                                struct sp_fault *fault)
{
    struct sp_partition_map map = {0};
    struct sp_baseline end = {0};
    struct sp_crawl *crawl = sp_evaluate_crawl(t, file);
    struct sp_replay_options options = sp_evaluate_replay(&o->bus, &map);
    const struct sp_similarity_options *similarity = &options.bus.group.similarity;
    options.timed = true;
    enum sp_err err = sp_evaluate_map(crawl, similarity->threshold, 24, &map);
    for (int mode = 0; mode < MODES && err == SP_OK; mode++) {
        struct sp_replay_result r = {0};
        options.bus.group.mode = mode == 0 ? SP_MODE_EXACT : SP_MODE_FAST;
        err = sp_replay(crawl, &options, &r);
        add_replay(&r, sums->tier_seconds[mode]);
    }
    for (size_t i = 0; i < crawl->content_count; i++)
        sums->signature_bytes += (double)sp_signature_bytes(crawl->contents[i]);
    sums->signatures += (double)crawl->content_count;
    if (err == SP_OK)
        err = sp_baseline_make(crawl, crawl->fetch_count, similarity, &end);
    if (err == SP_OK) {
        sums->fetches += (double)crawl->fetch_count;
        sums->join_seconds += end.cpu_seconds;
        sums->alive += (double)end.alive;
        sums->contents += (double)end.contents;
        err = sample_signing(o, file->path, sums, fault);
    } else {
        sp_fault_set(fault, err, "figure 9: a trace cannot be replayed");
    }
    sp_baseline_done(&end);
    sp_partition_done(&map);
    sp_crawl_free(crawl);
    return err;
}

static struct rates rates_of(const struct sums *s)
{
    struct rates r = {.sign = s->sign_seconds / fmax(s->signed_fetches, 1),
                      .join = s->join_seconds / fmax(s->alive, 1),
                      .own = s->contents / fmax(s->alive, 1),
                      .bytes = s->signature_bytes / fmax(s->signatures, 1),
                      .alive = (uint64_t)s->alive};
    for (int mode = 0; mode < MODES; mode++) {
        r.tier1[mode] = s->tier_seconds[mode][0] / fmax(s->fetches, 1);
        r.tier2[mode] = s->tier_seconds[mode][1] / fmax(s->fetches, 1);
    }
    return r;
}

/* ---- the model ---- */

static double machines(const struct sp_cost_options *c, double busy_cores)
{
    return ceil(busy_cores / (c->cores * c->utilisation));
}

static double signing(const struct sp_cost_options *c, const struct rates *r, double rate)
{
    return machines(c, rate * r->sign / DAY);
}

static double tier1(const struct sp_cost_options *c, const struct rates *r, double rate, int mode)
{
    return machines(c, rate * r->tier1[mode] / DAY);
}

static double tier2(const struct sp_cost_options *c, const struct rates *r, double rate, int mode)
{
    return fmax(machines(c, rate * r->tier2[mode] / DAY),
                ceil(c->pages * r->own * c->index_bytes / (c->memory_gib * GIB)));
}

static double recomputed(const struct sp_cost_options *c, const struct rates *r, double hours)
{
    return fmax(machines(c, c->pages * r->join / (3600 * hours)),
                ceil(c->pages * r->own * r->bytes / (c->memory_gib * GIB)));
}

static double cost(const struct sp_cost_options *c, double machine_count)
{
    return machine_count * 24 * c->price;
}

static double incremental(const struct sp_cost_options *c, const struct rates *r, double rate,
                          int mode)
{
    return cost(c, signing(c, r, rate) + tier1(c, r, rate, mode) + tier2(c, r, rate, mode));
}

static double batch(const struct sp_cost_options *c, const struct rates *r, double rate,
                    double hours)
{
    return cost(c, signing(c, r, rate) + recomputed(c, r, hours));
}

/* ---- report ---- */

static void put_assumptions(const struct sp_cost_options *c, const struct rates *r,
                            struct sp_report *report)
{
    sp_report_text(
        report,
        "The model, which is ours: a fetch costs the same processor time at any size of the "
        "crawl, because the index of tier 2 limits the number of contents that a probe is "
        "compared with. A page in the centralised run is assumed to cost the same at any size, "
        "too, which favours recomputing, because its index lists grow. Tier 2 keeps its index in "
        "memory, a centralised run all signatures, tier 1 nothing. Networks, disks and people "
        "have no price. Signatures are needed either way. The number of machines is rounded up, "
        "and machines are busy up to the utilisation. The rates are those of these traces, with "
        "24 cells.");
    sp_report_textf(report,
                    "Parameters (--cost "
                    "pages=,rate=,cores=,utilisation=,memory=,price=,hours=,index=): %.3g pages; "
                    "%.3g fetches a day; machines of %g cores and %g GiB, used to %g %%, at %g "
                    "an hour; everything is recomputed every %g hours; %g bytes of index for "
                    "each page with a content of its own.",
                    c->pages, c->rate, c->cores, c->memory_gib, 100 * c->utilisation, c->price,
                    c->hours, c->index_bytes);
    static const char *const columns[] = {"rate", "exact", "fast"};
    struct sp_table *t =
        sp_table_new("figure-9-rates", "Measured, processor time of one thread", columns, 3);
    const struct {
        const char *name;
        double exact, fast;
    } rows[] = {{"signing, µs a fetch", 1e6 * r->sign, 1e6 * r->sign},
                {"tier 1, µs a fetch", 1e6 * r->tier1[0], 1e6 * r->tier1[1]},
                {"tier 2, µs a fetch", 1e6 * r->tier2[0], 1e6 * r->tier2[1]},
                {"centralised run, µs a page", 1e6 * r->join, NAN},
                {"pages with content of their own, %", 100 * r->own, NAN},
                {"signature, bytes for each of these", r->bytes, NAN}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sp_table_text(t, rows[i].name);
        sp_table_number(t, rows[i].exact, 1);
        sp_table_number(t, rows[i].fast, 1);
    }
    sp_report_table(report, t);
}

static void put_costs(const struct sp_cost_options *c, const struct rates *r, const double *rates,
                      struct sp_report *report)
{
    static const char *const columns[] = {
        "fetches a day",     "signing", "tier 1",     "tier 2",    "recomputing",
        "cost a day, exact", "fast",    "recomputed", "each hour", "equal processor time, hours"};
    struct sp_table *t = sp_table_new("figure-9-costs", "Machines in exact mode, and cost a day",
                                      columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < RATES; i++) {
        sp_table_count(t, (uint64_t)rates[i]);
        sp_table_number(t, signing(c, r, rates[i]), 0);
        sp_table_number(t, tier1(c, r, rates[i], 0), 0);
        sp_table_number(t, tier2(c, r, rates[i], 0), 0);
        sp_table_number(t, recomputed(c, r, c->hours), 0);
        sp_table_number(t, incremental(c, r, rates[i], 0), 2);
        sp_table_number(t, incremental(c, r, rates[i], 1), 2);
        sp_table_number(t, batch(c, r, rates[i], c->hours), 2);
        sp_table_number(t, batch(c, r, rates[i], 1), 2);
        sp_table_number(t, 24 * c->pages * r->join / (rates[i] * (r->tier1[0] + r->tier2[0])), 1);
    }
    sp_report_table(report, t);
}

static void put_figure(const struct sp_cost_options *c, const struct rates *r, const double *rates,
                       struct sp_report *report)
{
    double y[5][RATES];
    char label[64];
    snprintf(label, sizeof label, "recomputed each %g hours", c->hours);
    for (size_t i = 0; i < RATES; i++) {
        y[0][i] = incremental(c, r, rates[i], 0);
        y[1][i] = incremental(c, r, rates[i], 1);
        y[2][i] = batch(c, r, rates[i], c->hours);
        y[3][i] = batch(c, r, rates[i], 1);
        y[4][i] = batch(c, r, rates[i], 1.0 / 60);
    }
    struct sp_series series[] = {{"incremental, exact", y[0], false},
                                 {"incremental, fast", y[1], false},
                                 {label, y[2], false},
                                 {"recomputed each hour", y[3], false},
                                 {"recomputed each minute", y[4], false}};
    struct sp_plot plot = {.name = "figure-9",
                           .caption = "Cost a day by crawl rate",
                           .x_label = "fetches a day",
                           .y_label = "cost a day, in units of the price",
                           .x = rates,
                           .x_count = RATES,
                           .x_log = true,
                           .y_log = true,
                           .series = series,
                           .series_count = sizeof series / sizeof *series};
    sp_report_plot(report, &plot);
}

static enum sp_err run(struct sp_evaluation *e)
{
    const struct sp_trace *t = e->trace;
    const struct sp_cost_options *c = &e->options->cost;
    struct sums sums = {0};
    double rates[RATES];
    enum sp_err err = SP_OK;
    for (size_t i = 0; i < t->file_count && err == SP_OK; i++) {
        sp_evaluation_say(e, "Figure 9", i, t->file_count);
        err = measure_file(e->options, t, &t->files[i], &sums, e->fault);
    }
    if (err != SP_OK)
        return err;
    if (sums.fetches < 1 || sums.alive < 1) {
        sp_report_text(e->report, "There are no pages to take rates of.");
        return SP_OK;
    }
    struct rates r = rates_of(&sums);
    for (size_t i = 0; i < RATES; i++) /* two for each factor of ten, the parameter in the middle */
        rates[i] = c->rate * pow(10, ((double)i - (RATES - 1) / 2.0) / 2);
    put_assumptions(c, &r, e->report);
    put_costs(c, &r, rates, e->report);
    put_figure(c, &r, rates, e->report);
    sp_report_textf(
        e->report,
        "The age of a result: incrementally, the time that its messages are under way (Table 1, "
        "delayed); recomputed, half the time between two runs plus the time of a run. At %.3g "
        "fetches a day, recomputing takes as much processor time as the tiers in mode exact if "
        "it is done every %.3g hours; the rates of the centralised run were measured with %llu "
        "pages.",
        c->rate, 24 * c->pages * r.join / (c->rate * (r.tier1[0] + r.tier2[0])),
        (unsigned long long)r.alive);
    sp_savings_put(c, c->memory_gib * GIB / (r.own * c->index_bytes), e->report);
    return SP_OK;
}

const struct sp_experiment sp_experiment_figure9 = {"figure9", "Figure 9: cost", run, 0.4, 0};
