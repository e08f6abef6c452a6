/* Writing an archive: inputs, segments, commits. See state.h for what a kill leaves. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/index.h"
#include "archive/writer.h"
#include "input/header.h"
#include "input/input.h"
#include "input/source.h"

enum { PATH_BYTES = 4096, INDEX_MEMORY = 256 << 20 };

void sp_archive_options_default(struct sp_archive_options *ret_options)
{
    *ret_options = (struct sp_archive_options){.depth = 8,
                                               .patch_level = 9,
                                               .gzip_level = 6,
                                               .similarity = 0.5,
                                               .max_record_bytes = 64ull << 20,
                                               .segment_bytes = 1ull << 30,
                                               .commit_bytes = 64ull << 20,
                                               .cache_bytes = 256ull << 20};
    sp_text_options_default(&ret_options->text);
}

struct job {
    struct sp_archive_writer writer;
    struct sp_archive_state state;
    int dir;   /* locked */
    bool made; /* the directory is new */
    bool begun;
    bool committed;
    int known_fd;
    int lines_fd;
    int inputs_fd;
    uint64_t since_commit;
};

static enum sp_err failed(struct job *j, const char *name, const char *what)
{
    return sp_fault_set(j->writer.fault, SP_IO, "%s/%s: cannot be %s: %s", j->writer.options->dir,
                        name, what, strerror(errno));
}

/* ---- commits ---- */

