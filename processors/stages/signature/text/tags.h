/* The HTML elements that matter here, and what their attributes say about their text. */
#ifndef SP_TEXT_TAGS_H
#define SP_TEXT_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

enum sp_tag_flag {
    SP_TAG_BLOCK = 1,     /* text before and behind it are different blocks */
    SP_TAG_STACK = 2,     /* its content has a context of its own: kept on the stack */
    SP_TAG_RAW = 4,       /* raw text that is not shown: dropped up to the end tag */
    SP_TAG_RCDATA = 8,    /* text with references but without tags */
    SP_TAG_DROP = 16,     /* the whole element is invisible */
    SP_TAG_BOILER = 32,   /* navigation and the like */
    SP_TAG_MAIN = 64,     /* marks main content */
    SP_TAG_SPACE = 128,   /* separates words */
    SP_TAG_CELL = 256,    /* part of a table row */
    SP_TAG_BREAKOUT = 512 /* ends an <svg> that was never closed */
};

#define SP_TAG_DIV (SP_TAG_BLOCK | SP_TAG_STACK)

/* name, flags. Every other element is inline and its text counts. */
#define SP_TAGS(X)                                                                                 \
    X(a, 0)                                                                                        \
    X(address, SP_TAG_BLOCK)                                                                       \
    X(annotation, SP_TAG_DROP)                                                                     \
    X(article, SP_TAG_DIV | SP_TAG_MAIN)                                                           \
    X(aside, SP_TAG_DIV | SP_TAG_BOILER)                                                           \
    X(b, SP_TAG_BREAKOUT)                                                                          \
    X(big, SP_TAG_BREAKOUT)                                                                        \
    X(blockquote, SP_TAG_DIV | SP_TAG_BREAKOUT)                                                    \
    X(body, SP_TAG_BREAKOUT)                                                                       \
    X(br, SP_TAG_SPACE | SP_TAG_BREAKOUT)                                                          \
    X(button, SP_TAG_DIV | SP_TAG_BOILER)                                                          \
    X(caption, SP_TAG_BLOCK)                                                                       \
    X(center, SP_TAG_BLOCK | SP_TAG_BREAKOUT)                                                      \
    X(code, SP_TAG_BREAKOUT)                                                                       \
    X(dd, SP_TAG_BLOCK | SP_TAG_BREAKOUT)                                                          \
    X(details, SP_TAG_DIV)                                                                         \
    X(dialog, SP_TAG_DIV | SP_TAG_BOILER)                                                          \
    X(dir, SP_TAG_DIV)                                                                             \
    X(div, SP_TAG_DIV | SP_TAG_BREAKOUT)                                                           \
    X(dl, SP_TAG_DIV | SP_TAG_BREAKOUT)                                                            \
    X(dt, SP_TAG_BLOCK | SP_TAG_BREAKOUT)                                                          \
    X(em, SP_TAG_BREAKOUT)                                                                         \
    X(embed, SP_TAG_BREAKOUT)                                                                      \
    X(fieldset, SP_TAG_DIV)                                                                        \
    X(figcaption, SP_TAG_BLOCK)                                                                    \
    X(figure, SP_TAG_DIV)                                                                          \
    X(footer, SP_TAG_DIV | SP_TAG_BOILER)                                                          \
    X(form, SP_TAG_DIV)                                                                            \
    X(h1, SP_TAG_BLOCK | SP_TAG_BREAKOUT)                                                          \
    X(h2, SP_TAG_BLOCK | SP_TAG_BREAKOUT)                                                          \
    X(h3, SP_TAG_BLOCK | SP_TAG_BREAKOUT)                                                          \
    X(h4, SP_TAG_BLOCK | SP_TAG_BREAKOUT)                                                          \
    X(h5, SP_TAG_BLOCK | SP_TAG_BREAKOUT)                                                          \
    X(h6, SP_TAG_BLOCK | SP_TAG_BREAKOUT)                                                          \
    X(head, 0)                                                                                     \
    X(header, SP_TAG_DIV)                                                                          \
    X(hgroup, SP_TAG_BLOCK)                                                                        \
    X(hr, SP_TAG_BLOCK | SP_TAG_BREAKOUT)                                                          \
    X(html, 0)                                                                                     \
    X(i, SP_TAG_BREAKOUT)                                                                          \
    X(iframe, SP_TAG_RAW | SP_TAG_SPACE)                                                           \
    X(img, SP_TAG_SPACE | SP_TAG_BREAKOUT)                                                         \
    X(input, SP_TAG_SPACE)                                                                         \
    X(legend, SP_TAG_BLOCK)                                                                        \
    X(li, SP_TAG_BLOCK | SP_TAG_BREAKOUT)                                                          \
    X(listing, SP_TAG_BLOCK)                                                                       \
    X(main, SP_TAG_DIV | SP_TAG_MAIN)                                                              \
    X(math, 0)                                                                                     \
    X(menu, SP_TAG_DIV | SP_TAG_BOILER | SP_TAG_BREAKOUT)                                          \
    X(nav, SP_TAG_DIV | SP_TAG_BOILER)                                                             \
    X(nobr, SP_TAG_BREAKOUT)                                                                       \
    X(noembed, SP_TAG_RAW)                                                                         \
    X(noframes, SP_TAG_RAW)                                                                        \
    X(noscript, SP_TAG_RAW)                                                                        \
    X(ol, SP_TAG_DIV | SP_TAG_BREAKOUT)                                                            \
    X(optgroup, SP_TAG_BLOCK)                                                                      \
    X(option, SP_TAG_BLOCK)                                                                        \
    X(p, SP_TAG_BLOCK | SP_TAG_BREAKOUT)                                                           \
    X(plaintext, SP_TAG_BLOCK)                                                                     \
    X(pre, SP_TAG_BLOCK | SP_TAG_BREAKOUT)                                                         \
    X(ruby, SP_TAG_BREAKOUT)                                                                       \
    X(s, SP_TAG_BREAKOUT)                                                                          \
    X(script, SP_TAG_RAW)                                                                          \
    X(search, SP_TAG_DIV | SP_TAG_BOILER)                                                          \
    X(section, SP_TAG_DIV)                                                                         \
    X(select, SP_TAG_DIV | SP_TAG_BOILER)                                                          \
    X(small, SP_TAG_BREAKOUT)                                                                      \
    X(span, SP_TAG_BREAKOUT)                                                                       \
    X(strike, SP_TAG_BREAKOUT)                                                                     \
    X(strong, SP_TAG_BREAKOUT)                                                                     \
    X(style, SP_TAG_RAW)                                                                           \
    X(sub, SP_TAG_BREAKOUT)                                                                        \
    X(summary, SP_TAG_BLOCK)                                                                       \
    X(sup, SP_TAG_BREAKOUT)                                                                        \
    X(svg, SP_TAG_DROP)                                                                            \
    X(table, SP_TAG_DIV | SP_TAG_BREAKOUT)                                                         \
    X(tbody, SP_TAG_BLOCK)                                                                         \
    X(td, SP_TAG_DIV | SP_TAG_CELL)                                                                \
    X(template, SP_TAG_DROP)                                                                       \
    X(textarea, SP_TAG_RCDATA | SP_TAG_BLOCK)                                                      \
    X(tfoot, SP_TAG_BLOCK)                                                                         \
    X(th, SP_TAG_DIV | SP_TAG_CELL)                                                                \
    X(thead, SP_TAG_BLOCK)                                                                         \
    X(title, SP_TAG_RCDATA | SP_TAG_BLOCK)                                                         \
    X(tr, SP_TAG_DIV | SP_TAG_CELL)                                                                \
    X(tt, SP_TAG_BREAKOUT)                                                                         \
    X(u, SP_TAG_BREAKOUT)                                                                          \
    X(ul, SP_TAG_DIV | SP_TAG_BREAKOUT)                                                            \
    X(var, SP_TAG_BREAKOUT)                                                                        \
    X(wbr, 0)                                                                                      \
    X(xmp, SP_TAG_RCDATA | SP_TAG_BLOCK)

