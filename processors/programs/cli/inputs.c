/* Replaces folders among the inputs by the files in them, and reports records that could not be
 * read. */
#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fault.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/url.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "input/input.h"
#include "input/readings.h"

static struct {
    char **names;
    size_t count;
    size_t cap;
} inputs; /* of this process */

static void add(const char *name)
{
    sp_grow(&inputs.names, &inputs.cap, inputs.count + 1);
    inputs.names[inputs.count++] = sp_strdup(name);
}

/* Decides by the name, because a folder may contain other files. */
static bool holds_records(const char *name)
{
    static const char *const ends[] = {".jsonl", ".ndjson", ".json", ".warc", ".wet",
                                       ".arc",   ".avro",   ".csv",  ".tsv",  ".xml"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sp_names_have_type(name, ends[i]))
            return true;
    return false;
}

static bool holds_warc(const char *name)
{
    return sp_names_have_type(name, ".warc") || sp_names_have_type(name, ".wet");
}

/* Whether the name is that of a file which would be read if it were not packed in this way. Folders
 * hold other files as well, but of these it may be thought that they are read. */
static bool holds_packed(const char *name, bool warcs)
{
    static const char *const packings[] = {".gz", ".zst", ".bz2", ".xz", ".lz4", ".zip"};
    bool found = !warcs && sp_names_have_type(name, ".parquet");
    for (size_t i = 0; i < sizeof packings / sizeof *packings && !found; i++) {
        if (!sp_names_end_with(name, packings[i]))
            continue;
        char *inner = sp_view_dup(sp_view(name, (size_t)(strrchr(name, '.') - name)));
        found = warcs ? holds_warc(inner) : holds_records(inner) || sp_input_text_type(inner);
        sp_free(inner);
    }
    return found;
}

struct passed_over {
    char *first;
    size_t count;
};

static void pass_over(struct passed_over *p, const char *path)
{
    if (p->count++ == 0)
        p->first = sp_strdup(path);
}

