/* A cache of the latest signatures, by text. A crawl fetches most pages again with an unchanged
 * text, and a site has many pages with the same text, although the markup around it differs. The
 * cache never changes a result. Thread rule: one thread at a time for each.
 */
#ifndef SP_TEXT_RECENT_H
#define SP_TEXT_RECENT_H

#include "base/hash.h"
#include "page/signature.h"

struct sp_recent;

struct sp_recent *sp_recent_new(void);
void sp_recent_free(struct sp_recent *r);

/* A copy of the signature of the text with this hash, with one reference, and how many words it was
 * made of; NULL if it is not known. The hash covers all that a signature is made of. */
struct sp_signature *sp_recent_find(struct sp_recent *r, struct sp_id text,
                                    uint32_t *ret_word_count);

/* Called if the last call of sp_recent_find did not find that text: here is its signature, which
 * may be copied. */
void sp_recent_add(struct sp_recent *r, struct sp_id text, const struct sp_signature *signature,
                   uint32_t word_count);

#endif
