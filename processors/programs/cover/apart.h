/* Documents that a condition F(a) != F(b) keeps apart: those of one class, which have one value of
 * F, never cover one another. If a path has several such conditions, that with the fewest classes
 * counts: it keeps most apart.
 *
 * Private to this folder; thread rule: any thread. */
#ifndef SP_COVER_APART_H
#define SP_COVER_APART_H

#include "cover/documents.h"
#include "cover/plan.h"

/* Returns the class of each document with stands_for[i] = i, from 1 on; 0: it may cover any other.
 * NULL if the path has no such condition. The caller frees the array. */
uint32_t *sp_apart_make(const struct sp_path *path, const struct sp_documents *documents,
                        const uint32_t *stands_for);

#endif
