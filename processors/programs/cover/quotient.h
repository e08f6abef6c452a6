/* Finds documents that can represent others, without comparing texts.
 *
 * Let a and r have the same set of shingles and equal values in all fields that the relation uses
 * other than in atoms F(a) <= G(b); let F(a) <= F(r) and G(a) <= G(r) in each of those; and let the
 * relation hold for (a, r). Measures cannot tell a from r. So whatever a covers, r covers; whatever
 * covers r, covers a; and r covers a. Then some smallest cover does without a, and any cover of the
 * others covers a: a is left out, and a is covered by r if r is kept, otherwise by what covers r.
 * This holds for any mix of && and ||, because growing G(b) or shrinking F(a) never makes such an
 * atom false.
 *
 * If documents have weights, r must not weigh more than a.
 *
 * In this way a page that was fetched n times unchanged becomes one document with n arcs, instead
 * of a clique of n squared. */
#ifndef SP_COVER_QUOTIENT_H
#define SP_COVER_QUOTIENT_H

#include "cover/documents.h"
#include "cover/plan.h"

/* ret_stands_for[i] becomes the document that stands for i: i itself, or one that is its own.
 * Returns how many are their own. */
size_t sp_quotient(const struct sp_documents *documents, const struct sp_relation *relation,
                   const struct sp_plan *plan, uint32_t *ret_stands_for);

/* A hash of a value, equal for values that are equal by `=`. */
uint64_t sp_value_hash(const struct sp_node *value, const struct sp_relation_pair *pair);

#endif
