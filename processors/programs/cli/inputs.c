/* Replaces folders among the inputs by the files in them, and reports records that could not be
 * read. */
#include <fts.h>
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

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void add_folder(char *path)
{
    char *const roots[] = {path, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
    size_t before = inputs.count;
    bool texts = false;
    for (FTSENT *e; tree && (e = fts_read(tree));) {
        if (e->fts_level > 0 && e->fts_name[0] == '.')
            fts_set(tree, e, FTS_SKIP);
        else if (e->fts_info == FTS_F && holds_records(e->fts_name))
            add(e->fts_path);
        else if (e->fts_info == FTS_F)
            texts |= sp_input_is_text_file(e->fts_name);
    }
    if (tree)
        fts_close(tree);
    if (texts || inputs.count == before)
        add(path); /* reading the path reports what is wrong with it */
}

const char *const *sp_cli_inputs(char **names, int count, size_t *ret_count)
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
            add_folder(name);
        else
            add(names[i]);
        sp_free(name);
    }
    *ret_count = inputs.count;
    return (const char *const *)inputs.names;
}

static bool is_file(const char *name, const struct stat *file)
{
    struct stat st;
    return stat(name, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

int sp_cli_outputs(const struct sp_command *command, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct stat file;
        if (!names[i] || strcmp(names[i], "-") == 0 || strcmp(names[i], "/dev/null") == 0)
            continue;
        bool exists = stat(names[i], &file) == 0 && S_ISREG(file.st_mode);
        for (size_t k = 0; exists && k < inputs.count; k++)
            if (is_file(inputs.names[k], &file))
                return sp_cli_failed("%s: is an input and an output; name another output",
                                     inputs.names[k]);
        for (size_t k = 0; k < i; k++)
            if (names[k] &&
                (strcmp(names[i], names[k]) == 0 || (exists && is_file(names[k], &file))))
                return sp_cli_usage(command, "%s is named for two outputs", names[i]);
    }
    return -1;
}

void sp_cli_reasons(struct sp_readings *readings, const char *advice)
{
    enum { SHOWN = 3 };
    if (readings->bad == 0 || !advice)
        return;
    fprintf(stderr, "samepage: %s of %s records could not be read%s\n",
            sp_thousands(readings->bad).text, sp_thousands(readings->records).text, advice);
    sp_readings_sort(readings);
    for (int i = 0; i < SHOWN && readings->reasons[i].why; i++) {
        sp_fault_tame(readings->reasons[i].why);
        fprintf(stderr, "samepage:   %s: %s%s\n", sp_thousands(readings->reasons[i].count).text,
                readings->reasons[i].why,
                strcmp(readings->reasons[i].why, SP_URL_REFUSED) == 0
                    ? "; if it is an id, name its field: --id-field NAME"
                    : "");
    }
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
    if (records == 0 || (double)bad <= config->input_max_unreadable * (double)records)
        return SP_EXIT_DONE;
    return sp_cli_failed("%s of %s records could not be read (%.3g %%): more than "
                         "input.max_unreadable allows; all others were processed",
                         sp_thousands(bad).text, sp_thousands(records).text,
                         100 * (double)bad / (double)records);
}
