/* samepage train: makes partition maps from data, and shows them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/map_text.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "local/sample.h"
#include "partition/rho.h"
#include "partition/train.h"

enum { DICTIONARY_WORDS = 8192, SAMPLE_PAGES = 100000 };

struct arguments {
    const char *map;   /* to write */
    const char *show;  /* to print */
    const char *after; /* map whose dictionary is kept and whose version is continued */
    struct sp_train_options train;
    enum sp_words_rule rule;
    uint64_t words;
    uint64_t sample; /* pages; 0: not given */
    bool quiet;
    struct sp_config config;
};

static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                        {"show", required_argument, NULL, 's'},
                                        {"dims", required_argument, NULL, 'd'},
                                        {"slicing", required_argument, NULL, 'l'},
                                        {"cells", required_argument, NULL, 'c'},
                                        {"machines", required_argument, NULL, 'm'},
                                        {"threshold", required_argument, NULL, 't'},
                                        {"after", required_argument, NULL, 'a'},
                                        {"packing", required_argument, NULL, 'p'},
                                        {"dictionary", required_argument, NULL, 'y'},
                                        {"words", required_argument, NULL, 'w'},
                                        {"sample", required_argument, NULL, 'n'},
                                        {"quiet", no_argument, NULL, 'q'},
                                        SP_COMMON_OPTIONS,
                                        SP_FIELD_OPTIONS,
                                        SP_SETTING_OPTIONS,
                                        {0}};

/* Returns the index of the word in `allowed`, which ends with NULL; -1 if it is not there. */
static int choice(const char *word, const char *const *allowed)
{
    for (int i = 0; allowed[i]; i++)
        if (strcmp(word, allowed[i]) == 0)
            return i;
    return -1;
}

static bool read_choice(const char *const *allowed, void *at, size_t size)
{
    int number = choice(optarg, allowed);
    if (number >= 0)
        memcpy(at, &number, size);
    return number >= 0;
}

static bool read_count(uint32_t least, uint32_t most, uint32_t *ret_count)
{
    uint64_t n;
    if (!sp_cli_number(optarg, &n) || n < least || n > most)
        return false;
    *ret_count = (uint32_t)n;
    return true;
}

static bool read_threshold(double *ret_threshold)
{
    char *end;
    double x = strtod(optarg, &end);
    if (end == optarg || *end || !(x > 0 && x <= 1))
        return false;
    *ret_threshold = x;
    return true;
}

/* Says which values the option has. */
static int refuse(const struct sp_command *command, int c)
{
    static const struct {
        int option;
        const char *name;
        const char *values; /* NULL: numbers */
        int least;
        int most;
    } all[] = {
        {'d', "dims", NULL, 1, SP_DIMS},
        {'l', "slicing", "kd or grid", 0, 0},
        {'c', "cells", NULL, 1, SP_MAX_CELLS},
        {'m', "machines", NULL, 1, SP_MAX_CELLS},
        {'t', "threshold", "a number above 0 and at most 1", 0, 0},
        {'p', "packing", "neighbours or balanced", 0, 0},
        {'y', "dictionary", "spread, balanced or hash", 0, 0},
        {'w', "words", NULL, 0, SP_MAX_DICTIONARY_WORDS},
        {'n', "sample", "a number of pages, 1 or more", 0, 0},
    };
    size_t i = 0;
    while (all[i].option != c)
        i++;
    if (all[i].values)
        return sp_cli_usage(command, "--%s \"%s\": give %s", all[i].name, optarg, all[i].values);
    return sp_cli_usage(command, "--%s \"%s\": give a number from %d to %d", all[i].name, optarg,
                        all[i].least, all[i].most);
}

