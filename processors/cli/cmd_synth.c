/* samepage synth: a crawl made up with known truth. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "synth/synth.h"

struct arguments {
    const char *output;
    const char *truth;
    struct sp_synth_options synth;
};

/* A number from `least` to `most`, as "2.24": how much it is above `least`, times `scale`. */
static bool permille(const char *text, double least, double most, double scale,
                     uint32_t *ret_permille)
{
    char *end;
    double n = strtod(text, &end);
    if (end == text || *end || !(n >= least && n <= most))
        return false;
    *ret_permille = (uint32_t)((n - least) * scale + 0.5);
    return true;
}

static int parse(const struct sp_command *command, int argc, char **argv, struct arguments *a)
{
    static const struct option table[] = {{"pages", required_argument, NULL, 'n'},
                                          {"from", required_argument, NULL, 'f'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"words", required_argument, NULL, 'w'},
                                          {"versions", required_argument, NULL, 'v'},
                                          {"near", required_argument, NULL, 'N'},
                                          {"exact", required_argument, NULL, 'E'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"truth", required_argument, NULL, 't'},
                                          SP_COMMON_OPTIONS,
                                          {0}};
    uint64_t words = a->synth.words;
    for (int c; (c = getopt_long(argc, argv, "o:", table, NULL)) != -1;) {
        bool good = true;
        int code = -1;
        if (c == 'n')
            good = sp_cli_number(optarg, &a->synth.pages);
        else if (c == 'f')
            good = sp_cli_number(optarg, &a->synth.from);
        else if (c == 's')
            good = sp_cli_number(optarg, &a->synth.seed);
        else if (c == 'w')
            good = sp_cli_number(optarg, &words) && words >= 1 && words <= 100000;
        else if (c == 'v')
            good = permille(optarg, 1, 1000, 1000, &a->synth.recrawl_permille);
        else if (c == 'N')
            good = permille(optarg, 0, 100, 10, &a->synth.near_permille);
        else if (c == 'E')
            good = permille(optarg, 0, 100, 10, &a->synth.exact_permille);
        else if (c == 'o')
            a->output = optarg;
        else if (c == 't')
            a->truth = optarg;
        else
            code = sp_cli_common(command, c, NULL);
        if (!good)
            return sp_cli_usage(command, "\"%s\" is not a usable number", optarg);
        if (code >= 0)
            return code;
    }
    a->synth.words = (uint32_t)words;
    if (a->synth.from > a->synth.pages)
        return sp_cli_usage(command, "--from is behind the last of %" PRIu64 " pages",
                            a->synth.pages);
    uint32_t copies = a->synth.near_permille + a->synth.exact_permille;
    if (copies + a->synth.redirect_permille > 1000)
        return sp_cli_usage(command, "--near and --exact are more than %u %% together",
                            (1000 - a->synth.redirect_permille) / 10);
    if (optind != argc)
        return sp_cli_usage(command, "\"%s\" is not an option", argv[optind]);
    return -1;
}

static bool flush_to(FILE *file, struct sp_buf *buf, size_t least)
{
    if (!file || buf->len < least)
        return true;
    bool good = fwrite(buf->data, 1, buf->len, file) == buf->len;
    sp_buf_reset(buf);
    return good;
}

static int write_crawl(const struct arguments *a, FILE *out, FILE *truth)
{
    enum { BLOCK = 1 << 18 };
    struct sp_buf lines = {0}, truths = {0};
    struct sp_synth *synth = sp_synth_new(&a->synth);
    bool good = true;
    while (good && sp_synth_next(synth, &lines, truth ? &truths : NULL))
        good = flush_to(out, &lines, BLOCK) && flush_to(truth, &truths, BLOCK);
    good = good && flush_to(out, &lines, 0) && flush_to(truth, &truths, 0) && fflush(out) == 0;
    good = good && (!truth || fflush(truth) == 0);
    int error = errno;
    sp_synth_free(synth);
    sp_buf_done(&lines);
    sp_buf_done(&truths);
    return good ? SP_EXIT_DONE : sp_cli_failed("the crawl cannot be written: %s", strerror(error));
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    struct arguments a = {.output = "-"};
    sp_synth_options_default(&a.synth);
    int code = parse(command, argc, argv, &a);
    if (code >= 0)
        return code;
    FILE *out = strcmp(a.output, "-") == 0 ? stdout : fopen(a.output, "w");
    if (!out)
        return sp_cli_failed("%s: cannot be written: %s", a.output, strerror(errno));
    FILE *truth = a.truth ? fopen(a.truth, "w") : NULL;
    if (a.truth && !truth)
        code = sp_cli_failed("%s: cannot be written: %s", a.truth, strerror(errno));
    else
        code = write_crawl(&a, out, truth);
    if (truth)
        fclose(truth);
    if (out != stdout)
        fclose(out);
    return code;
}

const struct sp_command sp_cmd_synth = {
    "synth", "a crawl made up with known truth",
    "NAME\n"
    "  samepage synth - a crawl made up with known truth\n\n"
    "SYNOPSIS\n"
    "  samepage synth --pages N [--from N] [--seed S] [--words W] [--versions V] [--near P] [--exact P]\n"
    "      [--output FILE] [--truth FILE]\n\n"
    "DESCRIPTION\n"
    "  Writes a crawl as JSON lines for `samepage run`: sites with templates, near and exact "
    "copies,\n"
    "  redirects, pages that die and come back, and pages fetched again. The same options give "
    "the\n"
    "  same bytes on every machine.\n\n"
    "OPTIONS\n"
    "  --pages N           distinct URLs; K, M, G for thousands; default 1000\n"
    "  --from N            leave out the first N pages: what comes late in a crawl\n"
    "  --seed S            another crawl for each number; default 1\n"
    "  --words W           mean words of a page's main text; default 300\n"
    "  --versions V        mean fetches of a URL; default 1.15\n"
    "  --near P            percent of the pages that are near copies of earlier ones; default 20\n"
    "  --exact P           percent that have an earlier page's text; default 10\n"
    "  -o, --output FILE   write there; default: standard output\n"
    "  --truth FILE        write one JSON line for each fetch: what it is, and which text it has\n"
    "  --help              this text\n\n"
    "EXAMPLE\n"
    "  samepage synth --pages 20K --seed 7 --truth truth.jsonl > crawl.jsonl\n",
    false, run};
