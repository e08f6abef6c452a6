/* Tokenizer states of the HTML standard over the bitmaps of scan.h: attributes (13.2.5.32 to
 * 40), comments (41 to 53), CDATA (69 to 71), raw text and script data (9 to 31).
 *
 * Each function moves forward only, so that a page is read in linear time whatever it
 * contains. Nothing here can fail. */
#include "text/markup.h"

static inline bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}

/* An attribute's name in lower case, padded with zeros. */
#define NAME(text) ((const char[8]){text})

static bool is_name(uint64_t name, const char known[8])
{
    uint64_t x;
    memcpy(&x, known, sizeof x);
    return name == x;
}

static void take(const struct sp_markup *m, struct sp_view name, struct sp_view value,
                 enum sp_wanted wanted, struct sp_attributes *attributes)
{
    if (name.len < 2 || name.len > 6)
        return;
    uint64_t key = sp_tag_name(name, (size_t)(m->data + m->len - name.data));
    size_t room = (size_t)(m->data + m->len - value.data);
    if (is_name(key, NAME("class")) || is_name(key, NAME("id"))) {
        if (wanted == SP_WANT_ALL)
            attributes->context |= sp_tag_class_context(value, room);
    } else if (is_name(key, NAME("href")))
        attributes->has_href = true;
    else if (is_name(key, NAME("style")))
        attributes->hidden |= sp_tag_style_hides(value);
    else if (is_name(key, NAME("hidden")))
        attributes->hidden = true;
    else if (is_name(key, NAME("type")))
        attributes->is_template = sp_tag_type_is_template(value);
    else if (is_name(key, NAME("role")) && wanted == SP_WANT_ALL)
        attributes->context |= sp_tag_role_context(value);
}

enum { USUAL_NAME = 8 };

/* Whether the len bytes before `end` are letters, 1 to USUAL_NAME; so many before it can be read.
 * Without a branch, because names are of all lengths. */
static inline bool are_letters(const char *end, size_t len)
{
    const uint64_t each = 0x0101010101010101ull;
    unsigned foreign = 8 * (unsigned)(USUAL_NAME - len); /* bits of bytes before them */
    uint64_t x;
    memcpy(&x, end - sizeof x, sizeof x);
    x >>= foreign;
    uint64_t lower = x | 0x20 * each;
    uint64_t from_a = lower + (0x80 - 'a') * each, behind_z = lower + (0x7f - 'z') * each;
    return (from_a & ~behind_z & ~x & 0x80 * each) == 0x80 * each >> foreign;
}

/* Whether the quote at `quote` begins a value, with only a space, a name of a few letters and '='
 * between `at`, where the tag's name or another value ends, and it. */
static bool begins_value(const struct sp_markup *m, size_t at, size_t quote)
{
    const char *data = m->data;
    return quote >= at + 3 && quote <= at + 2 + USUAL_NAME && quote > USUAL_NAME &&
           data[quote - 1] == '=' && is_space(data[at]) &&
           are_letters(data + quote - 1, quote - at - 2);
}

/* Skips attributes of the usual form, name="value"; returns the place behind them. *ret_end is set
 * if the tag ends there: without a quote before it, a '>' does so in every state. */
static size_t skip_attributes(const struct sp_markup *m, size_t at, size_t *ret_end)
{
    const char *data = m->data;
    for (;;) {
        size_t quote = sp_scan_near(m->close, at, m->len);
        if (quote < m->len && data[quote] == '>') {
            *ret_end = quote + 1;
            return at;
        }
        if (quote == m->len || !begins_value(m, at, quote))
            return at;
        size_t end = sp_scan_near(m->close, quote + 1, m->len);
        while (end < m->len && data[end] != data[quote])
            end = sp_scan_near(m->close, end + 1, m->len);
        if (end == m->len) {
            *ret_end = end;
            return at;
        }
        at = end + 1;
    }
}

size_t sp_markup_tag_end(const struct sp_markup *m, size_t at, enum sp_wanted wanted,
                         struct sp_attributes *ret_attributes)
{
    const char *data = m->data;
    size_t len = m->len;
    if (!wanted) {
        size_t end = 0;
        at = skip_attributes(m, at, &end);
        if (end)
            return end;
    }
    while (at < len) {
        char c = data[at];
        if (c == '>')
            return at + 1;
        if (is_space(c) || c == '/') {
            at++;
            continue;
        }
        size_t name = at++; /* any character: a name may begin with '=' */
        while (at < len && !sp_markup_ends_name(data[at], '='))
            at++;
        struct sp_view value = sp_view(data, 0);
        size_t name_end = at;
        while (at < len && is_space(data[at]))
            at++;
        if (at < len && data[at] == '=') {
            at++;
            while (at < len && is_space(data[at]))
                at++;
            if (at >= len)
                break;
            size_t start = at;
            if (data[at] == '"' || data[at] == '\'') {
                char quote = data[at];
                at = sp_scan_find(m->close, ++start, len);
                while (at < len && data[at] != quote)
                    at = sp_scan_find(m->close, at + 1, len);
                value = sp_view(data + start, at - start);
                at++;
            } else {
                while (at < len && !is_space(data[at]) && data[at] != '>')
                    at++;
                value = sp_view(data + start, at - start);
            }
        }
        if (wanted)
            take(m, sp_view(data + name, name_end - name), value, wanted, ret_attributes);
    }
    return len;
}

