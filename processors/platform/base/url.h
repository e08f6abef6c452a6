/* URLs as identities: two spellings of one address are one page. */
#ifndef SP_BASE_URL_H
#define SP_BASE_URL_H

#include "base/bytes.h"
#include "base/err.h"

enum { SP_URL_MAX_BYTES = 8192 };

/* Why a record is refused whose URL is SP_NO_URL. */
#define SP_URL_REFUSED                                                                             \
    "the url is not usable: it needs a scheme and a host and no control characters"

/* Appends the canonical form of an absolute URL (RFC 3986 section 6.2.2, the parts that
 * never change what is addressed): scheme and host in lower case, no default port, no
 * fragment, "/" for an empty path. Nothing else is touched: path and query are the
 * server's business. A document that has no URL is doc:ID, which stays as it is. SP_NO_URL, and
 * nothing appended, where there is no scheme, no host, a control character or space, or more than
 * SP_URL_MAX_BYTES. Thread rule: any thread. */
enum sp_err sp_url_canonical(struct sp_view url, struct sp_buf *out);

/* The host of a canonical URL, with its port where that is not the scheme's; borrowed. */
struct sp_view sp_url_host(struct sp_view canonical);

/* Appends `reference` made absolute against `base` (RFC 3986 section 5.2). SP_NO_URL where the
 * result would have no scheme or host. */
enum sp_err sp_url_resolve(struct sp_view base, struct sp_view reference, struct sp_buf *out);

#endif
