/* links: sp_signature sp_base */
/* Any bytes as a packed signature: what is accepted encodes to itself, keeps the promises that
 * other modules rely on, and peeking agrees with decoding. */
#include "base/assert.h"
#include "signature/signature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sp_view in = sp_view(data, size);
    struct sp_signature *s = NULL;
    struct sp_buf again = {0};
    uint32_t first[8] = {0};
    size_t peeked = sp_signature_peek(in, first, 8);
    if (sp_signature_decode(in, &s) != SP_OK)
        return 0;
    SP_ASSERT(peeked == (s->shingle_count < 8 ? s->shingle_count : 8));
    for (size_t i = 0; i < peeked; i++)
        SP_ASSERT(first[i] == s->hashes[i]);
    for (uint32_t i = 1; i < s->shingle_count; i++)
        SP_ASSERT(s->hashes[i - 1] <= s->hashes[i]);
    SP_ASSERT(s->shingle_count <= s->shingle_total);
    sp_signature_encode(s, &again);
    SP_ASSERT(sp_view_eq(sp_buf_view(&again), in));
    sp_buf_done(&again);
    sp_signature_unref(s);
    return 0;
}
