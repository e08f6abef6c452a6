/* Prints and parses a partition map. Apart from comments and empty lines, each line has its place,
 * so that every error has a line number. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/names.h"
#include "partition/partition.h"

enum { FORMAT = 1, WORDS_A_LINE = 16, LINE_BYTES = 256, FILE_BYTES = 64 << 20 };

static const char *const slicings[] = {"kd", "grid"};
static const char *const axes[SP_AXES] = {"L1", "L2", "L3", "L"};

static const char head[] =
    "# samepage partition map: made by `samepage train`, used by the setting partition.map.\n"
    "# A page lives in the cell in whose ranges its length vector L1 L2 L3 and their sum L lie\n"
    "# (first-last, both included; first- has no end). L1, L2 and L3 count its shingles by the\n"
    "# sub-dictionary of their first word: `words N` lists those of LN, by 30 bits of their\n"
    "# XXH3 hash; words that no list has are divided by hash. A cell's pages are those of the\n"
    "# sample it was trained on.\n";

/* ---- writing ---- */

static void put(struct sp_buf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct sp_buf *out, const char *format, ...)
{
    char text[LINE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sp_buf_put_str(out, text);
}

static void put_words(struct sp_buf *out, const struct sp_dictionary *d, uint32_t sub)
{
    uint32_t in_line = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        if ((d->words[i] & 3) != sub + 1)
            continue;
        if (in_line == 0)
            put(out, "words %u:", sub + 1);
        put(out, " %08x", d->words[i] >> 2);
        if (++in_line == WORDS_A_LINE) {
            sp_buf_put_u8(out, '\n');
            in_line = 0;
        }
    }
    if (in_line)
        sp_buf_put_u8(out, '\n');
}

void sp_partition_print(const struct sp_partition_map *map, struct sp_buf *out)
{
    sp_buf_put_str(out, head);
    put(out, "format = %d\n", FORMAT);
    put(out, "version = %u\n", map->version);
    put(out, "slicing = %s\n", slicings[map->slicing]);
    put(out, "threshold = %.17g\n", map->threshold);
    put(out, "pages = %" PRIu64 "\n", map->pages);
    put(out, "dims = %u\n", map->dictionary.dims);
    put(out, "words = %u\n", map->dictionary.count);
    put(out, "machines = %u\n", map->machines);
    put(out, "cells = %u\n", map->cells);
    for (uint32_t c = 0; c < map->cells; c++) {
        const struct sp_box *box = &map->boxes[c];
        put(out, "cell %u:", c);
        for (int d = 0; d < SP_AXES; d++) {
            put(out, " %s %u-", axes[d], box->lo[d]);
            if (box->hi[d] != UINT32_MAX)
                put(out, "%u", box->hi[d] - 1);
        }
        put(out, " machine %u pages %" PRIu64 "\n", map->machine[c], map->load[c]);
    }
    for (uint32_t sub = 0; sub < map->dictionary.dims; sub++)
        put_words(out, &map->dictionary, sub);
}

/* ---- reading ---- */

struct reader {
    const char *name;
    const char *at;
    const char *end;
    uint32_t line;
    char text[LINE_BYTES]; /* the current line */
    struct sp_fault *fault;
    bool failed;
};

static void fail(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Keeps the first error. */
static void fail(struct reader *r, const char *format, ...)
{
    if (r->failed)
        return;
    va_list args;
    va_start(args, format);
    sp_fault_setv(r->fault, SP_INVALID, format, args);
    va_end(args);
    sp_fault_set(r->fault, SP_INVALID, "%s:%u: %s", r->name, r->line, r->fault->text);
    r->failed = true;
}

/* The next line that is neither empty nor a comment; empty at the end. */
static bool next_line(struct reader *r)
{
    while (r->at < r->end) {
        const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
        size_t n = (size_t)((stop ? stop : r->end) - r->at);
        const char *line = r->at;
        r->at = stop ? stop + 1 : r->end;
        r->line++;
        if (n > 0 && line[n - 1] == '\r')
            n--;
        if (n >= sizeof r->text || memchr(line, 0, n)) {
            fail(r, "the line is longer than %zu bytes, or is not text", sizeof r->text - 1);
            return false;
        }
        memcpy(r->text, line, n);
        r->text[n] = 0;
        if (n > 0 && line[0] != '#')
            return true;
    }
    r->line++;
    r->text[0] = 0;
    return false;
}

/* Reads digits at *at and moves *at after them. */
static bool read_number(const char **at, uint64_t most, int base, uint64_t *ret_number)
{
    char *end;
    errno = 0;
    if ((*at)[0] == '-' || (*at)[0] == '+' || (*at)[0] == ' ')
        return false;
    unsigned long long x = strtoull(*at, &end, base);
    if (end == *at || errno || x > most)
        return false;
    *at = end;
    *ret_number = x;
    return true;
}

static bool read_word(const char **at, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0)
        return false;
    *at += n;
    return true;
}

