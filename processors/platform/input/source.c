/* Reading and decompression: plain files, gzip (one member after another, as in WARC files), and
 * Zstandard (one frame after another). The first bytes tell which.
 *
 * A WARC file in Zstandard may begin with the dictionary of its frames, in a frame that decoders
 * skip (the WARC/1.0 file format extension for Zstandard of the IIPC).
 *
 * Damage is reported once. In gzip, reading continues at the next bytes that look like the head of
 * a member. If they are not one, that is reported as the next damage, so no data is made up. Damage
 * is often noticed only after the member's end, so the search starts earlier: a member whose end is
 * missing takes that of others for its own for 25 KiB on average, of which nothing must get into a
 * page. Where a member seems to begin within another one, decoding therefore looks ahead
 * (gzip_members.h). */
#include "input/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "input/encoding.h"
#include "input/folder.h"
#include "input/gzip_members.h"

enum { RAW_BYTES = 1 << 20, WINDOW_LOG_MAX = 27, OVERRUN_MAX = 1 << 18 };
enum { SKIPPED_HEADER = 8, DICTIONARY_MAX = 16 << 20, EFFORT_PER_BYTE = 64 };

enum kind { PLAIN, GZIP, ZSTANDARD, FOLDER };

struct sp_source {
    int fd;
    enum kind kind;
    bool regular;
    bool read_once; /* see sp_source_read_once */
    uint64_t total;
    uint64_t read_bytes;
    uint64_t dropped_bytes; /* of these, from the kernel's file cache */
    unsigned char *raw;     /* read but not yet returned: [at, len) */
    size_t at;
    size_t len;
    bool raw_end;
    z_stream gzip;
    bool inside;  /* a member or frame */
    bool fresh;   /* no data of the member that began last was returned yet */
    bool begins;  /* see sp_source_begins_member */
    bool lost;    /* damage: look for the next member */
    bool tainted; /* see sp_source_is_tainted */
    size_t next;  /* the least place in raw where the next member may start */
    size_t doubt; /* before it, a member must be proven: these bytes were taken for another's */
    size_t clear; /* from `next` or `known.sound` up to here, nothing looks like a head */
    struct sp_gzip_known known; /* of the member */
    uint64_t effort;            /* see sp_gzip_is_one */
    ZSTD_DCtx *zstd;
    const char *why; /* see sp_source_why */
    struct sp_folder *folder;
};

static void drop_read(struct sp_source *s)
{
    enum { STEP_BYTES = 8 << 20 };
    if (!s->read_once || s->read_bytes - s->dropped_bytes < STEP_BYTES)
        return;
    posix_fadvise(s->fd, (off_t)s->dropped_bytes, (off_t)(s->read_bytes - s->dropped_bytes),
                  POSIX_FADV_DONTNEED);
    s->dropped_bytes = s->read_bytes;
}

static void has_read(struct sp_source *s, size_t bytes)
{
    s->raw_end = bytes == 0;
    s->read_bytes += bytes;
    s->effort += EFFORT_PER_BYTE * bytes;
    drop_read(s);
}

/* From there bytes are kept: after damage, the search for the next member starts there. */
static size_t kept_from(const struct sp_source *s)
{
    if (s->kind != GZIP || !s->inside)
        return s->at;
    size_t back = s->at > OVERRUN_MAX ? s->at - OVERRUN_MAX : 0;
    return back > s->next ? back : s->next;
}

