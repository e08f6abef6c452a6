/* Documents that a condition F(a) != F(b) keeps apart: those of one class, which have one value of
 * F, never cover one another. If a path has several such conditions, the documents of each content
 * have the classes of one of them: of the one that gives most of these documents one class, or of
 * those that give as many, the one with the fewest classes in all. These keep most apart.
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