enum sp_tag {
    SP_TAG_OTHER,
#define X(name, flags) SP_TAG_##name,
    SP_TAGS(X)
#undef X
        SP_TAG_COUNT
};

extern const uint16_t sp_tag_flags[SP_TAG_COUNT];

/* The element by its name in any case, len >= 1. `room` bytes can be read at name. */
enum sp_tag sp_tag_find(const char *name, size_t len, size_t room);

/* A name of at most 8 bytes as a number: its bytes in lower case, in memory order, zeros behind
 * them. `room` bytes can be read at its data. */
uint64_t sp_tag_name(struct sp_view name, size_t room);

/* What is known of a piece of text from the elements around it. */
enum sp_context {
    SP_IN_BOILER = 1, /* <nav>, <footer>, <aside>, role="navigation",  … */
    SP_IN_HINT = 2,   /* a class or id that says so: "sidebar", "cookie-banner"; hidden */
    SP_IN_HEADER = 4, /* <header> outside of main content */
    SP_IN_MAIN = 8,   /* <main>, <article>, role="main" */
    SP_IN_FORM = 16,
    SP_IN_TITLE = 32, /* the page's <title> */
    SP_IN_HEADING = 64,
    SP_IN_TEMPLATE = 128 /* a <script> that holds HTML for a script to show */
};

/* The context that an element gives by its name. */
static inline unsigned sp_tag_context(enum sp_tag tag)
{
    unsigned flags = sp_tag_flags[tag];
    return (flags & SP_TAG_BOILER ? SP_IN_BOILER : 0) | (flags & SP_TAG_MAIN ? SP_IN_MAIN : 0) |
           (tag == SP_TAG_form ? SP_IN_FORM : 0);
}

/* The context that a class or id attribute's value gives. `room` bytes can be read at its data. */
unsigned sp_tag_class_context(struct sp_view value, size_t room);
unsigned sp_tag_role_context(struct sp_view value);

/* Whether a script's type says that it holds HTML. */
bool sp_tag_type_is_template(struct sp_view value);

/* Whether a style attribute's value hides the element. */
bool sp_tag_style_hides(struct sp_view value);

#endif