static uint64_t expect_count(struct reader *r, const char *key, uint64_t least, uint64_t most)
{
    uint64_t x = least;
    next_line(r);
    const char *at = r->text;
    if (!read_word(&at, key) || !read_word(&at, " = ") || !read_number(&at, most, 10, &x) || *at ||
        x < least)
        fail(r, "expected \"%s = N\" with N from %" PRIu64 " to %" PRIu64 ", not \"%.60s\"", key,
             least, most, r->text);
    return x;
}

static enum sp_slicing expect_slicing(struct reader *r)
{
    next_line(r);
    for (int i = 0; i < 2; i++) {
        const char *at = r->text;
        if (read_word(&at, "slicing = ") && read_word(&at, slicings[i]) && !*at)
            return (enum sp_slicing)i;
    }
    fail(r, "expected \"slicing = kd\" or \"slicing = grid\", not \"%.60s\"", r->text);
    return SP_SLICING_KD;
}

static double expect_threshold(struct reader *r)
{
    next_line(r);
    const char *at = r->text;
    if (read_word(&at, "threshold = ")) {
        char *end;
        double x = strtod(at, &end);
        if (end > at && !*end && x >= 0 && x <= 1)
            return x;
    }
    fail(r, "expected \"threshold = T\" with T from 0 to 1, not \"%.60s\"", r->text);
    return 0;
}

static bool read_range(const char **at, const char *axis, uint32_t *ret_lo, uint32_t *ret_hi)
{
    uint64_t lo, last;
    if (!read_word(at, " ") || !read_word(at, axis) || !read_word(at, " ") ||
        !read_number(at, UINT32_MAX - 1, 10, &lo) || !read_word(at, "-"))
        return false;
    *ret_lo = (uint32_t)lo;
    *ret_hi = UINT32_MAX;
    if (**at == 0 || **at == ' ')
        return true;
    if (!read_number(at, UINT32_MAX - 2, 10, &last) || last < lo)
        return false;
    *ret_hi = (uint32_t)last + 1;
    return true;
}

static void expect_cell(struct reader *r, struct sp_partition_map *map, uint32_t cell)
{
    uint64_t number = 0, machine = 0, pages = 0;
    struct sp_box *box = &map->boxes[cell];
    next_line(r);
    const char *at = r->text;
    bool good = read_word(&at, "cell ") && read_number(&at, UINT32_MAX, 10, &number) &&
                number == cell && read_word(&at, ":");
    for (int d = 0; d < SP_AXES && good; d++)
        good = read_range(&at, axes[d], &box->lo[d], &box->hi[d]);
    if (!good || !read_word(&at, " machine ") || !read_number(&at, UINT32_MAX, 10, &machine) ||
        !read_word(&at, " pages ") || !read_number(&at, UINT64_MAX, 10, &pages) || *at)
        fail(r,
             "expected \"cell %u: L1 first-last L2 … L3 … L … machine M pages N\", not \"%.60s\"",
             cell, r->text);
    else if (machine >= map->machines)
        fail(r, "there is no machine %" PRIu64 " among %u", machine, map->machines);
    map->machine[cell] = (uint32_t)machine;
    map->load[cell] = pages;
}

static void read_words(struct reader *r, uint32_t dims, uint32_t *entries, uint32_t count)
{
    uint32_t have = 0;
    while (!r->failed && next_line(r)) {
        uint64_t sub = 0, word;
        const char *at = r->text;
        bool good = read_word(&at, "words ") && read_number(&at, dims, 10, &sub) && sub > 0 &&
                    read_word(&at, ":");
        while (good && *at) {
            good =
                read_word(&at, " ") && read_number(&at, (1u << 30) - 1, 16, &word) && have < count;
            if (good)
                entries[have++] = (uint32_t)word << 2 | (uint32_t)sub;
        }
        if (!good)
            fail(r, "expected \"words N: …\" with %u words in all and N up to %u, not \"%.60s\"",
                 count, dims, r->text);
    }
    if (have < count)
        fail(r, "the file ends after %u of %u words", have, count);
}

