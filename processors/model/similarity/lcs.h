/* The longest common subsequence of two sequences. Private to this folder and its tests. */
#ifndef SP_SIMILARITY_LCS_H
#define SP_SIMILARITY_LCS_H

#include <stddef.h>
#include <stdint.h>

/* Its length, or any number below `need` once it is certain that it stays below. O(ND) time, O(N)
 * memory, D the number of insertions and deletions, at most as many as `need` allows. */
size_t sp_lcs_length(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                     size_t need);

#endif
