/* The first screen: the gain of deduplication on these traces, and its cost. The counts come from
 * bring.c; this file has the text and the tables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "evaluate/bring.h"
#include "evaluate/experiment.h"
#include "evaluate/texts.h"

enum { HOSTS_SHOWN = 20, EXAMPLES = 3, SIZES = 4 };

enum { SMALL_REMOVED = 100, FEW_FETCHES = 100000 };

static uint64_t gone(const struct sp_tally *t)
{
    return sp_tally_documents(t) - t->documents[SP_FATE_KEPT];
}

static uint64_t gone_bytes(const struct sp_tally *t)
{
    return sp_tally_bytes(t) - t->bytes[SP_FATE_KEPT];
}

static double share(uint64_t part, uint64_t all)
{
    return all ? (double)part / (double)all : 0;
}

/* ---- what it saves */

static void put_gain(const struct sp_brought *b, struct sp_report *report)
{
    uint64_t all = sp_tally_documents(&b->all);
    double least, most, removed = share(gone(&b->all), all);
    if (all == 0) {
        sp_report_text(report, "No page of these traces has content at the end: there is nothing "
                               "to deduplicate.");
        return;
    }
    sp_report_textf(report,
                    "%llu of %llu documents repeat another one: %.1f %% of the documents, %.1f %% "
                    "of the bytes. %llu documents are kept.",
                    (unsigned long long)gone(&b->all), (unsigned long long)all, 100 * removed,
                    100 * share(gone_bytes(&b->all), sp_tally_bytes(&b->all)),
                    (unsigned long long)b->all.documents[SP_FATE_KEPT]);
    sp_share_interval(removed, all, &least, &most);
    if (all < SP_ENOUGH_PAGES || gone(&b->all) < SMALL_REMOVED)
        sp_report_textf(
            report,
            "This is a small sample: the share of documents is between %.1f and %.1f %% "
            "(95 %% confidence interval, if they were drawn independently).",
            100 * least, 100 * most);
    sp_report_text(report, "A sample has fewer duplicates than the crawl from which it was "
                           "drawn: if it has every tenth page, it has both of two copies in only "
                           "one of a hundred cases. Whole hosts are better samples than single "
                           "pages.");
}

static void put_fates(const struct sp_brought *b, struct sp_report *report)
{
    static const char *const columns[] = {"what becomes of them", "documents", "share",
                                          "bytes of content", "share of bytes"};
    static const char *const names[SP_FATES] = {"kept", "removed: the same words as a kept one",
                                                "removed: a near duplicate of a kept one"};
    struct sp_table *t = sp_table_new("summary", "What is kept, and what is removed", columns,
                                      sizeof columns / sizeof *columns);
    for (size_t i = 0; i < SP_FATES; i++) {
        sp_table_text(t, names[i]);
        sp_table_count(t, b->all.documents[i]);
        sp_table_percent(t, share(b->all.documents[i], sp_tally_documents(&b->all)), 1);
        sp_table_count(t, b->all.bytes[i]);
        sp_table_percent(t, share(b->all.bytes[i], sp_tally_bytes(&b->all)), 1);
    }
    sp_report_table(report, t);
}

static void put_host(struct sp_table *t, const char *name, const struct sp_tally *tally)
{
    sp_table_text(t, name);
    sp_table_count(t, sp_tally_documents(tally));
    sp_table_count(t, tally->documents[SP_FATE_KEPT]);
    sp_table_count(t, gone(tally));
    sp_table_percent(t, share(gone(tally), sp_tally_documents(tally)), 1);
    sp_table_count(t, gone_bytes(tally));
}

