/* Counts the shingles that two sorted multisets share, and finds those that only one has. An
 * array without values may be NULL. Thread rule: any thread. */
#ifndef SP_SIMILARITY_INTERSECT_H
#define SP_SIMILARITY_INTERSECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the size of the intersection (a value that a has m times and b has n times counts min(m,
 * n) times), or any number below `need` if the size is below `need`. */
size_t sp_intersect(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                    size_t need);

/* Whether that size is at least `need`; ends as soon as this is certain. */
bool sp_intersect_reaches(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                          size_t need);

/* Writes the values of a that b does not have, each once and in ascending order, to ret_values,
 * which has room for a_count; returns how many. */
size_t sp_difference(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                     uint32_t *ret_values);

#endif
