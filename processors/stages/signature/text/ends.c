/* See ends.h. Both tables have the same results as a search from each place.
 *
 * Tags are handled from right to left: what follows an unquoted byte is known when it is reached,
 * and a quoted value is skipped to its closing quote. Targets are handled from left to right: a
 * stack pairs brackets. Which bytes are escaped does not depend on the search, because none begins
 * within an escape. */
#include "text/ends.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const char *limit(const char *start, const char *end)
{
    return end - start > SP_ENDS_REACH ? start + SP_ENDS_REACH : end;
}

/* Whether an empty line follows, in the way of any system. */
static bool is_blank_line(const char *p, const char *end)
{
    if (*p != '\n' || p + 1 >= end)
        return false;
    return p[1] == '\n' || (p[1] == '\r' && p + 2 < end && p[2] == '\n');
}

/* ---- one search */

static const char *search_tag(const char *p, const char *stop)
{
    for (char quote = 0; p < stop; p++) {
        if (quote ? *p == quote : *p == '>') {
            if (!quote)
                return p + 1;
            quote = 0;
        } else if (!quote && p[-1] == '=' && (*p == '"' || *p == '\'')) {
            quote = *p;
        } else if (is_blank_line(p, stop)) {
            return NULL;
        }
    }
    return NULL;
}

static const char *search_target(const char *p, const char *stop)
{
    int open = 0;
    for (; p < stop; p++) {
        if (*p == '\\' && p + 1 < stop)
            p++;
        else if (*p == '(')
            open++;
        else if (*p == ')' && --open == 0)
            return p + 1;
        else if (is_blank_line(p, stop))
            return NULL;
    }
    return NULL;
}

/* ---- all at once */

static size_t begin(struct sp_ends *e, const char *from, const char *end)
{
    e->from = from;
    memset(e->behind, 0, sizeof e->behind);
    return (size_t)(end - from) < SP_ENDS_BYTES ? (size_t)(end - from) : SP_ENDS_BYTES;
}

static void make_tags(struct sp_ends *e, const char *from, const char *end)
{
    size_t count = begin(e, from, end);
    size_t next_double = count, next_single = count, next_blank = count; /* to the right */
    for (size_t i = count; i-- > 1;) {
        char c = from[i];
        size_t next = i + 1;
        if (c == '"' || c == '\'') {
            size_t *same = c == '"' ? &next_double : &next_single;
            if (from[i - 1] == '=')
                next = *same < next_blank ? *same + 1 : count;
            *same = i;
        }
        if (is_blank_line(from + i, from + count))
            next = next_blank = i;
        if (c == '>')
            e->behind[i] = (uint16_t)(i + 1);
        else if (next > i && next < count)
            e->behind[i] = e->behind[next];
    }
}

static void make_targets(struct sp_ends *e, const char *from, const char *end)
{
    uint16_t open[SP_ENDS_BYTES];
    size_t depth = 0, count = begin(e, from, end);
    for (size_t i = 0; i < count; i++) {
        if (from[i] == '\\')
            i++;
        else if (from[i] == '(')
            open[depth++] = (uint16_t)i;
        else if (from[i] == ')' && depth)
            e->behind[open[--depth]] = (uint16_t)(i + 1);
        else if (is_blank_line(from + i, from + count))
            depth = 0;
    }
}

/* ---- */

static bool covers(const struct sp_ends *e, const char *start)
{
    return e->from && start >= e->from && start - e->from <= SP_ENDS_REACH;
}

static const char *look_up(const struct sp_ends *e, const char *at, const char *stop)
{
    size_t behind = e->behind[at - e->from];
    return behind && e->from + behind <= stop ? e->from + behind : NULL;
}

const char *sp_ends_tag(struct sp_ends *e, const char *start, const char *name, const char *end)
{
    const char *stop = limit(start, end);
    if (name >= stop)
        return NULL;
    if (covers(e, start))
        return look_up(e, name, stop);
    const char *found = search_tag(name, stop);
    if (!found)
        make_tags(e, start, end);
    return found;
}

const char *sp_ends_target(struct sp_ends *e, const char *start, const char *open, const char *end)
{
    const char *stop = limit(start, end);
    if (open >= stop)
        return NULL;
    if (covers(e, start))
        return look_up(e, open, stop);
    const char *found = search_target(open, stop);
    if (!found)
        make_targets(e, start, end);
    return found;
}
