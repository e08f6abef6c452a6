/* See records.h. Unlike the reader of pages (input/warc.c), this one trusts Content-Length between
 * borders of members: the stored bytes must be the same, and only the writer of the file knows what
 * they mean. */
#include "archive/records.h"

#include "input/header.h"

enum { HEADER_MAX = 1 << 16, READ_BYTES = 1 << 18 };

enum sp_err sp_records_open(struct sp_records *r, const char *name, uint64_t max_record,
                            struct sp_fault *fault)
{
    *r = (struct sp_records){.max_record = max_record};
    return sp_source_open(name, &r->source, fault);
}

void sp_records_close(struct sp_records *r)
{
    sp_source_close(r->source);
    sp_buf_done(&r->window);
    sp_free(r->members);
    *r = (struct sp_records){0};
}

/* Reads more; false if nothing more can be read. */
static bool more(struct sp_records *r)
{
    size_t got = 0;
    if (r->end || r->damage != SP_OK)
        return false;
    if (r->at > 0 && r->at >= r->window.len / 2) { /* so that each byte is moved at most once */
        memmove(r->window.data, r->window.data + r->at, r->window.len - r->at);
        r->window.len -= r->at;
        r->offset += r->at;
        r->at = 0;
    }
    char *to = sp_buf_reserve(&r->window, READ_BYTES);
    enum sp_err err = sp_source_read(r->source, to, READ_BYTES, &got);
    if (got > 0 && sp_source_begins_member(r->source)) {
        sp_grow(&r->members, &r->member_cap, r->member_count + 1);
        r->members[r->member_count++] = r->offset + r->window.len;
    }
    r->window.len += got;
    if (err == SP_IO) {
        r->io = err;
        r->end = true;
    } else if (err != SP_OK) {
        r->damage = err;
    } else if (got == 0) {
        r->end = true;
    }
    return got > 0;
}

static size_t left(const struct sp_records *r)
{
    return r->window.len - r->at;
}

static bool want(struct sp_records *r, size_t bytes)
{
    while (left(r) < bytes)
        if (!more(r))
            return false;
    return true;
}

static const char *here(const struct sp_records *r)
{
    return r->window.data + r->at;
}

static bool starts_record(struct sp_records *r)
{
    return want(r, 5) && memcmp(here(r), "WARC/", 5) == 0;
}

/* Skips to the next line that starts a record, or to the end of what can be read. */
static void find(struct sp_records *r)
{
    while (!starts_record(r)) {
        const char *newline = left(r) ? memchr(here(r), '\n', left(r)) : NULL;
        r->at = newline ? (size_t)(newline + 1 - r->window.data) : r->window.len;
        if (!newline && !more(r))
            break;
    }
}

static enum sp_err bad(struct sp_records *r, enum sp_err err, const char *why, const char **ret_why)
{
    *ret_why = why;
    r->lost = true;
    return err;
}

/* The compressed data cannot be read further: the part of the record that was read does not count.
 */
static enum sp_err damaged(struct sp_records *r, const char **ret_why)
{
    enum sp_err err = r->damage;
    r->damage = SP_OK;
    r->at = r->window.len;
    return bad(r, err, sp_source_why(r->source), ret_why);
}

/* Forgets the members before this place. Returns whether one begins here. */
static bool begins_member(struct sp_records *r)
{
    size_t before = 0;
    while (before < r->member_count && r->members[before] < r->offset + r->at)
        before++;
    r->member_count -= before;
    if (r->member_count > 0)
        memmove(r->members, r->members + before, r->member_count * sizeof *r->members);
    return r->member_count > 0 && r->members[0] == r->offset + r->at;
}

/* The distance to the first member from number *at on that begins with a record less than `size`
 * bytes from here; `size` if none does. *at becomes the first of which too little was read. */
static uint64_t find_member_record(const struct sp_records *r, uint64_t size, size_t *at)
{
    for (; *at < r->member_count; (*at)++) {
        uint64_t distance = r->members[*at] - r->offset - r->at;
        if (distance >= size || distance + 5 > left(r))
            break;
        if (memcmp(here(r) + distance, "WARC/", 5) == 0)
            return distance;
    }
    return size;
}

/* Reads `size` bytes, or to the next member with a record; *ret_size is what the record has. False:
 * the file ends first. */
