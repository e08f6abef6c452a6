/* The audit as a page: the result first, then its sources, examples last. */
#include <stdio.h>
#include <stdlib.h>

#include "audit/internal.h"
#include "base/mem.h"
#include "input/source.h"
#include "report/report.h"

enum { SOURCES_SHOWN = 50, CLUSTERS_SHOWN = 20, TEXT_SHOWN = 1 << 16 };

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* ---- the texts of the examples, which are read again ---- */

struct shown {
    uint32_t document;
    struct sp_buf text;
};

struct texts {
    const struct sp_audit *a;
    struct shown *list; /* by document, which is by file and number */
    size_t count;
    size_t next;
    size_t end; /* end of the documents of this file */
    struct sp_text *text;
};

static void on_item(void *arg, const struct sp_input_item *item)
{
    struct texts *t = arg;
    while (t->next < t->end && t->a->documents[t->list[t->next].document].number < item->number)
        t->next++;
    if (t->next == t->end || item->err != SP_OK ||
        t->a->documents[t->list[t->next].document].number != item->number)
        return;
    struct sp_buf *out = &t->list[t->next++].text;
    const struct sp_page_record *page = &item->page;
    sp_text_extract(t->text, page->content_type, page->content, page->content_is_utf8, out);
    if (out->len > TEXT_SHOWN)
        out->len = TEXT_SHOWN;
}

static enum sp_err read_file(struct texts *t, uint32_t file, struct sp_fault *fault)
{
    const struct sp_audit_options *o = t->a->options;
    struct sp_input *input = NULL;
    struct sp_chunk *chunk;
    enum sp_err err = sp_input_open(&o->inputs[file], 1, &o->input, &input, fault);
    if (err != SP_OK)
        return err;
    struct sp_parser *parser = sp_parser_new(&o->input);
    while (t->next < t->end && (err = sp_input_next_chunk(input, &chunk, fault)) == SP_OK) {
        sp_chunk_parse(parser, chunk, on_item, t);
        sp_chunk_free(chunk);
    }
    sp_parser_free(parser);
    sp_input_close(input);
    t->next = t->end; /* a file that changed since lacks texts, which does no harm */
    return err == SP_END ? SP_OK : err;
}

static void want(struct texts *t, uint32_t document)
{
    if (document != SP_AUDIT_NONE)
        t->list[t->count++] = (struct shown){.document = document};
}

static int by_document(const void *a, const void *b)
{
    uint32_t x = ((const struct shown *)a)->document, y = ((const struct shown *)b)->document;
    return x < y ? -1 : x > y;
}

static enum sp_err read_texts(struct texts *t, struct sp_fault *fault)
{
    const struct sp_audit *a = t->a;
    enum sp_err err = SP_OK;
    t->list = sp_calloc(2ull * SP_AUDIT_KINDS * SP_AUDIT_EXAMPLES, sizeof *t->list);
    t->text = sp_text_new(&a->options->text);
    for (int kind = 0; kind < SP_AUDIT_KINDS; kind++)
        for (uint32_t i = 0; i < a->example_count[kind]; i++) {
            want(t, a->examples[kind][i].removed);
            want(t, a->examples[kind][i].other);
        }
    if (t->count)
        qsort(t->list, t->count, sizeof *t->list, by_document);
    while (t->next < t->count && err == SP_OK) {
        uint32_t file = a->documents[t->list[t->next].document].file;
        for (t->end = t->next;
             t->end < t->count && a->documents[t->list[t->end].document].file == file;)
            t->end++;
        if (sp_source_is_stream(a->options->inputs[file]))
            t->next = t->end;
        else
            err = read_file(t, file, fault);
    }
    return err;
}

static struct sp_view text_of(const struct texts *t, uint32_t document)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->list[i].document == document && t->list[i].text.len)
            return sp_buf_view(&t->list[i].text);
    return sp_view_str("");
}

static void texts_done(struct texts *t)
{
    for (size_t i = 0; i < t->count; i++)
        sp_buf_done(&t->list[i].text);
    sp_free(t->list);
    sp_text_free(t->text);
}

/* ---- the sections ---- */

static void row(struct sp_table *t, const char *what, uint64_t n, uint64_t of, const char *meaning)
{
    sp_table_text(t, what);
    sp_table_count(t, n);
    sp_table_percent(t, share(n, of), 2);
    sp_table_text(t, meaning);
}

