/* See line.h. The order of the fields is part of the bytes that a seed stands for. */
#include "synth/line.h"

#include "base/json_write.h"

void sp_line_put_field(struct sp_buf *out, const char *name, struct sp_view text)
{
    sp_buf_put_str(out, name);
    sp_buf_put_u8(out, '"');
    sp_buf_put_view(out, text);
    sp_buf_put_u8(out, '"');
}

void sp_line_put(struct sp_buf *out, const struct sp_line *line)
{
    sp_line_put_field(out, "{\"url\":", line->url);
    sp_buf_put_str(out, ",\"fetch_time_ms\":");
    sp_json_put_i64(out, line->time_ms);
    sp_buf_put_str(out, ",\"http_status\":");
    sp_json_put_i64(out, line->status);
    if (line->status == 301 || line->status == 302)
        sp_line_put_field(out, ",\"redirect_url\":", line->target);
    if (line->popularity >= 0) {
        sp_buf_put_str(out, ",\"popularity\":");
        sp_json_put_i64(out, line->popularity);
    }
    sp_buf_put_str(out, line->plain
                            ? ",\"content_type\":\"text/plain\",\"content\":"
                            : ",\"content_type\":\"text/html; charset=utf-8\",\"content\":");
    sp_json_put_string(out, line->content);
    sp_buf_put_str(out, "}\n");
}
