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

static struct sp_view trimmed(const char *from, const char *to)
{
    while (from < to && (*from == ' ' || *from == '\t'))
        from++;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r'))
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

struct sp_view sp_header_field(struct sp_view header, const char *name)
{
    const char *at = header.data, *end = header.data + header.len;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline)
            newline = end;
        const char *value = value_of(at, newline, name);
        if (value)
            return trimmed(value, newline);
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
