/* Messages, pages and status events as bytes, and back. The bytes are Avro; schemas/ holds the
 * schemas and schemas/README.md says how they may change.
 *
 * Decoders take any bytes: they never crash, allocate no more than a small multiple of what
 * they are given, and return
 *   SP_TRUNCATED       the bytes end too early
 *   SP_MALFORMED       they are not what an encoder would have written
 *   SP_UNKNOWN_SCHEMA  the fingerprint or schema id is not one of ours
 * On failure the ret_… are untouched. Encoders append to `out`.
 * Thread rule: any thread; a message and its signatures belong to the one that decoded it. */
#ifndef SP_CODEC_CODEC_H
#define SP_CODEC_CODEC_H

#include "base/bytes.h"
#include "base/err.h"
#include "input/input.h"
#include "page/message.h"

/* ---- messages: single-object encoding ------------------------------------------------------- */

/* The head and what its kind has of the payload. Does not take the message over. A message that
 * breaks a rule of its kind (no edge where one is needed, a URL above SP_URL_MAX_BYTES) is encoded
 * all the same: the decoder refuses it. */
void sp_message_encode(const struct sp_message *m, struct sp_buf *out);

/* Reads one message of exactly `in`; the caller owns it. What it accepts encodes to the same bytes
 * again unless it was written with an older schema, and holds what the actors rely on: enums in
 * range, finite numbers, edges where the kind needs them, a signature where there is content. */
enum sp_err sp_message_decode(struct sp_view in, struct sp_message **ret_message);

/* Which kind of message the bytes begin as, without reading it; 0 where they are none of ours. */
int sp_message_peek(struct sp_view in);

/* ---- pages and status events: framing as configured -------------------------------------------
 */

enum sp_framing {
    SP_FRAMING_SINGLE_OBJECT, /* C3 01 + fingerprint */
    SP_FRAMING_REGISTRY       /* 00 + schema id, big-endian */
};

struct sp_wire_format {
    enum sp_framing framing;
    uint32_t schema_id; /* at the registry; the only one the decoder accepts */
};

/* The registry's framing with that id; 0: single-object. */
static inline struct sp_wire_format sp_wire_format_of_id(uint32_t schema_id)
{
    return (struct sp_wire_format){schema_id ? SP_FRAMING_REGISTRY : SP_FRAMING_SINGLE_OBJECT,
                                   schema_id};
}
/* The framing that the bytes are in, with the id that they name: for a reader that takes any. */
struct sp_wire_format sp_wire_format_seen(struct sp_view in);

/* NULL format: single-object. */
void sp_page_encode(const struct sp_page_record *page, const struct sp_wire_format *format,
                    struct sp_buf *out);

/* The views point into `in`. Written by others, so any valid Avro is accepted: empty strings pass
 * for null. content_is_utf8 is what the writer claims; nobody has checked it. */
enum sp_err sp_page_decode(struct sp_view in, const struct sp_wire_format *format,
                           struct sp_page_record *ret_page);

/* event->page does not travel, event->status is not SP_STATUS_NONE. */
void sp_status_encode(const struct sp_status_event *event, const struct sp_wire_format *format,
                      struct sp_buf *out);

/* The texts are copied to `text` (which is reset): valid until it changes. event->page is zero. */
enum sp_err sp_status_decode(struct sp_view in, const struct sp_wire_format *format,
                             struct sp_buf *text, struct sp_status_event *ret_event);

/* ---- group ids as text ---------------------------------------------------------------------- */

enum { SP_GROUP_ID_TEXT = 16 + 1 + 32 + 1 }; /* with the final NUL */

/* "<birth hex>-<founder, 32 hex digits>", lower case, birth without leading zeros. */
void sp_group_id_format(struct sp_group_id id, char out[SP_GROUP_ID_TEXT]);

/* Accepts exactly what sp_group_id_format writes; else SP_MALFORMED. */
enum sp_err sp_group_id_parse(struct sp_view text, struct sp_group_id *ret_id);

#endif