static size_t comment_end(const struct sp_markup *m, size_t text)
{
    const char *data = m->data;
    for (size_t at = text;; at++) {
        at = sp_scan_find(m->close, at, m->len);
        if (at >= m->len)
            return m->len;
        if (data[at] != '>')
            continue;
        /* text follows "<!--", so the two bytes before it exist: "<!-->" is a whole comment */
        if (data[at - 1] == '-' && data[at - 2] == '-')
            return at + 1;
        if (at >= text + 3 && data[at - 1] == '!' && data[at - 2] == '-' && data[at - 3] == '-')
            return at + 1;
    }
}

static size_t cdata_end(const struct sp_markup *m, size_t text)
{
    for (size_t at = text;; at++) {
        at = sp_scan_find(m->close, at, m->len);
        if (at >= m->len)
            return m->len;
        if (at >= text + 2 && m->data[at] == '>' && m->data[at - 1] == ']' &&
            m->data[at - 2] == ']')
            return at + 1;
    }
}

size_t sp_markup_declaration_end(const struct sp_markup *m, size_t at, bool foreign,
                                 struct sp_view *ret_text)
{
    size_t left = m->len - at;
    const char *data = m->data + at;
    if (left >= 4 && memcmp(data, "<!--", 4) == 0)
        return comment_end(m, at + 4);
    if (foreign && left >= 9 && memcmp(data, "<![CDATA[", 9) == 0) {
        size_t end = cdata_end(m, at + 9);
        size_t text_end = end;
        if (end >= at + 12 && memcmp(m->data + end - 3, "]]>", 3) == 0)
            text_end -= 3;
        *ret_text = sp_view(data + 9, text_end - at - 9);
        return end;
    }
    return sp_markup_behind_close(m, at + 2);
}

/* Whether the complete tag name at `at` is `name`. */
static bool names(const struct sp_markup *m, size_t at, const char *name)
{
    size_t n = strlen(name);
    if (m->len - at <= n)
        return false;
    for (size_t i = 0; i < n; i++)
        if ((m->data[at + i] | 0x20) != name[i])
            return false;
    return sp_markup_ends_name(m->data[at + n], '>');
}

static bool begins(const struct sp_markup *m, size_t at, const char *text)
{
    size_t n = strlen(text);
    return m->len - at >= n && memcmp(m->data + at, text, n) == 0;
}

/* Whether a "-->" has its '>' in this range. */
static bool closes_comment(const struct sp_markup *m, size_t from, size_t end)
{
    for (size_t i = sp_scan_find(m->close, from, end); i < end;
         i = sp_scan_find(m->close, i + 1, end))
        if (m->data[i] == '>' && m->data[i - 1] == '-' && m->data[i - 2] == '-')
            return true;
    return false;
}

/* A script may hide "</script>": between "<!--" and "-->", "<script" needs its own end. */
static size_t script_end(const struct sp_markup *m, size_t at)
{
    bool twice = false;
    size_t escaped = 0; /* behind a "<!--": there is no "-->" up to here; 0: not behind one */
    for (at = sp_scan_find(m->angle, at, m->len); at < m->len;
         at = sp_scan_find(m->angle, at + 1, m->len)) {
        if (m->data[at] != '<' || m->len - at < 2)
            continue;
        if (escaped && closes_comment(m, escaped, at)) {
            escaped = 0;
            twice = false;
        } else if (escaped) {
            escaped = at;
        }
        char next = m->data[at + 1];
        if (next == '!' && !escaped && begins(m, at, "<!--"))
            escaped = at + 4;
        else if (next == '/' && names(m, at + 2, "script")) {
            if (!twice)
                return at;
            twice = false;
        } else if (escaped && !twice && names(m, at + 1, "script"))
            twice = true;
    }
    return m->len;
}

size_t sp_markup_raw_end(const struct sp_markup *m, size_t at, enum sp_tag tag)
{
    static const char *const raw_names[SP_TAG_COUNT] = {
        [SP_TAG_iframe] = "iframe",     [SP_TAG_noembed] = "noembed",
        [SP_TAG_noframes] = "noframes", [SP_TAG_noscript] = "noscript",
        [SP_TAG_style] = "style",       [SP_TAG_textarea] = "textarea",
        [SP_TAG_title] = "title",       [SP_TAG_xmp] = "xmp",
    };
    if (tag == SP_TAG_script)
        return script_end(m, at);
    for (at = sp_scan_find(m->angle, at, m->len); at < m->len;
         at = sp_scan_find(m->angle, at + 1, m->len))
        if (m->data[at] == '<' && m->len - at > 2 && m->data[at + 1] == '/' &&
            names(m, at + 2, raw_names[tag]))
            return at;
    return m->len;
}