static void put_result(struct sp_report *page, const struct sp_audit *a)
{
    static const char *const columns[] = {"", "documents", "share", "meaning"};
    const struct sp_audit_result *r = a->result;
    uint64_t lost = r->wrong + r->by_chain;
    sp_report_section(page, "Result");
    sp_report_textf(
        page,
        "Of %llu documents %llu were removed (%.1f %% of them, %.1f %% of the text). Of "
        "those removed, %llu (%.2f %%) resemble no kept document: their text is lost. "
        "%llu documents were kept although they resemble an earlier kept one.",
        (unsigned long long)r->documents, (unsigned long long)r->removed,
        100 * share(r->removed, r->documents), 100 * share(r->removed_bytes, r->bytes),
        (unsigned long long)lost, 100 * share(lost, r->removed), (unsigned long long)r->missed);
    struct sp_table *t =
        sp_table_new("verdicts", "What became of the removed documents", columns, 4);
    row(t, "removed rightly", r->right, r->removed, "a kept document resembles it");
    row(t, "lost in a chain", r->by_chain, r->removed,
        "every document that it resembles was removed as well");
    row(t, "removed wrongly", r->wrong, r->removed, "it resembles no other document");
    row(t, "without words", r->wordless, r->removed, "it has no text to compare");
    sp_report_table(page, t);
    static const char *const kept_columns[] = {"", "documents", "share", "meaning"};
    t = sp_table_new("kept", "What became of the kept documents", kept_columns, 4);
    row(t, "missed", r->missed, r->documents - r->removed - r->superseded,
        "it resembles an earlier kept document and could have been removed");
    sp_report_table(page, t);
    sp_report_textf(
        page, "Pairs of near duplicates that were both kept: %s%llu.%s",
        r->missed_pairs_at_least ? "at least " : "", (unsigned long long)r->missed_pairs,
        r->missed_pairs_at_least ? " There are so many that the count was stopped (--most-pairs)."
                                 : "");
    if (r->unknown)
        sp_report_textf(page, "%llu ids in the lists match no document of the input.",
                        (unsigned long long)r->unknown);
    if (r->survivor_unknown)
        sp_report_textf(page,
                        "%llu documents were removed for one that is not in the input; they are "
                        "judged without it.",
                        (unsigned long long)r->survivor_unknown);
    if (r->ambiguous)
        sp_report_textf(page,
                        "%llu ids have documents of unlike texts, and the lists do not say which "
                        "of them was removed: the later ones count as removed.",
                        (unsigned long long)r->ambiguous);
    if (r->superseded)
        sp_report_textf(page,
                        "%llu documents are earlier fetches of a page, or fetches of one that is "
                        "gone: the statuses are not about them, and they are not judged.",
                        (unsigned long long)r->superseded);
}

static void put_survivors(struct sp_report *page, const struct sp_audit *a)
{
    const struct sp_audit_result *r = a->result;
    const char *names[SP_AUDIT_BINS + 1];
    char labels[SP_AUDIT_BINS + 1][16];
    double y[SP_AUDIT_BINS + 1];
    sp_report_section(page, "Similarity of removed documents to kept ones");
    for (int i = 0; i <= SP_AUDIT_BINS; i++) {
        snprintf(labels[i], sizeof labels[i], "%.2f", (double)i / SP_AUDIT_BINS);
        names[i] = labels[i];
        y[i] = (double)a->bins[i];
    }
    struct sp_series series = {.label = "removed documents", .y = y};
    struct sp_plot plot = {.kind = SP_PLOT_BARS,
                           .name = "similarity",
                           .caption = "Removed documents by their similarity to the nearest kept "
                                      "one; below the threshold: 0",
                           .x_label = "similarity, from",
                           .y_label = "documents",
                           .x_names = names,
                           .x_count = SP_AUDIT_BINS + 1,
                           .y_from_zero = true,
                           .series = &series,
                           .series_count = 1};
    sp_report_plot(page, &plot);
    if (r->survivor_known)
        sp_report_textf(page,
                        "For %llu of them the lists name the document, or the cluster, that they "
                        "were removed for. %llu of these do not resemble it, and of %llu it was "
                        "removed as well.",
                        (unsigned long long)r->survivor_known,
                        (unsigned long long)r->survivor_unlike,
                        (unsigned long long)r->survivor_gone);
}

