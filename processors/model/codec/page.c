/* Input records: schemas/page.avsc. Crawlers write them in any language, so the decoder accepts all
 * that the schema allows. It allocates nothing and returns views into the bytes. */
#include "codec/fingerprints.h"
#include "codec/parts.h"

enum { CONTENT_BYTES, CONTENT_STRING }; /* branches of `content` */

static void put_some_view(struct sp_buf *out, struct sp_view text)
{
    sp_codec_put_count(out, text.len > 0);
    if (text.len)
        sp_codec_put_bytes(out, text);
}

static struct sp_view get_some_view(struct sp_decoder *d)
{
    return sp_codec_get_some(d) ? sp_codec_get_bytes(d) : sp_view(NULL, 0);
}

void sp_page_encode(const struct sp_page_record *page, const struct sp_wire_format *format,
                    struct sp_buf *out)
{
    sp_codec_put_frame(out, format, SP_FINGERPRINT_PAGE);
    sp_codec_put_bytes(out, page->url);
    sp_codec_put_count(out, page->fetch_time_ms >= 0);
    if (page->fetch_time_ms >= 0)
        sp_buf_put_zigzag(out, page->fetch_time_ms);
    sp_buf_put_zigzag(out, page->http_status);
    put_some_view(out, page->redirect_url);
    put_some_view(out, page->content_type);
    sp_codec_put_count(out, page->popularity != 0);
    if (page->popularity != 0)
        sp_codec_put_double(out, page->popularity);
    sp_codec_put_count(out, page->content_is_utf8 ? CONTENT_STRING : CONTENT_BYTES);
    sp_codec_put_bytes(out, page->content);
    sp_codec_put_count(out, page->as_of_ms > 0);
    if (page->as_of_ms > 0)
        sp_buf_put_zigzag(out, page->as_of_ms);
}

/* Accepts the older schema, without the field by which a 304 names a fetch: its records end
 * earlier. */
static struct sp_decoder open_frame(struct sp_view in, const struct sp_wire_format *format,
                                    bool *ret_may_end)
{
    struct sp_decoder old = sp_codec_open_frame(in, NULL, SP_FINGERPRINT_PAGE_NO_REFERENCE);
    bool registry = format && format->framing == SP_FRAMING_REGISTRY;
    *ret_may_end = registry || old.err == SP_OK;
    return !registry && old.err == SP_OK ? old
                                         : sp_codec_open_frame(in, format, SP_FINGERPRINT_PAGE);
}

static int64_t get_reference(struct sp_decoder *d, bool may_end)
{
    if ((may_end && sp_reader_left(&d->r) == 0) || !sp_codec_get_some(d))
        return 0;
    int64_t ms = sp_codec_get_long(d);
    return ms > 0 ? ms : 0;
}

enum sp_err sp_page_decode(struct sp_view in, const struct sp_wire_format *format,
                           struct sp_page_record *ret_page)
{
    bool may_end;
    struct sp_decoder d = open_frame(in, format, &may_end);
    struct sp_page_record page = {.url = sp_codec_get_bytes(&d), .fetch_time_ms = -1};
    if (sp_codec_get_some(&d)) {
        page.fetch_time_ms = sp_codec_get_long(&d);
        if (page.fetch_time_ms < 0)
            page.fetch_time_ms = -1;
    }
    int64_t status = sp_codec_get_long(&d);
    if (status < INT32_MIN || status > INT32_MAX)
        sp_codec_refuse(&d, SP_MALFORMED);
    page.http_status = (int32_t)status;
    page.redirect_url = get_some_view(&d);
    page.content_type = get_some_view(&d);
    page.popularity = sp_codec_get_some(&d) ? sp_codec_get_double(&d) : 0;
    page.content_is_utf8 = sp_codec_get_count(&d, CONTENT_STRING) == CONTENT_STRING;
    page.content = sp_codec_get_bytes(&d);
    page.as_of_ms = get_reference(&d, may_end);
    enum sp_err err = sp_codec_finish(&d);
    if (err == SP_OK)
        *ret_page = page;
    return err;
}
