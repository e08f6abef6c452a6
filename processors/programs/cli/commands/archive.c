/* samepage archive: stores WARC files without duplicates, and restores them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/archive.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/settings.h"

enum { COMPLAINTS_MOST = 20 };

struct arguments {
    const char *output;
    const char *summary;
    const char *restore;
    bool quiet;
    struct sp_config config;
    struct sp_archive_options archive;
};

/* What the callbacks of storing and restoring need. */
struct watch {
    struct sp_progress progress;
    uint64_t complaints;
    double last;    /* seconds */
    double slowest; /* seconds */
    uint64_t bytes;
};

static bool parse_range(const char *text, long least, long most, long *ret_number)
{
    char *end = NULL;
    long number = strtol(text, &end, 10);
    if (!*text || *end || number < least || number > most)
        return false;
    *ret_number = number;
    return true;
}

static int parse_number(const struct sp_command *command, struct arguments *a, int c)
{
    long number = 0;
    char *end = NULL;
    if (c == 'd') {
        if (!parse_range(optarg, 0, SP_ARCHIVE_DEPTH_MAX, &number))
            return sp_cli_usage(command, "--depth is a number from 0 to %d", SP_ARCHIVE_DEPTH_MAX);
        a->archive.depth = (uint32_t)number;
    } else if (c == 'l') {
        if (!parse_range(optarg, 1, 19, &number))
            return sp_cli_usage(command, "--level is a number from 1 to 19");
        a->archive.patch_level = (int)number;
    } else if (c == 'z') {
        if (!parse_range(optarg, 1, 9, &number))
            return sp_cli_usage(command, "--gzip is a number from 1 to 9");
        a->archive.gzip_level = (int)number;
    } else {
        a->archive.similarity = strtod(optarg, &end);
        if (!*optarg || *end || !(a->archive.similarity > 0 && a->archive.similarity <= 1))
            return sp_cli_usage(command, "--similarity is above 0 and at most 1");
    }
    return -1;
}

static int parse_size(const struct sp_command *command, const char *name, uint64_t *ret_bytes)
{
    if (!sp_cli_number(optarg, ret_bytes) || *ret_bytes == 0)
        return sp_cli_usage(command, "--%s is a number of bytes, such as 100M", name);
    return -1;
}

/* Refuses outputs in the archive's directory: they might replace its files. */
static int check_outputs(const struct sp_command *command, const char *dir, const char *output,
                         const char *summary)
{
    const char *const names[] = {output, summary};
    for (size_t i = 0; i < 2; i++)
        if (names[i] && sp_cli_is_inside(names[i], dir, STDOUT_FILENO))
            return sp_cli_failed("%s: is inside the archive %s, whose files it might replace; name "
                                 "a file outside of it",
                                 strcmp(names[i], "-") == 0 ? "standard output" : names[i], dir);
    return sp_cli_outputs(command, names, 2);
}

/* Finds the inputs, and refuses those that would grow while they are read. */
static int check_inputs(struct arguments *a, char **names, int count)
{
    a->archive.inputs = sp_cli_warcs(names, count, &a->archive.input_count);
    for (size_t i = 0; i < a->archive.input_count; i++) {
        const char *name = a->archive.inputs[i];
        struct stat st;
        if (strcmp(name, "-") != 0 && stat(name, &st) == 0 && S_ISDIR(st.st_mode))
            return sp_cli_failed("%s: no name in this folder ends in .warc or .wet, .warc.gz or "
                                 ".warc.zst; name the WARC files",
                                 name);
        if (sp_cli_is_inside(name, a->output, STDIN_FILENO))
            return sp_cli_failed("%s: is inside the archive %s, which would read what it writes; "
                                 "name an input outside of it, or another archive",
                                 strcmp(name, "-") == 0 ? "standard input" : name, a->output);
    }
    return -1;
}

