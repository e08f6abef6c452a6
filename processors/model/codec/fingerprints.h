/* The CRC-64-AVRO of the Parsing Canonical Form of each schema in schemas/.
 * tests/unit/codec/test_fingerprints.c compares them with the files and prints the right value if
 * they differ. */
#ifndef SP_CODEC_FINGERPRINTS_H
#define SP_CODEC_FINGERPRINTS_H

#include <stdint.h>

#define SP_FINGERPRINT_PAGE UINT64_C(0x7b26edb74909b9f8)
#define SP_FINGERPRINT_PAGE_NO_REFERENCE UINT64_C(0x00a830ce6fffec2b) /* schemas/old */
#define SP_FINGERPRINT_STATUS UINT64_C(0x1bf0184f5b3c2a76)
#define SP_FINGERPRINT_STATUS_NO_CONTAINER UINT64_C(0xcdb166bafd669f8d) /* schemas/old */
#define SP_FINGERPRINT_STATUS_NO_RULE UINT64_C(0x052aeafb6e82c021)      /* schemas/old */
#define SP_FINGERPRINT_TIER1 UINT64_C(0x6a0bebf1a4e583e9)
#define SP_FINGERPRINT_TIER1_NO_WAIT UINT64_C(0x8cf9fd1772e0e17b) /* schemas/old */
#define SP_FINGERPRINT_TIER1_NO_RULE UINT64_C(0x68937c8475368f2d) /* schemas/old */
#define SP_FINGERPRINT_CONTAIN UINT64_C(0x5162bb533ecd418e)
#define SP_FINGERPRINT_TIER2 UINT64_C(0xdde34c0245e2e19c)

#endif
