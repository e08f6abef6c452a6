/* Restoring: all records in the order of the archive's files, or those that the index has of a URL.
 * What is damaged is reported, and restoring continues behind it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "archive/archive.h"
#include "archive/index.h"
#include "archive/originals.h"
#include "archive/state.h"
#include "base/mem.h"
#include "input/header.h"

/* A record of the index. */
struct extent {
    uint64_t offset;
    uint64_t end;
};

struct job {
    const struct sp_archive_restore_options *options;
    struct sp_fault *fault;
    struct sp_archive_state state;
    struct sp_segments *segments;
    struct sp_patcher *patcher;
    struct sp_originals *originals;
    FILE *out;
    uint64_t records;
    uint64_t lost;          /* messages about parts that are lost */
    uint64_t too_large;     /* records that max_record_bytes leaves out */
    uint64_t *indexed;      /* where the last indexed record of each segment ends */
    struct extent *extents; /* what the index has of one segment, by offset */
    size_t extent_count;
    size_t extent_cap;
    uint32_t extents_of; /* that segment */
    bool extents_read;
};

/* Opens the output, unless it is open: not before there is a record, so that a file stays as it was
 * if there is none of that URL. */
static enum sp_err open_output(struct job *j)
{
    const char *name = j->options->output;
    if (!j->out)
        j->out = strcmp(name, "-") == 0 ? stdout : fopen(name, "w");
    return j->out
               ? SP_OK
               : sp_fault_set(j->fault, SP_IO, "%s: cannot be written: %s", name, strerror(errno));
}

static enum sp_err put(struct job *j, const struct sp_original *record)
{
    enum sp_err err = open_output(j);
    if (err != SP_OK)
        return err;
    fwrite(record->header.data, 1, record->header.len, j->out);
    fwrite(record->block.data, 1, record->block.len, j->out);
    fwrite("\r\n\r\n", 1, 4, j->out);
    j->records++;
    if (j->options->restored)
        j->options->restored(j->options->arg, record->header.len + record->block.len + 4);
    return ferror(j->out) ? sp_fault_set(j->fault, SP_IO, "%s: cannot be written: %s",
                                         j->options->output, strerror(errno))
                          : SP_OK;
}

static enum sp_err get(struct job *j, struct sp_place place, struct sp_original *ret_record)
{
    sp_originals_trim(j->originals);
    return sp_originals_get(j->originals, place, ret_record, j->fault);
}

/* Whether it is the record that we write at the start of each file. */
static bool is_info(const struct sp_original *record)
{
    return sp_header_field(record->header, "Samepage-Info").len > 0;
}

static bool is_end(const struct job *j, struct sp_place at)
{
    return at.segment > j->state.segment ||
           (at.segment == j->state.segment && at.offset >= j->state.segment_bytes);
}

