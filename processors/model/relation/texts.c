/* The tests of two texts: see relation.h. */
#include "relation/texts.h"

#include <string.h>

#include "base/utf8.h"

static bool is_word(char c)
{
    return (unsigned)((c | 0x20) - 'a') < 26u || (unsigned)(c - '0') < 10u || (uint8_t)c >= 0x80;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Returns the next word from *at; empty if there is none. */
static struct sp_view next_word(struct sp_view text, size_t *at)
{
    while (*at < text.len && !is_word(text.data[*at]))
        ++*at;
    size_t start = *at;
    while (*at < text.len && is_word(text.data[*at]))
        ++*at;
    return sp_view(text.data + start, *at - start);
}

static bool same_word(struct sp_view x, struct sp_view y)
{
    if (x.len != y.len)
        return false;
    for (size_t i = 0; i < x.len; i++)
        if (lower(x.data[i]) != lower(y.data[i]))
            return false;
    return true;
}

/* Whether the text from `at` starts with the words of `what` from `next`. */
static bool goes_on(struct sp_view text, size_t at, struct sp_view what, size_t next)
{
    for (;;) {
        struct sp_view word = next_word(what, &next);
        if (word.len == 0)
            return true;
        if (!same_word(next_word(text, &at), word))
            return false;
    }
}

static bool contains(struct sp_view text, struct sp_view what)
{
    size_t at = 0, next = 0;
    struct sp_view first = next_word(what, &next), word;
    if (first.len == 0)
        return true; /* every text contains the empty list of words */
    while ((word = next_word(text, &at)).len > 0)
        if (same_word(word, first) && goes_on(text, at, what, next))
            return true;
    return false;
}

/* Backtracks only to the last *: what lies between two * was matched at its earliest place, and a
 * later place cannot help. */
static bool matches(struct sp_view text, struct sp_view pattern)
{
    size_t t = 0, p = 0, star = SIZE_MAX, taken = 0, size;
    while (t < text.len) {
        if (p < pattern.len && pattern.data[p] == '*') {
            star = p++;
            taken = t;
        } else if (p < pattern.len && pattern.data[p] == '?') {
            sp_utf8_get(text.data + t, text.len - t, &size);
            t += size;
            p++;
        } else if (p < pattern.len && pattern.data[p] == text.data[t]) {
            t++;
            p++;
        } else if (star != SIZE_MAX) {
            t = ++taken;
            p = star + 1;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.data[p] == '*')
        p++;
    return p == pattern.len;
}

bool sp_texts_test(enum sp_op op, struct sp_view text, struct sp_view what)
{
    if (op == SP_OP_MATCHES)
        return matches(text, what);
    if (op == SP_OP_CONTAINS)
        return contains(text, what);
    if (what.len == 0 || what.len > text.len)
        return what.len == 0;
    size_t from = op == SP_OP_ENDS_WITH ? text.len - what.len : 0;
    return memcmp(text.data + from, what.data, what.len) == 0;
}
