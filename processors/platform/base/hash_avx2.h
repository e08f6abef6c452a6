/* The vector code of hash.h. Private to this folder. Thread rule: any thread. */
#ifndef SP_BASE_HASH_AVX2_H
#define SP_BASE_HASH_AVX2_H

#include "base/hash.h"

#if defined(__x86_64__) && !defined(__clang__) /* which has no such pragma */
#define SP_HASH_AVX2 1

/* As sp_hash128, on a processor with AVX2. Twice as fast if data is long. */
struct sp_id sp_hash128_avx2(const void *data, size_t len);
#else
#define SP_HASH_AVX2 0
#endif

#endif