/* Returns -1 to continue, else the exit code. */
static int parse_option(const struct sp_command *command, int c, struct arguments *a)
{
    static const char *const slicings[] = {"kd", "grid", NULL},
                             *const packings[] = {"neighbours", "balanced", NULL},
                             *const rules[] = {"spread", "balanced", "hash", NULL};
    uint32_t words = (uint32_t)a->words;
    bool good = true;
    switch (c) {
    case 'o':
        a->map = optarg;
        return -1;
    case 's':
        a->show = optarg;
        return -1;
    case 'a':
        a->after = optarg;
        return -1;
    case 'q':
        a->quiet = true;
        return -1;
    case 'd':
        good = read_count(1, SP_DIMS, &a->train.dims);
        break;
    case 'l':
        good = read_choice(slicings, &a->train.slicing, sizeof a->train.slicing);
        break;
    case 'c':
        good = read_count(1, SP_MAX_CELLS, &a->train.cells);
        break;
    case 'm':
        good = read_count(1, SP_MAX_CELLS, &a->train.machines);
        break;
    case 't':
        good = read_threshold(&a->train.threshold);
        break;
    case 'p':
        good = read_choice(packings, &a->train.packing, sizeof a->train.packing);
        break;
    case 'y':
        good = read_choice(rules, &a->rule, sizeof a->rule);
        break;
    case 'w':
        good = read_count(0, SP_MAX_DICTIONARY_WORDS, &words);
        a->words = words;
        break;
    case 'n':
        good = sp_cli_number(optarg, &a->sample) && a->sample > 0;
        break;
    default:
        return sp_cli_common(command, c, &a->config);
    }
    return good ? -1 : refuse(command, c);
}

static int parse(const struct sp_command *command, int argc, char **argv, struct arguments *a)
{
    for (int c; (c = getopt_long(argc, argv, "o:q", options, NULL)) != -1;) {
        int code = parse_option(command, c, a);
        if (code >= 0)
            return code;
    }
    struct sp_similarity_options similarity;
    sp_settings_similarity(&a->config, &similarity);
    if (a->train.threshold == 0)
        a->train.threshold = similarity.threshold;
    if (a->train.machines > a->train.cells)
        return sp_cli_usage(command, "there are fewer cells than machines");
    if (a->show && a->map)
        return sp_cli_usage(command, "give either --show or --output, not both");
    if (!a->show && !a->map)
        return sp_cli_usage(command, "no output: name the file for the map with -o FILE");
    if (a->map && strcmp(a->map, "-") == 0)
        return sp_cli_usage(command, "a map is a file, not standard output: name it with -o FILE");
    if (!a->show && optind == argc)
        return sp_cli_usage(command, "no input: name files, or - for standard input");
    return -1;
}

/* ---- reading ---- */

static void show_progress(void *arg, uint64_t records, uint64_t bytes, uint64_t bytes_total)
{
    sp_progress_show(arg, records, bytes, bytes_total, 0);
}

static enum sp_err read_sample(const struct arguments *a, const char *const *inputs, size_t count,
                               const struct sp_dictionary *dictionary, struct sp_sample *ret_sample,
                               struct sp_readings *readings, struct sp_fault *fault)
{
    struct sp_settings settings;
    struct sp_progress progress;
    struct sp_config config = a->config;
    memset(config.partition_map, 0, sizeof config.partition_map); /* it may be the map to be made */
    enum sp_err err = sp_settings_init(&config, &settings, fault);
    if (err != SP_OK)
        return err;
    struct sp_sample_options o = {.text = settings.run.text,
                                  .input = settings.run.input,
                                  .most = a->sample ? a->sample : SAMPLE_PAGES,
                                  .readings = readings,
                                  .progress = show_progress,
                                  .progress_arg = &progress};
    o.text.detect_language = false;
    o.text.signature.dictionary = dictionary;
    if (dictionary && !a->sample)
        o.most = UINT64_MAX;
    sp_progress_start(&progress, NULL);
    progress.unit = "records";
    progress.shown &= !a->quiet;
    err = sp_sample_read(inputs, count, &o, ret_sample, fault);
    sp_progress_end(&progress);
    sp_settings_done(&settings);
    return err;
}

/* ---- showing ---- */

static int show(const struct arguments *a, const char *const *inputs, size_t count,
                struct sp_readings *readings)
{
    struct sp_partition_map map;
    struct sp_sample sample = {0};
    struct sp_fault fault;
    if (sp_partition_read(a->show, &map, &fault) != SP_OK)
        return sp_cli_failed("%s", fault.text);
    enum sp_err err =
        count ? read_sample(a, inputs, count, &map.dictionary, &sample, readings, &fault) : SP_OK;
    if (err == SP_OK && sample.count > 0) {
        const struct sp_lengths *lengths = sample.lengths;
        uint64_t *load = sp_calloc(map.cells, sizeof *load);
        for (size_t i = 0; i < sample.count; i++)
            load[sp_partition_cell(&map, lengths[i].at)]++;
        sp_cli_draw_map(&map, load);
        sp_cli_print_contacts(stdout, &map, lengths, sample.count);
        sp_free(load);
    } else if (err == SP_OK) {
        sp_cli_draw_map(&map, map.load);
    }
    sp_sample_done(&sample);
    sp_partition_done(&map);
    return err == SP_OK ? SP_EXIT_DONE : sp_cli_failed("%s", fault.text);
}

