/* See lines.h. schemas/status.avsc explains each field of a status event. */
#include "codec/lines.h"

#include "base/json_write.h"
#include "codec/codec.h"

void sp_lines_put_group_id(struct sp_buf *out, struct sp_group_id id)
{
    char text[SP_GROUP_ID_TEXT];
    sp_group_id_format(id, text);
    sp_buf_put_u8(out, '"');
    sp_buf_put_str(out, text);
    sp_buf_put_u8(out, '"');
}

void sp_lines_put_match(struct sp_buf *out, bool matched, float similarity, enum sp_reason reason)
{
    sp_buf_put_str(out, ",\"similarity\":");
    if (matched)
        sp_json_put_float(out, similarity);
    else
        sp_buf_put_str(out, "null");
    sp_buf_put_str(out, ",\"reason\":");
    sp_json_put_text(out, sp_reason_name(reason));
}

void sp_lines_put_status(struct sp_buf *out, const struct sp_status_event *event)
{
    const bool forgotten = event->status == SP_STATUS_NONE;
    sp_buf_put_str(out, "{\"url\":");
    sp_json_put_text(out, event->url);
    sp_buf_put_str(out, ",\"version_ms\":");
    sp_json_put_i64(out, event->version_ms);
    sp_buf_put_str(out, ",\"status\":\"");
    sp_buf_put_str(out, forgotten ? "forgotten" : sp_status_name(event->status));
    sp_buf_put_str(out, "\",\"winner_url\":");
    sp_json_put_text(out, event->winner_url);
    sp_lines_put_match(out, event->winner_url != NULL, event->similarity, event->reason);
    sp_buf_put_str(out, ",\"group_id\":");
    if (forgotten)
        sp_buf_put_str(out, "null");
    else
        sp_lines_put_group_id(out, event->group);
    sp_buf_put_str(out, ",\"group_size\":");
    sp_json_put_i64(out, event->group_size);
    sp_buf_put_str(out, ",\"epoch\":");
    sp_json_put_i64(out, (int64_t)event->epoch);
    sp_buf_put_str(out, ",\"rule\":");
    sp_json_put_text(out, sp_rank_rule_name(event->rule));
    if (event->contained_in) {
        sp_buf_put_str(out, ",\"contained_in\":");
        sp_json_put_text(out, event->contained_in);
        sp_buf_put_str(out, ",\"containment\":");
        sp_json_put_float(out, event->containment);
    }
    sp_buf_put_str(out, "}\n");
}

/* RFC 4648 section 4. */
static void put_base64(struct sp_buf *out, struct sp_view bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    sp_buf_put_u8(out, '"');
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i;
        uint32_t b = (uint32_t)(uint8_t)bytes.data[i] << 16;
        b |= left > 1 ? (uint32_t)(uint8_t)bytes.data[i + 1] << 8 : 0;
        b |= left > 2 ? (uint32_t)(uint8_t)bytes.data[i + 2] : 0;
        char text[4] = {digits[b >> 18], digits[b >> 12 & 63], left > 1 ? digits[b >> 6 & 63] : '=',
                        left > 2 ? digits[b & 63] : '='};
        sp_buf_put(out, text, sizeof text);
    }
    sp_buf_put_u8(out, '"');
}

void sp_lines_put_dead_letter(struct sp_buf *out, const struct sp_dead_letter *letter)
{
    sp_buf_put_str(out, "{\"file\":");
    sp_json_put_text(out, letter->file);
    sp_buf_put_str(out, ",\"record\":");
    sp_json_put_i64(out, (int64_t)letter->number);
    sp_buf_put_str(out, ",\"offset\":");
    sp_json_put_i64(out, (int64_t)letter->offset);
    sp_buf_put_str(out, ",\"reason\":");
    sp_json_put_text(out, sp_err_name(letter->err));
    sp_buf_put_str(out, ",\"detail\":");
    sp_json_put_text(out, letter->why);
    if (sp_json_is_utf8(letter->raw)) {
        sp_buf_put_str(out, ",\"raw\":");
        sp_json_put_string(out, letter->raw);
    } else {
        sp_buf_put_str(out, ",\"raw_base64\":");
        put_base64(out, letter->raw);
    }
    sp_buf_put_str(out, "}\n");
}
