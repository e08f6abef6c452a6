/* HTML character references: "&amp;", "&#8217;", "&#x2019;", "&notit;". */
#ifndef SP_TEXT_ENTITIES_H
#define SP_TEXT_ENTITIES_H

#include <stddef.h>

enum { SP_ENTITY_TEXT_MAX = 8 };

/* The reference that starts at text[0] == '&', in text (not in an attribute): its UTF-8 goes
 * to ret_text (SP_ENTITY_TEXT_MAX bytes of room), *ret_len gets its length. Returns how
 * many bytes of input it takes, 0 if this is no reference: then '&' stands for itself. */
size_t sp_entity_decode(const char *text, size_t len, char *ret_text, size_t *ret_len);

#endif
