/* samepage pairs: all near-duplicate pairs of a collection, computed from scratch, and the sets of
 * pages that they form. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/json_write.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/sets.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "input/readings.h"
#include "local/pipeline.h"
#include "similarity/connected.h"
#include "similarity/join.h"
#include "similarity/lcs_sets.h"
#include "stars/components.h"

struct arguments {
    const char *output;
    const char *sets; /* NULL: none */
    bool no_pairs;
    bool quiet;
    struct sp_config config;
};

struct document {
    struct sp_id page; /* key of the map: first */
    char *url;
    size_t number;
};

struct collection {
    struct sp_map by_page;
    struct document **documents; /* in order of first appearance */
    struct sp_signature **signatures;
    size_t count;
    size_t document_cap;
    size_t signature_cap;
    struct sp_readings readings;
    uint64_t read_bytes;
    uint64_t total_bytes;
    struct sp_progress progress;
};

static struct document *document_of(struct collection *c, struct sp_message *m)
{
    struct document *d = sp_map_get(&c->by_page, m->page);
    if (d)
        return d;
    sp_grow(&c->documents, &c->document_cap, c->count + 1);
    sp_grow(&c->signatures, &c->signature_cap, c->count + 1);
    d = sp_alloc(sizeof *d);
    *d = (struct document){m->page, m->crawled.url, c->count};
    m->crawled.url = NULL;
    c->documents[c->count] = d;
    c->signatures[c->count++] = NULL;
    sp_map_add(&c->by_page, d);
    return d;
}

/* Keeps a page's last fetch with content. */
static void note_item(struct collection *c, struct sp_batch_item *item)
{
    sp_batch_item_count(item, &c->readings);
    if (!item->message || item->message->crawled.page_kind != SP_PAGE_CONTENT)
        return;
    struct document *d = document_of(c, item->message);
    sp_signature_unref(c->signatures[d->number]);
    c->signatures[d->number] = sp_signature_ref(item->message->crawled.signature);
}

static enum sp_err read_input(struct collection *c, const char *name,
                              const struct sp_run_options *options, struct sp_fault *fault)
{
    struct sp_input *input = NULL;
    uint64_t before = c->readings.records;
    enum sp_err err = sp_input_open(&name, 1, &options->input, &input, fault);
    if (err != SP_OK)
        return err;
    struct sp_batch *batch;
    struct sp_pipeline *pipeline = sp_pipeline_start(input, &options->input, &options->text,
                                                     sp_pipeline_workers(options->threads));
    while ((err = sp_pipeline_next(pipeline, &batch, fault)) == SP_OK) {
        for (size_t i = 0; i < batch->count; i++) {
            note_item(c, &batch->items[i]);
            sp_message_free(batch->items[i].message);
            batch->items[i].message = NULL;
        }
        sp_progress_show(&c->progress, c->count, c->read_bytes + batch->read_bytes, c->total_bytes,
                         0);
    }
    sp_pipeline_stop(pipeline);
    c->read_bytes += sp_input_read_bytes(input);
    sp_input_close(input);
    sp_readings_end_input(&c->readings, name, c->readings.records - before);
    return err == SP_END ? SP_OK : err;
}

static void collection_done(struct collection *c)
{
    for (size_t i = 0; i < c->count; i++) {
        sp_signature_unref(c->signatures[i]);
        sp_free(c->documents[i]->url);
        sp_free(c->documents[i]);
    }
    sp_free(c->documents);
    sp_free(c->signatures);
    sp_map_done(&c->by_page);
    sp_readings_done(&c->readings);
}

/* ---- pairs ---- */

/* Pairs have few different similarities, and to find the shortest text of one takes longer than to
 * find the pair. */
enum { TEXTS = 1024 };

struct similarity_text {
    double similarity; /* 0: none */
    char text[32];
};

struct writer {
    const struct collection *collection;
    FILE *out;
    struct sp_buf line;
    struct similarity_text texts[TEXTS];
    uint64_t pairs;
    /* Union-find over pages, or, with the paper's sets, the page that each set was made around. */
    uint32_t *set;
    struct sp_progress *progress;
};

