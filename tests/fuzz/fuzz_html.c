/* links: sp_text sp_base */
/* Any bytes as HTML: no crash, and every kernel and both interfaces return the same signature. The
 * first byte chooses the scope, sentences, and whether the bytes are passed as UTF-8. */
#include "base/assert.h"
#include "text/scan.h"
#include "text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KERNELS = 4 };

/* One for each kernel, because none may know what another one signed. */
static struct sp_text *texts[KERNELS][4];

static struct sp_text *text_for(size_t kernel, unsigned choice)
{
    if (!texts[kernel][choice]) {
        struct sp_text_options options;
        sp_text_options_default(&options);
        options.scope = choice & 1 ? SP_TEXT_ALL : SP_TEXT_MAIN;
        options.signature.max_sentences = choice & 2 ? 64 : 0;
        texts[kernel][choice] = sp_text_new(&options);
    }
    return texts[kernel][choice];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const kernels[KERNELS] = {"portable", "avx2", "avx512", "avx512vbmi2"};
    if (size == 0)
        return 0;
    struct sp_view html = sp_view(data + 1, size - 1);
    struct sp_view type = sp_view_str("text/html");
    struct sp_signature *first = NULL;
    for (size_t i = 0; i < KERNELS; i++) {
        if (!sp_scan_use(kernels[i]))
            continue;
        struct sp_signature *s =
            sp_text_signature(text_for(i, data[0] & 3), type, html, data[0] & 4);
        if (!first)
            first = sp_signature_ref(s);
        SP_ASSERT(sp_id_eq(first->content_hash, s->content_hash));
        SP_ASSERT(first->language == s->language);
        sp_signature_unref(s);
    }
    sp_signature_unref(first);
    struct sp_buf out = {0};
    sp_text_extract(text_for(0, data[0] & 3), type, html, data[0] & 4, &out);
    sp_buf_done(&out);
    return 0;
}
