/* Decodes messages of the topic `pages`: one fetch of a page, as a crawler or `samepage ingest`
 * wrote it.
 *
 *     struct samepage_page page;
 *     char url[SAMEPAGE_URL_BYTES];
 *     if (samepage_page_decode(value, bytes, &page) == 0 &&
 *         samepage_url_canonical(page.url, page.url_bytes, url, sizeof url) > 0)
 *         ... page.content is the content that was fetched from url ...
 *
 * The functions keep no state. Thread rule: any thread. Running out of memory ends the process. */
#ifndef SP_SAMEPAGE_PAGE_H
#define SP_SAMEPAGE_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include "samepage/url.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One fetch. schemas/page.avsc describes each field. Texts point into the message: they are not
 * terminated by NUL, and are valid as long as the message is. A field that is missing has length
 * 0. */
struct samepage_page {
    const char *url;
    size_t url_bytes;
    int64_t fetch_time_ms;    /* milliseconds since 1970-01-01 UTC; -1: not given */
    int32_t http_status;      /* 200 if not given */
    int32_t content_is_utf8;  /* 1: content is UTF-8, whatever charset content_type names */
    const char *redirect_url; /* target of a redirect; may be relative to url */
    size_t redirect_url_bytes;
    const char *content_type;
    size_t content_type_bytes;
    const char *content;
    size_t content_bytes;
};

/* Decodes the value of a message: Avro in single-object encoding, or in the framing of a schema
 * registry, whose schema id is ignored. Returns 0, or -1 if the value is not a page; *out is then
 * unchanged. */
SAMEPAGE_API int samepage_page_decode(const void *value, size_t bytes, struct samepage_page *out);

#ifdef __cplusplus
}
#endif

#endif
