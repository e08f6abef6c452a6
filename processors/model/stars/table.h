/* Posting lists in memory: 32-bit key -> list of numbers below 2^31, in no order.
 *
 * A key with one number or two takes four to five bytes for each in a hash table (shards.h), whose
 * parts grow one by one, so that it is never half empty and never copied as a whole. A key with
 * more numbers points into an arena of small arrays, which has room for 32 GiB. Thread rule: one
 * thread at a time. */
#ifndef SP_STARS_TABLE_H
#define SP_STARS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SP_STAR_NUMBERS = 0x7fffffff }; /* numbers are below it */

struct sp_star_table;

/* Never NULL. Up to `few` keys are in a simpler hash table, which takes up to twice the memory and
 * half the instructions of a look-up. */
struct sp_star_table *sp_star_table_new(uint32_t few);
/* NULL is allowed. */
void sp_star_table_free(struct sp_star_table *t);

/* Adds one occurrence of the number, which must be below SP_STAR_NUMBERS. See
 * sp_star_table_is_full. */
void sp_star_table_add(struct sp_star_table *t, uint32_t key, uint32_t number);
/* Adds the number to the empty lists of `count` different keys, each of them combined with `salt`
 * by exclusive or. Quicker soon after the keys were looked up, because the wait for memory is over.
 */
void sp_star_table_add_new(struct sp_star_table *t, const uint32_t *keys, uint32_t salt,
                           uint32_t count, uint32_t number);
/* Removes one occurrence, if there is one. O(length of the list). */
void sp_star_table_remove(struct sp_star_table *t, uint32_t key, uint32_t number);

struct sp_star_list {
    const uint32_t *numbers; /* NULL: the list is `few` */
    uint32_t count;
    uint32_t few[2];
};

static inline const uint32_t *sp_star_numbers(const struct sp_star_list *list)
{
    return list->numbers ? list->numbers : list->few;
}

/* Valid until the next add or remove. */
struct sp_star_list sp_star_table_get(const struct sp_star_table *t, uint32_t key);

/* Gets the numbers of some lists, side by side. */
typedef void sp_star_numbers_fn(void *arg, const uint32_t *numbers, uint32_t count);

/* Looks up `count` keys, each of them combined with `salt` by exclusive or; overlaps the waits for
 * memory. Writes the lengths of their lists (ret_lengths may be NULL), and calls `each` (may be
 * NULL) with all their numbers, in the order of the keys: one call for many short lists. */
void sp_star_table_get_all(const struct sp_star_table *t, const uint32_t *keys, uint32_t salt,
                           uint32_t count, uint32_t *ret_lengths, sp_star_numbers_fn *each,
                           void *arg);

/* Prefetches what a look-up or an addition of `count` keys reads, each of them combined with `salt`
 * by exclusive or: all but their lists. Does nothing if the table is small: then it is in the
 * processor's caches anyway. */
void sp_star_table_prefetch(const struct sp_star_table *t, const uint32_t *keys, uint32_t salt,
                            uint32_t count);

/* Whether an add was left undone, because the arena had no room for a list. */
bool sp_star_table_is_full(const struct sp_star_table *t);
/* For tests: the arena has room for so many bytes, in chunks of 1 MiB. */
void sp_star_table_limit(struct sp_star_table *t, uint64_t bytes);

/* Memory of the table in bytes. */
size_t sp_star_table_bytes(const struct sp_star_table *t);
/* The number of entries in all lists. */
uint64_t sp_star_table_postings(const struct sp_star_table *t);

#endif
