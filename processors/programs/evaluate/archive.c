/* User-defined redundancy: how much smaller an archive is once each version that another one covers
 * is left out.
 *
 * Source: Paudel, Anand, Berberich, LSDS-IR 2013, section 4: the collections of Table 2, the
 * relations (1) and (2), and the reductions of Table 3, by `samepage cover` (cover/cover.h). Theirs
 * is an archive of the UK parliament's site; the year of B and the host of C are here those with
 * most fetches, the term of C is an option. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/url.h"
#include "cover/cover.h"
#include "evaluate/experiment.h"
#include "input/source.h"

enum { SCENARIOS = 4, COLLECTIONS = 3, WHERE_BYTES = 1024, EXACT_DOCUMENTS = 256 };

#define RELATION_1 "containment(a, b) >= 0.7 && a.timestamp <= b.timestamp"
#define RELATION_2 RELATION_1 " && a.host = b.host"

static const struct {
    const char *name;
    char collection;
    const char *relation;
    double documents; /* the paper's reductions */
    double bytes;
} scenarios[SCENARIOS] = {{"A-1", 'A', RELATION_1, 0.5032, 0.5546},
                          {"B-1", 'B', RELATION_1, 0.4949, 0.5109},
                          {"B-2", 'B', RELATION_2, 0.4859, 0.5094},
                          {"C-1", 'C', RELATION_1, 0.5899, 0.5916}};

static const struct {
    double documents, shingles, mean, deviation;
} printed[COLLECTIONS] = {{1667654, 812331426, 2.24, 1.24},
                          {348778, 240464783, 2.07, 1.24},
                          {75299, 94143006, 2.32, 0.47}};

struct collections {
    char where[COLLECTIONS][WHERE_BYTES];
};

/* ---- which year, which host ---- */

static int by_value(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

static int busiest_year(const struct sp_trace *t)
{
    int *years = sp_alloc((t->fetch_count + 1) * sizeof *years), best = 1970;
    size_t count = 0, most = 0;
    for (size_t i = 0; i < t->fetch_count; i++) {
        struct tm tm = {0};
        time_t seconds = (time_t)(t->fetches[i].version / 1000);
        if (t->fetches[i].kind == SP_PAGE_CONTENT && gmtime_r(&seconds, &tm))
            years[count++] = tm.tm_year + 1900;
    }
    if (count)
        qsort(years, count, sizeof *years, by_value);
    for (size_t i = 0, run = 0; i < count; i++) {
        run = i > 0 && years[i] == years[i - 1] ? run + 1 : 1;
        if (run > most) {
            most = run;
            best = years[i];
        }
    }
    sp_free(years);
    return best;
}

struct host {
    struct sp_view name;
    size_t fetches;
};

static int by_name(const void *a, const void *b)
{
    const struct host *x = a, *y = b;
    size_t least = x->name.len < y->name.len ? x->name.len : y->name.len;
    int order = least ? memcmp(x->name.data, y->name.data, least) : 0;
    return order ? order : (x->name.len > y->name.len) - (x->name.len < y->name.len);
}

/* Returns a view of a URL of the trace. */
static struct sp_view busiest_host(const struct sp_trace *t)
{
    struct host *hosts = sp_calloc(t->page_count + 1, sizeof *hosts), best = {{0}, 0};
    for (size_t p = 0; p < t->page_count; p++)
        hosts[p].name = sp_url_host(sp_view_str(t->pages[p].url));
    for (size_t i = 0; i < t->fetch_count; i++)
        hosts[t->fetches[i].page].fetches += t->fetches[i].kind == SP_PAGE_CONTENT;
    if (t->page_count)
        qsort(hosts, t->page_count, sizeof *hosts, by_name);
    for (size_t i = 0; i < t->page_count; i++) {
        if (i > 0 && by_name(&hosts[i], &hosts[i - 1]) == 0)
            hosts[i].fetches += hosts[i - 1].fetches;
        if (hosts[i].fetches > best.fetches)
            best = hosts[i];
    }
    sp_free(hosts);
    return best.name;
}

static void put_quoted(struct sp_buf *out, struct sp_view text)
{
    sp_buf_put_u8(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '"' || text.data[i] == '\\')
            sp_buf_put_u8(out, '\\');
        sp_buf_put_u8(out, (uint8_t)text.data[i]);
    }
    sp_buf_put_u8(out, '"');
}

static void make_collections(const struct sp_evaluation *e, struct collections *c)
{
    int year = busiest_year(e->trace);
    struct sp_buf out = {0};
    snprintf(c->where[0], WHERE_BYTES, "versions >= 2");
    snprintf(c->where[1], WHERE_BYTES,
             "versions >= 2 && timestamp >= %04d-01-01 && timestamp < %04d-01-01", year, year + 1);
    sp_buf_put_str(&out, "versions >= 2 && mime = \"text/html\" && contains(text, ");
    put_quoted(&out, sp_view_str(e->options->term));
    sp_buf_put_str(&out, ") && host = ");
    put_quoted(&out, busiest_host(e->trace));
    sp_buf_put_u8(&out, 0);
    snprintf(c->where[2], WHERE_BYTES, "%s", out.data);
    sp_buf_done(&out);
}

/* ---- covering ---- */

