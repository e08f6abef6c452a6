/* links: sp_page */
/* Any bytes as a packed signature: accepted bytes encode to themselves and keep the invariants that
 * other modules rely on. */
#include "base/assert.h"
#include "page/signature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sp_view in = sp_view(data, size);
    struct sp_signature *s = NULL;
    struct sp_buf again = {0};
    if (sp_signature_decode(in, &s) != SP_OK)
        return 0;
    for (uint32_t i = 1; i < s->shingle_count; i++)
        SP_ASSERT(s->hashes[i - 1] <= s->hashes[i]);
    SP_ASSERT(s->shingle_count <= s->shingle_total);
    sp_signature_encode(s, &again);
    SP_ASSERT(sp_view_eq(sp_buf_view(&again), in));
    sp_buf_done(&again);
    sp_signature_unref(s);
    return 0;
}
