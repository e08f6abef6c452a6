/* A page's bytes to UTF-8. Thread rule: one thread at a time for each converter. */
#ifndef SP_TEXT_CHARSET_H
#define SP_TEXT_CHARSET_H

#include <stdbool.h>

#include "base/bytes.h"

struct sp_charset;

struct sp_charset *sp_charset_new(void);
void sp_charset_free(struct sp_charset *c);

/* The content in UTF-8, without a byte order mark: a part of `content` if that is UTF-8
 * already, else in memory of c that is valid until the next call. The charset is that
 * of a byte order mark, else of content_type, else (html) of a meta tag or XML declaration in
 * the first 1,024 bytes; if none is named, UTF-8 if the bytes are, else windows-1252.
 * Invalid bytes become U+FFFD. */
struct sp_view sp_charset_utf8(struct sp_charset *c, struct sp_view content_type,
                               struct sp_view content, bool html);

#endif
