/* The form of a record between workers and the caller's thread: varint length and id, varint length
 * and packed signature (0: none), then the record's bytes. */
#include "dedup/records.h"

enum sp_err sp_dedup_make(void *arg, struct sp_text *text, const struct sp_page_record *page,
                          struct sp_buf *scratch, struct sp_buf *out, const char **ret_why)
{
    const bool *whole = arg;
    sp_buf_reset(scratch);
    if (sp_page_record_succeeded(page) && sp_text_readable(page->content_type)) {
        *ret_why = sp_page_record_lacks_content(page);
        if (*ret_why)
            return SP_MALFORMED;
        struct sp_signature *signature =
            sp_text_signature(text, page->content_type, page->content, page->content_is_utf8);
        sp_signature_encode(signature, scratch);
        sp_signature_unref(signature);
    }
    struct sp_view id = page->id.len ? page->id : page->url;
    sp_buf_put_varint(out, id.len);
    sp_buf_put_view(out, id);
    sp_buf_put_varint(out, scratch->len);
    sp_buf_put_view(out, sp_buf_view(scratch));
    if (*whole)
        sp_buf_put_view(out, page->whole);
    return SP_OK;
}

enum sp_err sp_dedup_read(struct sp_view made, struct sp_dedup_record *ret_record)
{
    struct sp_reader r = sp_reader(made);
    struct sp_dedup_record record = {0};
    enum sp_err err = SP_OK;
    record.id = sp_read_bytes(&r, sp_read_varint(&r));
    struct sp_view packed = sp_read_bytes(&r, sp_read_varint(&r));
    record.whole = sp_read_bytes(&r, sp_reader_left(&r));
    if (r.failed)
        return SP_CORRUPT;
    if (packed.len)
        err = sp_signature_decode(packed, &record.signature);
    if (err == SP_OK)
        *ret_record = record;
    return err;
}
