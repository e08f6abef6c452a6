/* Candidate pairs by the shingles they share: all pairs (a, b) of units of one block with
 *
 *     |a n b| >= share[0] |a|   and   |a n b| >= share[1] |b|   and   |a n b| >= jaccard |a u b|
 *
 * and no others, each once, with its overlap.
 *
 * Source: the prefix filter of Chaudhuri, Ganti, Kaushik, "A Primitive Operator for Similarity
 * Joins in Data Cleaning" (ICDE 2006), with the size filter of Bayardo, Ma, Srikant (WWW 2007); for
 * containment, which is not symmetric, only one side has a prefix. Whatever the order of shingles,
 * a unit with n of them leaves out its last ceil(share n) - 1: a pair that shares enough shares one
 * of the first. The order is rarest first: a shingle that only one unit has needs no posting.
 *
 * With a least Jaccard similarity the place of a shingle in that order counts
 * (similarity/positional.h): one far behind in a unit finds only smaller ones. The postings of a
 * shingle are in order of size. Units that share most of their text with many others are in crowds
 * (crowds.h), whose pairs are found in another way.
 *
 * Many pairs that meet share far too little. Patterns (similarity/parity.h) tell of most of them.
 *
 * Memory is bounded by working through the indexed side in blocks: the postings of a block are held
 * in memory, and all units of the other side are looked up in it, read front to back.
 *
 * Pairs are found in rounds, each for some of the units b, so that a caller can leave out units b
 * of a later round. An index of units a is kept from round to round if it has only one block.
 *
 *   counters   2 bytes for each of about as many hash values as there are shingles, at most an
 *              eighth of the memory
 *   postings   8 bytes each and 4 to 8 for the directory; the rest of the memory
 *   a unit     92 bytes, and 4 a thread; with a least Jaccard similarity or crowds 12 more
 *   crowds     24 bytes for each shingle that a unit and its leader do not share, at most a quarter
 *              of the memory */
#ifndef SP_COVER_PAIRS_H
#define SP_COVER_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The unit of comparison: documents of one content and one block. */
struct sp_unit {
    uint64_t at; /* first shingle in `sets` */
    uint32_t size;
    uint32_t block; /* number of its block: units of others never meet it */
    uint32_t apart; /* unless 0: units of the same number never meet it */
    uint32_t first; /* the caller's */
    uint32_t count; /* the caller's */
    bool role[2];   /* may be a, may be b */
    bool asked;     /* is a b of this round */
    /* The window (plan.h) that its documents as a have in all, and the values of those as b: a pair
     * is passed over where they do not meet. */
    double from, to;
    double least, greatest;
};

struct sp_pairs_options {
    double share[2]; /* at least one is above 0 */
    double jaccard;  /* 0, or also the least Jaccard similarity; then neither share is below it */
    unsigned threads;
    uint64_t memory_bytes;
    /* A pair found; by any thread. */
    void (*each)(void *arg, unsigned thread, size_t a, size_t b, uint32_t overlap);
    /* Of the work of all rounds, from thread 0; may be NULL. */
    void (*progress)(void *arg, uint64_t done, uint64_t total);
    void *arg;
};

struct sp_pairs_stats {
    uint64_t postings;
    uint64_t blocks;     /* of the indexed side */
    uint64_t candidates; /* pairs whose overlap was counted */
    uint64_t pairs;
};

struct sp_pairs;

/* The units and sets are borrowed; `asked` may change between rounds, nothing else. Never NULL. */
struct sp_pairs *sp_pairs_open(const struct sp_unit *units, size_t count, const uint32_t *sets,
                               const struct sp_pairs_options *options);
/* A round: finds the pairs whose b is asked. */
void sp_pairs_find(struct sp_pairs *p);
/* Adds to *stats. */
void sp_pairs_close(struct sp_pairs *p, struct sp_pairs_stats *stats);

/* Whether b may have a value in the window of a, and nothing keeps them apart. */
static inline bool sp_units_meet(const struct sp_unit *a, const struct sp_unit *b)
{
    if (a->apart > 0 && a->apart == b->apart)
        return false;
    return a->from <= b->greatest && b->least <= a->to;
}

#endif
