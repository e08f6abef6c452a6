/* Routing loses no pair of real pages: every pair that a brute-force comparison found (in the
 * folder oracle-pairs beside the checkout), under trained maps of every kind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/mem.h"
#include "harness.h"
#include "local/sample.h"
#include "partition/train.h"
#include "signature/signature.h"
#include "similarity/similarity.h"

struct real {
    const struct sp_sample *sample; /* for training */
    struct sp_dictionary dictionary;
    struct sp_signature **signatures; /* all documents, by number */
    size_t count;
};

static const char *path_of(const char *file)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/oracle-pairs/%s", sp_test_shared_data(), file);
    return path;
}

struct reading {
    struct real *real;
    struct sp_text *text;
};

static void on_item(void *arg, const struct sp_input_item *item)
{
    struct reading *r = arg;
    struct real *d = r->real;
    CU_ASSERT_EQUAL_FATAL(item->err, SP_OK);
    d->signatures = sp_realloc(d->signatures, (d->count + 1) * sizeof *d->signatures);
    d->signatures[d->count++] =
        sp_text_signature(r->text, item->page.content_type, item->page.content, true);
}

static void read_signatures(struct real *d, const struct sp_text_options *text)
{
    struct sp_input_options options;
    struct sp_input *input;
    struct sp_chunk *chunk;
    const char *name = path_of("docs.jsonl.zst");
    struct sp_fault fault = {""};
    sp_input_options_default(&options);
    struct sp_parser *parser = sp_parser_new(&options);
    struct reading r = {d, sp_text_new(text)};
    CU_ASSERT_EQUAL_FATAL(sp_input_open(&name, 1, &options, &input, &fault), SP_OK);
    while (sp_input_next_chunk(input, &chunk, &fault) == SP_OK) {
        sp_chunk_parse(parser, chunk, on_item, &r);
        sp_chunk_free(chunk);
    }
    sp_input_close(input);
    sp_parser_free(parser);
    sp_text_free(r.text);
}

static struct sp_text_options text_options(void)
{
    struct sp_text_options text;
    sp_text_options_default(&text);
    text.detect_language = false;
    return text;
}

static struct sp_sample read_sample(void)
{
    struct sp_sample sample;
    struct sp_sample_options o = {.text = text_options(), .most = 1000000};
    const char *name = path_of("docs.jsonl.zst");
    struct sp_fault fault = {""};
    sp_input_options_default(&o.input);
    CU_ASSERT_EQUAL_FATAL(sp_sample_read(&name, 1, &o, &sample, &fault), SP_OK);
    return sample;
}

static struct real read_documents(const struct sp_sample *sample, enum sp_words_rule rule,
                                  uint32_t dims)
{
    struct real d = {.sample = sample};
    struct sp_text_options text = text_options();
    CU_ASSERT_EQUAL_FATAL(
        sp_words_train(rule, dims, 8192, sample->bags, sample->count, &d.dictionary), SP_OK);
    text.signature.dictionary = &d.dictionary;
    read_signatures(&d, &text);
    return d;
}

static void done(struct real *d)
{
    for (size_t i = 0; i < d->count; i++)
        sp_signature_unref(d->signatures[i]);
    sp_free(d->signatures);
    sp_dictionary_done(&d->dictionary);
}

