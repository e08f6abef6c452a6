/* See header.h. */
#include "input/header.h"

#include <strings.h>

size_t sp_header_end(struct sp_view text)
{
    const char *at = text.data, *end = text.data + text.len;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline)
            return 0;
        at = newline + 1;
        if (at < end && *at == '\n')
            return (size_t)(at + 1 - text.data);
        if (at + 1 < end && at[0] == '\r' && at[1] == '\n')
            return (size_t)(at + 2 - text.data);
    }
    return 0;
}

size_t sp_header_find_end(struct sp_view text, uint64_t at,
                          size_t (*header_end)(struct sp_view text), uint64_t *no_end)
{
    enum { MARK_BYTES = 3 };
    uint64_t from = *no_end > at + MARK_BYTES ? *no_end - at - MARK_BYTES : 0;
    if (from >= text.len)
        return 0;
    size_t len = header_end(sp_view(text.data + from, text.len - (size_t)from));
    if (len > 0)
        return (size_t)from + len;
    *no_end = at + text.len;
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct sp_view trimmed(const char *from, const char *to)
{
    while (from < to && is_blank(*from))
        from++;
    while (to > from && is_blank(to[-1]))
        to--;
    return sp_view(from, (size_t)(to - from));
}

/* Where the value of a line begins if the line is the field of that name; else NULL. White space
 * before the colon is wrong, but servers send it (RFC 9112, section 5.1). */
static const char *value_of(const char *at, const char *end, const char *name)
{
    size_t n = strlen(name);
    if ((size_t)(end - at) <= n || strncasecmp(at, name, n) != 0)
        return NULL;
    for (at += n; at < end && (*at == ' ' || *at == '\t');)
        at++;
    return at < end && *at == ':' ? at + 1 : NULL;
}

/* The end of the last line that continues the line ending at `newline`, as old software folds long
 * values (RFC 9112, section 5.2). */
static const char *folded_end(const char *newline, const char *end)
{
    while (end - newline > 1 && (newline[1] == ' ' || newline[1] == '\t')) {
        const char *next = memchr(newline + 1, '\n', (size_t)(end - newline) - 1);
        newline = next ? next : end;
    }
    return newline;
}

struct sp_view sp_header_field(struct sp_view header, const char *name)
{
    const char *at = header.data, *end = header.data + header.len;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline)
            newline = end;
        const char *value = value_of(at, newline, name);
        if (value)
            return trimmed(value, folded_end(newline, end));
        at = newline + 1;
    }
    return sp_view("", 0);
}

bool sp_header_number(struct sp_view text, uint64_t *ret_number)
{
    uint64_t n = 0;
    if (text.len == 0 || text.len > 18)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned)(text.data[i] - '0') > 9)
            return false;
        n = n * 10 + (uint64_t)(text.data[i] - '0');
    }
    *ret_number = n;
    return true;
}
