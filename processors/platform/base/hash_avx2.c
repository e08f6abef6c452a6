/* XXH3 of long data with AVX2. */
#include "base/hash_avx2.h"

#if SP_HASH_AVX2
#pragma GCC target("avx2") /* xxhash.h chooses its vectors when it is compiled */

#define XXH_INLINE_ALL
#include <xxhash.h>

struct sp_id sp_hash128_avx2(const void *data, size_t len)
{
    XXH128_hash_t h = XXH3_128bits(data, len);
    return (struct sp_id){h.high64, h.low64};
}
#endif
