/* See segments.h. */
#include "archive/segments.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/assert.h"

enum { RAW_BYTES = 1 << 15, PATH_BYTES = 4096 };

struct sp_segments {
    char *dir;
    int fd; /* open for writing, or -1 */
    uint32_t number;
    uint64_t length;
    z_stream deflate;
    struct sp_buf packed;
    int read_fd; /* open for reading, or -1 */
    uint32_t read_number;
    z_stream inflate;
    unsigned char raw[RAW_BYTES];
};

struct sp_segments *sp_segments_new(const char *dir, int gzip_level)
{
    struct sp_segments *s = sp_calloc(1, sizeof *s);
    s->dir = sp_strdup(dir);
    s->fd = s->read_fd = -1;
    SP_ASSERT(deflateInit2(&s->deflate, gzip_level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) ==
              Z_OK);
    SP_ASSERT(inflateInit2(&s->inflate, 15 + 16) == Z_OK);
    return s;
}

void sp_segments_free(struct sp_segments *s)
{
    if (!s)
        return;
    if (s->fd >= 0)
        close(s->fd);
    if (s->read_fd >= 0)
        close(s->read_fd);
    deflateEnd(&s->deflate);
    inflateEnd(&s->inflate);
    sp_buf_done(&s->packed);
    sp_free(s->dir);
    sp_free(s);
}

void sp_segment_name(uint32_t segment, char ret_name[SP_SEGMENT_NAME_BYTES])
{
    snprintf(ret_name, SP_SEGMENT_NAME_BYTES, "samepage-%05u.warc.gz", segment);
}

bool sp_segment_is_name(const char *name)
{
    char again[SP_SEGMENT_NAME_BYTES];
    uint32_t segment = 0;
    if (sscanf(name, "samepage-%9u.warc.gz", &segment) != 1)
        return false;
    sp_segment_name(segment, again);
    return strcmp(name, again) == 0;
}

void sp_place_text(struct sp_place place, char ret_text[SP_PLACE_BYTES])
{
    char name[SP_SEGMENT_NAME_BYTES];
    sp_segment_name(place.segment, name);
    snprintf(ret_text, SP_PLACE_BYTES, "%s@%llu", name, (unsigned long long)place.offset);
}

bool sp_place_parse(struct sp_view text, struct sp_place *ret_place)
{
    char copy[SP_PLACE_BYTES], again[SP_PLACE_BYTES];
    struct sp_place place;
    unsigned long long offset = 0;
    if (text.len >= sizeof copy)
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = 0;
    if (sscanf(copy, "samepage-%9u.warc.gz@%19llu", &place.segment, &offset) != 2)
        return false;
    place.offset = offset;
    sp_place_text(place, again);
    if (strcmp(copy, again) != 0)
        return false;
    *ret_place = place;
    return true;
}

static void path_of(const struct sp_segments *s, uint32_t number, char path[PATH_BYTES])
{
    char name[SP_SEGMENT_NAME_BYTES];
    sp_segment_name(number, name);
    snprintf(path, PATH_BYTES, "%s/%s", s->dir, name);
}

static enum sp_err failed(const struct sp_segments *s, const char *what, struct sp_fault *fault)
{
    char path[PATH_BYTES];
    path_of(s, s->number, path);
    return sp_fault_set(fault, SP_IO, "%s: cannot be %s: %s", path, what, strerror(errno));
}

static void remove_later(const struct sp_segments *s)
{
    char path[PATH_BYTES];
    for (uint32_t n = s->number + 1;; n++) {
        path_of(s, n, path);
        if (unlink(path) != 0)
            break; /* segments are numbered without gaps */
    }
}

enum sp_err sp_segments_continue(struct sp_segments *s, uint32_t segment, uint64_t length,
                                 struct sp_fault *fault)
{
    char path[PATH_BYTES];
    struct stat st;
    s->number = segment;
    s->length = length;
    path_of(s, segment, path);
    s->fd = open(path, O_RDWR | (length == 0 ? O_CREAT : 0) | O_CLOEXEC, 0666);
    if (s->fd < 0 || fstat(s->fd, &st) != 0)
        return failed(s, "opened for writing", fault);
    if ((uint64_t)st.st_size < length)
        return sp_fault_set(fault, SP_CORRUPT,
                            "%s: has %llu bytes instead of %llu: part of it is lost", path,
                            (unsigned long long)st.st_size, (unsigned long long)length);
    if (ftruncate(s->fd, (off_t)length) != 0)
        return failed(s, "truncated to the last commit", fault);
    remove_later(s);
    return SP_OK;
}

enum sp_err sp_segments_begin_next(struct sp_segments *s, struct sp_fault *fault)
{
    enum sp_err err = sp_segments_sync(s, fault);
    if (err != SP_OK)
        return err;
    close(s->fd);
    s->fd = -1;
    return sp_segments_continue(s, s->number + 1, 0, fault);
}

struct sp_place sp_segments_end(const struct sp_segments *s)
{
    return (struct sp_place){s->number, s->length};
}

static void deflate_part(struct sp_segments *s, struct sp_view part, int flush)
{
    size_t done = 0;
    do {
        size_t step = part.len - done < 1u << 30 ? part.len - done : 1u << 30;
        s->deflate.next_in = (Bytef *)(uintptr_t)(part.data + done);
        s->deflate.avail_in = (uInt)step;
        done += step;
        int mode = done == part.len ? flush : Z_NO_FLUSH;
        do {
            const uInt room = RAW_BYTES;
            s->deflate.next_out = (Bytef *)sp_buf_reserve(&s->packed, room);
            s->deflate.avail_out = room;
            deflate(&s->deflate, mode);
            s->packed.len += room - s->deflate.avail_out;
        } while (s->deflate.avail_out == 0);
    } while (done < part.len);
}

