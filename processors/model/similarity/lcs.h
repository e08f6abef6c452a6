/* The longest common subsequence of two sequences, by Myers, "An O(ND) Difference Algorithm and Its
 * Variations", 1986. Private to this folder and its tests. */
#ifndef SP_SIMILARITY_LCS_H
#define SP_SIMILARITY_LCS_H

#include <stddef.h>
#include <stdint.h>

/* Returns its length, or any number below `need` if the length is below `need`. O(ND) time and O(N)
 * memory; D is the number of insertions and deletions, which `need` bounds. */
size_t sp_lcs_length(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                     size_t need);

#endif
