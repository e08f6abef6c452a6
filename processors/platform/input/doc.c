/* Ids that are not URLs, times in the formats that people write, and pages without content. */
#include <stdlib.h>
#include <time.h>

#include "base/url.h"
#include "base/utf8.h"
#include "input/json.h"
#include "input/parser.h"

static void put_percent(struct sp_buf *out, uint8_t c)
{
    static const char hex[] = "0123456789ABCDEF";
    sp_buf_put_u8(out, '%');
    sp_buf_put_u8(out, (uint8_t)hex[c >> 4]);
    sp_buf_put_u8(out, (uint8_t)hex[c & 15]);
}

/* Appends the character at the start of `text`, or a byte that is none as %XX; returns how many
 * bytes of the text that are. */
static size_t put_character(struct sp_buf *out, struct sp_view text)
{
    size_t bytes = sp_utf8_length(text.data, text.len);
    if (bytes == 0)
        put_percent(out, (uint8_t)*text.data);
    else
        sp_buf_put_view(out, sp_view(text.data, bytes));
    return bytes ? bytes : 1;
}

void sp_input_put_utf8(struct sp_buf *out, struct sp_view url)
{
    for (size_t i = 0; i < url.len;)
        i += put_character(out, sp_view(url.data + i, url.len - i));
}

void sp_input_put_doc(struct sp_buf *out, struct sp_view id)
{
    sp_buf_put_str(out, "doc:");
    for (size_t i = 0; i < id.len;) {
        uint8_t c = (uint8_t)id.data[i];
        if (c > ' ' && c != 0x7f && c != '%' && c != '#') {
            i += put_character(out, sp_view(id.data + i, id.len - i));
            continue;
        }
        put_percent(out, c);
        i++;
    }
}

const char *sp_page_record_lacks_content(const struct sp_page_record *page)
{
    if (page->content.data)
        return NULL;
    return page->content_like ? page->content_like
                              : "the page has no \"content\": that is the field of its text; "
                                "--text-field NAME, or input.text_field, names another";
}

/* Reads a time zone ("+02:00", "-0530", "Z" or nothing) as minutes; false if the text has another
 * form. */
static bool read_zone(const char *text, int64_t *ret_minutes)
{
    int64_t sign = text[0] == '-' ? -1 : 1;
    char digits[5] = {0};
    *ret_minutes = 0;
    if (!*text || strcmp(text, "Z") == 0 || strcmp(text, "z") == 0)
        return true;
    if (*text != '+' && *text != '-')
        return false;
    int n = 0;
    for (text++; *text && n < 4; text++)
        if (*text >= '0' && *text <= '9')
            digits[n++] = *text;
        else if (*text != ':' || n != 2)
            return false;
    if (*text || n != 4)
        return false;
    long number = strtol(digits, NULL, 10);
    *ret_minutes = sign * (number / 100 * 60 + number % 100);
    return true;
}

bool sp_input_time(struct sp_view text, int64_t *ret_ms)
{
    char copy[48];
    struct tm t = {0};
    int64_t fraction = 0, zone = 0;
    if (text.len < 10 || text.len >= sizeof copy)
        return false;
    memcpy(copy, text.data, text.len);
    copy[text.len] = 0;
    const char *rest = strptime(copy, "%Y-%m-%d", &t);
    if (!rest)
        return false;
    if (*rest == 'T' || *rest == 't' || *rest == ' ') {
        rest = strptime(rest + 1, "%H:%M:%S", &t);
        if (!rest)
            return false;
        if (*rest == '.') {
            int64_t unit = 100;
            for (rest++; *rest >= '0' && *rest <= '9'; rest++, unit /= 10)
                fraction += (*rest - '0') * unit;
        }
        rest += *rest == ' ';
        if (!read_zone(rest, &zone))
            return false;
    } else if (*rest) {
        return false;
    }
    *ret_ms = ((int64_t)timegm(&t) - zone * 60) * 1000 + fraction;
    return true;
}

void sp_input_put_named(struct sp_buf *out, struct sp_view name)
{
    struct sp_buf scratch = {0};
    if (sp_url_canonical(name, &scratch) == SP_OK)
        sp_buf_put_view(out, name);
    else
        sp_input_put_doc(out, name);
    sp_buf_done(&scratch);
}
