/* An index of kept documents that resemble one another, though not enough to be duplicates: pages
 * of one template. Private to this folder.
 *
 * An index of stars (stars/stars.h): exact, and pages of one template hardly slow it down, at three
 * times the memory of candidates.h. As the rows are not similar to one another, nearly every star
 * is one row, so what a document touches is all that it resembles. Only for methods that imply a
 * Jaccard similarity.
 *
 * Errors: those of the callback; SP_FULL. Thread rule: one thread. */
#ifndef SP_DEDUP_CROWD_H
#define SP_DEDUP_CROWD_H

#include "stars/stars.h"

struct sp_crowd;

/* Options are copied. A signature that the callback returns is borrowed until the call that asks
 * for it returns. Never NULL. */
struct sp_crowd *sp_crowd_new(const struct sp_stars_options *options);
/* NULL is allowed. */
void sp_crowd_free(struct sp_crowd *c);
/* Comparisons that the index made. */
uint64_t sp_crowd_compared(const struct sp_crowd *c);
enum sp_err sp_crowd_add(struct sp_crowd *c, uint32_t row, const struct sp_signature *signature);
/* All similar rows, and perhaps others; valid until the next call. */
enum sp_err sp_crowd_find(struct sp_crowd *c, const struct sp_signature *signature,
                          const uint32_t **ret_rows, size_t *ret_count);

#endif
