/* links: sp_text sp_base */
/* Any bytes as Markdown or plain text in any charset. The first line is the content type. */
#include "base/assert.h"
#include "text/repair.h"
#include "text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sp_text *t;
    if (!t) {
        struct sp_text_options options;
        sp_text_options_default(&options);
        options.signature.max_sentences = 64;
        t = sp_text_new(&options);
    }
    const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
    if (!newline)
        return 0;
    struct sp_view type = sp_view(data, (size_t)(newline - data));
    struct sp_view content = sp_view(newline + 1, size - type.len - 1);
    sp_signature_unref(sp_text_signature(t, type, content, false));
    sp_signature_unref(sp_text_signature(t, type, content, true));
    struct sp_buf out = {0};
    sp_text_extract(t, type, content, false, &out);
    SP_ASSERT(sp_utf8_valid(sp_buf_view(&out)));
    sp_buf_done(&out);
    return 0;
}
