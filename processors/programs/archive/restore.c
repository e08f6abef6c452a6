/* Restoring: all records in the order of the archive's files, or those that the index has of a URL.
 */
#include <errno.h>
#include <stdio.h>

#include "archive/archive.h"
#include "archive/index.h"
#include "archive/originals.h"
#include "archive/state.h"
#include "input/header.h"

struct job {
    const struct sp_archive_restore_options *options;
    struct sp_fault *fault;
    struct sp_archive_state state;
    struct sp_segments *segments;
    struct sp_patcher *patcher;
    struct sp_originals *originals;
    FILE *out;
    uint64_t records;
};

static enum sp_err put(struct job *j, const struct sp_original *record)
{
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

static enum sp_err restore_all(struct job *j)
{
    struct sp_place at = {0};
    struct sp_original record;
    uint64_t sizes = 0;
    while (!is_end(j, at)) {
        enum sp_err err = sp_segments_size(j->segments, at.segment, &sizes);
        if (err != SP_OK)
            return sp_fault_set(j->fault, err, "%s: a WARC file of the archive is missing",
                                j->options->dir);
        if (at.offset >= sizes) {
            at = (struct sp_place){at.segment + 1, 0};
            continue;
        }
        err = get(j, at, &record);
        if (err == SP_OK && (at.offset > 0 || !is_info(&record)))
            err = put(j, &record);
        if (err != SP_OK)
            return err;
        at.offset = record.next;
    }
    return SP_OK;
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
        err = get(j, places[i], &record);
        if (err == SP_OK)
            err = put(j, &record);
    }
    sp_free(places);
    if (err == SP_OK && j->records == 0)
        return sp_fault_set(j->fault, SP_NOT_FOUND, "%s: has no record of %.*s", j->options->dir,
                            (int)url.len, url.data);
    return err;
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
    bool standard = strcmp(o->output, "-") == 0;
    j->out = standard ? stdout : fopen(o->output, "w");
    if (!j->out)
        return sp_fault_set(j->fault, SP_IO, "%s: cannot be written: %s", o->output,
                            strerror(errno));
    j->segments = sp_segments_new(o->dir, 1);
    j->patcher = sp_patcher_new(1);
    j->originals = sp_originals_new(j->segments, j->patcher, o->max_record_bytes, o->cache_bytes);
    err = o->url ? restore_url(j, sp_view_str(o->url)) : restore_all(j);
    bool good = (standard ? fflush(j->out) : fclose(j->out)) == 0;
    if (err == SP_OK && !good)
        err =
            sp_fault_set(j->fault, SP_IO, "%s: cannot be written: %s", o->output, strerror(errno));
    return err;
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
    if (err == SP_OK)
        *ret_records = j.records;
    return err;
}
