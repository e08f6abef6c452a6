/* See fields.h. */
#include "archive/fields.h"

#include <stdio.h>
#include <strings.h>

#include "input/header.h"

static const char version[] = "Samepage-Version: 1\r\n";
static const char was[] = "Samepage-Was: ";

/* Returns the next line with its line end; empty if there is none. */
static struct sp_view next_line(struct sp_view *text)
{
    const char *newline = text->len ? memchr(text->data, '\n', text->len) : NULL;
    size_t len = newline ? (size_t)(newline + 1 - text->data) : text->len;
    struct sp_view line = sp_view(text->data, len);
    *text = sp_view(text->data + len, text->len - len);
    return line;
}

static bool is_blank(struct sp_view line)
{
    return line.len == 0 || (line.len == 1 && line.data[0] == '\n') ||
           (line.len == 2 && line.data[0] == '\r' && line.data[1] == '\n');
}

static bool has_name(struct sp_view line, const char *name)
{
    size_t n = strlen(name);
    return line.len > n && line.data[n] == ':' && strncasecmp(line.data, name, n) == 0;
}

static bool starts_with(struct sp_view line, const char *text)
{
    size_t n = strlen(text);
    return line.len >= n && memcmp(line.data, text, n) == 0;
}

/* Returns our part of the header: from the last line with our version on; empty if there is none.
 * If a header came with such lines, it counts as changed, and its own lines precede ours. */
static struct sp_view own_part(struct sp_view header)
{
    struct sp_view rest = header, own = sp_view(header.data, 0);
    while (rest.len > 0) {
        struct sp_view from = rest;
        if (starts_with(next_line(&rest), version))
            own = from;
    }
    return own;
}

static const struct sp_field_change *find(const struct sp_field_change *changes, size_t count,
                                          struct sp_view line)
{
    for (size_t i = 0; i < count; i++)
        if (has_name(line, changes[i].name))
            return &changes[i];
    return NULL;
}

static void put_was(struct sp_buf *out, unsigned number, const struct sp_field_change *change,
                    struct sp_view line)
{
    char text[64];
    int n = snprintf(text, sizeof text, "%s%u%c", was, number, change->value ? '=' : '+');
    sp_buf_put(out, text, (size_t)n);
    sp_buf_put_view(out, line);
}

bool sp_fields_change(struct sp_view header, const struct sp_field_change *changes, size_t count,
                      struct sp_view added, struct sp_buf *out)
{
    struct sp_buf notes = {0}, back = {0};
    struct sp_view rest = header;
    size_t start = out->len;
    unsigned number = 0;
    bool folded = false; /* a value that goes on in the next line is not replaced */
    for (struct sp_view line; !is_blank(line = next_line(&rest)); number++) {
        const struct sp_field_change *change = find(changes, count, line);
        if (!change) {
            sp_buf_put_view(out, line);
            continue;
        }
        folded |= rest.len > 0 && (rest.data[0] == ' ' || rest.data[0] == '\t');
        put_was(&notes, number, change, line);
        if (change->value) {
            sp_buf_put_str(out, change->name);
            sp_buf_put(out, ": ", 2);
            sp_buf_put_str(out, change->value);
            sp_buf_put(out, "\r\n", 2);
        }
    }
    sp_buf_put_str(out, version);
    sp_buf_put_view(out, sp_buf_view(&notes));
    sp_buf_put_view(out, added);
    sp_buf_put(out, "\r\n", 2);
    struct sp_view changed = sp_view(out->data + start, out->len - start);
    bool good =
        !folded && sp_fields_restore(changed, &back) && sp_view_eq(sp_buf_view(&back), header);
    if (!good)
        out->len = start;
    sp_buf_done(&notes);
    sp_buf_done(&back);
    return good;
}

bool sp_fields_changed(struct sp_view header)
{
    return own_part(header).len > 0;
}

struct sp_view sp_fields_own(struct sp_view changed, const char *name)
{
    return sp_header_field(own_part(changed), name);
}

/* Reads the next note: its number, kind ('=' or '+') and line; false if there is none. */
static bool next_note(struct sp_view *notes, unsigned long *ret_number, char *ret_kind,
                      struct sp_view *ret_line)
{
    while (notes->len > 0) {
        struct sp_view line = next_line(notes);
        if (!starts_with(line, was))
            continue;
        size_t at = sizeof was - 1;
        unsigned long number = 0;
        for (; at < line.len && (unsigned)(line.data[at] - '0') <= 9 && number < 100000; at++)
            number = number * 10 + (unsigned)(line.data[at] - '0');
        if (at == line.len)
            return false;
        *ret_kind = line.data[at];
        *ret_number = number;
        *ret_line = sp_view(line.data + at + 1, line.len - at - 1);
        return true;
    }
    return false;
}

bool sp_fields_restore(struct sp_view changed, struct sp_buf *out)
{
    struct sp_view notes = own_part(changed), line;
    size_t start = out->len;
    if (notes.len == 0)
        return false;
    struct sp_view rest = sp_view(changed.data, changed.len - notes.len);
    unsigned long number = 0, wanted = 0;
    char kind = 0;
    bool noted = next_note(&notes, &wanted, &kind, &line);
    while (rest.len > 0 || (noted && kind == '+' && wanted == number)) {
        if (noted && wanted == number) {
            sp_buf_put_view(out, line);
            if (kind == '=')
                next_line(&rest);
            noted = next_note(&notes, &wanted, &kind, &line);
        } else {
            sp_buf_put_view(out, next_line(&rest));
        }
        number++;
    }
    sp_buf_put(out, "\r\n", 2);
    if (noted)
        out->len = start;
    return !noted;
}
