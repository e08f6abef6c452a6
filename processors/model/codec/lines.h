/* The JSON lines that a run writes: status events and dead letters. */
#ifndef SP_CODEC_LINES_H
#define SP_CODEC_LINES_H

#include "base/bytes.h"
#include "base/err.h"
#include "page/message.h"

/* Appends {"url","version_ms","status","winner_url","similarity","reason","group_id","group_size",
 * "epoch","rule"} and a newline; `similarity` and `rule` are null except for losers.
 * {"contained_in","containment"} follow if the page is contained in another. */
void sp_lines_put_status(struct sp_buf *out, const struct sp_status_event *event);

/* A record that could not be read. Borrowed views, valid during the call. */
struct sp_dead_letter {
    const char *file;
    uint64_t number; /* of the record, over all files, from 0 */
    uint64_t offset; /* in the file's decompressed bytes */
    enum sp_err err;
    const char *why;
    struct sp_view raw;
};

/* Appends {"file","record","offset","reason","detail","raw"} and a newline. If the bytes are not
 * UTF-8, `raw_base64` replaces `raw`. */
void sp_lines_put_dead_letter(struct sp_buf *out, const struct sp_dead_letter *letter);

/* Appends ,"similarity":…,"reason":… to an object about a page and its winner. The similarity is
 * null if the page has no winner (`matched` is false). */
void sp_lines_put_match(struct sp_buf *out, bool matched, float similarity, enum sp_reason reason);

/* Appends the id as text, in quotes. */
void sp_lines_put_group_id(struct sp_buf *out, struct sp_group_id id);

#endif