static void say_passed_over(struct passed_over *p, const char *folder, const char *why,
                            const char *advice)
{
    struct sp_fault said;
    if (p->count == 0)
        return;
    sp_fault_set(&said, SP_OK, "%s: %s of its files %s, the first is %s%s", folder,
                 sp_thousands(p->count).text, why, p->first, advice);
    fprintf(stderr, "samepage: %s\n", said.text);
    sp_free(p->first);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void add_folder(char *path, bool warcs)
{
    char *const roots[] = {path, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
    size_t before = inputs.count;
    struct passed_over packed = {0}, xml = {0};
    bool texts = false;
    for (FTSENT *e; tree && (e = fts_read(tree));) {
        if (e->fts_level > 0 && e->fts_name[0] == '.')
            fts_set(tree, e, FTS_SKIP);
        else if (sp_names_follow_file(tree, e))
            continue;
        else if (e->fts_info == FTS_F && !warcs && sp_names_have_type(e->fts_name, ".xml") &&
                 sp_input_is_other_xml(e->fts_path))
            pass_over(&xml, e->fts_path);
        else if (e->fts_info == FTS_F && (warcs ? holds_warc : holds_records)(e->fts_name))
            add(e->fts_path);
        else if (e->fts_info == FTS_F && !warcs && sp_input_text_type(e->fts_name))
            texts = true;
        else if (e->fts_info == FTS_F && holds_packed(e->fts_name, warcs))
            pass_over(&packed, e->fts_path);
    }
    say_passed_over(&packed, path, "are packed in a way that is not read",
                    "; unpack them (Parquet: `python -m samepage` reads it)");
    say_passed_over(&xml, path, "are XML that is not read (only dumps of a MediaWiki are)", "");
    if (tree)
        fts_close(tree);
    if (texts || inputs.count == before)
        add(path); /* reading the path reports what is wrong with it */
}

static const char *const *expand(char **names, int count, bool warcs, size_t *ret_count)
{
    for (size_t i = 0; i < inputs.count; i++)
        sp_free(inputs.names[i]);
    inputs.count = 0;
    for (int i = 0; i < count; i++) {
        struct stat st;
        size_t len = strlen(names[i]);
        while (len > 1 && names[i][len - 1] == '/')
            len--;
        char *name = sp_view_dup(sp_view(names[i], len));
        if (strcmp(name, "-") != 0 && stat(name, &st) == 0 && S_ISDIR(st.st_mode))
            add_folder(name, warcs);
        else
            add(names[i]);
        sp_free(name);
    }
    *ret_count = inputs.count;
    return (const char *const *)inputs.names;
}

const char *const *sp_cli_inputs(char **names, int count, size_t *ret_count)
{
    return expand(names, count, false, ret_count);
}

const char *const *sp_cli_warcs(char **names, int count, size_t *ret_count)
{
    return expand(names, count, true, ret_count);
}

static bool is_file(const char *name, const struct stat *file)
{
    struct stat st;
    return stat(name, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

static bool is_output(const char *name)
{
    return name && strcmp(name, "-") != 0 && strcmp(name, "/dev/null") != 0;
}

int sp_cli_outputs(const struct sp_command *command, const char *const *names, size_t count)
{
    bool standard = false;
    for (size_t i = 0; i < count; i++) {
        struct stat file;
        if (names[i] && strcmp(names[i], "-") == 0) {
            if (standard)
                return sp_cli_usage(
                    command, "two outputs go to standard output; name a file for one of them");
            standard = true;
        }
        if (!is_output(names[i]))
            continue;
        bool exists = stat(names[i], &file) == 0 && S_ISREG(file.st_mode);
        for (size_t k = 0; exists && k < inputs.count; k++)
            if (is_file(inputs.names[k], &file))
                return sp_cli_failed("%s: is an input and an output; name another output",
                                     inputs.names[k]);
        for (size_t k = 0; k < i; k++)
            if (names[k] &&
                (exists ? is_file(names[k], &file) : sp_cli_is_one_path(names[i], names[k])))
                return sp_cli_usage(command, "%s is named for two outputs", names[i]);
    }
    return -1;
}

/* Whether a state directory has a file of this name. */
static bool is_of_state(const char *name)
{
    static const char *const ours[] = {"FORMAT", "FORMAT.new", "BARRIER", "BARRIER.new", "LOCK"};
    const char *slash = strrchr(name, '/');
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcmp(slash ? slash + 1 : name, ours[i]) == 0)
            return true;
    return false;
}

int sp_cli_outputs_beside(const char *state, const char *const *names, size_t count)
{
    struct sp_buf database = {0};
    int code = -1;
    if (!state)
        return -1;
    sp_buf_put_str(&database, state);
    sp_buf_put(&database, "/rocksdb", sizeof "/rocksdb"); /* with its end */
    for (size_t i = 0; i < count && code < 0; i++)
        if (is_output(names[i]) &&
            (sp_cli_is_inside(names[i], database.data, -1) ||
             (is_of_state(names[i]) && sp_cli_is_inside(names[i], state, -1))))
            code = sp_cli_failed("%s: is a file of the state in %s; name another output", names[i],
                                 state);
    sp_buf_done(&database);
    return code;
}

static void say_reason(struct sp_readings_reason *r)
{
    struct sp_fault first = {.text = ""};
    sp_fault_tame(r->why);
    if (r->input && strcmp(r->input, "-") != 0)
        sp_fault_set(&first, SP_OK, "; the first: %s, record %" PRIu64 " (from 0)", r->input,
                     r->first);
    fprintf(stderr, "samepage:   %s: %s%s%s\n", sp_thousands(r->count).text, r->why,
            strcmp(r->why, SP_URL_REFUSED) == 0
                ? "; if it is an id, name its field: --id-field NAME"
                : "",
            first.text);
}

void sp_cli_reasons(struct sp_readings *readings, const char *advice)
{
    enum { SHOWN = 3 };
    if (readings->cut)
        fprintf(
            stderr,
            "samepage: records longer than text.max_bytes, compared by their beginning only: %s\n",
            sp_thousands(readings->cut).text);
    if (readings->bad == 0 || !advice)
        return;
    fprintf(stderr, "samepage: %s of %s records could not be read%s\n",
            sp_thousands(readings->bad).text, sp_thousands(readings->records).text, advice);
    sp_readings_sort(readings);
    for (int i = 0; i < SHOWN && readings->reasons[i].why; i++)
        say_reason(&readings->reasons[i]);
}

int sp_cli_verdict(const struct sp_config *config, const struct sp_readings *readings)
{
    struct sp_fault said;
    uint64_t bad = readings->bad, records = readings->records;
    if (bad > 0 && bad == records && readings->before == 0)
        return sp_cli_failed("no record of the input could be read");
    if (readings->empty_inputs) {
        sp_fault_set(&said, SP_OK, "%s: it contains no record of a page%s", readings->empty_input,
                     readings->empty_inputs > 1 ? ", and neither do other inputs" : "");
        fprintf(stderr, "samepage: %s\n", said.text);
    }
    for (int i = 0; i < SP_READINGS_REASONS && readings->reasons[i].why; i++)
        if (readings->reasons[i].ends_input)
            return sp_cli_failed("%s is read up to its record %" PRIu64 " (from 0) only: %s",
                                 readings->reasons[i].input ? readings->reasons[i].input
                                                            : "an input",
                                 readings->reasons[i].first, readings->reasons[i].why);
    if (records == 0 || (double)bad <= config->input_max_unreadable * (double)records)
        return SP_EXIT_DONE;
    return sp_cli_failed("%s of %s records could not be read (%.3g %%): more than "
                         "input.max_unreadable allows; all others were processed",
                         sp_thousands(bad).text, sp_thousands(records).text,
                         100 * (double)bad / (double)records);
}