static void put_hosts(const struct sp_brought *b, struct sp_report *report)
{
    static const char *const columns[] = {"host",    "documents",        "kept",
                                          "removed", "share of removed", "bytes of removed"};
    struct sp_table *t = sp_table_new("summary-hosts", "By host: those that lose most first",
                                      columns, sizeof columns / sizeof *columns);
    struct sp_tally others = {{0}, {0}};
    for (size_t i = 0; i < b->host_count; i++) {
        if (i < HOSTS_SHOWN)
            put_host(t, b->hosts[i]->name, &b->hosts[i]->tally);
        for (size_t k = 0; k < SP_FATES && i >= HOSTS_SHOWN; k++) {
            others.documents[k] += b->hosts[i]->tally.documents[k];
            others.bytes[k] += b->hosts[i]->tally.bytes[k];
        }
    }
    if (b->host_count > HOSTS_SHOWN) {
        char name[48];
        snprintf(name, sizeof name, "%zu others", b->host_count - HOSTS_SHOWN);
        put_host(t, name, &others);
    }
    sp_report_table(report, t);
}

/* ---- examples */

struct example {
    uint32_t removed; /* fetches of the trace */
    uint32_t kept;
    char verdict[160];
};

static int by_similarity(const void *a, const void *b)
{
    const struct sp_brought_document *x = *(const struct sp_brought_document *const *)a;
    const struct sp_brought_document *y = *(const struct sp_brought_document *const *)b;
    if (x->similarity != y->similarity)
        return x->similarity < y->similarity ? -1 : 1;
    return x->fetch < y->fetch ? -1 : x->fetch > y->fetch;
}

static void set_example(const struct sp_brought *b, struct example *e,
                        const struct sp_brought_document *d, const char *what)
{
    e->removed = d->fetch;
    e->kept = b->documents[d->winner].fetch;
    snprintf(e->verdict, sizeof e->verdict,
             "%s (similarity %.3f): the left one is kept, the right one removed", what,
             (double)d->similarity);
}

/* Picks the least similar near duplicate, the one in the middle, and the most similar one; fewer if
 * there are fewer. The choice is reproducible. */
static size_t pick(const struct sp_brought *b, struct example *ret_examples)
{
    static const char *const what[EXAMPLES] = {"The least similar pair",
                                               "A pair of middling similarity",
                                               "The most similar pair that is no exact copy"};
    const struct sp_brought_document **near = sp_alloc((b->count + 1) * sizeof *near);
    size_t count = 0, picked = 0, last = SIZE_MAX;
    for (size_t i = 0; i < b->count; i++)
        if (b->documents[i].fate == SP_FATE_NEAR && b->documents[i].winner != SP_NO_PAGE)
            near[count++] = &b->documents[i];
    qsort(near, count, sizeof *near, by_similarity);
    const size_t places[EXAMPLES] = {0, count / 2, count ? count - 1 : 0};
    for (size_t i = 0; i < EXAMPLES && count; i++)
        if (places[i] != last) {
            last = places[i];
            set_example(b, &ret_examples[picked++], near[last], what[i]);
        }
    sp_free(near);
    return picked;
}

static void put_example(const struct sp_evaluation *e, const struct sp_trace_texts *x,
                        const struct example *example)
{
    const struct sp_trace *t = e->trace;
    struct sp_pair pair = {.title_a = t->pages[t->fetches[example->kept].page].url,
                           .title_b = t->pages[t->fetches[example->removed].page].url,
                           .a = sp_trace_texts_of(x, example->kept),
                           .b = sp_trace_texts_of(x, example->removed),
                           .verdict = example->verdict,
                           .good = true};
    sp_report_pair(e->report, &pair);
}

/* A trace that cannot be read twice has no examples; all other results are known already. */
static void put_examples(const struct sp_evaluation *e, const struct sp_brought *b)
{
    struct example examples[EXAMPLES];
    struct sp_trace_texts x = {0};
    struct sp_fault fault;
    size_t count = pick(b, examples);
    sp_report_heading(e->report, "Examples");
    for (size_t i = 0; i < count; i++) {
        sp_trace_texts_want(&x, examples[i].kept);
        sp_trace_texts_want(&x, examples[i].removed);
    }
    enum sp_err err = sp_trace_texts_read(&x, e->trace, &e->options->text, &fault);
    if (count == 0)
        sp_report_text(e->report, "There are no near duplicates to show.");
    if (err != SP_OK)
        sp_report_textf(e->report, "The texts cannot be shown: %s", fault.text);
    for (size_t i = 0; i < count && err == SP_OK; i++)
        put_example(e, &x, &examples[i]);
    sp_trace_texts_done(&x);
}