static int by_size(const void *a, const void *b)
{
    const struct sp_audit_cluster *x = *(struct sp_audit_cluster *const *)a;
    const struct sp_audit_cluster *y = *(struct sp_audit_cluster *const *)b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void put_clusters(struct sp_report *page, const struct sp_audit *a)
{
    static const char *const columns[] = {"members", "kept", "do not resemble the kept one",
                                          "least similarity to it", "kept document"};
    if (a->cluster_count == 0)
        return;
    const struct sp_audit_cluster **order = sp_calloc(a->cluster_count, sizeof *order);
    for (uint32_t i = 0; i < a->cluster_count; i++)
        order[i] = &a->clusters[i];
    qsort(order, a->cluster_count, sizeof *order, by_size);
    sp_report_section(page, "What chains did");
    sp_report_textf(page, "%u clusters; of %llu nothing was kept. The largest:", a->cluster_count,
                    (unsigned long long)a->result->clusters_lost);
    struct sp_table *t = sp_table_new("clusters", "The largest clusters", columns, 5);
    for (uint32_t i = 0; i < a->cluster_count && i < CLUSTERS_SHOWN; i++) {
        const struct sp_audit_cluster *c = order[i];
        sp_table_count(t, c->size);
        sp_table_count(t, c->kept);
        sp_table_count(t, c->unlike);
        sp_table_number(t, c->least, 3);
        sp_table_text(t, c->first_kept == SP_AUDIT_NONE ? "none" : sp_audit_id(a, c->first_kept));
    }
    sp_report_table(page, t);
    sp_free(order);
}

static int by_documents(const void *a, const void *b)
{
    const struct sp_audit_source *x = *(struct sp_audit_source *const *)a;
    const struct sp_audit_source *y = *(struct sp_audit_source *const *)b;
    if (x->documents != y->documents)
        return x->documents > y->documents ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void put_sources(struct sp_report *page, const struct sp_audit *a)
{
    static const char *const columns[] = {"source", "documents",         "removed",
                                          "share",  "share of its text", "lost (chain or wrong)"};
    const struct sp_audit_source **order = sp_calloc(a->source_count + 1, sizeof *order);
    for (uint32_t i = 0; i < a->source_count; i++)
        order[i] = &a->sources[i];
    if (a->source_count)
        qsort(order, a->source_count, sizeof *order, by_documents);
    sp_report_section(page, "By source");
    sp_report_text(page, "A source is the host of a URL, else the file. The largest:");
    struct sp_table *t = sp_table_new("sources", "What each source lost", columns, 6);
    for (uint32_t i = 0; i < a->source_count && i < SOURCES_SHOWN; i++) {
        const struct sp_audit_source *s = order[i];
        sp_table_text(t, a->ids.data + s->name);
        sp_table_count(t, s->documents);
        sp_table_count(t, s->removed);
        sp_table_percent(t, share(s->removed, s->documents), 1);
        sp_table_percent(t, share(s->removed_bytes, s->bytes), 1);
        sp_table_count(t, s->unjustified);
    }
    sp_report_table(page, t);
    sp_free(order);
}

static void put_examples(struct sp_report *page, const struct sp_audit *a,
                         const struct texts *texts)
{
    static const char *const titles[SP_AUDIT_KINDS] = {
        [SP_AUDIT_WRONG] = "Removed although similar to no other document",
        [SP_AUDIT_CHAIN] = "Removed together with every similar document",
        [SP_AUDIT_UNLIKE] = "Removed for a document that is not similar",
        [SP_AUDIT_MISSED] = "Near duplicates that were both kept"};
    sp_report_section(page, "Examples");
    for (int kind = 0; kind < SP_AUDIT_KINDS; kind++) {
        if (a->example_count[kind])
            sp_report_heading(page, titles[kind]);
        for (uint32_t i = 0; i < a->example_count[kind]; i++) {
            const struct sp_audit_example *e = &a->examples[kind][i];
            char verdict[64];
            bool alone = e->other == SP_AUDIT_NONE;
            snprintf(verdict, sizeof verdict, alone ? "No other" : "Similarity %.3f",
                     e->similarity);
            sp_report_pair(
                page, &(struct sp_pair){.title_a = sp_audit_id(a, e->removed),
                                        .title_b = alone ? "" : sp_audit_id(a, e->other),
                                        .a = text_of(texts, e->removed),
                                        .b = alone ? sp_view_str("") : text_of(texts, e->other),
                                        .verdict = verdict});
        }
    }
}

static void put_how(struct sp_report *page, const struct sp_audit *a)
{
    sp_report_section(page, "How this was measured");
    sp_report_textf(
        page,
        "Method: %s, from a similarity of %g on. The verdicts are exact, whichever "
        "method made the lists. Of documents of more than %u distinct 5-word sequences the similarity is an "
        "unbiased estimate.",
        sp_method_info(a->options->similarity.method)->title, a->options->similarity.threshold,
        a->options->text.signature.max_shingles);
    if (a->result->dead_letters)
        sp_report_textf(page, "%llu records of the input could not be read.",
                        (unsigned long long)a->result->dead_letters);
}

enum sp_err sp_audit_page(struct sp_audit *a, struct sp_fault *fault)
{
    struct sp_report *page = NULL;
    struct texts texts = {.a = a};
    enum sp_err err = read_texts(&texts, fault);
    if (err == SP_OK)
        err = sp_report_open(a->options->report, "Audit of a deduplication", &page, fault);
    if (err == SP_OK) {
        put_result(page, a);
        put_survivors(page, a);
        put_clusters(page, a);
        put_sources(page, a);
        put_examples(page, a, &texts);
        put_how(page, a);
        err = sp_report_close(page, fault);
    }
    texts_done(&texts);
    return err;
}
