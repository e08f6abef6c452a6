/* Charset from byte order mark, header or meta tag, and conversion by iconv.
 *
 * Source: WHATWG Encoding Standard (labels: latin1 means windows-1252, and so on) and the HTML
 * standard's prescan (13.2.3.2), here a search for "charset" within meta tags and
 * XML declarations. A meta tag behind the prescan's bytes counts by the standard as well
 * (13.2.6.4.4); it is looked for only if the page is not UTF-8 without it. Only labels of the
 * standard reach iconv (labels.h), which knows many more and treats some as commands; any other
 * counts as not named. If none is named, a page with a few errors is still UTF-8: crawlers cut
 * pages within a character, and one byte must not change the words of all others.
 *
 * Invariant: any bytes give text; the output is at most six times the input. */
#include "text/charset.h"

#include <errno.h>
#include <iconv.h>
#include <stdio.h>
#include <strings.h>

#include "text/labels.h"
#include "text/repair.h"

enum { PRESCAN_BYTES = 1024, NAME_MAX_LEN = 40 };

struct sp_charset {
    struct sp_buf out;
    char name[NAME_MAX_LEN]; /* of the converter that is open */
    iconv_t converter;
};

static const iconv_t no_converter = (iconv_t)-1; // NOLINT

struct sp_charset *sp_charset_new(void)
{
    struct sp_charset *c = sp_calloc(1, sizeof *c);
    c->converter = no_converter;
    return c;
}

void sp_charset_free(struct sp_charset *c)
{
    if (!c)
        return;
    if (c->converter != no_converter)
        iconv_close(c->converter);
    sp_buf_done(&c->out);
    sp_free(c);
}

/* Returns iconv's name of the encoding with that label; NULL if the standard has no such label. */
static const char *encoding_of(const char *label)
{
    size_t low = 0, high = sizeof labels / sizeof *labels;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcasecmp(label, labels[middle].label);
        if (order == 0)
            return labels[middle].encoding;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static bool is_label(char c)
{
    return (unsigned)((c | 0x20) - 'a') < 26u || (unsigned)(c - '0') < 10u || c == '-' ||
           c == '_' || c == ':' || c == '.' || c == '+';
}

/* Returns the encoding that text like `text/html; charset="utf-8"` names, or NULL; `word` is
 * "charset" or "encoding". */
static const char *named_in(struct sp_view text, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n < text.len; i++) {
        if (strncasecmp(text.data + i, word, n) != 0)
            continue;
        size_t at = i + n;
        while (at < text.len && (uint8_t)text.data[at] <= ' ')
            at++;
        if (at >= text.len || text.data[at] != '=')
            continue;
        at++;
        while (at < text.len &&
               ((uint8_t)text.data[at] <= ' ' || text.data[at] == '"' || text.data[at] == '\''))
            at++;
        char label[NAME_MAX_LEN];
        size_t len = 0;
        while (at + len < text.len && len < NAME_MAX_LEN - 1 && is_label(text.data[at + len]))
            len++;
        if (len == 0)
            continue;
        memcpy(label, text.data + at, len);
        label[len] = 0;
        return encoding_of(label);
    }
    return NULL;
}

/* Returns the encoding of the first meta tag or XML declaration within the first `len` bytes that
 * names a known one, or NULL. */
static const char *named_in_tags(struct sp_view html, size_t len)
{
    len = html.len < len ? html.len : len;
    const char *data = html.data;
    for (size_t i = 0; i < len; i++) {
        if (data[i] != '<')
            continue;
        if (len - i >= 4 && memcmp(data + i, "<!--", 4) == 0) {
            const char *end = memmem(data + i + 2, len - i - 2, "-->", 3);
            if (!end)
                return NULL;
            i = (size_t)(end - data) + 2;
            continue;
        }
        const char *end = memchr(data + i, '>', len - i);
        if (!end)
            return NULL;
        struct sp_view tag = sp_view(data + i, (size_t)(end - data) - i);
        const char *name = NULL;
        if (tag.len > 6 && strncasecmp(tag.data, "<meta", 5) == 0)
            name = named_in(tag, "charset");
        else if (tag.len > 6 && strncasecmp(tag.data, "<?xml", 5) == 0)
            name = named_in(tag, "encoding");
        /* The head was readable as ASCII, so the page cannot be UTF-16, by any of its labels:
         * programs of the desktop write "unicode". */
        if (name)
            return strncasecmp(name, "utf-16", 6) == 0 ? "utf-8" : name;
    }
    return NULL;
}

