/* Where markup ends: the tokenizer states of the HTML standard (13.2.5) that do not depend on
 * the document's structure. All positions are offsets into the page; a construct that never
 * ends reaches to the end of the page, as it does for the standard. */
#ifndef SP_TEXT_MARKUP_H
#define SP_TEXT_MARKUP_H

#include "base/bytes.h"
#include "text/scan.h"
#include "text/tags.h"

/* A page and its bitmaps (scan.h), each followed by a word that is 0. */
struct sp_markup {
    const char *data;
    size_t len;
    const uint64_t *angle; /* '<' and '&' */
    const uint64_t *close; /* '>' and quotes */
    const uint64_t *end;   /* '>' */
    const uint64_t *edge;  /* where runs of tags probably end */
};

struct sp_attributes {
    unsigned context; /* enum sp_context from class, id and role */
    bool has_href;
    bool is_template; /* by its type */
    bool hidden;      /* by a hidden attribute or display: none */
};

/* White space, '/' and '>', and where `more` is '=' that as well: they end a tag's or an
 * attribute's name. All are below 64. */
static inline bool sp_markup_ends_name(char c, char more)
{
    const uint64_t ends = 1ull << ' ' | 1ull << '\t' | 1ull << '\n' | 1ull << '\f' | 1ull << '\r' |
                          1ull << '/' | 1ull << '>' | 1ull << more;
    return (uint8_t)c < 64 && (ends >> c & 1);
}

/* Behind the next '>' at or behind `at`. */
static inline size_t sp_markup_behind_close(const struct sp_markup *m, size_t at)
{
    at = sp_scan_find(m->close, at, m->len);
    while (at < m->len && m->data[at] != '>')
        at = sp_scan_find(m->close, at + 1, m->len);
    return at < m->len ? at + 1 : m->len;
}

/* Which attributes of a tag are read; most tags are inline elements, whose classes are many and say
 * nothing about the text around them. */
enum sp_wanted {
    SP_WANT_NONE,
    SP_WANT_OWN, /* all but the context */
    SP_WANT_ALL
};

/* Behind the '>' of a tag whose name ends at `at`. *ret_attributes must be zeroed. */
size_t sp_markup_tag_end(const struct sp_markup *m, size_t at, enum sp_wanted wanted,
                         struct sp_attributes *ret_attributes);

/* Behind the comment, doctype or processing instruction at `at` ("<!" or "<?" or "</x"). In
 * foreign content (svg, math) "<![CDATA[" is not a comment: then *ret_text is its text. */
size_t sp_markup_declaration_end(const struct sp_markup *m, size_t at, bool foreign,
                                 struct sp_view *ret_text);

/* Where the end tag of the raw text element begins whose content starts at `at`. */
size_t sp_markup_raw_end(const struct sp_markup *m, size_t at, enum sp_tag tag);

#endif