/* ---- training ---- */

/* A map that replaces an old one gets the next version. */
static uint32_t version_after(const struct sp_partition_map *old)
{
    return old->version == UINT32_MAX ? 1 : old->version + 1;
}

static uint32_t next_version(const char *file)
{
    struct sp_partition_map old;
    struct sp_fault fault;
    if (access(file, R_OK) != 0 || sp_partition_read(file, &old, &fault) != SP_OK)
        return 1;
    uint32_t version = version_after(&old);
    sp_partition_done(&old);
    return version;
}

/* Makes the dictionary and the version of the new map. The dictionary is trained, or with --after
 * that of the old map, so that a state can move to the new one. */
static enum sp_err make_dictionary(const struct arguments *a, const struct sp_sample *sample,
                                   struct sp_dictionary *ret_dictionary, uint32_t *ret_version,
                                   struct sp_fault *fault)
{
    struct sp_partition_map old = {0};
    uint32_t version = next_version(a->map);
    enum sp_err err = a->after ? sp_settings_map(a->after, 1, &old, fault) : SP_OK;
    if (err != SP_OK)
        return err;
    if (!a->after)
        err = sp_words_train(a->rule, a->train.dims, (uint32_t)a->words, sample->bags,
                             sample->count, ret_dictionary);
    else
        err = sp_dictionary_init(old.dictionary.dims, old.dictionary.words, old.dictionary.count,
                                 ret_dictionary);
    if (a->after)
        version = version_after(&old);
    sp_partition_done(&old);
    if (err != SP_OK)
        return sp_fault_set(fault, err, "the dictionary cannot be built");
    *ret_version = version;
    return SP_OK;
}

/* Prints the choices of partition.rho for bounded routing. */
static void print_rho(const struct sp_lengths *lengths, size_t count, uint32_t dims)
{
    static const double shares[] = {0.5, 0.9, 0.99};
    fprintf(stderr, "bounded routing: share of the pages, delta that they keep, partition.rho\n");
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        struct sp_rho r = sp_rho_of_sample(lengths, count, dims, shares[i]);
        fprintf(stderr, "  %3.0f %%  %8.3f  %8.3f\n", 100 * shares[i], r.delta, r.rho);
    }
}

static void report(const struct sp_partition_map *map, const struct sp_sample *sample,
                   const struct sp_lengths *lengths)
{
    struct sp_partition_measure m;
    sp_partition_measure(map, lengths, sample->count, map->threshold, SP_ROUTING_LOSSLESS, 1, &m);
    fprintf(stderr, "%s records, %s pages, %s distinct contents; %u cells on %u machines\n",
            sp_thousands(sample->records).text, sp_thousands(sample->pages).text,
            sp_thousands(sample->count).text, map->cells, map->machines);
    if (sample->part)
        fprintf(stderr, "these pages are a sample of all; --sample N keeps up to N pages\n");
    fprintf(stderr, "imbalance (max/mean): %.4f\n", m.imbalance);
    sp_cli_print_contacts(stderr, map, lengths, sample->count);
    if (map->dictionary.dims > 1)
        print_rho(lengths, sample->count, map->dictionary.dims);
    sp_partition_measure_done(&m);
}

