/* Encodes and decodes the messages between the group stage and the contain stage on Kafka:
 * schemas/contain.avsc. In `run` both are in one process and call each other.
 *
 * Errors, memory and threads: as in codec.h. */
#ifndef SP_CODEC_NOTE_H
#define SP_CODEC_NOTE_H

#include "base/bytes.h"
#include "base/err.h"
#include "page/signature.h"

/* The branch of the union. */
enum sp_note_kind { SP_NOTE_FETCHED, SP_NOTE_SAID, SP_NOTE_FOUND };

struct sp_note {
    enum sp_note_kind kind;
    struct sp_id page;
    struct sp_signature *signature; /* fetched: NULL if the page has no content */
    struct sp_id content;           /* said: zero if there is none */
    const char *url;   /* said: of a page that is kept; found: of the container; NULL: none */
    float containment; /* found: 0 without a container */
};

/* The caller keeps everything. */
void sp_note_encode(const struct sp_note *note, struct sp_buf *out);
/* The caller owns the signature and the URL, and frees them with sp_note_done. */
enum sp_err sp_note_decode(struct sp_view in, struct sp_note *ret_note);
void sp_note_done(struct sp_note *note);
/* Whether the bytes begin like a note; does not read the rest. */
bool sp_note_is(struct sp_view in);

#endif
