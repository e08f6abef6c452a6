/* Reads the pages topic, for programs other than samepage: what a crawler wrote about a fetch.
 *
 *     struct samepage_page page;
 *     char url[SAMEPAGE_URL_BYTES];
 *     if (samepage_page_decode(value, bytes, &page) == 0 &&
 *         samepage_url_canonical(page.url, page.url_bytes, url, sizeof url) > 0)
 *         ... page.content is what was fetched from url ...
 *
 * Thread rule: any thread. */
#ifndef SP_SAMEPAGE_PAGE_H
#define SP_SAMEPAGE_PAGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef SAMEPAGE_API
#if defined(__GNUC__)
#define SAMEPAGE_API __attribute__((visibility("default")))
#else
#define SAMEPAGE_API
#endif
#endif

enum { SAMEPAGE_URL_BYTES = 8193 }; /* room for any canonical URL, NUL included */

/* One fetch; schemas/page.avsc says more of each field. Texts are parts of the message: they do not
 * end in a NUL, and are valid as long as it is. Where nothing was given, their length is 0. */
struct samepage_page {
    const char *url;
    size_t url_bytes;
    int64_t fetch_time_ms;    /* -1: not given */
    int32_t http_status;      /* 200 where not given */
    int32_t content_is_utf8;  /* the writer says that content is UTF-8, whatever its type says */
    const char *redirect_url; /* where it leads to, relative to url */
    size_t redirect_url_bytes;
    const char *content_type;
    size_t content_type_bytes;
    const char *content;
    size_t content_bytes;
};

/* The value of a message of the pages topic, in single-object encoding or in the framing of a
 * schema registry, whose id is not looked up. Returns 0, or -1 if it is no page; *out is then
 * unchanged. */
SAMEPAGE_API int samepage_page_decode(const void *value, size_t bytes, struct samepage_page *out);

/* The canonical form of a URL, which identifies a page: two spellings of one URL are one page.
 * Returns its length; 0: not an absolute URL, or too long. Written, with a NUL, if `size`
 * allows. */
SAMEPAGE_API size_t samepage_url_canonical(const char *url, size_t bytes, char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
