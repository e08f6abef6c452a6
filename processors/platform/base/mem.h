/* Allocation. samepage allocates from the heap only through these, so that tests can make the Nth
 * allocation fail (sp_mem_fail_after) and so that running out of memory ends in one way: a message
 * and abort(). The state is safe: it is what the last barrier committed.
 *
 * Thread rule: any thread; sp_mem_fail_after is for single-threaded tests. */
#ifndef SP_BASE_MEM_H
#define SP_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

/* Never return NULL. Memory of sp_alloc is not zeroed, of sp_calloc it is. */
void *sp_alloc(size_t bytes);
void *sp_calloc(size_t count, size_t bytes);
void *sp_realloc(void *old, size_t bytes);
void *sp_memdup(const void *data, size_t bytes);
/* A copy of a text, NUL included; NULL for NULL. */
char *sp_strdup(const char *text);
void sp_free(void *p);

/* sp_grow(&array, &cap, need) makes room for `need` elements in an array of *cap (uint32_t or
 * size_t) elements, NULL and 0 at first:
 *
 *     sp_grow(&list->items, &list->cap, list->count + 1);
 *     list->items[list->count++] = item;
 *
 * It at least doubles: n elements, added one by one, are copied less than 2n times. The new
 * elements are not zeroed; sp_free frees them. A size that no array can have (of uint32_t:
 * UINT32_MAX and more, so that `count + 1` never wraps) ends the process as lack of memory does.
 *
 * A macro for the sake of the types: its arguments are evaluated more than once. */
#define sp_grow(array, cap, need)                                                                  \
    ((size_t)(need) > *(cap)                                                                       \
         ? (void)(*(array) = _Generic(*(cap), uint32_t                                             \
                                      : sp_grow_u32, size_t                                        \
                                      : sp_grow_size)(*(array), (cap), (need), sizeof **(array)))  \
         : (void)0)
/* What it calls: the array, moved, of elements of so many bytes. */
void *sp_grow_u32(void *array, uint32_t *cap, size_t need, size_t bytes);
void *sp_grow_size(void *array, size_t *cap, size_t need, size_t bytes);

/* Tests: calls_left more calls succeed, then all fail; -1 turns it off. The program takes the
 * number from SAMEPAGE_TEST_FAIL_ALLOCATION. */
void sp_mem_fail_after(long calls_left);

#endif
