/* See spool.h. The merge is a heap of runs; with memory for M records a run, N records need N / M
 * runs and one pass. */
#include "cover/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"

enum { BUFFER_BYTES = 1 << 20, LEAST_RECORDS = 1024 };

void sp_spool_open(struct sp_spool *s, const char *directory)
{
    *s = (struct sp_spool){.fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)};
    if (s->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        /* For file systems without unnamed files: the name is removed at once. */
        struct sp_buf name = {0};
        sp_buf_put_str(&name, directory);
        sp_buf_put(&name, "/samepage-XXXXXX", 17);
        s->fd = mkostemp(name.data, O_CLOEXEC);
        if (s->fd >= 0)
            unlink(name.data);
        sp_buf_done(&name);
    }
    s->error = s->fd < 0 ? errno : 0;
}

void sp_spool_close(struct sp_spool *s)
{
    if (s->map)
        munmap(s->map, s->map_len);
    if (s->fd >= 0)
        close(s->fd);
    sp_buf_done(&s->buffer);
    *s = (struct sp_spool){.fd = -1};
}

static void write_out(struct sp_spool *s)
{
    for (size_t at = 0; at < s->buffer.len && !s->error;) {
        ssize_t n = write(s->fd, s->buffer.data + at, s->buffer.len - at);
        if (n > 0)
            at += (size_t)n;
        else if (n == 0 || errno != EINTR)
            s->error = n == 0 ? EIO : errno;
    }
    sp_buf_reset(&s->buffer);
}

void sp_spool_put(struct sp_spool *s, const void *data, size_t len)
{
    sp_buf_put(&s->buffer, data, len);
    s->len += len;
    if (s->buffer.len >= BUFFER_BYTES)
        write_out(s);
}

const void *sp_spool_map(struct sp_spool *s)
{
    write_out(s);
    if (s->map)
        munmap(s->map, s->map_len);
    s->map = NULL;
    if (s->error || s->len == 0)
        return NULL;
    s->map_len = (size_t)s->len;
    s->map = mmap(NULL, s->map_len, PROT_READ, MAP_SHARED, s->fd, 0);
    if (s->map == MAP_FAILED) {
        s->error = errno;
        s->map = NULL;
    }
    return s->map;
}

enum sp_err sp_spool_check(const struct sp_spool *s, struct sp_fault *fault)
{
    if (!s->error)
        return SP_OK;
    return sp_fault_set(fault, SP_IO,
                        "a temporary file cannot be used: %s; name a directory with room and "
                        "permission (--temp)",
                        strerror(s->error));
}

/* ---- the sorter ---- */

struct sp_sorter_run {
    const struct sp_record4 *at;
    const struct sp_record4 *end;
};

static int compare(const struct sp_record4 *x, const struct sp_record4 *y)
{
    for (unsigned i = 0; i < 4; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return 0;
}

static int by_keys(const void *x, const void *y)
{
    return compare(x, y);
}

void sp_sorter_open(struct sp_sorter *s, const char *directory, uint64_t memory_bytes)
{
    *s = (struct sp_sorter){0};
    sp_spool_open(&s->spool, directory);
    s->most = LEAST_RECORDS;
    while (s->most <= memory_bytes / sizeof *s->records / 2)
        s->most *= 2;
}

void sp_sorter_close(struct sp_sorter *s)
{
    sp_spool_close(&s->spool);
    sp_free(s->records);
    sp_free(s->run_ends);
    sp_free(s->runs);
    *s = (struct sp_sorter){.spool = {.fd = -1}};
}

static void end_run(struct sp_sorter *s)
{
    qsort(s->records, s->count, sizeof *s->records, by_keys);
    sp_spool_put(&s->spool, s->records, s->count * sizeof *s->records);
    sp_grow(&s->run_ends, &s->run_cap, s->run_count + 1);
    s->run_ends[s->run_count++] = s->spool.len / sizeof *s->records;
    s->count = 0;
}

void sp_sorter_put(struct sp_sorter *s, struct sp_record4 record)
{
    if (s->count == s->most)
        end_run(s);
    sp_grow(&s->records, &s->cap, s->count + 1);
    s->records[s->count++] = record;
}

/* Moves run i down the heap of n runs to its place. */
static void sift(struct sp_sorter_run *runs, size_t n, size_t i)
{
    for (size_t kid; (kid = 2 * i + 1) < n; i = kid) {
        if (kid + 1 < n && compare(runs[kid + 1].at, runs[kid].at) < 0)
            kid++;
        if (compare(runs[i].at, runs[kid].at) <= 0)
            return;
        struct sp_sorter_run t = runs[i];
        runs[i] = runs[kid];
        runs[kid] = t;
    }
}

enum sp_err sp_sorter_start(struct sp_sorter *s, struct sp_fault *fault)
{
    if (s->run_count == 0) {
        if (s->count)
            qsort(s->records, s->count, sizeof *s->records, by_keys);
        return sp_spool_check(&s->spool, fault);
    }
    if (s->count)
        end_run(s);
    sp_free(s->records);
    s->records = NULL;
    const struct sp_record4 *all = sp_spool_map(&s->spool);
    if (!all)
        return sp_spool_check(&s->spool, fault);
    s->runs = sp_alloc(s->run_count * sizeof *s->runs);
    for (size_t i = 0; i < s->run_count; i++)
        s->runs[i] =
            (struct sp_sorter_run){all + (i ? s->run_ends[i - 1] : 0), all + s->run_ends[i]};
    for (size_t i = s->run_count; i-- > 0;)
        sift(s->runs, s->run_count, i);
    return SP_OK;
}

bool sp_sorter_next(struct sp_sorter *s, struct sp_record4 *ret_record)
{
    if (!s->runs) {
        if (s->next == s->count)
            return false;
        *ret_record = s->records[s->next++];
        return true;
    }
    if (s->run_count == 0)
        return false;
    *ret_record = *s->runs[0].at++;
    if (s->runs[0].at == s->runs[0].end)
        s->runs[0] = s->runs[--s->run_count];
    sift(s->runs, s->run_count, 0);
    return true;
}