enum sp_err sp_segments_append(struct sp_segments *s, struct sp_view header, struct sp_view block,
                               struct sp_fault *fault)
{
    sp_buf_reset(&s->packed);
    deflateReset(&s->deflate);
    deflate_part(s, header, Z_NO_FLUSH);
    deflate_part(s, block, Z_NO_FLUSH);
    deflate_part(s, sp_view("\r\n\r\n", 4), Z_FINISH);
    for (size_t done = 0; done < s->packed.len;) {
        ssize_t n =
            pwrite(s->fd, s->packed.data + done, s->packed.len - done, (off_t)(s->length + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return failed(s, "written", fault);
        done += (size_t)n;
    }
    s->length += s->packed.len;
    return SP_OK;
}

enum sp_err sp_segments_sync(struct sp_segments *s, struct sp_fault *fault)
{
    return fdatasync(s->fd) == 0 ? SP_OK : failed(s, "synced to the disk", fault);
}

static enum sp_err open_for_reading(struct sp_segments *s, uint32_t number, int *ret_fd)
{
    char path[PATH_BYTES];
    if (s->fd >= 0 && number == s->number) {
        *ret_fd = s->fd;
        return SP_OK;
    }
    if (s->read_fd < 0 || s->read_number != number) {
        if (s->read_fd >= 0)
            close(s->read_fd);
        path_of(s, number, path);
        s->read_fd = open(path, O_RDONLY | O_CLOEXEC);
        s->read_number = number;
    }
    *ret_fd = s->read_fd;
    return s->read_fd >= 0 ? SP_OK : errno == ENOENT ? SP_NOT_FOUND : SP_IO;
}

/* Without `keep`, what is unpacked is only counted. */
static enum sp_err unpack(struct sp_segments *s, struct sp_place place, uint64_t most, bool keep,
                          struct sp_buf *out, uint64_t *ret_next)
{
    int fd = -1, code = Z_OK;
    uint64_t at = place.offset, count = 0;
    const size_t start = out->len;
    enum sp_err err = open_for_reading(s, place.segment, &fd);
    if (err != SP_OK)
        return err;
    inflateReset(&s->inflate);
    while (code != Z_STREAM_END) {
        ssize_t n = pread(fd, s->raw, RAW_BYTES, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return SP_IO;
        if (n == 0)
            return SP_CORRUPT;
        s->inflate.next_in = s->raw;
        s->inflate.avail_in = (uInt)n;
        do {
            const uInt room = RAW_BYTES;
            s->inflate.next_out = (Bytef *)sp_buf_reserve(out, room);
            s->inflate.avail_out = room;
            code = inflate(&s->inflate, Z_NO_FLUSH);
            out->len += room - s->inflate.avail_out;
            count += room - s->inflate.avail_out;
            if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
                return SP_CORRUPT;
            if (count > most)
                return SP_TOO_LARGE;
            if (!keep)
                out->len = start;
        } while (code != Z_STREAM_END && s->inflate.avail_out == 0);
        at += (uint64_t)n - s->inflate.avail_in;
    }
    *ret_next = at;
    return SP_OK;
}

enum sp_err sp_segments_read(struct sp_segments *s, struct sp_place place, uint64_t most,
                             struct sp_buf *out, uint64_t *ret_next)
{
    return unpack(s, place, most, true, out, ret_next);
}

enum sp_err sp_segments_skip(struct sp_segments *s, struct sp_place place, uint64_t *ret_next)
{
    struct sp_buf scratch = {0};
    enum sp_err err = unpack(s, place, UINT64_MAX, false, &scratch, ret_next);
    sp_buf_done(&scratch);
    return err;
}

enum sp_err sp_segments_size(struct sp_segments *s, uint32_t segment, uint64_t *ret_bytes)
{
    struct stat st;
    int fd = -1;
    enum sp_err err = open_for_reading(s, segment, &fd);
    if (err != SP_OK)
        return err;
    if (fstat(fd, &st) != 0)
        return SP_IO;
    *ret_bytes = (uint64_t)st.st_size;
    return SP_OK;
}

static bool is_record(struct sp_segments *s, struct sp_place place, uint64_t most)
{
    struct sp_buf record = {0};
    uint64_t next = 0;
    enum sp_err err = sp_segments_read(s, place, most, &record, &next);
    bool good = (err == SP_OK || err == SP_TOO_LARGE) && record.len > 5 &&
                memcmp(record.data, "WARC/", 5) == 0;
    sp_buf_done(&record);
    return good;
}

uint64_t sp_segments_find(struct sp_segments *s, struct sp_place place, uint64_t end, uint64_t most)
{
    static const char magic[] = {0x1f, (char)0x8b, 8, 0}; /* of a member without a name */
    struct sp_buf part = {0};
    int fd = -1;
    if (open_for_reading(s, place.segment, &fd) != SP_OK)
        return end;
    while (place.offset < end) {
        char *bytes = sp_buf_reserve(&part, RAW_BYTES), *at = NULL;
        ssize_t n = pread(fd, bytes, RAW_BYTES, (off_t)place.offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < (ssize_t)sizeof magic)
            place.offset = end;
        if (place.offset == end)
            break;
        at = memmem(bytes, (size_t)n, magic, sizeof magic);
        place.offset += at ? (uint64_t)(at - bytes) : (uint64_t)n - sizeof magic + 1;
        if (at && place.offset < end && is_record(s, place, most))
            break;
        place.offset += at != NULL;
    }
    sp_buf_done(&part);
    return place.offset < end ? place.offset : end;
}
