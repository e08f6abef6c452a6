/* URLs as identities: spellings of a URL that cannot differ in meaning are one page. Thread rule:
 * any thread. */
#ifndef SP_BASE_URL_H
#define SP_BASE_URL_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/hash.h"

enum { SP_URL_MAX_BYTES = 8192 };

/* The message for a record whose URL gives SP_NO_URL. */
#define SP_URL_REFUSED                                                                             \
    "the url is not usable: it needs a scheme and a host, no spaces or control characters, and "   \
    "at most 8192 bytes"

/* Appends the canonical form of an absolute URL, by the rules of RFC 3986, sections 6.2.2
 * and 6.2.3, that never change what is addressed: scheme and host in lower case, no default port
 * (http and https), no fragment, "/" for an empty path. User information, path and query are not
 * changed, because only the server knows what they mean. doc:ID, the name of a document without a
 * URL, keeps its ID (up to a fragment). SP_NO_URL: no scheme, no host, a space or control
 * character, or more than SP_URL_MAX_BYTES; nothing is then appended. */
enum sp_err sp_url_canonical(struct sp_view url, struct sp_buf *out);

/* The id of the page at a URL: the hash of its canonical form, which is left in `canonical`. Fails
 * as sp_url_canonical does; *ret_page is then unchanged. */
enum sp_err sp_url_page(struct sp_view url, struct sp_buf *canonical, struct sp_id *ret_page);

/* The host of a canonical URL, with the port unless it is the scheme's default; a part of
 * `canonical`. Empty for doc:ID. */
struct sp_view sp_url_host(struct sp_view canonical);

/* Appends `reference` resolved against `base` (RFC 3986, section 5.2); the result is not canonical.
 * SP_NO_URL if it would have no scheme or no host; nothing is then appended. */
enum sp_err sp_url_resolve(struct sp_view base, struct sp_view reference, struct sp_buf *out);

#endif
