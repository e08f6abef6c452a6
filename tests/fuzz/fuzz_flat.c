/* links: sp_input sp_base */
/* Any bytes as one line of JSON: if the parser of flat lines accepts it, simdjson makes the same
 * record of it. */
#include "base/assert.h"
#include "input/flat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sp_input_fields fields;
static struct sp_flat *flat;
static void *reader;

static void start(void)
{
    sp_input_fields_default(&fields);
    reader = sp_json_ops_portable.make(&fields);
    flat = sp_flat_new(&fields, &sp_json_ops_portable);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sp_page_record fast, page;
    struct sp_buf line = {0};
    const char *why;
    if (!reader)
        start();
    /* Without its last byte also, so that the line ends before the bytes behind it. */
    fields.any_time = size && data[size - 1] & 1;
    fields.dataset = size && data[size - 1] & 2;
    sp_buf_put(&line, data, size);
    sp_buf_reserve(&line, SP_JSON_PADDING);
    for (size_t cut = 0; flat && cut < 2 && cut <= size; cut++, line.len--) {
        if (!sp_flat_parse(flat, sp_buf_view(&line), &fast))
            continue;
        SP_ASSERT(sp_json_ops_portable.parse(reader, sp_buf_view(&line), &page, &why) == SP_OK);
        SP_ASSERT(sp_view_eq(fast.url, page.url) && sp_view_eq(fast.content, page.content));
        SP_ASSERT(sp_view_eq(fast.redirect_url, page.redirect_url));
        SP_ASSERT(sp_view_eq(fast.content_type, page.content_type));
        SP_ASSERT(!fast.content.data == !page.content.data);
        SP_ASSERT(fast.content.data || fast.content_like == page.content_like);
        SP_ASSERT(fast.fetch_time_ms == page.fetch_time_ms);
        SP_ASSERT(fast.http_status == page.http_status && fast.popularity == page.popularity);
    }
    sp_buf_done(&line);
    return 0;
}