static void put_similarity(struct writer *w, double similarity)
{
    struct similarity_text *t = &w->texts[sp_hash64(&similarity, sizeof similarity) % TEXTS];
    if (t->similarity != similarity || similarity == 0) {
        struct sp_buf text = {0};
        sp_json_put_double(&text, similarity);
        sp_buf_put_u8(&text, 0);
        t->similarity = similarity;
        memcpy(t->text, text.data, text.len < sizeof t->text ? text.len : sizeof t->text);
        sp_buf_done(&text);
    }
    sp_buf_put_str(&w->line, t->text);
}

static void write_pair(struct writer *w, size_t i, size_t j, double similarity)
{
    sp_buf_reset(&w->line);
    sp_buf_put_str(&w->line, "{\"a\":");
    sp_json_put_text(&w->line, w->collection->documents[i]->url);
    sp_buf_put_str(&w->line, ",\"b\":");
    sp_json_put_text(&w->line, w->collection->documents[j]->url);
    sp_buf_put_str(&w->line, ",\"similarity\":");
    put_similarity(w, similarity);
    sp_buf_put_str(&w->line, "}\n");
    fwrite(w->line.data, 1, w->line.len, w->out);
    w->pairs++;
    if (w->pairs % 64 == 0) /* reading the clock costs more than writing a pair */
        sp_progress_count(w->progress, "comparing", w->pairs, "pairs found");
}

/* Joins two components; the first page of a component is its root. */
static void note_pair(void *arg, size_t i, size_t j, double similarity)
{
    struct writer *w = arg;
    sp_sets_unite(w->set, (uint32_t)i, (uint32_t)j);
    write_pair(w, i, j, similarity);
}

/* Makes the sets of the paper, and writes each page of a set with the page that the set was made
 * around. */
static void make_sets_of_paper(struct writer *w, const struct sp_similarity_options *similarity)
{
    const struct collection *c = w->collection;
    uint32_t *perhaps = sp_alloc((c->count + 1) * sizeof *perhaps);
    struct sp_lcs_sets options;
    struct sp_lcs_counts counts;
    sp_lcs_sets_default(&options);
    options.threshold = similarity->threshold;
    sp_lcs_perhaps(&options, c->signatures, (uint32_t)c->count, perhaps);
    sp_lcs_refine(&options, c->signatures, (uint32_t)c->count, perhaps, w->set, &counts);
    for (uint32_t i = 0; i < c->count; i++)
        if (w->set[i] != i && w->out)
            write_pair(w, w->set[i], i, sp_lcs_ratio(c->signatures[w->set[i]], c->signatures[i]));
    sp_free(perhaps);
}

/* Writes a line for each page of a set of two or more; returns the number of sets, or -1 if the
 * file could not be written. */
static int64_t write_sets(struct writer *w, const char *name)
{
    uint32_t count = (uint32_t)w->collection->count;
    uint32_t *sizes = sp_calloc((size_t)count + 1, sizeof *sizes);
    int64_t sets = 0;
    FILE *out = strcmp(name, "-") == 0 ? stdout : fopen(name, "w");
    for (uint32_t i = 0; i < count; i++)
        sizes[sp_sets_root(w->set, i)]++;
    for (uint32_t i = 0; i < count && out; i++) {
        uint32_t set = sp_sets_root(w->set, i);
        if (sizes[set] < 2)
            continue;
        sets += set == i;
        sp_buf_reset(&w->line);
        sp_buf_put_str(&w->line, "{\"url\":");
        sp_json_put_text(&w->line, w->collection->documents[i]->url);
        sp_buf_put_str(&w->line, ",\"set\":");
        sp_json_put_text(&w->line, w->collection->documents[set]->url);
        sp_buf_put_str(&w->line, "}\n");
        fwrite(w->line.data, 1, w->line.len, out);
    }
    bool failed = !out || ferror(out);
    failed |= out && (out == stdout ? fflush(out) : fclose(out)) != 0;
    sp_free(sizes);
    return failed ? -1 : sets;
}

