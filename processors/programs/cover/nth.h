/* Selection. Private to this folder. */
#ifndef SP_COVER_NTH_H
#define SP_COVER_NTH_H

#include <stddef.h>
#include <stdint.h>

/* Returns the value that would be at place `at` if the values were sorted, and reorders them
 * (Hoare's selection). */
uint64_t sp_nth(uint64_t *values, size_t count, size_t at);

#endif