/* ---- what it costs */

static void put_cost(const struct sp_evaluation *e, const struct sp_brought *b)
{
    static const char *const columns[] = {"fetches", "time, least", "time, most",
                                          "memory, least, GiB", "memory, most, GiB"};
    static const double sizes[SIZES] = {1e6, 1e7, 1e8, 1e9};
    const double gib = 1 << 30;
    const struct sp_trace *trace = e->trace;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    double fetches = (double)trace->fetch_count, tiers = 0, peak = sp_evaluation_peak_bytes();
    if (trace->fetch_count == 0)
        return;
    double reading = e->reading_seconds / fetches, index = sp_bring_index_bytes(b);
    for (size_t i = 0; i < SP_BRING_PARTS; i++)
        tiers += b->seconds[i];
    sp_report_heading(e->report, "What it costs");
    sp_report_textf(e->report,
                    "Measured here: reading %zu fetches and making signatures took %.2f s of "
                    "processor time (on all cores), grouping took %.2f s (on one core). The "
                    "whole evaluation has needed at most %.0f MiB of memory so far.",
                    trace->fetch_count, e->reading_seconds, tiers, peak / (1 << 20));
    sp_report_sample(e->report, trace->fetch_count, FEW_FETCHES, "fetches");
    struct sp_table *t = sp_table_new("summary-cost", "Extrapolated to larger crawls, as a range",
                                      columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < SIZES; i++) {
        double least, most, parallel = reading / (double)(cores > 0 ? cores : 1);
        sp_bring_cost(b, sizes[i], &least, &most);
        sp_table_count(t, (uint64_t)sizes[i]);
        sp_table_seconds(t, fmax(least, parallel) * sizes[i]);
        sp_table_seconds(t, (most + reading) * sizes[i]);
        sp_table_number(t, index * sizes[i] / gib, 2);
        sp_table_number(t, (peak - e->start_bytes) / fetches * sizes[i] / gib, 2);
    }
    sp_report_table(e->report, t);
    sp_report_textf(e->report,
                    "The least time assumes that reading uses all %ld cores of this machine, and "
                    "that grouping a fetch costs as little as in the cheaper half of these "
                    "traces. The most assumes one core, and that the cost of grouping a fetch "
                    "grows as it did from the first half to the second, but no faster than the "
                    "cube root of the number of fetches. The least memory is the index of tier "
                    "2, with everything else on disk, and without the caches (cache.bytes). The "
                    "most is everything in memory, as in this evaluation.",
                    cores);
    if (fetches < FEW_FETCHES)
        sp_report_textf(e->report,
                        "%zu fetches are too few for a good extrapolation: the milliseconds of "
                        "the start are counted as if they grew with the crawl.",
                        trace->fetch_count);
}

static enum sp_err run(struct sp_evaluation *e)
{
    struct sp_brought b;
    enum sp_err err = sp_bring(e->options, e->trace, e->doing, &b);
    if (err != SP_OK) {
        sp_fault_set(e->fault, err, "the traces cannot be grouped: %s", sp_err_text(err));
    } else {
        put_gain(&b, e->report);
        put_fates(&b, e->report);
        put_hosts(&b, e->report);
        put_examples(e, &b);
        put_cost(e, &b);
    }
    sp_brought_done(&b);
    return err;
}

const struct sp_experiment sp_experiment_summary = {"summary", "What deduplication would save", run,
                                                    0, 0};