static enum sp_err finish(struct reader *r, struct sp_partition_map *map, uint32_t dims,
                          const uint32_t *entries, uint32_t count)
{
    if (r->failed)
        return SP_INVALID;
    if (sp_dictionary_init(dims, entries, count, &map->dictionary) != SP_OK)
        fail(r, "a word is in the dictionary twice");
    else if (sp_partition_finish(map) != SP_OK)
        fail(r,
             "the cells overlap or leave gaps: they must come from cuts through the whole space");
    return r->failed ? SP_INVALID : SP_OK;
}

enum sp_err sp_partition_parse(struct sp_view text, const char *name,
                               struct sp_partition_map *ret_map, struct sp_fault *fault)
{
    struct reader r = {name, text.data, text.data + text.len, 0, "", fault, false};
    struct sp_partition_map map = {0};
    if (text.len == 0 || !memmem(text.data, text.len, "format = ", strlen("format = ")))
        return sp_fault_set(fault, SP_INVALID,
                            "%s: is no partition map; `samepage train -o MAP INPUT...` makes one",
                            name);
    expect_count(&r, "format", FORMAT, FORMAT);
    map.version = (uint32_t)expect_count(&r, "version", 0, UINT32_MAX);
    map.slicing = expect_slicing(&r);
    map.threshold = expect_threshold(&r);
    map.pages = expect_count(&r, "pages", 0, UINT64_MAX);
    uint32_t dims = (uint32_t)expect_count(&r, "dims", 1, SP_DIMS);
    uint32_t count = (uint32_t)expect_count(&r, "words", 0, SP_MAX_DICTIONARY_WORDS);
    map.machines = (uint32_t)expect_count(&r, "machines", 1, SP_MAX_CELLS);
    map.cells = (uint32_t)expect_count(&r, "cells", 1, SP_MAX_CELLS);
    if (r.failed)
        return SP_INVALID;
    map.boxes = sp_calloc(map.cells, sizeof *map.boxes);
    map.machine = sp_calloc(map.cells, sizeof *map.machine);
    map.load = sp_calloc(map.cells, sizeof *map.load);
    for (uint32_t c = 0; c < map.cells && !r.failed; c++)
        expect_cell(&r, &map, c);
    uint32_t *entries = sp_alloc(count * sizeof *entries + 1);
    read_words(&r, dims, entries, count);
    enum sp_err err = finish(&r, &map, dims, entries, count);
    sp_free(entries);
    if (err == SP_OK)
        *ret_map = map;
    else
        sp_partition_done(&map);
    return err;
}

/* ---- files ---- */

static enum sp_err io_failed(const char *file, const char *what, struct sp_fault *fault)
{
    return sp_fault_set(fault, SP_IO, "%s: the partition map cannot be %s: %s", file, what,
                        strerror(errno));
}

enum sp_err sp_partition_read(const char *file, struct sp_partition_map *ret_map,
                              struct sp_fault *fault)
{
    FILE *in = fopen(file, "r");
    if (!in)
        return io_failed(file, "read", fault);
    struct sp_buf text = {0};
    size_t n;
    while (text.len < FILE_BYTES && (n = fread(sp_buf_reserve(&text, 65536), 1, 65536, in)) > 0)
        text.len += n;
    enum sp_err err = ferror(in) ? io_failed(file, "read", fault) : SP_OK;
    fclose(in);
    if (err == SP_OK)
        err = sp_partition_parse(sp_buf_view(&text), file, ret_map, fault);
    sp_buf_done(&text);
    return err;
}

enum sp_err sp_partition_write(const struct sp_partition_map *map, const char *file,
                               struct sp_fault *fault)
{
    struct sp_buf text = {0}, beside = {0};
    bool in_place = sp_names_special(file);
    sp_buf_put_str(&beside, file);
    sp_buf_put(&beside, ".new", sizeof ".new");
    sp_partition_print(map, &text);
    FILE *out = fopen(in_place ? file : beside.data, "w");
    bool good = out && fwrite(text.data, 1, text.len, out) == text.len && fflush(out) == 0 &&
                (in_place || fsync(fileno(out)) == 0);
    good = out && fclose(out) == 0 && good && (in_place || rename(beside.data, file) == 0);
    enum sp_err err = good ? SP_OK : io_failed(file, "written", fault);
    if (out && !good && !in_place)
        unlink(beside.data);
    sp_buf_done(&text);
    sp_buf_done(&beside);
    return err;
}
