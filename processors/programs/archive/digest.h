/* SHA-1 in base 32, by which WARC files identify payloads ("sha1:" and 32 letters). Other tools
 * find copies by it; samepage itself compares bytes. Private to this folder. */
#ifndef SP_ARCHIVE_DIGEST_H
#define SP_ARCHIVE_DIGEST_H

#include "base/bytes.h"

enum { SP_DIGEST_BYTES = 38 }; /* with its NUL */

void sp_digest(struct sp_view bytes, char ret_text[SP_DIGEST_BYTES]);

#endif
