/* Finds the pages that may resemble a given one: an index to which pages are added one by one. It
 * is as exact as the join (join.h) and uses the same filter. It is for checks from scratch, so it
 * shares only the keys of the candidate rule with tier 2. */
#ifndef SP_SIMILARITY_FINDER_H
#define SP_SIMILARITY_FINDER_H

#include "similarity/similarity.h"

struct sp_finder;

/* Makes a finder without pages. Options are copied; the signatures are borrowed. Never NULL. */
struct sp_finder *sp_finder_new(const struct sp_similarity_options *o,
                                struct sp_signature *const *signatures, size_t count);
/* NULL is allowed. */
void sp_finder_free(struct sp_finder *l);
/* Removes all pages. From now on, only these `count` pages are added or looked up. SP_TOO_LARGE:
 * they have more keys than 32-bit numbers can count. */
enum sp_err sp_finder_begin(struct sp_finder *l, const uint32_t *pages, size_t count);
/* Adds the page with that number among the signatures. */
void sp_finder_add(struct sp_finder *l, uint32_t page);
/* Returns the added pages that may resemble the page: all that do, and some others, each once. They
 * are numbered in the order of sp_finder_add, from 0, and ascend. Valid until the next call. */
size_t sp_finder_find(struct sp_finder *l, uint32_t page, const uint32_t **ret_added);
/* The postings that all searches have read. */
uint64_t sp_finder_read(const struct sp_finder *l);

#endif