static enum sp_err refill(struct sp_source *s)
{
    size_t from = kept_from(s);
    from = from < s->at ? from : s->at;
    if (from > 0) {
        memmove(s->raw, s->raw + from, s->len - from);
        s->len -= from;
        s->next = s->next > from ? s->next - from : 0;
        s->doubt = s->doubt > from ? s->doubt - from : 0;
        s->clear = s->clear > from ? s->clear - from : 0;
        sp_gzip_shift(&s->known, from);
        s->at -= from;
    }
    while (!s->raw_end && s->len < RAW_BYTES) {
        ssize_t n = read(s->fd, s->raw + s->len, RAW_BYTES - s->len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return SP_IO;
        s->len += (size_t)n;
        has_read(s, (size_t)n);
        break; /* a pipe gives what it has */
    }
    return SP_OK;
}

static bool starts_with(const struct sp_source *s, const char *magic, size_t n)
{
    return s->len - s->at >= n && memcmp(s->raw + s->at, magic, n) == 0;
}

static const char gzip_magic[] = "\x1f\x8b\x08";
static const char zstd_magic[] = "\x28\xb5\x2f\xfd";

static const char skipped_magic[] = "\x2a\x4d\x18"; /* after a byte from 0x50 to 0x5f */
static const unsigned char dictionary_magic = 0x5d;

static bool starts_with_skipped(const struct sp_source *s)
{
    return s->len - s->at >= SKIPPED_HEADER && s->raw[s->at] >> 4 == 5 &&
           memcmp(s->raw + s->at + 1, skipped_magic, 3) == 0;
}

/* Reads the dictionary, which may be compressed, from the frame at the start of the file. If it is
 * not usable, decoding the first frame fails. */
static enum sp_err read_dictionary(struct sp_source *s)
{
    struct sp_buf stored = {0}, plain = {0};
    const unsigned char *size = s->raw + 4;
    size_t want = size[0] | size[1] << 8 | size[2] << 16 | (size_t)size[3] << 24;
    enum sp_err err = SP_OK;
    if (want > DICTIONARY_MAX)
        return SP_OK;
    s->at = SKIPPED_HEADER;
    while (stored.len < want && err == SP_OK) {
        size_t n = s->len - s->at < want - stored.len ? s->len - s->at : want - stored.len;
        sp_buf_put(&stored, s->raw + s->at, n);
        s->at += n;
        if (n == 0 && s->raw_end) {
            s->inside = true; /* the file ends within the frame */
            break;
        }
        if (stored.len < want)
            err = refill(s);
    }
    bool packed = stored.len >= 4 && memcmp(stored.data, zstd_magic, 4) == 0;
    if (packed && sp_encoding_undo(sp_view_str("zstd"), sp_buf_view(&stored), DICTIONARY_MAX,
                                   &plain) == SP_OK)
        ZSTD_DCtx_loadDictionary(s->zstd, plain.data, plain.len);
    else if (!packed)
        ZSTD_DCtx_loadDictionary(s->zstd, stored.data, stored.len);
    sp_buf_done(&stored);
    sp_buf_done(&plain);
    return err;
}

static enum sp_err detect(struct sp_source *s)
{
    enum sp_err err = SP_OK;
    while (err == SP_OK && s->len < SKIPPED_HEADER && !s->raw_end)
        err = refill(s);
    bool skipped = starts_with_skipped(s);
    s->kind = starts_with(s, gzip_magic, 3)              ? GZIP
              : starts_with(s, zstd_magic, 4) || skipped ? ZSTANDARD
                                                         : PLAIN;
    return err == SP_OK && skipped && s->raw[0] == dictionary_magic ? read_dictionary(s) : err;
}

enum sp_err sp_source_open_text(const char *name, struct sp_source **ret_source,
                                struct sp_fault *fault)
{
    struct sp_folder *folder = NULL;
    enum sp_err err = sp_folder_open(name, &folder, fault);
    if (err != SP_OK)
        return err;
    struct sp_source *s = sp_calloc(1, sizeof *s);
    s->fd = -1;
    s->kind = FOLDER;
    s->folder = folder;
    s->total = sp_folder_total_bytes(folder);
    *ret_source = s;
    return SP_OK;
}

bool sp_source_is_stream(const char *name)
{
    struct stat st;
    return strcmp(name, "-") == 0 || (stat(name, &st) == 0 && !S_ISREG(st.st_mode) &&
                                      !S_ISDIR(st.st_mode) && !S_ISBLK(st.st_mode));
}

enum sp_err sp_source_open(const char *name, struct sp_source **ret_source, struct sp_fault *fault)
{
    struct stat st;
    bool is_stdin = strcmp(name, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    struct sp_source *s = NULL;
    enum sp_err err = SP_IO;
    if (fd < 0 || fstat(fd, &st) != 0)
        goto out;
    if (S_ISDIR(st.st_mode)) {
        close(fd);
        return sp_source_open_text(name, ret_source, fault);
    }
    s = sp_calloc(1, sizeof *s);
    s->fd = fd;
    s->regular = S_ISREG(st.st_mode);
    s->total = s->regular ? (uint64_t)st.st_size : 0;
    s->raw = sp_alloc(RAW_BYTES);
    s->zstd = ZSTD_createDCtx();
    ZSTD_DCtx_setParameter(s->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    inflateInit2(&s->gzip, 15 + 16);
    err = detect(s);
    if (err == SP_OK) {
        *ret_source = s;
        return SP_OK;
    }
out:
    sp_fault_set(fault, err, "%s: cannot be read: %s; check the name and its permissions", name,
                 strerror(errno));
    if (s)
        sp_source_close(s);
    else if (fd > STDERR_FILENO)
        close(fd);
    return err;
}

void sp_source_close(struct sp_source *s)
{
    if (!s)
        return;
    if (s->fd > STDERR_FILENO)
        close(s->fd);
    if (s->kind != FOLDER)
        inflateEnd(&s->gzip);
    ZSTD_freeDCtx(s->zstd);
    sp_folder_close(s->folder);
    sp_free(s->raw);
    sp_free(s);
}

bool sp_source_is_plain_file(const struct sp_source *s)
{
    return s->kind == PLAIN && s->regular && s->fd > STDERR_FILENO;
}

bool sp_source_is_packed(const struct sp_source *s)
{
    return s->kind == GZIP || s->kind == ZSTANDARD;
}

void sp_source_read_once(struct sp_source *s)
{
    s->read_once = s->regular;
}

uint64_t sp_source_total_bytes(const struct sp_source *s)
{
    return s->total;
}

uint64_t sp_source_read_bytes(const struct sp_source *s)
{
    return s->folder ? sp_folder_read_bytes(s->folder) : s->read_bytes;
}

static enum sp_err read_plain(struct sp_source *s, char *to, size_t cap, size_t *ret_len)
{
    if (s->at < s->len) { /* the bytes that were read to detect the format */
        *ret_len = s->len - s->at < cap ? s->len - s->at : cap;
        memcpy(to, s->raw + s->at, *ret_len);
        s->at += *ret_len;
        return SP_OK;
    }
    for (;;) {
        ssize_t n = s->raw_end ? 0 : read(s->fd, to, cap);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return SP_IO;
        *ret_len = (size_t)n;
        has_read(s, *ret_len);
        return SP_OK;
    }
}

/* Moves to what may be the head of a member; false: the data read so far has none. */
static bool find_member(struct sp_source *s)
{
    for (;; s->at++) {
        s->at = sp_gzip_find(s->raw, s->at, s->len, s->raw_end);
        if (s->at + SP_GZIP_HEAD > s->len)
            return false;
        if (s->at >= s->doubt || sp_gzip_is_one(s->raw, s->at, s->len, s->raw_end, &s->effort))
            return true;
    }
}

/* `code` is Zstandard's error, or 0. */
static const char *why_not(enum sp_err err, ZSTD_ErrorCode code)
{
    if (code == ZSTD_error_dictionary_wrong)
        return "the compressed file needs a dictionary, so it cannot be read from here on; pipe it "
               "in: zstd -dc -D DICTIONARY FILE | samepage ... -";
    if (code == ZSTD_error_frameParameter_windowTooLarge)
        return "the compressed file needs a window larger than 128 MiB, so it cannot be read from "
               "here on; pipe it in: zstd -dc --long=31 FILE | samepage ... -";
    if (code != 0)
        return "the compressed file is damaged here, and its rest is not read: Zstandard frames have "
               "no mark at which reading could go on";
    return err == SP_TRUNCATED
               ? "the compressed file ends within a member: its end is missing; get "
                 "the complete file, and pass it as a new one"
               : "the compressed file is damaged here";
}

/* Skips the zeros that tapes and some tools append to a file or a member, to fill a block. */
static void skip_padding(struct sp_source *s)
{
    while (s->at < s->len && s->raw[s->at] == 0)
        s->at++;
}

static enum sp_err damaged(struct sp_source *s, enum sp_err err)
{
    s->why = why_not(err, 0);
    s->tainted = s->inside && !s->fresh;
    s->doubt = s->at;
    s->at = s->inside ? kept_from(s) : s->next;
    s->inside = false;
    s->lost = true;
    return err;
}

/* Whether the member that is being decoded was cut before the one that seems to begin at `at`. */
static enum sp_err is_cut_here(struct sp_source *s, bool *ret_cut)
{
    *ret_cut = false;
    while (!s->raw_end && s->len - s->at < RAW_BYTES / 2) {
        enum sp_err err = refill(s);
        if (err != SP_OK)
            return err;
    }
    *ret_cut = sp_gzip_is_cut(&s->gzip, s->raw, s->at, s->len, s->raw_end, OVERRUN_MAX, &s->known,
                              &s->effort);
    return SP_OK;
}

/* Begins a member if one is there; *ret_begun. */
static enum sp_err begin_member(struct sp_source *s, bool *ret_begun)
{
    enum sp_err err = SP_OK;
    if (!s->lost)
        skip_padding(s);
    *ret_begun = false;
    while (!s->raw_end && s->len - s->at < SP_GZIP_HEAD && s->at < s->len && err == SP_OK)
        err = refill(s);
    if (err != SP_OK || s->at == s->len || (s->lost && !find_member(s)))
        return err;
    s->next = s->at + 1;
    if (!starts_with(s, gzip_magic, 3))
        return damaged(s, SP_MALFORMED);
    inflateReset(&s->gzip);
    s->inside = s->fresh = *ret_begun = true;
    s->lost = false;
    s->clear = 0;
    s->known = (struct sp_gzip_known){0};
    return SP_OK;
}

/* The place up to which the member can be decoded without a question. It is kept, because a call
 * may decode only a part of the bytes before it. */
static size_t safe_end(struct sp_source *s)
{
    size_t from = s->next > s->at ? s->next : s->at;
    from = s->known.sound > from ? s->known.sound : from;
    from = s->clear > from ? s->clear : from;
    s->clear = from < s->len ? sp_gzip_find(s->raw, from, s->len, s->raw_end) : s->len;
    return s->clear;
}

static enum sp_err read_gzip(struct sp_source *s, char *to, size_t cap, size_t *ret_len)
{
    for (;;) {
        size_t least = s->lost || s->inside ? SP_GZIP_HEAD : 1;
        enum sp_err err = SP_OK;
        while (s->len - s->at < least && !s->raw_end && err == SP_OK)
            err = refill(s);
        bool begun = true, cut = false;
        if (err == SP_OK && !s->inside)
            err = begin_member(s, &begun);
        if (err != SP_OK)
            return err;
        if (!begun && s->at == s->len && s->raw_end)
            return SP_OK; /* the end, between members */
        if (!begun)
            continue;
        size_t end = safe_end(s);
        if (end == s->at && end < s->len) {
            err = is_cut_here(s, &cut);
            if (err != SP_OK)
                return err;
            if (!cut)
                continue;
            s->why = "a member of the compressed file is damaged or was cut: another one begins "
                     "before its end, where reading goes on; get the complete file, and pass it as "
                     "a new one";
            s->tainted = !s->fresh;
            s->inside = false;
            return SP_MALFORMED;
        }
        s->gzip.next_in = s->raw + s->at;
        s->gzip.avail_in = (uInt)(end - s->at);
        s->gzip.next_out = (Bytef *)to;
        s->gzip.avail_out = (uInt)(cap < (1u << 30) ? cap : 1u << 30);
        uInt room = s->gzip.avail_out;
        int code = inflate(&s->gzip, Z_NO_FLUSH);
        s->at = end - s->gzip.avail_in;
        *ret_len = room - s->gzip.avail_out;
        if (code == Z_STREAM_END)
            s->inside = false;
        else if (code != Z_OK && code != Z_BUF_ERROR && *ret_len == 0)
            return damaged(s, SP_MALFORMED);
        if (*ret_len > 0)
            return SP_OK;
        if (s->inside && s->at == s->len && s->raw_end)
            return damaged(s, SP_TRUNCATED);
    }
}

static enum sp_err read_zstd(struct sp_source *s, char *to, size_t cap, size_t *ret_len)
{
    for (;;) {
        enum sp_err err = s->at < s->len ? SP_OK : refill(s);
        if (err != SP_OK)
            return err;
        bool last = s->at == s->len && s->raw_end;
        if (last && !s->inside)
            return SP_OK;
        s->fresh |= !s->inside;
        ZSTD_inBuffer in = {s->raw, s->len, s->at};
        ZSTD_outBuffer out = {to, cap, 0};
        size_t left = ZSTD_decompressStream(s->zstd, &out, &in);
        if (ZSTD_isError(left)) {
            s->why = why_not(SP_MALFORMED, ZSTD_getErrorCode(left));
            s->tainted = s->inside && !s->fresh;
            s->inside = false; /* frames have no mark at which reading could continue */
            s->raw_end = true;
            s->at = s->len;
            return SP_MALFORMED;
        }
        s->at = in.pos;
        s->inside = left != 0;
        *ret_len = out.pos;
        if (out.pos > 0)
            return SP_OK;
        if (last && s->inside) { /* no data is left in the decoder either */
            s->inside = false;
            s->why = why_not(SP_TRUNCATED, 0);
            return SP_TRUNCATED;
        }
    }
}

const char *sp_source_why(const struct sp_source *s)
{
    return s->why;
}

bool sp_source_is_tainted(const struct sp_source *s)
{
    return s->tainted;
}

enum sp_err sp_source_read(struct sp_source *s, char *to, size_t cap, size_t *ret_len)
{
    *ret_len = 0;
    enum sp_err err = s->kind == GZIP        ? read_gzip(s, to, cap, ret_len)
                      : s->kind == ZSTANDARD ? read_zstd(s, to, cap, ret_len)
                      : s->kind == FOLDER    ? sp_folder_read(s->folder, to, cap, ret_len)
                                             : read_plain(s, to, cap, ret_len);
    s->begins = s->fresh && *ret_len > 0;
    s->fresh &= *ret_len == 0;
    return err;
}

bool sp_source_begins_member(const struct sp_source *s)
{
    return s->begins;
}