/* By the other methods the index of stars has keys, not shingles, and reads the longer lists. */
static enum sp_err find_sets(const struct collection *c,
                             const struct sp_similarity_options *similarity, uint32_t *ret_set)
{
    if (similarity->method == SP_METHOD_SHINGLES)
        return sp_stars_components(similarity, c->signatures, c->count, ret_set, NULL);
    return sp_connected(similarity, c->signatures, c->count, ret_set, NULL);
}

static enum sp_err find_pairs(struct writer *w, const struct sp_similarity_options *similarity,
                              const struct arguments *a)
{
    const struct collection *c = w->collection;
    if (c->count >= UINT32_MAX)
        return SP_TOO_LARGE;
    w->set = sp_alloc((c->count + 1) * sizeof *w->set);
    sp_sets_init(w->set, c->count);
    if (a->config.lcs_sets == SP_CONFIG_LCS_COMPONENTS && a->no_pairs)
        return find_sets(c, similarity, w->set);
    if (a->config.lcs_sets == SP_CONFIG_LCS_COMPONENTS)
        return sp_join(similarity, c->signatures, c->count, note_pair, w, NULL);
    make_sets_of_paper(w, similarity);
    return SP_OK;
}

static int join(struct collection *c, const struct sp_similarity_options *similarity,
                const struct arguments *a)
{
    const char *output = a->output;
    int64_t sets = 0;
    struct writer w = {.collection = c, .progress = &c->progress};
    if (!a->no_pairs)
        w.out = strcmp(output, "-") == 0 ? stdout : fopen(output, "w");
    if (!w.out && !a->no_pairs)
        return sp_cli_failed("%s: cannot be written: %s", output, strerror(errno));
    /* Not between lines of pairs on a terminal. */
    c->progress.shown &= w.out != stdout || !isatty(STDOUT_FILENO);
    enum sp_err err = find_pairs(&w, similarity, a);
    sp_progress_end(&c->progress);
    bool good =
        !w.out || (!ferror(w.out) && (w.out == stdout ? fflush(w.out) : fclose(w.out)) == 0);
    if (err == SP_OK && good && a->sets && (sets = write_sets(&w, a->sets)) < 0) {
        good = false;
        output = a->sets;
    }
    sp_buf_done(&w.line);
    sp_free(w.set);
    if (err != SP_OK)
        return sp_cli_failed("the collection cannot be joined: %s", sp_err_text(err));
    if (!good)
        return sp_cli_failed("%s: cannot be written: %s", output, strerror(errno));
    if (!a->quiet && a->no_pairs)
        fprintf(stderr, "%s pages, %s sets\n", sp_thousands(c->count).text,
                sp_thousands((uint64_t)sets).text);
    else if (!a->quiet && a->sets)
        fprintf(stderr, "%s pages, %s pairs, %s sets\n", sp_thousands(c->count).text,
                sp_thousands(w.pairs).text, sp_thousands((uint64_t)sets).text);
    else if (!a->quiet)
        fprintf(stderr, "%s pages, %s pairs\n", sp_thousands(c->count).text,
                sp_thousands(w.pairs).text);
    return SP_EXIT_DONE;
}

static int parse(const struct sp_command *command, int argc, char **argv, struct arguments *a)
{
    static const struct option table[] = {{"output", required_argument, NULL, 'o'},
                                          {"sets", required_argument, NULL, 'S'},
                                          {"no-pairs", no_argument, NULL, 'N'},
                                          SP_DOCUMENT_OPTIONS,
                                          {0}};
    for (int c; (c = getopt_long(argc, argv, "t:o:q", table, NULL)) != -1;) {
        int code = -1;
        if (c == 'o')
            a->output = optarg;
        else if (c == 'S')
            a->sets = optarg;
        else if (c == 'N')
            a->no_pairs = true;
        else
            code = sp_cli_document(command, c, &a->config, &a->quiet);
        if (code >= 0)
            return code;
    }
    if (optind == argc)
        return sp_cli_usage(command, "no input: name files, or - for standard input");
    if (a->no_pairs && !a->sets)
        return sp_cli_usage(command, "--no-pairs: nothing would be written; add --sets FILE");
    return -1;
}

