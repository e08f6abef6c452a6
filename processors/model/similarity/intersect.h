/* How many shingles two sorted multisets share. */
#ifndef SP_SIMILARITY_INTERSECT_H
#define SP_SIMILARITY_INTERSECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of the intersection (of a value that a has m times and b n times, min(m, n) count),
 * or any number below `need` once it is certain that it stays below. */
size_t sp_intersect(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                    size_t need);

/* Whether that size is at least `need`: ends as soon as it is reached, or cannot be any more. */
bool sp_intersect_reaches(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                          size_t need);

#endif
