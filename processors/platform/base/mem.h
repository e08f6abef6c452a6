/* Allocation. samepage allocates from the heap only through these, so that tests can make the Nth
 * allocation fail (sp_mem_fail_after) and so that running out of memory ends in one way: a message
 * and abort(), or in a program exit code 1. The state is safe: it is what the last barrier
 * committed.
 *
 * Thread rule: any thread; sp_mem_fail_after is for single-threaded tests. */
#ifndef SP_BASE_MEM_H
#define SP_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

/* None of these returns NULL for a size above 0. Memory of sp_alloc is not zeroed; that of
 * sp_calloc is. Free all of it with sp_free. */
void *sp_alloc(size_t bytes);
void *sp_calloc(size_t count, size_t bytes);
void *sp_realloc(void *old, size_t bytes);
void *sp_memdup(const void *data, size_t bytes);
/* A copy of a text, NUL included; NULL for NULL. */
char *sp_strdup(const char *text);
/* NULL is allowed. */
void sp_free(void *p);

/* sp_grow(&array, &cap, need) makes room for `need` elements in an array of *cap (uint32_t or
 * size_t) elements, NULL and 0 at first:
 *
 *     sp_grow(&list->items, &list->cap, list->count + 1);
 *     list->items[list->count++] = item;
 *
 * The capacity at least doubles, so adding n elements one by one copies fewer than 2n. New elements
 * are not zeroed; sp_free frees the array. A size that no array can have (with a uint32_t capacity:
 * UINT32_MAX and more, so that `count + 1` never wraps) ends the process as lack of memory does.
 *
 * This is a macro because the type of the array varies. It evaluates its arguments more than
 * once. */
#define sp_grow(array, cap, need)                                                                  \
    ((size_t)(need) > *(cap)                                                                       \
         ? (void)(*(array) = _Generic(*(cap), uint32_t                                             \
                                      : sp_grow_u32, size_t                                        \
                                      : sp_grow_size)(*(array), (cap), (need), sizeof **(array)))  \
         : (void)0)
/* The macros call these. They return the array, which may have moved; an element has `bytes`. */
void *sp_grow_u32(void *array, uint32_t *cap, size_t need, size_t bytes);
void *sp_grow_size(void *array, size_t *cap, size_t need, size_t bytes);
/* Returns the next capacity: `more` larger, for at least `need` elements of `bytes` each, and at
 * most `most`. */
size_t sp_grown_capacity(size_t cap, size_t more, size_t need, size_t bytes, size_t most);
/* For an array without a capacity of its own: so many elements are allocated for `count`. There are
 * four sizes for each power of two. */
static inline uint32_t sp_room_for(uint32_t count)
{
    uint32_t power = 31 - (uint32_t)__builtin_clz(count | 1),
             step = power > 2 ? 1u << (power - 2) : 1;
    return (count + step - 1) / step * step;
}

/* Ends the process with a message, because so many bytes could not be had; 0: not known how
 * many. */
void sp_mem_out(size_t bytes);
/* From now on, lack of memory ends the process with `end`, which must not return, and not with
 * abort(), which may write all its memory to a file. */
void sp_mem_out_ends(void (*end)(void));

/* For tests: the next `calls_left` allocations succeed and all later ones fail; -1 turns this off.
 * The program `samepage` takes the number from the variable SAMEPAGE_TEST_FAIL_ALLOCATION. */
void sp_mem_fail_after(long calls_left);

#endif