/* Says what is not restored; counted by the caller. */
__attribute__((format(printf, 2, 3))) static void tell(struct job *j, const char *format, ...)
{
    char text[SP_FAULT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (j->options->lost)
        j->options->lost(j->options->arg, text);
}

/* Counts a part that is lost, unless it is only larger than the settings allow. */
static const char *count_loss(struct job *j, enum sp_err err)
{
    j->lost += err != SP_TOO_LARGE;
    j->too_large += err == SP_TOO_LARGE;
    return err == SP_TOO_LARGE ? "not restored" : "lost";
}

static void note_end(void *arg, struct sp_place place, uint64_t length)
{
    struct job *j = arg;
    uint64_t end = place.offset + length;
    if (place.segment < j->state.segment && j->indexed[place.segment] < end)
        j->indexed[place.segment] = end;
}

/* Where the segment ends, or else the least offset at which it may end. */
static uint64_t end_of(struct job *j, uint32_t segment, bool *ret_exact)
{
    *ret_exact = true;
    if (segment == j->state.segment)
        return j->state.segment_bytes;
    for (size_t i = 0; i < j->state.end_count; i++)
        if (j->state.ends[i].segment == segment)
            return j->state.ends[i].offset;
    *ret_exact = false;
    if (!j->indexed) {
        j->indexed = sp_calloc(j->state.segment, sizeof *j->indexed);
        sp_index_each(j->options->dir, j->state.line_bytes, note_end, j);
    }
    return j->indexed[segment] ? j->indexed[segment] : 1; /* it has a warcinfo at least */
}

static void note_extent(void *arg, struct sp_place place, uint64_t length)
{
    struct job *j = arg;
    if (place.segment != j->extents_of)
        return;
    sp_grow(&j->extents, &j->extent_cap, j->extent_count + 1);
    j->extents[j->extent_count++] = (struct extent){place.offset, place.offset + length};
}

static int by_offset(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The index is read once for a segment, however many of its records are damaged. */
static void read_extents(struct job *j, uint32_t segment)
{
    if (j->extents_read && j->extents_of == segment)
        return;
    j->extents_read = true;
    j->extent_count = 0;
    j->extents_of = segment;
    sp_index_each(j->options->dir, j->state.line_bytes, note_extent, j);
    if (j->extent_count)
        qsort(j->extents, j->extent_count, sizeof *j->extents, by_offset);
}

/* What the index knows of a damaged record and the next one. */
struct gap {
    uint64_t next; /* 0: not known */
    uint64_t following;
};

static struct gap gap_at(struct job *j, struct sp_place at, uint64_t end)
{
    struct gap gap = {.following = end};
    read_extents(j, at.segment);
    size_t low = 0, high = j->extent_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (j->extents[middle].offset < at.offset)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < j->extent_count && j->extents[low].offset == at.offset; low++)
        gap.next = j->extents[low].end;
    if (low < j->extent_count && j->extents[low].offset < end)
        gap.following = j->extents[low].offset;
    return gap;
}

/* The offset of the next record after one that cannot be restored. The content of a damaged record
 * might contain another archive, so the index is asked before the next gzip member is searched. */
static uint64_t after(struct job *j, struct sp_place at, uint64_t end)
{
    enum { HEADER_ROOM = 1 << 17 };
    struct sp_buf stored = {0};
    uint64_t next = 0, most = j->options->max_record_bytes + HEADER_ROOM;
    enum sp_err err = sp_segments_read(j->segments, at, most, &stored, &next);
    sp_buf_done(&stored);
    if (err == SP_TOO_LARGE)
        err = sp_segments_skip(j->segments, at, &next);
    if (err != SP_OK) {
        struct gap gap = gap_at(j, at, end);
        struct sp_place from = {at.segment, at.offset + 1};
        next = gap.next > at.offset ? gap.next
                                    : sp_segments_find(j->segments, from, gap.following, most);
    }
    return next < end ? next : end;
}

static enum sp_err restore_records(struct job *j, uint32_t segment, uint64_t end)
{
    char name[SP_SEGMENT_NAME_BYTES];
    struct sp_original record;
    struct sp_place at = {segment, 0};
    sp_segment_name(segment, name);
    for (uint64_t next; at.offset < end; at.offset = next) {
        enum sp_err err = get(j, at, &record);
        if (err == SP_OK) {
            next = record.next;
            if (at.offset > 0 || !is_info(&record))
                err = put(j, &record);
            if (err != SP_OK)
                return err;
        } else {
            next = after(j, at, end);
            tell(j, "%s/%s: bytes %llu to %llu are %s: %s", j->options->dir, name,
                 (unsigned long long)at.offset, (unsigned long long)next, count_loss(j, err),
                 j->fault->text);
        }
    }
    return SP_OK;
}

static enum sp_err restore_segment(struct job *j, uint32_t segment)
{
    char name[SP_SEGMENT_NAME_BYTES];
    const char *dir = j->options->dir;
    bool exact = true;
    uint64_t end = end_of(j, segment, &exact), size = 0;
    sp_segment_name(segment, name);
    if (end == 0)
        return SP_OK; /* nothing is committed yet */
    enum sp_err err = sp_segments_size(j->segments, segment, &size);
    j->lost += err != SP_OK || size < end;
    if (err == SP_NOT_FOUND)
        tell(j, "%s/%s: this WARC file of the archive is missing: all of its records are lost", dir,
             name);
    else if (err != SP_OK)
        tell(j, "%s/%s: cannot be read: %s; all of its records are lost", dir, name,
             strerror(errno));
    else if (size < end)
        tell(j, "%s/%s: has %llu bytes instead of %llu%s: the records at its end are lost", dir,
             name, (unsigned long long)size, (unsigned long long)end, exact ? "" : " or more");
    return restore_records(j, segment, size < end || !exact ? size : end);
}

static enum sp_err restore_all(struct job *j)
{
    enum sp_err err = SP_OK;
    for (uint32_t segment = 0; segment <= j->state.segment && err == SP_OK; segment++)
        err = restore_segment(j, segment);
    return err;
}

static enum sp_err restore_url(struct job *j, struct sp_view url)
{
    struct sp_place *places = NULL;
    struct sp_original record;
    size_t count = 0;
    enum sp_err err = sp_index_find(j->options->dir, url, j->state.indexed_bytes,
                                    j->state.line_bytes, &places, &count, j->fault);
    for (size_t i = 0; i < count && err == SP_OK; i++) {
        if (is_end(j, places[i]))
            continue;
        enum sp_err got = get(j, places[i], &record);
        if (got == SP_OK)
            err = put(j, &record);
        else
            tell(j, "%s: a record of this URL is %s: %s", j->options->dir, count_loss(j, got),
                 j->fault->text);
    }
    sp_free(places);
    if (err == SP_OK && j->records == 0 && j->lost + j->too_large == 0)
        return sp_fault_set(j->fault, SP_NOT_FOUND, "%s: has no record of %.*s", j->options->dir,
                            (int)url.len, url.data);
    return err;
}

/* What could not be restored. */
static enum sp_err sum_up(struct job *j)
{
    char larger[160] = "";
    if (j->too_large > 0)
        snprintf(larger, sizeof larger,
                 "%llu records are larger than input.max_record_bytes and were not restored: raise "
                 "it with --set",
                 (unsigned long long)j->too_large);
    if (j->lost > 0)
        return sp_fault_set(
            j->fault, SP_CORRUPT,
            "%s: is damaged: %llu parts of it could not be restored; the other "
            "%llu records were written; restore the archive's files from a copy%s%s",
            j->options->dir, (unsigned long long)j->lost, (unsigned long long)j->records,
            *larger ? "; " : "", larger);
    if (j->too_large > 0)
        return sp_fault_set(j->fault, SP_TOO_LARGE, "%s: %s; the other %llu records were written",
                            j->options->dir, larger, (unsigned long long)j->records);
    return SP_OK;
}

static enum sp_err restore(struct job *j)
{
    const struct sp_archive_restore_options *o = j->options;
    enum sp_err err = sp_archive_state_load(o->dir, &j->state, j->fault);
    if (err != SP_OK)
        return err;
    if (!j->state.found)
        return sp_fault_set(j->fault, SP_INVALID, "%s: is not an archive: it has no file `state`",
                            o->dir);
    j->segments = sp_segments_new(o->dir, 1);
    j->patcher = sp_patcher_new(1);
    j->originals = sp_originals_new(j->segments, j->patcher, o->max_record_bytes, o->cache_bytes);
    err = o->url ? restore_url(j, sp_view_str(o->url)) : restore_all(j);
    if (err == SP_OK)
        err = open_output(j);
    bool good = !j->out || (j->out == stdout ? fflush(j->out) : fclose(j->out)) == 0;
    if (err == SP_OK && !good)
        err =
            sp_fault_set(j->fault, SP_IO, "%s: cannot be written: %s", o->output, strerror(errno));
    return err == SP_OK ? sum_up(j) : err;
}

enum sp_err sp_archive_restore(const struct sp_archive_restore_options *options,
                               uint64_t *ret_records, struct sp_fault *fault)
{
    struct job j = {.options = options, .fault = fault};
    enum sp_err err = restore(&j);
    sp_originals_free(j.originals);
    sp_patcher_free(j.patcher);
    sp_segments_free(j.segments);
    sp_archive_state_done(&j.state);
    sp_free(j.indexed);
    sp_free(j.extents);
    if (err == SP_OK)
        *ret_records = j.records;
    return err;
}
