/* See index.h. The sort is by bytes (LC_ALL=C), as tools that bisect such an index expect. */
#include "archive/index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "archive/cdxj.h"

enum { PATH_BYTES = 4096 };

/* ---- writing ---- */

struct run {
    FILE *file; /* has sorted lines */
    char *line;
    size_t cap;
    ssize_t len; /* of the current line; < 0: no more lines */
};

static int by_bytes(const void *a, const void *b)
{
    const struct sp_view *x = a, *y = b;
    int order = memcmp(x->data, y->data, x->len < y->len ? x->len : y->len);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Sorts the lines of `text` into an unnamed file; NULL if it cannot be written. */
static FILE *sorted(struct sp_view text)
{
    struct sp_view *lines = NULL;
    size_t count = 0, cap = 0;
    for (size_t at = 0; at < text.len;) {
        const char *newline = memchr(text.data + at, '\n', text.len - at);
        size_t len = newline ? (size_t)(newline + 1 - text.data) - at : text.len - at;
        sp_grow(&lines, &cap, count + 1);
        lines[count++] = sp_view(text.data + at, len);
        at += len;
    }
    FILE *out = tmpfile();
    if (count > 0)
        qsort(lines, count, sizeof *lines, by_bytes);
    for (size_t i = 0; out && i < count; i++)
        fwrite(lines[i].data, 1, lines[i].len, out);
    sp_free(lines);
    if (out && (fflush(out) != 0 || fseek(out, 0, SEEK_SET) != 0)) {
        fclose(out);
        out = NULL;
    }
    return out;
}

static void step(struct run *r)
{
    r->len = getline(&r->line, &r->cap, r->file);
}

static bool is_before(const struct run *a, const struct run *b)
{
    struct sp_view x = sp_view(a->line, (size_t)a->len), y = sp_view(b->line, (size_t)b->len);
    return by_bytes(&x, &y) < 0;
}

/* A heap of runs with the least line on top: O(log runs) for each line. */
static void sift(struct run *heap, size_t count, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &heap[at]))
            break;
        struct run swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
    }
}

static void end_run(struct run *r)
{
    if (r->file)
        fclose(r->file);
    char *line = r->line;
    *r = (struct run){0};
    free(line); /* allocated by getline */
}

static void merge(struct run *heap, size_t count, FILE *out)
{
    for (size_t i = count; i-- > 0;)
        sift(heap, count, i);
    while (count > 0) {
        fwrite(heap[0].line, 1, (size_t)heap[0].len, out);
        step(&heap[0]);
        if (heap[0].len < 0) {
            end_run(&heap[0]);
            heap[0] = heap[--count];
            heap[count] = (struct run){0};
        }
        sift(heap, count, 0);
    }
}

/* Reads whole lines, up to `most` bytes. */
static size_t read_lines(FILE *in, uint64_t left, uint64_t most, struct sp_buf *out)
{
    size_t want = (size_t)(left < most ? left : most);
    sp_buf_reset(out);
    out->len = fread(sp_buf_reserve(out, want), 1, want, in);
    while (out->len == want && want < left && out->data[out->len - 1] != '\n') {
        int c = getc(in);
        if (c == EOF)
            break;
        sp_buf_put_u8(out, (uint8_t)c);
        want++;
    }
    return out->len;
}

enum sp_err sp_index_write(const char *dir, uint64_t log_bytes, uint64_t memory_bytes,
                           struct sp_fault *fault)
{
    char log[PATH_BYTES], path[PATH_BYTES], beside[PATH_BYTES];
    struct run *runs = NULL;
    struct sp_buf text = {0};
    size_t count = 0, cap = 0, got = 0;
    snprintf(log, sizeof log, "%s/lines.log", dir);
    snprintf(path, sizeof path, "%s/index.cdxj", dir);
    snprintf(beside, sizeof beside, "%s/index.cdxj.new", dir);
    FILE *in = fopen(log, "r"), *out = fopen(beside, "w");
    bool good = in && out;
    for (uint64_t done = 0; good && done < log_bytes; done += got) {
        got = read_lines(in, log_bytes - done, memory_bytes, &text);
        sp_grow(&runs, &cap, count + 1);
        runs[count] = (struct run){.file = got ? sorted(sp_buf_view(&text)) : NULL};
        good = runs[count].file != NULL;
        if (good)
            step(&runs[count++]);
    }
    if (good)
        merge(runs, count, out);
    for (size_t i = 0; !good && i < count; i++)
        end_run(&runs[i]);
    if (out)
        good = fflush(out) == 0 && fsync(fileno(out)) == 0 && good;
    if (out)
        good = fclose(out) == 0 && good;
    if (in)
        fclose(in);
    good = good && rename(beside, path) == 0;
    sp_free(runs);
    sp_buf_done(&text);
    return good ? SP_OK
                : sp_fault_set(fault, SP_IO, "%s: cannot be written: %s", path, strerror(errno));
}

