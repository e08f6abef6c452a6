/* The distinct contents of some fetches as length vectors, on which maps are trained and measured.
 * Private to this folder and its tests. */
#ifndef SP_EVALUATE_DISTINCT_H
#define SP_EVALUATE_DISTINCT_H

#include "evaluate/trace.h"
#include "partition/train.h"

/* How a page is split into the dimensions of its length vector. */
enum sp_split {
    SP_SPLIT_TOTAL,      /* one dimension: the number of shingles */
    SP_SPLIT_BALANCED_2, /* the paper's: words by frequency, to the least loaded */
    SP_SPLIT_BALANCED_3,
    SP_SPLIT_SPREAD_2, /* ours: partition/words.h */
    SP_SPLIT_SPREAD_3,
    SP_SPLIT_SETTINGS, /* of the signatures: by hash, or by the dictionary of partition.map */
    SP_SPLITS
};

struct sp_distinct {
    size_t count;
    struct sp_signature **signatures;      /* borrowed from the trace, in order of the fetches */
    uint32_t *fetches;                     /* that gave them */
    struct sp_lengths *lengths[SP_SPLITS]; /* NULL: not made */
};

/* One of each content of these fetches (those without content are left out), with the lengths that
 * signatures know: SP_SPLIT_TOTAL and SP_SPLIT_SETTINGS. */
void sp_distinct_init(const struct sp_trace *t, const uint32_t *fetches, size_t count,
                      struct sp_distinct *ret_distinct);
/* Computes the other lengths, too: reads the contents again and trains dictionaries on their
 * words. */
enum sp_err sp_distinct_read_words(struct sp_distinct *d, const struct sp_trace *t,
                                   struct sp_fault *fault);
void sp_distinct_done(struct sp_distinct *d);

#endif
