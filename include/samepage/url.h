/* Which spellings of a URL are one page. In libsamepage and in libsamepage_predict.
 *
 * The function keeps no state. Thread rule: any thread. Running out of memory ends the process. */
#ifndef SP_SAMEPAGE_URL_H
#define SP_SAMEPAGE_URL_H

#include <stddef.h>

#include "samepage/api.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SAMEPAGE_URL_BYTES = 8193 }; /* room for any canonical URL, NUL included */

/* Computes the canonical form of a URL, which identifies a page (RFC 3986, section 6.2.2: scheme
 * and host in lower case, no default port, no fragment, ...). Returns its length without NUL, or 0
 * if it has no scheme or no host (doc:ID needs none), a space or a control character, or more than
 * 8,192 bytes. Writes it to `out`, terminated by NUL, if `size` is greater than its length;
 * otherwise writes nothing. */
SAMEPAGE_API size_t samepage_url_canonical(const char *url, size_t bytes, char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
