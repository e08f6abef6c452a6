/* XXH3, wrapped in the two functions that samepage uses. */
#include "base/hash.h"

#include "base/hash_avx2.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct sp_id sp_hash128(const void *data, size_t len)
{
#if SP_HASH_AVX2
    if (len > XXH3_MIDSIZE_MAX && __builtin_cpu_supports("avx2"))
        return sp_hash128_avx2(data, len);
#endif
    XXH128_hash_t h = XXH3_128bits(data, len);
    return (struct sp_id){h.high64, h.low64};
}

uint64_t sp_hash64(const void *data, size_t len)
{
    return XXH3_64bits(data, len);
}