static enum sp_err append_log(struct job *j, int fd, const char *name, struct sp_buf *log,
                              uint64_t *length)
{
    if (log->len == 0)
        return SP_OK;
    for (size_t done = 0; done < log->len;) {
        ssize_t n = pwrite(fd, log->data + done, log->len - done, (off_t)(*length + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return failed(j, name, "written");
        done += (size_t)n;
    }
    if (fdatasync(fd) != 0)
        return failed(j, name, "synced to the disk");
    *length += log->len;
    sp_buf_reset(log);
    return SP_OK;
}

static enum sp_err commit(struct job *j)
{
    struct sp_archive_writer *w = &j->writer;
    struct sp_place end = sp_segments_end(w->segments);
    enum sp_err err = sp_segments_sync(w->segments, w->fault);
    if (err == SP_OK)
        err = append_log(j, j->known_fd, "known.log", &w->known_log, &j->state.known_bytes);
    if (err == SP_OK)
        err = append_log(j, j->lines_fd, "lines.log", &w->line_log, &j->state.line_bytes);
    if (err == SP_OK)
        err = append_log(j, j->inputs_fd, "inputs.log", &j->state.input_log, &j->state.input_bytes);
    j->state.segment = end.segment;
    j->state.segment_bytes = end.offset;
    j->since_commit = 0;
    if (err == SP_OK)
        err = sp_archive_state_save(w->options->dir, &j->state, w->fault);
    j->committed |= err == SP_OK;
    return err;
}

/* ---- beginning ---- */

static enum sp_err open_log(struct job *j, const char *name, uint64_t length, int *ret_fd)
{
    struct stat st;
    int fd = openat(j->dir, name, O_RDWR | (length == 0 ? O_CREAT : 0) | O_CLOEXEC, 0666);
    *ret_fd = fd;
    if (fd < 0 || fstat(fd, &st) != 0)
        return failed(j, name, "opened");
    if ((uint64_t)st.st_size < length)
        return sp_fault_set(
            j->writer.fault, SP_CORRUPT,
            "%s/%s: is shorter than the archive's state requires: part of it is lost",
            j->writer.options->dir, name);
    return ftruncate(fd, (off_t)length) == 0 ? SP_OK
                                             : failed(j, name, "truncated to the last commit");
}

static enum sp_err take_known(struct job *j, struct sp_view log)
{
    return sp_known_load(j->writer.known, log);
}

static enum sp_err take_inputs(struct job *j, struct sp_view log)
{
    return sp_archive_state_load_inputs(&j->state, log);
}

static enum sp_err load_log(struct job *j, int fd, const char *name, uint64_t length,
                            enum sp_err (*take)(struct job *j, struct sp_view log))
{
    struct sp_buf log = {0};
    enum sp_err err = SP_OK;
    sp_buf_reserve(&log, length + 1);
    while (log.len < length) {
        ssize_t n = pread(fd, log.data + log.len, length - log.len, (off_t)log.len);
        if (n <= 0) {
            err = failed(j, name, "read");
            break;
        }
        log.len += (size_t)n;
    }
    if (err == SP_OK && take(j, sp_buf_view(&log)) != SP_OK)
        err = sp_fault_set(j->writer.fault, SP_CORRUPT, "%s/%s: is damaged", j->writer.options->dir,
                           name);
    sp_buf_done(&log);
    return err;
}

static enum sp_err open_dir(struct job *j)
{
    const char *dir = j->writer.options->dir;
    j->made = mkdir(dir, 0777) == 0;
    if (!j->made && errno != EEXIST)
        return sp_fault_set(j->writer.fault, SP_IO, "%s: cannot be created: %s", dir,
                            strerror(errno));
    j->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (j->dir < 0)
        return sp_fault_set(j->writer.fault, SP_IO, "%s: cannot be opened: %s", dir,
                            strerror(errno));
    if (flock(j->dir, LOCK_EX | LOCK_NB) != 0)
        return sp_fault_set(j->writer.fault, SP_BUSY,
                            "%s: another process is writing to this archive", dir);
    return SP_OK;
}

/* Whether an archive has files of that name besides `state`. */
static bool is_archive_file(const char *name)
{
    static const char *const names[] = {"known.log", "lines.log", "inputs.log", "index.cdxj",
                                        "index.cdxj.new"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return sp_segment_is_name(name);
}

/* Begins an archive with an empty state, before any other file, so that a kill leaves one. A
 * directory with an archive's files but no state has lost it, or the files are somebody else's:
 * all of them would be overwritten. */
static enum sp_err begin_new(struct job *j)
{
    const char *dir = j->writer.options->dir;
    char found[256] = "";
    DIR *list = opendir(dir);
    if (!list)
        return sp_fault_set(j->writer.fault, SP_IO, "%s: cannot be read: %s", dir, strerror(errno));
    for (struct dirent *e; !found[0] && (e = readdir(list));)
        if (is_archive_file(e->d_name))
            snprintf(found, sizeof found, "%s", e->d_name);
    closedir(list);
    if (found[0])
        return sp_fault_set(j->writer.fault, SP_INVALID,
                            "%s: has a file `%s` but no file `state`, and nothing was changed in "
                            "it; restore `state` from a copy, or name another directory",
                            dir, found);
    j->begun = true;
    return sp_archive_state_save(dir, &j->state, j->writer.fault);
}

/* Removes the files of an archive that this call has begun, `state` last. */
static void discard(struct job *j)
{
    char name[SP_SEGMENT_NAME_BYTES];
    unlinkat(j->dir, "known.log", 0);
    unlinkat(j->dir, "lines.log", 0);
    unlinkat(j->dir, "inputs.log", 0);
    for (uint32_t n = 0; j->writer.segments && n <= sp_segments_end(j->writer.segments).segment;
         n++) {
        sp_segment_name(n, name);
        unlinkat(j->dir, name, 0);
    }
    unlinkat(j->dir, "state.new", 0);
    unlinkat(j->dir, "state", 0);
    if (j->made)
        rmdir(j->writer.options->dir);
}

static enum sp_err begin(struct job *j)
{
    struct sp_archive_writer *w = &j->writer;
    const struct sp_archive_options *o = w->options;
    enum sp_err err = open_dir(j);
    if (err == SP_OK)
        err = sp_archive_state_load(o->dir, &j->state, w->fault);
    if (err == SP_OK && !j->state.found)
        err = begin_new(j);
    if (err != SP_OK)
        return err;
    w->segments = sp_segments_new(o->dir, o->gzip_level);
    w->patcher = sp_patcher_new(o->patch_level);
    w->originals = sp_originals_new(w->segments, w->patcher, o->max_record_bytes, o->cache_bytes);
    w->known = sp_known_new(o->similarity);
    w->text = sp_text_new(&o->text);
    err = open_log(j, "known.log", j->state.known_bytes, &j->known_fd);
    if (err == SP_OK)
        err = open_log(j, "lines.log", j->state.line_bytes, &j->lines_fd);
    if (err == SP_OK)
        err = open_log(j, "inputs.log", j->state.input_bytes, &j->inputs_fd);
    if (err == SP_OK)
        err = load_log(j, j->known_fd, "known.log", j->state.known_bytes, take_known);
    if (err == SP_OK)
        err = load_log(j, j->inputs_fd, "inputs.log", j->state.input_bytes, take_inputs);
    if (err == SP_OK)
        err = sp_segments_continue(w->segments, j->state.segment, j->state.segment_bytes, w->fault);
    return err;
}

static void end(struct job *j)
{
    struct sp_archive_writer *w = &j->writer;
    sp_text_free(w->text);
    sp_known_free(w->known);
    sp_originals_free(w->originals);
    sp_patcher_free(w->patcher);
    sp_segments_free(w->segments);
    sp_buf_done(&w->known_log);
    sp_buf_done(&w->line_log);
    sp_buf_done(&w->header);
    sp_buf_done(&w->added);
    sp_buf_done(&w->patch);
    sp_buf_done(&w->best);
    sp_archive_state_done(&j->state);
    if (j->known_fd >= 0)
        close(j->known_fd);
    if (j->lines_fd >= 0)
        close(j->lines_fd);
    if (j->inputs_fd >= 0)
        close(j->inputs_fd);
    if (j->dir >= 0)
        close(j->dir);
}

/* ---- the inputs ---- */

/* A segment begins with a record that names the program that wrote it. Its date and id are derived
 * from those of the first record, so the same input gives the same file. */
static enum sp_err put_info(struct job *j, struct sp_warc_record first)
{
    static const char body[] = "software: samepage archive\r\n"
                               "format: WARC File Format 1.1\r\n"
                               "description: exact copies are revisit records; near duplicates are "
                               "records of type patch, an extension: zstd with the block of the "
                               "record at Samepage-Base as prefix\r\n";
    char name[SP_SEGMENT_NAME_BYTES], header[1024];
    struct sp_view date = sp_header_field(first.header, "WARC-Date");
    struct sp_place end = sp_segments_end(j->writer.segments);
    sp_segment_name(end.segment, name);
    struct sp_id id = sp_hash128(first.header.data, first.header.len);
    id.lo = sp_mix64(id.lo + end.segment);
    int n = snprintf(
        header, sizeof header,
        "WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Date: %.*s\r\nWARC-Filename: %s\r\n"
        "WARC-Record-ID: <urn:uuid:%08x-%04x-4%03x-a%03x-%012llx>\r\n"
        "Content-Type: application/warc-fields\r\nContent-Length: %zu\r\nSamepage-Info: 1\r\n\r\n",
        date.len ? (int)(date.len < 40 ? date.len : 40) : 20,
        date.len ? date.data : "1970-01-01T00:00:00Z", name, (unsigned)(id.hi >> 32),
        (unsigned)(id.hi >> 16 & 0xffff), (unsigned)(id.hi & 0xfff), (unsigned)(id.lo >> 52),
        (unsigned long long)(id.lo & 0xffffffffffffull), sizeof body - 1);
    enum sp_err err = sp_segments_append(j->writer.segments, sp_view(header, (size_t)n),
                                         sp_view(body, sizeof body - 1), j->writer.fault);
    j->writer.result->stored_bytes += sp_segments_end(j->writer.segments).offset;
    return err;
}

static enum sp_err take(struct job *j, struct sp_warc_record record)
{
    struct sp_archive_writer *w = &j->writer;
    struct sp_place end = sp_segments_end(w->segments);
    enum sp_err err = SP_OK;
    if (end.offset >= w->options->segment_bytes) {
        err = sp_segments_begin_next(w->segments, w->fault);
        sp_archive_state_ended(&j->state, end);
    }
    if (err == SP_OK && sp_segments_end(w->segments).offset == 0)
        err = put_info(j, record);
    return err == SP_OK ? sp_archive_store(w, record) : err;
}

static void complain(struct job *j, const char *file, uint64_t offset, const char *why)
{
    char text[SP_FAULT_BYTES];
    snprintf(text, sizeof text, "%s: at byte %llu of its (decompressed) content: %s", file,
             (unsigned long long)offset, why);
    j->writer.result->bad++;
    sp_readings_add(j->writer.options->readings, 1, why);
    if (j->writer.options->complain)
        j->writer.options->complain(j->writer.options->arg, text);
}

static struct sp_id input_id(const char *file, enum sp_err err, struct sp_view header)
{
    const char *slash = strrchr(file, '/');
    struct sp_buf both = {0};
    sp_buf_put_str(&both, slash ? slash + 1 : file);
    sp_buf_put_u8(&both, 0);
    if (err == SP_OK)
        sp_buf_put_view(&both, header);
    struct sp_id id = sp_hash128(both.data, both.len);
    sp_buf_done(&both);
    return id;
}

static enum sp_err read_input(struct job *j, const char *file, struct sp_records *r,
                              uint64_t before, uint64_t total)
{
    struct sp_archive_writer *w = &j->writer;
    struct sp_archive_input *input = NULL;
    struct sp_warc_record record;
    const char *why = NULL;
    uint64_t offset = 0, number = 0;
    for (;;) {
        enum sp_err err = sp_records_next(r, &record, &offset, &why);
        if (err == SP_END) {
            sp_readings_end_input(w->options->readings, file, number);
            return SP_OK;
        }
        if (err != SP_OK && sp_err_class(err) != SP_CLASS_BAD_RECORD)
            return sp_fault_set(w->fault, err, "%s: reading failed", file);
        if (!input)
            input = sp_archive_state_input(&j->state, input_id(file, err, record.header));
        bool here = number >= input->records;
        number += err != SP_TRUNCATED; /* the rest of the record may arrive later */
        if (!here) {
            w->result->passed++;
            sp_readings_pass(w->options->readings, 1);
            continue;
        }
        if (err != SP_OK) {
            complain(j, file, offset, why);
        } else {
            err = take(j, record);
            if (err == SP_MALFORMED)
                complain(j, file, offset, w->fault->text);
            else if (err != SP_OK)
                return err;
            else
                sp_readings_add(w->options->readings, 1, NULL);
            j->since_commit += record.header.len + record.block.len;
        }
        if (number > input->records)
            sp_archive_state_read(&j->state, input, file, number);
        if (w->options->progress)
            w->options->progress(w->options->arg, before + sp_source_read_bytes(r->source), total);
        if (j->since_commit >= w->options->commit_bytes && (err = commit(j)) != SP_OK)
            return err;
    }
}

static uint64_t size_of(const char *file)
{
    struct stat st;
    return stat(file, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

/* Refuses files that cannot be read or are known to have another format, before anything is
 * written. A stream is not checked, because it can be read only once. */
static enum sp_err look_at(const struct sp_archive_options *o, struct sp_fault *fault)
{
    struct sp_input_options options;
    enum sp_err err = SP_OK;
    sp_input_options_default(&options);
    for (size_t i = 0; i < o->input_count && err == SP_OK; i++) {
        struct sp_input *input = NULL;
        if (sp_source_is_stream(o->inputs[i]))
            continue;
        err = sp_input_open(&o->inputs[i], 1, &options, &input, fault);
        if (err == SP_OK)
            sp_input_close(input);
    }
    return err;
}

static enum sp_err read_inputs(struct job *j)
{
    const struct sp_archive_options *o = j->writer.options;
    uint64_t total = 0, before = 0;
    enum sp_err err = SP_OK;
    for (size_t i = 0; i < o->input_count; i++)
        total += size_of(o->inputs[i]);
    for (size_t i = 0; i < o->input_count && err == SP_OK; i++) {
        struct sp_records r;
        err = sp_records_open(&r, o->inputs[i], o->max_record_bytes, j->writer.fault);
        if (err != SP_OK)
            break;
        err = read_input(j, o->inputs[i], &r, before, total);
        sp_records_close(&r);
        before += size_of(o->inputs[i]);
    }
    return err;
}

static enum sp_err finish(struct job *j)
{
    const char *dir = j->writer.options->dir;
    sp_archive_state_leave(&j->state);
    enum sp_err err = commit(j);
    if (err == SP_OK)
        err = sp_index_write(dir, j->state.line_bytes, INDEX_MEMORY, j->writer.fault);
    j->state.indexed_bytes = j->state.line_bytes;
    return err == SP_OK ? sp_archive_state_save(dir, &j->state, j->writer.fault) : err;
}

enum sp_err sp_archive_write(const struct sp_archive_options *options,
                             struct sp_archive_result *ret_result, struct sp_fault *fault)
{
    struct sp_archive_result result = {0};
    struct job j = {.dir = -1, .known_fd = -1, .lines_fd = -1, .inputs_fd = -1};
    j.writer.options = options;
    j.writer.result = &result;
    j.writer.fault = fault;
    enum sp_err err = look_at(options, fault);
    if (err == SP_OK)
        err = begin(&j);
    if (err == SP_OK)
        err = read_inputs(&j);
    bool nothing = result.records == 0 && result.bad > 0 && j.begun && !j.committed;
    if (err == SP_OK && !nothing)
        err = finish(&j);
    if ((err != SP_OK || nothing) && j.begun && !j.committed)
        discard(&j);
    end(&j);
    if (err == SP_OK)
        *ret_result = result;
    return err;
}
