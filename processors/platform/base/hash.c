/* XXH3, wrapped in the two functions that samepage uses. */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct sp_id sp_hash128(const void *data, size_t len)
{
    XXH128_hash_t h = XXH3_128bits(data, len);
    return (struct sp_id){h.high64, h.low64};
}

uint64_t sp_hash64(const void *data, size_t len)
{
    return XXH3_64bits(data, len);
}
