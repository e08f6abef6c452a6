/* links: sp_input sp_base */
/* Any bytes as one line of JSON: if the parser of flat lines accepts it, simdjson makes the same
 * record of it. */
#include "base/assert.h"
#include "input/flat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sp_input_fields fields;
static const char *const vectors[] = {"avx2", "avx512vbmi2"};
enum { KINDS = sizeof vectors / sizeof *vectors };
static struct sp_flat *flat[KINDS]; /* NULL: not on this processor */
static void *reader;

static void start(void)
{
    sp_input_fields_default(&fields);
    reader = sp_json_ops_portable.make(&fields);
    for (int i = 0; i < KINDS; i++)
        flat[i] = sp_flat_new(&fields, &sp_json_ops_portable, vectors[i]);
}

static void compare(const struct sp_page_record *fast, struct sp_view line)
{
    struct sp_page_record page;
    const char *why;
    SP_ASSERT(sp_json_ops_portable.parse(reader, line, &page, &why) == SP_OK);
    SP_ASSERT(sp_view_eq(fast->url, page.url) && sp_view_eq(fast->content, page.content));
    SP_ASSERT(sp_view_eq(fast->redirect_url, page.redirect_url));
    SP_ASSERT(sp_view_eq(fast->content_type, page.content_type));
    SP_ASSERT(!fast->content.data == !page.content.data);
    SP_ASSERT(fast->content.data || fast->content_like == page.content_like);
    SP_ASSERT(fast->fetch_time_ms == page.fetch_time_ms);
    SP_ASSERT(fast->http_status == page.http_status && fast->popularity == page.popularity);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sp_page_record page;
    struct sp_buf line = {0};
    if (!reader)
        start();
    fields.any_time = size && data[size - 1] & 1;
    fields.dataset = size && data[size - 1] & 2;
    sp_buf_put(&line, data, size);
    sp_buf_reserve(&line, SP_JSON_PADDING);
    /* Without its last byte also, so that the line ends before the bytes behind it. */
    for (size_t cut = 0; cut < 2 && cut <= size; cut++, line.len--)
        for (int i = 0; i < KINDS; i++)
            if (flat[i] && sp_flat_parse(flat[i], sp_buf_view(&line), &page))
                compare(&page, sp_buf_view(&line));
    sp_buf_done(&line);
    return 0;
}