static bool want_record(struct sp_records *r, uint64_t size, uint64_t *ret_size)
{
    bool own = begins_member(r);
    for (size_t at = 1;;) {
        *ret_size = own ? find_member_record(r, size, &at) : size;
        if (*ret_size < size || left(r) >= size)
            return true;
        if (!more(r))
            return false;
    }
}

/* Skips a record that is too large; false: the file ends first. */
static bool discard(struct sp_records *r)
{
    while (r->discard > 0 && want(r, 1)) {
        bool member = begins_member(r);
        uint64_t pass = r->discard < left(r) ? r->discard : left(r);
        if (r->discard_own && member && starts_record(r)) {
            r->discard = 0; /* the length was wrong */
            break;
        }
        if (r->member_count > member && r->members[member] - r->offset - r->at < pass)
            pass = r->members[member] - r->offset - r->at;
        r->discard -= pass;
        r->at += (size_t)pass;
    }
    bool good = r->discard == 0;
    r->discard = 0;
    return good;
}

static enum sp_err cut_off(struct sp_records *r, const char *why, const char **ret_why)
{
    if (r->damage != SP_OK)
        return damaged(r, ret_why);
    if (r->io != SP_OK)
        return r->io;
    r->at = r->window.len;
    *ret_why = why;
    return SP_TRUNCATED;
}

/* Skips to the start of a record. Returns SP_END at the end, or an error if the bytes there do not
 * start a record. */
static enum sp_err start(struct sp_records *r, const char **ret_why)
{
    if (!discard(r))
        return cut_off(r,
                       "the file ends within a record that is larger than input.max_record_bytes; "
                       "if its Content-Length is wrong, the records behind it are lost",
                       ret_why);
    if (r->lost)
        find(r);
    r->lost = false;
    while (want(r, 1) && (*here(r) == '\r' || *here(r) == '\n'))
        r->at++;
    if (left(r) == 0 && r->damage == SP_OK)
        return r->io != SP_OK ? r->io : SP_END;
    if (starts_record(r))
        return SP_OK;
    if (r->damage != SP_OK)
        return damaged(r, ret_why);
    return bad(r, SP_MALFORMED,
               r->offset + r->at == 0
                   ? "this file does not begin with a WARC record; only WARC files can be archived"
                   : "a WARC record should start here; the length of the one before may be wrong",
               ret_why);
}

enum sp_err sp_records_next(struct sp_records *r, struct sp_warc_record *ret_record,
                            uint64_t *ret_offset, const char **ret_why)
{
    size_t header_len = 0;
    uint64_t length = 0, size = 0;
    enum sp_err err = start(r, ret_why);
    *ret_offset = r->offset + r->at;
    if (err != SP_OK)
        return err;
    for (;;) {
        struct sp_view text = sp_view(here(r), left(r) < HEADER_MAX ? left(r) : HEADER_MAX);
        header_len = sp_header_find_end(text, r->offset + r->at, sp_header_end, &r->no_end);
        if (header_len > 0)
            break;
        if (left(r) >= HEADER_MAX) {
            r->at += 5;
            return bad(r, SP_MALFORMED, "the WARC header does not end", ret_why);
        }
        if (!more(r))
            return cut_off(r, "the file ends within a WARC header", ret_why);
    }
    struct sp_view header = sp_view(here(r), header_len);
    if (!sp_header_number(sp_header_field(header, "Content-Length"), &length)) {
        r->at += 5;
        return bad(r, SP_MALFORMED, "the WARC record has no usable Content-Length", ret_why);
    }
    if (length > r->max_record) {
        r->discard_own = begins_member(r);
        r->at += header_len;
        r->discard = length;
        *ret_why = "the record is larger than input.max_record_bytes";
        return SP_TOO_LARGE;
    }
    if (!want_record(r, header_len + length, &size))
        return cut_off(r,
                       "the file ends within a WARC record; if its Content-Length is wrong, the "
                       "records behind it are lost",
                       ret_why);
    if (size < header_len + length) {
        r->at += (size_t)size;
        *ret_why = "the next WARC record comes before the end that the record's Content-Length "
                   "gives: the record is left out";
        return SP_MALFORMED;
    }
    ret_record->header = sp_view(here(r), header_len);
    ret_record->block = sp_view(here(r) + header_len, (size_t)length);
    r->at += header_len + (size_t)length;
    return SP_OK;
}