static int parse(const struct sp_command *command, int argc, char **argv, struct arguments *a)
{
    static const struct option table[] = {{"output", required_argument, NULL, 'o'},
                                          {"restore", required_argument, NULL, 'r'},
                                          {"depth", required_argument, NULL, 'd'},
                                          {"level", required_argument, NULL, 'l'},
                                          {"gzip", required_argument, NULL, 'z'},
                                          {"similarity", required_argument, NULL, 's'},
                                          {"segment", required_argument, NULL, 'b'},
                                          {"commit", required_argument, NULL, 'c'},
                                          {"summary", required_argument, NULL, 'j'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          SP_COMMON_OPTIONS,
                                          SP_SETTING_OPTIONS,
                                          {0}};
    for (int c; (c = getopt_long(argc, argv, "o:q", table, NULL)) != -1;) {
        int code = -1;
        if (c == 'o')
            a->output = optarg;
        else if (c == 'r')
            a->restore = optarg;
        else if (c == 'j')
            a->summary = optarg;
        else if (c == 'q')
            a->quiet = true;
        else if (c == 'b')
            code = parse_size(command, "segment", &a->archive.segment_bytes);
        else if (c == 'c')
            code = parse_size(command, "commit", &a->archive.commit_bytes);
        else if (c == 'd' || c == 'l' || c == 'z' || c == 's')
            code = parse_number(command, a, c);
        else
            code = sp_cli_common(command, c, &a->config);
        if (code >= 0)
            return code;
    }
    if (a->restore && optind + 1 != argc)
        return sp_cli_usage(command, "--restore needs one archive: its directory");
    if (!a->restore && !a->output)
        return sp_cli_usage(command, "--output names the archive's directory");
    if (!a->restore && optind == argc)
        return sp_cli_usage(command, "no input: name WARC files, or - for standard input");
    if (a->restore) {
        a->archive.dir = argv[optind];
        return check_outputs(command, a->archive.dir, a->output ? a->output : "-", a->summary);
    }
    a->archive.dir = a->output;
    int code = check_inputs(a, argv + optind, argc - optind);
    return code >= 0 ? code : check_outputs(command, a->output, NULL, a->summary);
}

static void on_progress(void *arg, uint64_t done, uint64_t total)
{
    struct watch *w = arg;
    sp_progress_phase(&w->progress, "reading", done, total);
}

static void on_complaint(void *arg, const char *text)
{
    struct watch *w = arg;
    if (w->complaints++ < COMPLAINTS_MOST)
        fprintf(stderr, "samepage: %s\n", text);
}

static void on_lost(void *arg, const char *text)
{
    (void)arg;
    fprintf(stderr, "samepage: %s\n", text); /* each: they say which records are lost */
}

/* The time since the last record: to find, restore and write this one. */
static void on_restored(void *arg, uint64_t bytes)
{
    struct watch *w = arg;
    double seconds = sp_clock_seconds() - w->last;
    w->bytes += bytes;
    w->slowest = seconds > w->slowest ? seconds : w->slowest;
    w->last = sp_clock_seconds();
}

static int write_summary(const char *name, const char *text)
{
    FILE *out = sp_cli_summary_open(name);
    if (!out)
        return SP_EXIT_FAILED;
    fputs(text, out);
    return sp_cli_summary_close(out, name) ? SP_EXIT_DONE : SP_EXIT_FAILED;
}

static void print_result(const struct sp_archive_result *r)
{
    fprintf(stderr, "  %-22s %18s of %s bytes\n", "records", sp_thousands(r->records).text,
            sp_thousands(r->bytes).text);
    fprintf(stderr, "  %-22s %18s whole, %s revisits, %s patches\n", "stored",
            sp_thousands(r->whole).text, sp_thousands(r->revisits).text,
            sp_thousands(r->patches).text);
    fprintf(stderr, "  %-22s %18s bytes, %.2f %% of them\n", "in",
            sp_thousands(r->stored_bytes).text,
            r->bytes ? 100.0 * (double)r->stored_bytes / (double)r->bytes : 0);
    if (r->passed)
        fprintf(stderr, "  %-22s %18s\n", "were in the archive", sp_thousands(r->passed).text);
    if (r->bad)
        fprintf(stderr, "  %-22s %18s\n", "could not be read", sp_thousands(r->bad).text);
}

static int write_archive(struct arguments *a)
{
    struct watch watch = {0};
    struct sp_archive_result r;
    struct sp_readings readings = {0};
    struct sp_fault fault;
    char text[1024];
    double start = sp_clock_seconds();
    sp_settings_text(&a->config, &a->archive.text);
    a->archive.max_record_bytes = a->config.input_max_record_bytes;
    a->archive.progress = on_progress;
    a->archive.complain = on_complaint;
    a->archive.arg = &watch;
    a->archive.readings = &readings;
    sp_progress_start(&watch.progress, NULL);
    watch.progress.shown &= !a->quiet;
    enum sp_err err = sp_archive_write(&a->archive, &r, &fault);
    sp_progress_end(&watch.progress);
    if (err == SP_OK && !a->quiet)
        print_result(&r);
    sp_cli_reasons(&readings, "");
    int code =
        err == SP_OK ? sp_cli_verdict(&a->config, &readings) : sp_cli_failed("%s", fault.text);
    sp_readings_done(&readings);
    if (err != SP_OK)
        return code;
    snprintf(text, sizeof text,
             "{\"records\":%llu,\"passed\":%llu,\"bad\":%llu,\"whole\":%llu,\"revisits\":%llu,"
             "\"patches\":%llu,\"bytes\":%llu,\"stored_bytes\":%llu,\"deepest\":%llu,"
             "\"seconds\":%.3f}\n",
             (unsigned long long)r.records, (unsigned long long)r.passed, (unsigned long long)r.bad,
             (unsigned long long)r.whole, (unsigned long long)r.revisits,
             (unsigned long long)r.patches, (unsigned long long)r.bytes,
             (unsigned long long)r.stored_bytes, (unsigned long long)r.deepest,
             sp_clock_seconds() - start);
    int wrote = a->summary ? write_summary(a->summary, text) : SP_EXIT_DONE;
    return code == SP_EXIT_DONE ? wrote : code;
}

static int restore_archive(const struct arguments *a)
{
    struct watch watch = {0};
    struct sp_archive_restore_options o = {.restored = on_restored, .lost = on_lost, .arg = &watch};
    struct sp_fault fault;
    uint64_t records = 0;
    char text[256];
    double start = sp_clock_seconds();
    watch.last = start;
    o.dir = a->archive.dir;
    o.url = strcmp(a->restore, "ALL") == 0 ? NULL : a->restore;
    o.output = a->output ? a->output : "-";
    o.max_record_bytes = a->config.input_max_record_bytes;
    o.cache_bytes = a->archive.cache_bytes;
    if (sp_archive_restore(&o, &records, &fault) != SP_OK)
        return sp_cli_failed("%s", fault.text);
    snprintf(text, sizeof text,
             "{\"records\":%llu,\"bytes\":%llu,\"seconds\":%.3f,\"slowest_seconds\":%.6f}\n",
             (unsigned long long)records, (unsigned long long)watch.bytes,
             sp_clock_seconds() - start, watch.slowest);
    return a->summary ? write_summary(a->summary, text) : SP_EXIT_DONE;
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    struct arguments a = {0};
    sp_config_default(&a.config);
    sp_archive_options_default(&a.archive);
    int code = parse(command, argc, argv, &a);
    if (code < 0)
        code = a.restore ? restore_archive(&a) : write_archive(&a);
    sp_config_done(&a.config);
    return code;
}

const struct sp_command sp_command_archive = {
    "archive", "stores WARC files without duplicates: copies as revisits, near copies as patches",
    "NAME\n"
    "  samepage archive - stores WARC files without duplicates, and restores them\n\n"
    "SYNOPSIS\n"
    "  samepage archive --output DIR [OPTION]... INPUT...\n"
    "  samepage archive --restore URL|ALL [--output FILE] DIR\n\n"
    "DESCRIPTION\n"
    "  Writes the records of WARC files (plain, .gz or .zst) to the archive DIR: a payload that is\n"
    "  already there becomes a revisit record, a near copy of a page a patch of that page, and all\n"
    "  other records are stored unchanged. Other tools can read the WARC files of the archive and\n"
    "  its index.cdxj; patches are an extension that only samepage reads (docs/ARCHIVE.md). Of a\n"
    "  folder, the files named .warc or .wet, also compressed, are read.\n\n"
    "  Further calls add to an archive. After a kill, the same call continues from the last commit\n"
    "  and writes the same files as an undisturbed one.\n\n"
    "  --restore writes the original records, byte for byte: all of them, or those of a URL. Lost\n"
    "  parts of a damaged archive are named, and the exit status is then 1.\n\n"
    "OPTIONS\n"
    "  -o, --output DIR     the archive; with --restore: a file, default standard output\n"
    "  --restore URL|ALL    write the records of a URL, or all, instead\n"
    "  --depth N            longest chain of patches on patches; 0: no patches; default: 8\n"
    "  --similarity X       least similarity of a base to the page; default: 0.5\n"
    "  --level N            Zstandard's level for patches, 1 to 19; default: 9\n"
    "  --gzip N             gzip's level for records, 1 to 9; default: 6\n"
    "  --segment BYTES      begin another WARC file after this many bytes; default: 1 GiB\n"
    "  --commit BYTES       commit after this many bytes of records; default: 64 MiB\n"
    "  --summary FILE       write counts and sizes as JSON; - is standard output\n"
    "  --config FILE        read settings from FILE\n"
    "  --set KEY=VALUE      change one setting; may be repeated\n"
    "  --help-settings      all settings, with their defaults\n"
    "  -q, --quiet          no progress bar, no summary\n"
    "  --help               this text\n\n"
    "EXAMPLES\n"
    "  samepage archive -o archive crawl-*.warc.gz\n"
    "  samepage archive --restore https://example.org/ archive > example.warc\n\n" SP_READING_EXIT_HELP,
    run};
