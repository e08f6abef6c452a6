/* Messages, pages and status events as bytes, and back. The bytes are Avro; schemas/ holds the
 * schemas and schemas/README.md says how they may change.
 *
 * Decoders accept any bytes: they never crash, allocate at most a small multiple of the input's
 * size, and return
 *   SP_TRUNCATED       the bytes end too early
 *   SP_MALFORMED       an encoder would not have written them
 *   SP_UNKNOWN_SCHEMA  the fingerprint or schema id is not one of ours
 * On failure the ret_… are untouched. Encoders append to `out`.
 * Thread rule: any thread; a message and its signatures belong to the one that decoded it. */
#ifndef SP_CODEC_CODEC_H
#define SP_CODEC_CODEC_H

#include "base/bytes.h"
#include "base/err.h"
#include "input/input.h"
#include "page/message.h"

/* ---- messages: single-object encoding ---- */

/* Writes the head and the payload. The caller keeps the message. The encoder does not check the
 * rules of the kind (at least one edge, a URL of at most SP_URL_MAX_BYTES); the decoder does. */
void sp_message_encode(const struct sp_message *m, struct sp_buf *out);

/* Reads one message that fills `in`; the caller owns it. An accepted message encodes to the same
 * bytes again, unless it was written with an older schema, and meets the assumptions of the actors:
 * enums in range, finite numbers, edges if the kind needs them, a signature if there is content. */
enum sp_err sp_message_decode(struct sp_view in, struct sp_message **ret_message);

/* Returns the kind of message that the bytes begin with; 0 if they are not one of our messages. */
int sp_message_peek(struct sp_view in);

/* ---- pages and status events: framing as configured ---- */

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
/* The framing of these bytes, with the schema id that they name, for a reader that accepts any
 * id. */
struct sp_wire_format sp_wire_format_seen(struct sp_view in);

/* NULL format: single-object. */
void sp_page_encode(const struct sp_page_record *page, const struct sp_wire_format *format,
                    struct sp_buf *out);

/* The views point into `in`. Pages are written by other programs, so any valid Avro is accepted,
 * and empty strings count as null. content_is_utf8 is the writer's claim and is not checked. */
enum sp_err sp_page_decode(struct sp_view in, const struct sp_wire_format *format,
                           struct sp_page_record *ret_page);

/* event->page is not written; event->status must not be SP_STATUS_NONE. */
void sp_status_encode(const struct sp_status_event *event, const struct sp_wire_format *format,
                      struct sp_buf *out);

/* The texts are copied to `text`, which is reset, and are valid until it changes. event->page is
 * zero. */
enum sp_err sp_status_decode(struct sp_view in, const struct sp_wire_format *format,
                             struct sp_buf *text, struct sp_status_event *ret_event);

/* ---- group ids as text ---- */

enum { SP_GROUP_ID_TEXT = 16 + 1 + 32 + 1 }; /* with the final NUL */

/* "<birth hex>-<founder, 32 hex digits>", lower case, birth without leading zeros. */
void sp_group_id_format(struct sp_group_id id, char out[SP_GROUP_ID_TEXT]);

/* Accepts only what sp_group_id_format writes, else SP_MALFORMED. */
enum sp_err sp_group_id_parse(struct sp_view text, struct sp_group_id *ret_id);

#endif
