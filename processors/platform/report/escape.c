/* Makes text from any source harmless in HTML and in spreadsheets. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/json_write.h"
#include "base/utf8.h"
#include "report/internal.h"

static bool shown(uint32_t x)
{
    return x == '\n' || x == '\t' ||
           (x >= 0x20 && x != 0x7f && !(x >= 0x80 && x < 0xa0) && (x & 0xfffe) != 0xfffe &&
            !(x >= 0xfdd0 && x <= 0xfdef));
}

void sp_clean_put(struct sp_buf *out, struct sp_view text)
{
    for (size_t i = 0, size; i < text.len; i += size) {
        uint32_t x = sp_utf8_get(text.data + i, text.len - i, &size);
        char *at = sp_buf_reserve(out, 4);
        out->len += sp_utf8_put(at, shown(x) ? x : SP_REPLACEMENT);
    }
}

static const char *entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void sp_html_put(struct sp_buf *out, struct sp_view text)
{
    struct sp_buf clean = {0};
    sp_clean_put(&clean, text);
    for (size_t i = 0; i < clean.len; i++) {
        const char *name = entity(clean.data[i]);
        if (name)
            sp_buf_put_str(out, name);
        else
            sp_buf_put_u8(out, (uint8_t)clean.data[i]);
    }
    sp_buf_done(&clean);
}

void sp_html_put_str(struct sp_buf *out, const char *text)
{
    sp_html_put(out, sp_view_str(text));
}

void sp_html_putf(struct sp_buf *out, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0)
        sp_buf_put(out, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void sp_csv_put(struct sp_buf *out, struct sp_view cell)
{
    struct sp_buf clean = {0};
    static const char starts_formula[] = "=+-@\t\r";
    if (cell.len && cell.data[0] && strchr(starts_formula, cell.data[0]))
        sp_buf_put_u8(&clean, '\'');
    sp_clean_put(&clean, cell);
    bool quoted = false;
    for (size_t i = 0; i < clean.len; i++)
        quoted |= clean.data[i] == '"' || clean.data[i] == ',' || clean.data[i] == '\n';
    if (quoted)
        sp_buf_put_u8(out, '"');
    for (size_t i = 0; i < clean.len; i++) {
        if (clean.data[i] == '"')
            sp_buf_put_u8(out, '"');
        sp_buf_put_u8(out, (uint8_t)clean.data[i]);
    }
    if (quoted)
        sp_buf_put_u8(out, '"');
    sp_buf_done(&clean);
}

void sp_csv_put_number(struct sp_buf *out, double x)
{
    if (isfinite(x))
        sp_json_put_double(out, x);
}