static int pairs(const struct sp_command *command, const struct arguments *a, int argc, char **argv)
{
    struct sp_settings settings;
    struct sp_fault fault;
    struct collection collection = {0};
    size_t count;
    const char *const *inputs = sp_cli_inputs(argv + optind, argc - optind, &count);
    const char *outputs[] = {a->no_pairs ? NULL : a->output, a->sets};
    int code = sp_cli_outputs(command, outputs, sizeof outputs / sizeof *outputs);
    if (code >= 0)
        return code;
    enum sp_err err = sp_settings_init(&a->config, &settings, &fault);
    if (err != SP_OK)
        return sp_cli_failed("%s", fault.text);
    sp_progress_start(&collection.progress, NULL);
    collection.progress.shown &= !a->quiet;
    if (collection.progress.shown)
        collection.total_bytes = sp_input_size_of(inputs, count, &settings.run.input);
    for (size_t i = 0; i < count && err == SP_OK; i++)
        err = read_input(&collection, inputs[i], &settings.run, &fault);
    sp_progress_end(&collection.progress);
    code = err == SP_OK ? join(&collection, &settings.run.bus.group.similarity, a)
                        : sp_cli_failed("%s", fault.text);
    sp_cli_reasons(&collection.readings, "");
    if (code == SP_EXIT_DONE)
        code = sp_cli_verdict(&a->config, &collection.readings);
    collection_done(&collection);
    sp_settings_done(&settings);
    return code;
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    struct arguments a = {.output = "-"};
    sp_config_default(&a.config);
    int code = parse(command, argc, argv, &a);
    if (code < 0)
        code = pairs(command, &a, argc, argv);
    sp_config_done(&a.config);
    return code;
}

const struct sp_command sp_command_pairs = {
    "pairs", "all near-duplicate pairs of a collection",
    "NAME\n"
    "  samepage pairs - all near-duplicate pairs of a collection\n\n"
    "SYNOPSIS\n"
    "  samepage pairs [--threshold T] [OPTION]... INPUT...\n\n"
    "DESCRIPTION\n"
    "  Reads all pages (formats as for `samepage run`), finds all similar pairs with an exact prefix\n"
    "  filter (with cosine and lcs: all those among candidates), and prints each\n"
    "  near-duplicate pair once. If a page was fetched several times, its last fetch counts.\n"
    "  Signatures and their index are kept in memory: about 20 bytes a word.\n"
    "  A group of n near copies has up to n (n - 1) / 2 pairs: with 100,000, five billion lines. For\n"
    "  a collection with large groups use --sets with --no-pairs, whose cost does not grow with the\n"
    "  number of pairs.\n\n"
    "OPTIONS\n"
    "  -t, --threshold T   same as --set similarity.threshold=T\n"
    "  -o, --output FILE   write there; default: standard output\n"
    "  --sets FILE         also write the sets of similar pages: those that pairs connect. With\n"
    "                      similarity.method=lcs and lcs.sets=paper: the sets of Huang, Wang and\n"
    "                      Li; the pairs printed are then those of a page and the page that its\n"
    "                      set started from\n"
    "  --no-pairs          write the sets only; with --sets\n" SP_FIELD_HELP
    "  --config FILE       read settings from FILE\n"
    "  --set KEY=VALUE     change one setting; may be repeated\n"
    "  --help-settings     all settings, with their defaults\n"
    "  -q, --quiet         no progress bar, no summary\n"
    "  --help              this text\n\n"
    "OUTPUT\n"
    "  {\"a\":URL,\"b\":URL,\"similarity\":J}; J by similarity.method\n"
    "  --sets: {\"url\":URL,\"set\":URL} for each page of a set of two and more; `set` names the set by\n"
    "  its first page, or by the page that it started from\n\n"
    "EXAMPLE\n"
    "  samepage pairs --threshold 0.9 articles.jsonl\n\n" SP_READING_EXIT_HELP,
    run};
