/* The signature: what the stages pass on instead of a page's content.
 *
 * Source: Zhu, Potapova, Alabduljalil, Liu, Yang, "Clustering and Load Balancing
 * Optimization for Redundant Content Removal", WWW 2012, sections 3 and 4.
 *
 * A page's text is a sequence of words w1 ... wn; a shingle is k consecutive words (k = 5). An
 * option (builder.h) says how a repeated shingle counts:
 *
 *   once       A is the set of distinct shingles, and L_i the number of them whose first word is in
 *              sub-dictionary i. This is Broder's resemblance, and the default: it finds all
 *              2,188 pairs with J >= 0.85 of a labelled collection; `labelled` misses 43, pages
 *              that differ in how often they repeat a row of a table
 *   labelled   the paper's reading: each occurrence is labelled with its number, the text is padded
 *              with k-1 dummy words, and L_i is the number of words in sub-dictionary i
 *
 * Either way |A| = L1 + L2 + L3 exactly (the paper's epsilon is zero). Mapping each shingle to its
 * first word shows that J(A, B) <= sum min(L_i) / sum max(L_i) for any dictionary.
 *
 * A shingle is kept as a 32-bit hash, which halves memory, disk and messages compared with 64 bits.
 * Two distinct shingles of one page with equal hashes count as one (labelled: as two occurrences of
 * one), so that |A| may be one too small: of one page in 8,000 that has 1,024 shingles, and of half
 * of those with 77,000. Two unrelated pages of 1,024 shingles share one by accident once in 4,000
 * pairs, which moves their J by 0.0005. Two texts of one shingle each would be equal once in 4
 * billion pairs, so these are compared by their content hash, which is that of the shingle's words.
 *
 * Only the `max_shingles` smallest hashes are kept. J is exact for pages with no more shingles than
 * that, and the bottom-k estimate (Broder 1997) for larger ones, which have shingle_total >
 * shingle_count.
 *
 * The above describes the default method. Other methods (method.h) use the same fields differently:
 * for a sorted set, of which shingle_count of shingle_total members are kept, and for a sequence of
 * sentence_count numbers in any order. shingle_total is 0 if a page has nothing that the method
 * compares.
 *
 * A signature is immutable once made, and reference counted without atomics: it
 * belongs to one thread at a time. */
#ifndef SP_PAGE_SIGNATURE_H
#define SP_PAGE_SIGNATURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/hash.h"
#include "page/method.h"

enum {
    SP_SHINGLE_WORDS = 5,     /* k */
    SP_DIMS = 3,              /* sub-dictionaries */
    SP_SIGNATURE_HEADER = 49, /* at least the longest header of the packed form */
    SP_MAX_SHINGLES_LIMIT = 1 << 16,
    SP_MAX_SENTENCES_LIMIT = 1 << 12,
    SP_MAX_SEQUENCE_LIMIT = SP_MAX_SHINGLES_LIMIT + (1 << 12)
};

struct sp_signature {
    uint32_t refs;
    uint32_t params; /* hash of version and parameters; signatures with different ones are never
                      * compared */
    struct sp_id content_hash; /* of the words in order, or of the words of the only shingle: equal
                                * means "exactly equal content" */
    uint32_t length[SP_DIMS];  /* the length vector */
    uint32_t shingle_total;    /* |A| = sum of length[] */
    uint32_t shingle_count;    /* kept: min(shingle_total, max_shingles) */
    uint32_t sentence_count;   /* of the sequence: sentence hashes kept, in document order */
    uint16_t language; /* two lower-case letters, high byte first ("en" = 0x656e); 0 unknown */
    uint8_t packed;    /* bytes of `header`; 0: not known yet */
    uint8_t header[SP_SIGNATURE_HEADER]; /* its end: the packed form up to the hashes */
    uint32_t hashes[];                   /* shingle_count sorted shingles, then the sequence */
};

static inline const uint32_t *sp_signature_shingles(const struct sp_signature *s)
{
    return s->hashes;
}

static inline const uint32_t *sp_signature_sentences(const struct sp_signature *s)
{
    return s->hashes + s->shingle_count;
}

/* Sets *ret_bits to the 64 bits of a simhash signature (method.h). If the page has no words, or the
 * sequence is too short to hold the bits, they are 0 and the result is false. */
static inline bool sp_signature_simhash(const struct sp_signature *s, uint64_t *ret_bits)
{
    const uint32_t *words = sp_signature_sentences(s);
    bool known = s->shingle_total > 0 && s->sentence_count >= SP_SIMHASH_WORDS;
    *ret_bits = known ? (uint64_t)words[1] << 32 | words[0] : 0;
    return known;
}

/* Returns a signature with room for its hashes, and with refs and both counts set; the rest is not
 * initialised. */
struct sp_signature *sp_signature_alloc(uint32_t shingle_count, uint32_t sentence_count);

/* Adds a reference and returns the signature. */
static inline struct sp_signature *sp_signature_ref(struct sp_signature *s)
{
    s->refs++;
    return s;
}

/* Drops one reference, freeing at the last; NULL is allowed. */
void sp_signature_unref(struct sp_signature *s);

/* Memory of one signature in bytes. */
static inline size_t sp_signature_bytes(const struct sp_signature *s)
{
    return sizeof *s + 4ull * (s->shingle_count + s->sentence_count);
}

/* Appends the packed form: a header, then the hashes uncompressed (encoding their differences would
 * save a twentieth and cost a decoder). signature.c draws the layout, which is also that of the
 * field `signature` in the Avro schemas and of the stored row. */
void sp_signature_encode(const struct sp_signature *s, struct sp_buf *out);

/* The packed form in the memory of the signature, which must not change after the call. */
struct sp_view sp_signature_packed(struct sp_signature *s);

/* Reads one packed signature that fills `in`. The bytes are not trusted: anything that
 * sp_signature_encode would not write gives SP_MALFORMED or SP_TRUNCATED (it checks order, counts,
 * sums and limits). On SP_OK *ret_signature has one reference. */
enum sp_err sp_signature_decode(struct sp_view in, struct sp_signature **ret_signature);

#endif
