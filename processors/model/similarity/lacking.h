/* An index of signatures (items) that differ from one text, the reference, by a few shingles each.
 * If two items share nothing but text of the reference, a look-up by shingles that an item has
 * finds all items; a look-up by shingles of the reference that it lacks finds few.
 *
 * Let D(x) be the shingles that only one of x and the reference has: those that x lacks and those
 * that it adds. Of two similar signatures at most H shingles are in only one, so D(x) and D(y)
 * share at least (|D(x)| + |D(y)| - H) / 2. Of the shingles that x adds, a table says how many an
 * item adds as well. So y lacks at least the rest, out of those that x lacks.
 *
 * For each shingle of the reference and each item there is a bit: whether the item lacks the
 * shingle. A search adds up the bits of the shingles that x lacks, for 512 items at once. Items are
 * kept in separate words by the number of shingles that a search can require of them, and words are
 * passed over for which it requires more than x lacks.
 *
 * Of a shingle of the reference, the index knows which items have it. So the more of what several
 * items share is in the reference, the fewer items are found (sp_lacking_centre).
 *
 * No similar item is missed. Thread rule: one thread at a time. */
#ifndef SP_SIMILARITY_LACKING_H
#define SP_SIMILARITY_LACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "page/signature.h"

enum { SP_LACKING_NONE = -1 };

struct sp_lacking;

/* Whether the shingle is one of the reference. */
bool sp_lacking_refers(const struct sp_lacking *l, uint32_t shingle);

/* Copies the shingles of the reference. Never NULL. `counts_adds`: keeps the table of the shingles
 * that items add, which sp_lacking_find needs and sp_lacking_find_knowing does not. */
struct sp_lacking *sp_lacking_new(const struct sp_signature *reference, bool counts_adds);
/* NULL is allowed. */
void sp_lacking_free(struct sp_lacking *l);

/* Adds an item and returns its number. Numbers of removed items are used again. Two items are not
 * similar if more shingles are in only one of them than `most` of both. */
uint32_t sp_lacking_put(struct sp_lacking *l, const struct sp_signature *x, double most);
/* Removes an item. */
void sp_lacking_take(struct sp_lacking *l, uint32_t item);

struct sp_lacking_found {
    const uint32_t *items; /* each once */
    uint32_t count;
    uint32_t words; /* read, of 64 items each */
};

/* The items that may be similar to x: all that are, and a few others. `self`: x is this item, or
 * SP_LACKING_NONE. Valid until the next call. */
struct sp_lacking_found sp_lacking_find(struct sp_lacking *l, const struct sp_signature *x,
                                        double most, int64_t self);

/* The same if the caller knows that no item has these shingles, of which x has each. Items that
 * have some that are not of the reference may be left out. */
struct sp_lacking_found sp_lacking_find_knowing(struct sp_lacking *l, const struct sp_signature *x,
                                                double most, const uint32_t *unshared,
                                                uint32_t unshared_count);

/* Whether the last search has found the item. */
bool sp_lacking_is_found(const struct sp_lacking *l, uint32_t item);

/* A better reference: the shingles that several items have, more than one in 32; or if these are
 * more than twice as many as now, those that more than an eighth have, or half. Each shingle that
 * similar items may share outside the reference weakens the bound for all. Items that are found by
 * each search do not count. The caller owns it. NULL: the reference has the same shingles, or there
 * are no other items. */
struct sp_signature *sp_lacking_centre(const struct sp_lacking *l);

/* How many items are found by each search: those that have too little of the reference, and those
 * that do not differ from it. */
uint32_t sp_lacking_odd(const struct sp_lacking *l);

/* Memory in bytes. */
size_t sp_lacking_bytes(const struct sp_lacking *l);

#endif
