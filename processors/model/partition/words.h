/* Makes sub-dictionaries from the words of a sample.
 *
 * Source: Zhu et al., WWW 2012, section 4.1, for `balanced`: each word, by descending frequency,
 * goes to the least loaded sub-dictionary. `spread` is ours. The routing bound holds for any
 * dictionary, so it puts words that occur on the same pages together, and different kinds of pages
 * get different proportions of L1, L2 and L3; see words.c. Words that are not among the most
 * frequent are assigned by their hash.
 *
 * Thread rule: any thread. */
#ifndef SP_PARTITION_WORDS_H
#define SP_PARTITION_WORDS_H

#include "partition/partition.h"

enum sp_words_rule { SP_WORDS_SPREAD, SP_WORDS_BALANCED, SP_WORDS_BY_HASH };

/* The first words of a page's shingles as pairs (30 bits of the word's hash, count), ascending.
 * Free with sp_free. */
struct sp_bag {
    uint32_t total; /* sum of the counts, |A| */
    uint32_t pairs;
    uint32_t words[]; /* 2 * pairs */
};

/* Makes a bag from hashes of words, repeats included; reorders `words`. */
struct sp_bag *sp_bag_new(uint64_t *words, size_t count);

/* The page's length vector under a dictionary. Words assigned by hash use only 30 bits of it
 * here. */
void sp_bag_lengths(const struct sp_bag *bag, const struct sp_dictionary *dictionary,
                    uint32_t ret_length[SP_DIMS]);

/* Makes a dictionary of `dims` sub-dictionaries with at most `words` words. The result does not
 * depend on the order of the bags. SP_INVALID: dims or words out of range. */
enum sp_err sp_words_train(enum sp_words_rule rule, uint32_t dims, uint32_t words,
                           struct sp_bag *const *bags, size_t count,
                           struct sp_dictionary *ret_dictionary);

#endif