/* Removes the byte order mark and returns its encoding; NULL: there is none. */
static const char *name_of_mark(struct sp_view *content)
{
    static const struct {
        const char *mark;
        size_t len;
        const char *name;
    } marks[] = {{"\xef\xbb\xbf", 3, "utf-8"},
                 {"\xff\xfe\0\0", 4, "utf-32le"},
                 {"\0\0\xfe\xff", 4, "utf-32be"},
                 {"\xff\xfe", 2, "utf-16le"},
                 {"\xfe\xff", 2, "utf-16be"}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (content->len >= marks[i].len &&
            memcmp(content->data, marks[i].mark, marks[i].len) == 0) {
            *content = sp_view(content->data + marks[i].len, content->len - marks[i].len);
            return marks[i].name;
        }
    return NULL;
}

static bool open_converter(struct sp_charset *c, const char *name)
{
    if (c->converter != no_converter && strcasecmp(c->name, name) == 0) {
        iconv(c->converter, NULL, NULL, NULL, NULL); /* back to the initial state */
        return true;
    }
    iconv_t converter = iconv_open("UTF-8", name);
    if (converter == no_converter)
        return false;
    if (c->converter != no_converter)
        iconv_close(c->converter);
    c->converter = converter;
    snprintf(c->name, sizeof c->name, "%s", name);
    return true;
}

static struct sp_view convert(struct sp_charset *c, struct sp_view in)
{
    sp_buf_reset(&c->out);
    char *from = (char *)(uintptr_t)in.data;
    size_t left = in.len;
    while (left > 0) {
        char *to = sp_buf_reserve(&c->out, left + left / 2 + 16);
        size_t room = c->out.cap - c->out.len;
        size_t status = iconv(c->converter, &from, &left, &to, &room);
        c->out.len = c->out.cap - room;
        if (status != (size_t)-1 || errno == E2BIG)
            continue;
        /* A byte that is not of this charset, or a character cut off at the end. */
        c->out.len += sp_utf8_put(sp_buf_reserve(&c->out, 4), SP_REPLACEMENT);
        if (errno == EINVAL)
            break;
        from++;
        left--;
    }
    /* Some charsets hold a letter back, to combine it with an accent that may follow. */
    enum { HELD_MOST = 16 };
    char *to = sp_buf_reserve(&c->out, HELD_MOST);
    size_t room = c->out.cap - c->out.len;
    iconv(c->converter, NULL, NULL, &to, &room);
    c->out.len = c->out.cap - room;
    return sp_buf_view(&c->out);
}

static bool is_utf8(const char *encoding)
{
    return strcasecmp(encoding, "utf-8") == 0;
}

struct sp_view sp_charset_utf8(struct sp_charset *c, struct sp_view content_type,
                               struct sp_view content, bool html)
{
    const char *name = name_of_mark(&content);
    if (!name)
        name = named_in(content_type, "charset");
    if (!name && html)
        name = named_in_tags(content, PRESCAN_BYTES);
    if (name && !is_utf8(name) && open_converter(c, name))
        return convert(c, content);
    if (sp_utf8_valid(content))
        return content;
    if (!name && html)
        name = named_in_tags(content, content.len);
    if (!name)
        name = sp_utf8_likely(content) ? "utf-8" : "windows-1252";
    if (!is_utf8(name) && (open_converter(c, name) || open_converter(c, "windows-1252")))
        return convert(c, content);
    sp_buf_reset(&c->out);
    sp_utf8_repair(content, &c->out);
    return sp_buf_view(&c->out);
}