static char *read_pairs(void)
{
    char *packed = sp_alloc(1 << 22), *text = sp_alloc(1 << 24);
    FILE *in = fopen(path_of("pairs.jsonl.zst"), "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    size_t size = fread(packed, 1, 1 << 22, in);
    fclose(in);
    size = ZSTD_decompress(text, (1 << 24) - 1, packed, size);
    CU_ASSERT_FATAL(!ZSTD_isError(size));
    text[size] = 0;
    sp_free(packed);
    return text;
}

static bool reaches(const struct sp_partition_map *map, const struct sp_signature *from,
                    const struct sp_signature *to, double tau)
{
    static uint32_t cells[SP_MAX_CELLS];
    uint32_t cell = sp_partition_cell(map, to->length);
    uint32_t count = sp_partition_targets(map, from->length, tau, SP_ROUTING_LOSSLESS, 1, cells);
    for (uint32_t i = 0; i < count; i++)
        if (cells[i] == cell)
            return true;
    return false;
}

/* Checks every listed pair with similarity tau or more, in both directions; returns the number of
 * pairs across cells. */
static size_t check_pairs(const struct real *d, const struct sp_partition_map *map, char *pairs,
                          double tau, size_t *ret_similar)
{
    size_t across = 0;
    struct sp_similarity_options o = {.threshold = tau};
    *ret_similar = 0;
    for (const char *line = pairs; line && *line; line = strchr(line, '\n') + 1) {
        unsigned a, b;
        CU_ASSERT_EQUAL_FATAL(sscanf(line, "{\"a\": %u, \"b\": %u", &a, &b), 2);
        CU_ASSERT_FATAL(a < d->count && b < d->count);
        const struct sp_signature *x = d->signatures[a], *y = d->signatures[b];
        if (!sp_similar(&o, x, y, NULL))
            continue;
        ++*ret_similar;
        across += sp_partition_cell(map, x->length) != sp_partition_cell(map, y->length);
        CU_ASSERT(reaches(map, x, y, tau));
        CU_ASSERT(reaches(map, y, x, tau));
    }
    return across;
}

static void check_map(const struct real *d, struct sp_train_options *o, char *pairs)
{
    static const double taus[] = {0.6, 0.7, 0.8, 0.9};
    struct sp_dictionary none;
    struct sp_partition_map map;
    struct sp_lengths *lengths = sp_sample_lengths(d->sample, &d->dictionary);
    CU_ASSERT_EQUAL_FATAL(sp_dictionary_init(SP_DIMS, NULL, 0, &none), SP_OK);
    CU_ASSERT_EQUAL_FATAL(sp_partition_train(o, lengths, d->sample->count, &none, &map), SP_OK);
    for (size_t i = 0; i < sizeof taus / sizeof *taus; i++) {
        size_t similar, across = check_pairs(d, &map, pairs, taus[i], &similar);
        CU_ASSERT(similar > 500);
        CU_ASSERT(across > 20); /* the test must see pairs across cells */
    }
    sp_partition_done(&map);
    sp_free(lengths);
}

TEST(no_real_pair_is_routed_apart_by_any_trained_map)
{
    if (!sp_test_shared_data())
        SKIP("there is no folder of shared data beside the checkout");
    char *pairs = read_pairs();
    struct sp_sample sample = read_sample();
    CU_ASSERT_EQUAL(sample.pages, 5000);
    for (uint32_t dims = 2; dims <= SP_DIMS; dims++) {
        enum sp_words_rule rule = dims == 2 ? SP_WORDS_BALANCED : SP_WORDS_SPREAD;
        struct real d = read_documents(&sample, rule, dims);
        struct sp_train_options o;
        sp_train_options_default(&o);
        CU_ASSERT_EQUAL(d.count, 5000);
        o.dims = dims;
        check_map(&d, &o, pairs);
        o.cells = 500;
        check_map(&d, &o, pairs);
        o.slicing = SP_SLICING_GRID;
        o.dims = 1;
        check_map(&d, &o, pairs);
        done(&d);
    }
    sp_sample_done(&sample);
    sp_free(pairs);
}

static int by_vector(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct sp_lengths));
}

/* The length vectors computed from bags equal those of the signatures. */
TEST(bags_and_signatures_have_the_same_length_vectors)
{
    if (!sp_test_shared_data())
        SKIP("there is no folder of shared data beside the checkout");
    struct sp_sample sample = read_sample();
    struct real d = read_documents(&sample, SP_WORDS_SPREAD, 3);
    struct sp_lengths *lengths = sp_sample_lengths(&sample, &d.dictionary);
    CU_ASSERT(sample.count <= d.count);
    qsort(lengths, sample.count, sizeof *lengths, by_vector);
    for (size_t i = 0; i < d.count; i++)
        CU_ASSERT_PTR_NOT_NULL(
            bsearch(d.signatures[i]->length, lengths, sample.count, sizeof *lengths, by_vector));
    sp_free(lengths);
    done(&d);
    sp_sample_done(&sample);
}
