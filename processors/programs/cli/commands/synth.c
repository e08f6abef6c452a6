/* samepage synth: a synthetic crawl with known truth. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "synth/synth.h"

struct arguments {
    const char *output;
    const char *truth;
    struct sp_synth_options synth;
};

/* Parses a number from `least` to `most`, such as "2.24"; *ret_permille becomes (number - least) *
 * scale. */
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

/* The last option given that only one of the two kinds of crawl has; NULL: none. */
struct given {
    const char *ordinary;
    const char *skewed;
};

static void note_given(struct given *given, const char *name)
{
    static const char *const ordinary[] = {"from", "versions", "near", "exact"};
    if (strcmp(name, "family") == 0 || strcmp(name, "zipf-largest") == 0)
        given->skewed = name;
    for (size_t i = 0; i < sizeof ordinary / sizeof *ordinary; i++)
        if (strcmp(name, ordinary[i]) == 0)
            given->ordinary = name;
}

/* The mix may be a separate argument, because the command has no other arguments. */
static int parse_skew(const struct sp_command *command, int argc, char **argv, struct sp_skew *skew)
{
    const char *mix = optarg;
    struct sp_fault fault;
    if (!mix && optind < argc && argv[optind][0] != '-')
        mix = argv[optind++];
    if (sp_skew_parse(mix, skew, &fault) != SP_OK)
        return sp_cli_usage(command, "--skew: %s", fault.text);
    return -1;
}

/* Whether the options go together. */
static int check(const struct sp_command *command, const struct sp_synth_options *o,
                 const struct given *given)
{
    uint32_t copies = o->near_permille + o->exact_permille;
    bool skewed = sp_skew_wanted(&o->skew);
    if (skewed && given->ordinary)
        return sp_cli_usage(command, "--%s has no effect with --skew", given->ordinary);
    if (!skewed && given->skewed)
        return sp_cli_usage(command, "--%s needs --skew", given->skewed);
    if (skewed && o->words < SP_SKEW_WORDS_MIN)
        return sp_cli_usage(command, "with --skew, --words is at least %d", SP_SKEW_WORDS_MIN);
    if (o->from > o->pages)
        return sp_cli_usage(command, "--from is after the last of %" PRIu64 " pages", o->pages);
    if (copies + o->redirect_permille > 1000)
        return sp_cli_usage(command, "--near and --exact add up to more than %u %%",
                            (1000 - o->redirect_permille) / 10);
    return -1;
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
                                          {"skew", optional_argument, NULL, 'k'},
                                          {"family", required_argument, NULL, 'm'},
                                          {"zipf-largest", required_argument, NULL, 'z'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"truth", required_argument, NULL, 't'},
                                          SP_COMMON_OPTIONS,
                                          {0}};
    struct sp_synth_options *o = &a->synth;
    struct given given = {0};
    uint64_t words = o->words;
    for (int c, at = -1; (c = getopt_long(argc, argv, "o:", table, &at)) != -1; at = -1) {
        bool good = true;
        int code = -1;
        if (at >= 0)
            note_given(&given, table[at].name);
        if (c == 'n')
            good = sp_cli_number(optarg, &o->pages);
        else if (c == 'f')
            good = sp_cli_number(optarg, &o->from);
        else if (c == 's')
            good = sp_cli_number(optarg, &o->seed);
        else if (c == 'w')
            good = sp_cli_number(optarg, &words) && words >= 1 && words <= 100000;
        else if (c == 'v')
            good = permille(optarg, 1, 1000, 1000, &o->recrawl_permille);
        else if (c == 'N')
            good = permille(optarg, 0, 100, 10, &o->near_permille);
        else if (c == 'E')
            good = permille(optarg, 0, 100, 10, &o->exact_permille);
        else if (c == 'k')
            code = parse_skew(command, argc, argv, &o->skew);
        else if (c == 'm')
            good = sp_cli_number(optarg, &o->skew.family);
        else if (c == 'z')
            good = permille(optarg, 0, 100, 10, &o->skew.zipf_permille);
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
    o->words = (uint32_t)words;
    if (optind != argc)
        return sp_cli_usage(command, "\"%s\" is not an option", argv[optind]);
    return check(command, o, &given);
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
    struct sp_progress progress;
    uint64_t fetches = 0, all = 0;
    bool good = true;
    sp_progress_start(&progress, NULL);
    progress.shown &= out != stdout; /* if the crawl is piped, the reading program shows a bar */
    if (progress.shown)
        all = sp_synth_fetches(synth);
    while (good && sp_synth_next(synth, &lines, truth ? &truths : NULL)) {
        good = flush_to(out, &lines, BLOCK) && flush_to(truth, &truths, BLOCK);
        if (++fetches % 64 == 0)
            sp_progress_phase(&progress, "writing", fetches, all);
    }
    sp_progress_end(&progress);
    good = good && flush_to(out, &lines, 0) && flush_to(truth, &truths, 0) && fflush(out) == 0;
    good = good && (!truth || fflush(truth) == 0);
    int error = errno;
    const char *failed = truth && ferror(truth) ? a->truth : a->output;
    sp_synth_free(synth);
    sp_buf_done(&lines);
    sp_buf_done(&truths);
    return good ? SP_EXIT_DONE
                : sp_cli_failed("%s: cannot be written: %s", failed, strerror(error));
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    struct arguments a = {.output = "-"};
    sp_synth_options_default(&a.synth);
    int code = parse(command, argc, argv, &a);
    const char *outputs[] = {a.output, a.truth};
    if (code < 0)
        code = sp_cli_outputs(command, outputs, sizeof outputs / sizeof *outputs);
    if (code >= 0)
        return code;
    FILE *out = strcmp(a.output, "-") == 0 ? stdout : fopen(a.output, "w");
    if (!out)
        return sp_cli_failed("%s: cannot be written: %s", a.output, strerror(errno));
    FILE *truth = NULL;
    if (a.truth)
        truth = strcmp(a.truth, "-") == 0 ? stdout : fopen(a.truth, "w");
    if (a.truth && !truth)
        code = sp_cli_failed("%s: cannot be written: %s", a.truth, strerror(errno));
    else
        code = write_crawl(&a, out, truth);
    if (truth && truth != stdout)
        fclose(truth);
    if (out != stdout)
        fclose(out);
    return code;
}

