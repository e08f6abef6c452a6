/* The numbers of the similarity methods. The table in similarity/methods.c says what each method
 * is, where it comes from and how it decides. They are declared here because the method decides
 * what a signature holds:
 *
 *   method      hashes (sorted)                 sequence
 *   shingles    5-word shingles, the smallest   -
 *   simhash     -                               64 bits, low half first
 *   cosine      words, the smallest             SP_SIGN_WORDS of sign bits, a count a word
 *   sentences   sentences, the smallest         -
 *   lcs         sentences, each occurrence      sentences in document order
 *   combined    as shingles                     as lcs
 *
 * The numbers are part of the signatures' parameters and never change. */
#ifndef SP_PAGE_METHOD_H
#define SP_PAGE_METHOD_H

enum sp_method {
    SP_METHOD_SHINGLES,
    SP_METHOD_SIMHASH,
    SP_METHOD_COSINE,
    SP_METHOD_SENTENCES,
    SP_METHOD_LCS,
    SP_METHOD_COMBINED,
    SP_METHOD_COUNT
};

/* Incremented when the same text would give another signature, by any method, or its row in the
 * index is another. A state of another version is refused. */
enum { SP_SIGNATURE_VERSION = 2 };

enum {
    SP_SIMHASH_WORDS = 2, /* of 32 bits */
    SP_SIGN_BANDS = 64,   /* of a cosine signature's sign bits */
    SP_SIGN_BITS = 24,    /* in each band */
    SP_SIGN_WORDS = SP_SIGN_BANDS * SP_SIGN_BITS / 32,
    SP_MINIMA_BUCKETS = 7, /* the m and n of Huang, Wang, Li */
    SP_MINIMA_EACH = 3,
    SP_MINIMA = SP_MINIMA_BUCKETS * SP_MINIMA_EACH
};

#endif