static int train(const struct arguments *a, const char *const *inputs, size_t count,
                 struct sp_readings *readings)
{
    struct sp_sample sample;
    struct sp_dictionary dictionary;
    struct sp_partition_map map;
    struct sp_fault fault;
    if (read_sample(a, inputs, count, NULL, &sample, readings, &fault) != SP_OK)
        return sp_cli_failed("%s", fault.text);
    if (sample.count == 0) {
        sp_sample_done(&sample);
        sp_cli_reasons(readings, "");
        return sp_cli_failed("none of %s records is a page with content",
                             sp_thousands(readings->records).text);
    }
    uint32_t version = 0;
    enum sp_err err = make_dictionary(a, &sample, &dictionary, &version, &fault);
    struct sp_lengths *lengths = NULL;
    if (err == SP_OK) {
        lengths = sp_sample_lengths(&sample, &dictionary);
        err = sp_partition_train(&a->train, lengths, sample.count, &dictionary, &map);
        if (err != SP_OK)
            sp_fault_set(&fault, err, "%s", sp_err_text(err));
    }
    if (err != SP_OK) {
        sp_free(lengths);
        sp_sample_done(&sample);
        return sp_cli_failed("the map cannot be built: %s", fault.text);
    }
    map.version = version;
    err = sp_partition_write(&map, a->map, &fault);
    if (err == SP_OK && !a->quiet)
        report(&map, &sample, lengths);
    sp_free(lengths);
    sp_partition_done(&map);
    sp_sample_done(&sample);
    return err == SP_OK ? SP_EXIT_DONE : sp_cli_failed("%s", fault.text);
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    struct arguments a = {.rule = SP_WORDS_SPREAD, .words = DICTIONARY_WORDS};
    sp_train_options_default(&a.train);
    a.train.threshold = 0; /* not given */
    a.train.machines = 0;
    sp_config_default(&a.config);
    struct sp_readings readings = {0};
    int code = parse(command, argc, argv, &a);
    size_t count;
    const char *const *inputs = sp_cli_inputs(argv + optind, argc - optind, &count);
    if (code < 0)
        code = sp_cli_outputs(command, &a.map, 1);
    if (code < 0)
        code = a.show ? show(&a, inputs, count, &readings) : train(&a, inputs, count, &readings);
    if (code == SP_EXIT_DONE) {
        sp_cli_reasons(&readings, "");
        code = sp_cli_verdict(&a.config, &readings);
    }
    sp_readings_done(&readings);
    sp_config_done(&a.config);
    return code;
}

const struct sp_command sp_command_train = {
    "train", "trains a partition map, or shows one",
    "NAME\n"
    "  samepage train - trains a partition map, or shows one\n\n"
    "SYNOPSIS\n"
    "  samepage train [OPTION]... -o MAP INPUT...\n"
    "  samepage train --show MAP [OPTION]... [INPUT...]\n\n"
    "DESCRIPTION\n"
    "  Reads pages (formats as for `samepage run`) and divides the space of their lengths into cells of\n"
    "  equal load, so that few cells must be searched for each page (Zhu et al., WWW 2012, section\n"
    "  4: multidimensional partitioning). Only the last fetch of a page counts, and equal\n"
    "  contents count once. The map is a text file for the setting partition.map.\n\n"
    "OPTIONS\n"
    "  -o, --output MAP    write the map there; if it replaces a map, it has the next version\n"
    "  --show MAP          draw the load of each cell: of the pages that it was trained on, or of INPUT\n"
    "  --cells N           number of cells; default: 64\n"
    "  --machines N        machines that the cells are packed onto; default: one for each cell\n"
    "  --threshold T       the similarity at which visits are counted; default: similarity.threshold\n"
    "  --dims N            lengths that are used, 1, 2 or 3; default: 3\n"
    "  --slicing S         kd (default): repeated splits in two. grid: each length by itself\n"
    "  --packing P         neighbours (default): a machine's cells lie together. balanced: by load alone\n"
    "  --dictionary D      spread (default): unlike pages get unlike lengths. balanced: by frequency.\n"
    "                      hash: no trained words\n"
    "  --words N           words of the dictionary, the most frequent; default: 8192\n"
    "  --after MAP         make a map that a state can move to from MAP (partition.previous_map), or with\n"
    "                      `untrained` from the map of partition.cells\n"
    "  --sample N          at most that many pages, chosen by their ids; default: 100000\n" SP_FIELD_HELP
    "  --config FILE       read settings from FILE\n"
    "  --set KEY=VALUE     change one setting; may be repeated\n"
    "  --help-settings     all settings, with their defaults\n"
    "  -q, --quiet         no progress bar, no summary\n"
    "  --help              this text\n\n"
    "EXAMPLES\n"
    "  samepage train -o map --cells 64 crawl-*.warc.gz\n"
    "  samepage train --show map\n\n" SP_READING_EXIT_HELP,
    run};