const struct sp_command sp_command_synth = {
    "synth", "a synthetic crawl with known truth",
    "NAME\n"
    "  samepage synth - a synthetic crawl with known truth\n\n"
    "SYNOPSIS\n"
    "  samepage synth --pages N [OPTION]... [--output FILE] [--truth FILE]\n"
    "  samepage synth --pages N --skew [MIX] [OPTION]... [--output FILE] [--truth FILE]\n\n"
    "DESCRIPTION\n"
    "  Writes a crawl as JSON lines for `samepage run`: sites with templates, near and exact copies,\n"
    "  redirects, pages that die and come back, and pages fetched again. The same options give the\n"
    "  same bytes on every machine. Groups are small, unless --skew asks for a skewed crawl.\n\n"
    "OPTIONS\n"
    "  --pages N           distinct URLs; K, M, G for thousands; default 1000. With --skew: fetches\n"
    "  --from N            leave out the first N pages, to get the late part of a crawl\n"
    "  --seed S            seed of the generator; default 1\n"
    "  --words W           mean words of a page's main text; default 300. With --skew: exact, 100 or more\n"
    "  --versions V        mean fetches of a URL; default 1.15\n"
    "  --near P            percent of the pages that are near copies of earlier ones; default 20\n"
    "  --exact P           percent of the pages that have the text of an earlier one; default 10\n"
    "  --skew [MIX]        make a skewed crawl; see below\n"
    "  --family M          fetches in a family; default: all fetches of a kind are one family\n"
    "  --zipf-largest P    percent of the pages of zipf that are in its largest group; default 10\n"
    "  -o, --output FILE   write there; default: standard output\n"
    "  --truth FILE        write one JSON line per fetch: its kind, the number of its text, its group\n"
    "  --help              this text\n\n"
    "SKEW\n"
    "  MIX is the name of one kind, or names with percents of the fetches, as near=20,chainlike=2.5; the\n"
    "  rest up to 100 is `unlike`. A name means all kinds that begin with it. Without MIX, or with `mix`,\n"
    "  the kinds before `future` have a share. The kinds, described in docs/OPERATIONS.md:\n"
    "  unlike same near-words near-url near-percent chainlike template zipf redirects-after\n"
    "  redirects-before redirects-random redirects-loop die-newest die-oldest die-random recover\n"
    "  flap-loser flap-winner flap-unchanged outrank-same outrank-near future two-parts\n"
    "  growing changing\n\n"
    "EXAMPLES\n"
    "  samepage synth --pages 20K --seed 7 --truth truth.jsonl > crawl.jsonl\n"
    "  samepage synth --pages 1M --skew same=30,redirects=10 --family 5000\n\n"
    "EXIT STATUS\n"
    "  0 done; 1 failed; 2 wrong usage\n",
    run};
