/* The pages topic for other programs: see samepage/page.h. */
#include "samepage/page.h"

#include "codec/codec.h"

int samepage_page_decode(const void *value, size_t bytes, struct samepage_page *out)
{
    struct sp_page_record page;
    struct sp_wire_format format = sp_wire_format_seen(sp_view(value, bytes));
    if (sp_page_decode(sp_view(value, bytes), &format, &page) != SP_OK)
        return -1;
    *out = (struct samepage_page){
        .url = page.url.data,
        .url_bytes = page.url.len,
        .fetch_time_ms = page.fetch_time_ms,
        .http_status = page.http_status,
        .content_is_utf8 = page.content_is_utf8,
        .redirect_url = page.redirect_url.data,
        .redirect_url_bytes = page.redirect_url.len,
        .content_type = page.content_type.data,
        .content_type_bytes = page.content_type.len,
        .content = page.content.data,
        .content_bytes = page.content.len,
    };
    return 0;
}
