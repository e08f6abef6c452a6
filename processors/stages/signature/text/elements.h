/* Reads tags: which element, which attributes that matter, where the tag ends. Tags that were read
 * before are known by their bytes: a page has few different ones. The result never depends on what
 * was read before. Thread rule: one thread at a time for each. */
#ifndef SP_TEXT_ELEMENTS_H
#define SP_TEXT_ELEMENTS_H

#include "text/markup.h"

struct sp_element {
    struct sp_attributes attributes; /* of a start tag */
    uint8_t tag;                     /* enum sp_tag */
    bool ends;                       /* </x> */
    bool closed;                     /* <x/> */
};

struct sp_elements;

struct sp_elements *sp_elements_new(void);
void sp_elements_free(struct sp_elements *e);

/* Reads the tag at `at`, which is a '<' and a letter, or "</" and a letter; returns the place
 * behind it. */
size_t sp_elements_read(struct sp_elements *e, const struct sp_markup *page, size_t at,
                        struct sp_element *ret_element);

/* The place behind the link that begins at `at` with its address, `<a href="`; 0 if none does. */
size_t sp_elements_link(const struct sp_markup *page, size_t at);

#endif
