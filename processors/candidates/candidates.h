/* Candidates: which stored signatures are worth comparing with a probe?
 *
 * The rule is a pure, symmetric function of two signatures. The sketch of a
 * signature is its SP_SKETCH smallest shingle hashes (bottom-k, Broder 1997): a uniform
 * sample of the shingles. Two signatures are candidates where their sketches share at
 * least `shared_min` hashes (fewer where the pages are too short for that).
 *
 * Of the k smallest hashes of A u B each lies in A n B with probability J, and those that do
 * lie in both sketches; so a pair with J >= tau is missed with at most the
 * probability that a binomial(k, tau) stays below shared_min. The rule takes
 * the largest shared_min that keeps this under 1e-6: at tau = 0.8 and k = 16 it is 4, missing
 * 2.3e-7 of the pairs AT the threshold and less above it.
 *
 * Against the exact prefix filter (0.2 n + 1 postings a page: 61 for 300 words) this keeps
 * 16 postings a page, whatever its length, which is what lets the index of a cell
 * live in memory at about 170 bytes a page.
 *
 * The index is a hash table from hash to the slots that have it; a probe counts slots over
 * its shortest lists first: a row that shares shared_min of k hashes is in at least one of any
 * k - shared_min + 1 lists, so that the longest lists (boilerplate that every page of a site
 * has) need not be walked. Thread rule: one thread at a time. */
#ifndef SP_CANDIDATES_CANDIDATES_H
#define SP_CANDIDATES_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "signature/signature.h"

enum { SP_SKETCH = 16, SP_SKETCH_MAX = 64 };

struct sp_candidate_rule {
    double threshold;    /* tau */
    uint32_t sketch;     /* k: SP_SKETCH, more where tau < 0.55 needs it */
    uint32_t shared_min; /* at least 1 */
};

struct sp_candidate_rule sp_candidate_rule(double threshold);

/* Whether a and b are candidates: the rule itself. */
bool sp_candidate_pair(const struct sp_candidate_rule *rule, const struct sp_signature *a,
                       const struct sp_signature *b);

struct sp_candidates;

struct sp_candidates *sp_candidates_new(const struct sp_candidate_rule *rule);
void sp_candidates_free(struct sp_candidates *c);

/* Slots are numbers the caller gives out, densely from 0; below 2^27. `shingles` are the smallest
 * hashes of the signature, at least min(rule->sketch, shingle_count) of them. */
void sp_candidates_add(struct sp_candidates *c, uint32_t slot, const uint32_t *shingles,
                       uint32_t count);
/* The same, in effect at the next sp_candidates_settle: for many at once. Nothing else may be
 * called in between. */
void sp_candidates_add_later(struct sp_candidates *c, uint32_t slot, const uint32_t *shingles,
                             uint32_t count);
void sp_candidates_settle(struct sp_candidates *c);
void sp_candidates_remove(struct sp_candidates *c, uint32_t slot, const uint32_t *shingles,
                          uint32_t count);

/* The slots that may be candidates of the signature (all that are, and few others), in ascending
 * order; `total` is its shingle_total. Valid until the next call. */
size_t sp_candidates_find(struct sp_candidates *c, const uint32_t *shingles, uint32_t count,
                          uint32_t total, const uint32_t **ret_slots);

size_t sp_candidates_bytes(const struct sp_candidates *c);

#endif
