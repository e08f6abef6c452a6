/* Arrays that take a large part of a program's memory, with little room to spare: sp_grow (mem.h)
 * leaves up to half of an array empty.
 *
 * From 128 KiB on, an array has a mapping of its own, in huge pages if it is large (huge.h). To
 * grow, it moves to where there is room for more, and the system moves its pages: nothing is
 * copied, and no memory is taken for a second array. With a sanitizer it is copied as
 * smaller ones are, so that the sanitizer sees where it ends. Thread rule: one thread at a time for
 * each array. */
#ifndef SP_BASE_TIGHT_H
#define SP_BASE_TIGHT_H

#include <stddef.h>
#include <stdint.h>

/* sp_tight_grow(&array, &cap, need) makes room for `need` elements in an array of *cap (uint32_t)
 * elements, NULL and 0 at first. The capacity grows by an eighth; of n elements that are added one
 * by one, fewer than 9n are copied, and less than 1.2 MiB. New elements are not zeroed. Lack of
 * memory ends the process as in sp_grow. Evaluates its arguments more than once. */
#define sp_tight_grow(array, cap, need)                                                            \
    ((size_t)(need) > *(cap)                                                                       \
         ? (void)(*(array) = sp_tight_grown(*(array), (cap), (need), sizeof **(array)))            \
         : (void)0)
/* Frees the array, which sp_free must not; NULL with a capacity of 0 is allowed. */
#define sp_tight_free(array, cap) sp_tight_freed((array), (cap), sizeof *(array))

/* The macros call these; an element has `bytes`. */
void *sp_tight_grown(void *array, uint32_t *cap, size_t need, size_t bytes);
void sp_tight_freed(void *array, uint32_t cap, size_t bytes);

#endif
