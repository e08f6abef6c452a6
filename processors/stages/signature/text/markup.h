/* Where markup ends: the tokenizer states of the HTML standard (13.2.5) that do not depend on
 * the document's structure. All positions are offsets into the page; a construct that never
 * ends reaches to the end of the page, as it does for the standard. */
#ifndef SP_TEXT_MARKUP_H
#define SP_TEXT_MARKUP_H

#include "base/bytes.h"
#include "text/tags.h"

struct sp_markup {
    const char *data;
    size_t len;
    const uint64_t *angle; /* '<' and '&' */
    const uint64_t *close; /* '>' and quotes */
};

struct sp_attributes {
    unsigned context; /* enum sp_context from class, id and role */
    bool has_href;
    bool is_template; /* by its type */
    bool hidden;      /* by a hidden attribute or display: none */
};

/* The first set bit at or behind `at`; len if there is none. */
static inline size_t sp_markup_find(const uint64_t *bits, size_t at, size_t len)
{
    if (at >= len)
        return len;
    size_t i = at / 64;
    uint64_t word = bits[i] >> (at % 64);
    if (word)
        return at + (size_t)__builtin_ctzll(word);
    size_t last = len / 64;
    while (++i <= last)
        if (bits[i])
            return i * 64 + (size_t)__builtin_ctzll(bits[i]);
    return len;
}

/* Behind the next '>' at or behind `at`. */
static inline size_t sp_markup_behind_close(const struct sp_markup *m, size_t at)
{
    at = sp_markup_find(m->close, at, m->len);
    while (at < m->len && m->data[at] != '>')
        at = sp_markup_find(m->close, at + 1, m->len);
    return at < m->len ? at + 1 : m->len;
}

/* Behind the '>' of a tag whose name ends at `at`. What the attributes say is read only where
 * `wanted`. *ret_attributes must be zeroed. */
size_t sp_markup_tag_end(const struct sp_markup *m, size_t at, bool wanted,
                         struct sp_attributes *ret_attributes);

/* Behind the comment, doctype or processing instruction at `at` ("<!" or "<?" or "</x"). In
 * foreign content (svg, math) "<![CDATA[" is not a comment: then *ret_text is its text. */
size_t sp_markup_declaration_end(const struct sp_markup *m, size_t at, bool foreign,
                                 struct sp_view *ret_text);

/* Where the end tag of the raw text element begins whose content starts at `at`. */
size_t sp_markup_raw_end(const struct sp_markup *m, size_t at, enum sp_tag tag);

#endif