static enum sp_err cover(const struct sp_evaluation *e, const char *where, const char *relation,
                         struct sp_cover_result *ret_result)
{
    const struct sp_evaluate_options *o = e->options;
    const struct sp_cover_options options = {.inputs = o->traces,
                                             .input_count = o->trace_count,
                                             .relation = relation,
                                             .filter = where,
                                             .temp = o->temp,
                                             .threads = o->threads,
                                             .memory_bytes = 1 << 30,
                                             .exact_documents = EXACT_DOCUMENTS,
                                             .text = o->text,
                                             .input = o->input};
    return sp_cover(&options, ret_result, e->fault);
}

static double deviation(const struct sp_cover_result *r)
{
    double n = (double)r->urls, mean = (double)r->documents / n;
    return r->urls ? sqrt(fmax(0, r->version_squares / n - mean * mean)) : NAN;
}

static void put_collection(struct sp_table *t, size_t number, const struct sp_cover_result *r)
{
    static const char *const names[COLLECTIONS] = {"A", "B", "C"};
    sp_table_text(t, names[number]);
    sp_table_count(t, r->documents);
    sp_table_number(t, printed[number].documents, 0);
    sp_table_count(t, r->document_shingles);
    sp_table_number(t, printed[number].shingles, 0);
    sp_table_number(t, r->urls ? (double)r->documents / (double)r->urls : NAN, 2);
    sp_table_number(t, printed[number].mean, 2);
    sp_table_number(t, deviation(r), 2);
    sp_table_number(t, printed[number].deviation, 2);
}

static double less(uint64_t kept, uint64_t all)
{
    return all ? 1 - (double)kept / (double)all : NAN;
}

static void put_scenario(struct sp_table *t, size_t number, const struct sp_cover_result *r)
{
    sp_table_text(t, scenarios[number].name);
    sp_table_count(t, r->documents);
    sp_table_count(t, r->kept);
    sp_table_percent(t, less(r->kept, r->documents), 2);
    sp_table_percent(t, scenarios[number].documents, 2);
    sp_table_percent(t, less(r->kept_bytes, r->bytes), 2);
    sp_table_percent(t, scenarios[number].bytes, 2);
    /* Every URL keeps at least one document, so more cannot be removed. */
    sp_table_percent(t, less(r->urls, r->documents), 2);
    sp_table_count(t, r->components);
    sp_table_count(t, r->largest);
    sp_table_count(t, r->greedy + r->stopped);
}

static void put_where(const struct collections *c, struct sp_report *report)
{
    struct sp_buf lines = {0};
    for (size_t i = 0; i < COLLECTIONS; i++) {
        char name[8];
        snprintf(name, sizeof name, "%c  ", (char)('A' + i));
        sp_buf_put_str(&lines, name);
        sp_buf_put_str(&lines, c->where[i]);
        sp_buf_put_str(&lines, "\n");
    }
    sp_buf_put_str(&lines, "1  " RELATION_1 "\n2  " RELATION_2);
    sp_buf_put_u8(&lines, 0);
    sp_report_text(report,
                   "The collections and relations of Paudel et al., computed by `samepage cover "
                   "--where … --relation …`. A document is a version of a URL. The paper's "
                   "collection is an archive of one site, with about two versions for each URL.");
    sp_report_code(report, lines.data);
    sp_report_text(report,
                   "If each URL has two versions and one covers the other, about half of the "
                   "documents can be dropped; with more versions, more. The column for URLs "
                   "alone is the saving of keeping one version of each URL, whatever its content.");
    sp_buf_done(&lines);
}

static enum sp_err run(struct sp_evaluation *e)
{
    static const char *const collection_columns[] = {"collection",  "documents",   "the paper's",
                                                     "shingles",    "the paper's", "versions a URL",
                                                     "the paper's", "deviation",   "the paper's"};
    static const char *const scenario_columns[] = {
        "scenario",    "documents",   "kept",        "fewer documents",
        "the paper's", "fewer bytes", "the paper's", "of URLs alone",
        "components",  "largest",     "not proven"};
    struct collections *c = sp_calloc(1, sizeof *c);
    struct sp_cover_result results[SCENARIOS];
    enum sp_err err = SP_OK;
    uint64_t least = UINT64_MAX; /* documents of a collection */
    for (size_t i = 0; i < e->options->trace_count; i++)
        if (sp_source_is_stream(e->options->traces[i])) {
            sp_free(c);
            return sp_fault_set(e->fault, SP_INVALID, "%s: cannot be read again; name a file",
                                e->options->traces[i]);
        }
    make_collections(e, c);
    for (size_t i = 0; i < SCENARIOS && err == SP_OK; i++) {
        sp_evaluation_say(e, "Archive", i, SCENARIOS);
        err = cover(e, c->where[scenarios[i].collection - 'A'], scenarios[i].relation, &results[i]);
    }
    if (err == SP_OK) {
        struct sp_table *t =
            sp_table_new("archive-collections", "Collections (Table 2)", collection_columns, 9);
        put_where(c, e->report);
        for (size_t i = 0; i < SCENARIOS; i++)
            least = results[i].documents < least ? results[i].documents : least;
        sp_report_sample(e->report, least, SP_ENOUGH_PAGES, "documents in the smallest collection");
        put_collection(t, 0, &results[0]);
        put_collection(t, 1, &results[1]);
        put_collection(t, 2, &results[3]);
        sp_report_table(e->report, t);
        t = sp_table_new("archive-reductions", "Reductions (Table 3)", scenario_columns, 11);
        for (size_t i = 0; i < SCENARIOS; i++)
            put_scenario(t, i, &results[i]);
        sp_report_table(e->report, t);
    }
    sp_free(c);
    return err;
}

const struct sp_experiment sp_experiment_archive = {
    "archive", "User-defined redundancy: collections and reductions", run, 0.2, 0};
