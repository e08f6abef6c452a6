/* The two halves of the prefix filter: the choice of the shingles to index, and the index. Private
 * to this folder. */
#ifndef SP_SIMILARITY_PREFIX_H
#define SP_SIMILARITY_PREFIX_H

#include "page/signature.h"

/* Approximate frequency of each shingle: shingles with equal leading bits share a counter. The
 * filter is exact with any fixed order; a good order gives fewer candidates. */
struct sp_frequencies {
    uint32_t *counters;
    unsigned shift;
};

/* Counts the shingles of all signatures. Free the result with sp_frequencies_done. */
void sp_frequencies_count(struct sp_frequencies *f, struct sp_signature *const *signatures,
                          size_t count);
/* The same in steps, for `total` shingles. */
void sp_frequencies_begin(struct sp_frequencies *f, uint64_t total);
void sp_frequencies_add(struct sp_frequencies *f, const uint32_t *shingles, size_t count);
void sp_frequencies_done(struct sp_frequencies *f);

/* Writes the `take` rarest shingles of s, in no particular order, to the low halves of ret_keys,
 * which has room for shingle_count. */
void sp_frequencies_rarest(const struct sp_frequencies *f, const struct sp_signature *s,
                           size_t take, uint64_t *ret_keys);

/* The same of any shingles. */
void sp_frequencies_rarest_of(const struct sp_frequencies *f, const uint32_t *shingles,
                              size_t count, size_t take, uint64_t *ret_keys);

/* How many of `count` shingles are in a prefix: all but those that a similar page may lack. */
size_t sp_prefix_length(double threshold, size_t count);

/* How many of these, the rarest first, must be in the index if only pages with no fewer shingles
 * look it up: two such pages share at least 2 tau / (1 + tau) of `count`, so all but that many, and
 * one more ("indexing prefix": Xiao, Wang, Lin, Yu 2008, PPJoin). Not for capped signatures, whose
 * sizes are not known. */
size_t sp_prefix_indexed(double threshold, size_t count);

/* Maps a shingle to the pages that have it in their prefix, newest first. */
struct sp_prefix_index {
    uint32_t *table; /* posting + 1, or 0; open addressing by shingle */
    unsigned shift;
    size_t posting_count;
    struct sp_prefix_posting {
        uint32_t shingle;
        uint32_t page;
        uint32_t next; /* posting + 1, or 0 */
    } * postings;
};

/* Makes an empty index with room for that many postings. */
void sp_prefix_index_init(struct sp_prefix_index *x, size_t postings);
void sp_prefix_index_done(struct sp_prefix_index *x);
/* Adds the page to the shingle's list; returns the list as it was before (posting + 1, or 0). */
uint32_t sp_prefix_index_add(struct sp_prefix_index *x, uint32_t shingle, uint32_t page);
/* The shingle's list (posting + 1, or 0). */
uint32_t sp_prefix_index_find(const struct sp_prefix_index *x, uint32_t shingle);

#endif