/* ---- looking up ---- */

struct places {
    struct sp_place *items;
    size_t count;
    size_t cap;
};

static void take(struct places *p, struct sp_view line, struct sp_view url)
{
    struct sp_place place;
    if (!sp_cdxj_place(line, url, &place))
        return;
    sp_grow(&p->items, &p->cap, p->count + 1);
    p->items[p->count++] = place;
}

/* Reads the line that starts at `at`, or else the first line that starts after it. */
static ssize_t line_from(FILE *in, off_t at, char **line, size_t *cap)
{
    if (fseeko(in, at > 0 ? at - 1 : 0, SEEK_SET) != 0)
        return -1;
    if (at > 0 && getline(line, cap, in) < 0)
        return -1;
    return getline(line, cap, in);
}

/* Binary search by bytes: each step halves the range in which the first line that is not before the
 * key starts. */
static void find_sorted(FILE *in, struct sp_view url, struct places *found)
{
    struct sp_buf key = {0};
    char *line = NULL;
    size_t cap = 0;
    off_t low = 0, high = 0;
    ssize_t len = 0;
    sp_cdxj_key(url, &key);
    sp_buf_put_u8(&key, ' ');
    if (fseeko(in, 0, SEEK_END) == 0)
        high = ftello(in);
    while (low < high) {
        off_t middle = low + (high - low) / 2;
        len = line_from(in, middle, &line, &cap);
        size_t both = len > 0 && (size_t)len < key.len ? (size_t)len : key.len;
        if (len > 0 && memcmp(line, key.data, both) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (len = line_from(in, low, &line, &cap);
         len > 0 && (size_t)len > key.len && memcmp(line, key.data, key.len) == 0;
         len = getline(&line, &cap, in))
        take(found, sp_view(line, (size_t)len), url);
    sp_buf_done(&key);
    free(line);
}

static void find_unsorted(FILE *in, struct sp_view url, uint64_t from, uint64_t to,
                          struct places *found)
{
    char *line = NULL;
    size_t cap = 0;
    if (fseeko(in, (off_t)from, SEEK_SET) == 0)
        for (ssize_t len; from < to && (len = getline(&line, &cap, in)) > 0; from += (uint64_t)len)
            take(found, sp_view(line, (size_t)len), url);
    free(line);
}

static int by_place(const void *a, const void *b)
{
    const struct sp_place *x = a, *y = b;
    if (x->segment != y->segment)
        return x->segment < y->segment ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

enum sp_err sp_index_find(const char *dir, struct sp_view url, uint64_t from, uint64_t to,
                          struct sp_place **ret_places, size_t *ret_count, struct sp_fault *fault)
{
    char log[PATH_BYTES], path[PATH_BYTES];
    struct places found = {0};
    size_t kept = 0;
    snprintf(path, sizeof path, "%s/index.cdxj", dir);
    snprintf(log, sizeof log, "%s/lines.log", dir);
    FILE *index = fopen(path, "r"), *lines = fopen(log, "r");
    if (index)
        find_sorted(index, url, &found);
    if (lines)
        find_unsorted(lines, url, index ? from : 0, to, &found);
    bool good = lines != NULL;
    if (index)
        fclose(index);
    if (lines)
        fclose(lines);
    if (!good) {
        sp_free(found.items);
        return sp_fault_set(fault, SP_IO, "%s: cannot be read: %s", log, strerror(errno));
    }
    if (found.count > 0)
        qsort(found.items, found.count, sizeof *found.items, by_place);
    for (size_t i = 0; i < found.count; i++) /* removes lines that both parts have */
        if (i == 0 || by_place(&found.items[i], &found.items[kept - 1]) != 0)
            found.items[kept++] = found.items[i];
    *ret_places = found.items;
    *ret_count = kept;
    return SP_OK;
}

void sp_index_each(const char *dir, uint64_t log_bytes,
                   void (*each)(void *arg, struct sp_place place, uint64_t length), void *arg)
{
    char path[PATH_BYTES], *line = NULL;
    struct sp_place place;
    uint64_t length = 0, left = log_bytes;
    size_t cap = 0;
    snprintf(path, sizeof path, "%s/lines.log", dir);
    FILE *in = fopen(path, "r");
    if (!in) {
        snprintf(path, sizeof path, "%s/index.cdxj", dir);
        in = fopen(path, "r");
        left = UINT64_MAX;
    }
    for (ssize_t len; in && left > 0 && (len = getline(&line, &cap, in)) > 0;) {
        left -= left < (uint64_t)len ? left : (uint64_t)len;
        if (sp_cdxj_member(sp_view(line, (size_t)len), &place, &length))
            each(arg, place, length);
    }
    if (in)
        fclose(in);
    free(line); /* allocated by getline */
}
