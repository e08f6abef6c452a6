/* Orders and sizes that need no table of pages. Private to this folder. */
#ifndef SP_SYNTH_ORDER_H
#define SP_SYNTH_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* The place, below count, of number i < count in the order of that seed: a permutation. Source: a
 * Feistel network over the next power of four, walked until it ends below count (Black and Rogaway,
 * "Ciphers with arbitrary finite domains", 2002). Four rounds a step, four steps at most on
 * average. */
uint64_t sp_permute(uint64_t seed, uint64_t count, uint64_t i);

/* Groups whose sizes follow Zipf's law: group r has largest / (r + 1) pages, at least one, until
 * all pages have a group. Memory: 8 bytes for each group of two and more pages. */
struct sp_zipf {
    uint64_t *starts; /* pages before each of these groups, and before the first group of one */
    size_t groups;
};

/* `largest` is at least 1. */
void sp_zipf_make(struct sp_zipf *z, uint64_t pages, uint64_t largest);
void sp_zipf_done(struct sp_zipf *z);
/* The group of page i < pages, and its number in it. O(log groups). */
uint64_t sp_zipf_group(const struct sp_zipf *z, uint64_t i, uint64_t *ret_number);

#endif
