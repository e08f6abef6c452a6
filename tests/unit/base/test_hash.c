/* Hashes are part of stored formats: they are XXH3, whatever code the machine has for it. */
#include "base/hash.h"
#include "harness.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

TEST(hashes_of_any_length_are_xxh3)
{
    enum { MOST = 3000 };
    static char data[MOST];
    for (size_t i = 0; i < MOST; i++)
        data[i] = (char)sp_mix64(i);
    for (size_t n = 0; n <= MOST; n += 1 + n / 50) {
        XXH128_hash_t wanted = XXH3_128bits(data, n);
        CU_ASSERT(sp_id_eq(sp_hash128(data, n), (struct sp_id){wanted.high64, wanted.low64}));
        CU_ASSERT_EQUAL(sp_hash64(data, n), XXH3_64bits(data, n));
    }
}

TEST(mixed_numbers_stay_as_they_are)
{
    CU_ASSERT_EQUAL(sp_mix32(0), 0);
    CU_ASSERT_EQUAL(sp_mix32(1), 0x688990c0);
    CU_ASSERT_EQUAL(sp_mix32(2), 0xd1132181);
    CU_ASSERT_EQUAL(sp_mix32(UINT32_MAX), 0x6768824a);
    CU_ASSERT_EQUAL(sp_mix64(1), 0x5692161d100b05e5);
}
