/* Candidates: which stored signatures are worth comparing with a probe?
 *
 * The rule is a pure, symmetric function of two signatures: each has up to SP_SKETCH_MAX keys, and
 * two are candidates where they share at least `shared_min` of them (fewer where the pages are too
 * short for that). The keys depend on the method:
 *
 *   shingles, sentences, combined   the SP_SKETCH smallest hashes of the signature's set (bottom-k,
 *      Broder 1997), a uniform sample. Of the k smallest hashes of A u B each lies in A n B with
 *      probability J, and those that do lie in both sketches; so a pair with J >= tau is missed
 *      with at most the probability that a binomial(k, tau) stays below shared_min. The rule takes
 *      the largest shared_min that keeps this under 1e-6: at tau = 0.8 and k = 16 it is 4, missing
 *      2.3e-7 of the pairs AT the threshold and less above it
 *   simhash   the tables of Manku, Jain, Das Sarma (WWW 2007, section 3): k differing bits leave
 *      one of k + 1 blocks equal, and one of k + 1 of the other bits; each pair of blocks is a key
 *      (16 of 28 bits at k = 3). No pair within k bits is missed
 *   cosine    64 bands of the signs of random projections (Charikar 2002): a bit is equal with
 *      probability 1 - angle / pi. The bands are as wide as misses under 1e-4 at tau allow
 *   lcs       the minimal sentence hashes in m = 7 buckets, n = 3 of each (Huang, Wang, Li 2008),
 *      a sample of the sentences as above: an LCS ratio of tau needs a J of the sentences of tau.
 *      Under 1e-4 are missed for tau >= 0.5. The paper's sets of perhaps-similar pages are closed
 *      by a partial transitivity; here groups are, which are connected components
 *
 * Against the exact prefix filter (0.2 n + 1 postings a page: 61 for 300 words) the sketch keeps
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

#include "page/method.h"
#include "page/signature.h"

enum { SP_SKETCH = 16, SP_SKETCH_MAX = 64 };

struct sp_candidate_rule {
    enum sp_method method;
    double threshold;    /* tau */
    uint32_t sketch;     /* k, the most keys: SP_SKETCH, more where tau < 0.55 needs it */
    uint32_t shared_min; /* at least 1 */
    uint32_t blocks;     /* simhash: most differing bits + 1 */
    uint32_t bits;       /* cosine: of a band */
};

struct sp_candidate_rule sp_candidate_rule(enum sp_method method, double threshold);

/* The signature's keys, ascending: either its own hashes or written to scratch. */
const uint32_t *sp_candidate_keys(const struct sp_candidate_rule *rule,
                                  const struct sp_signature *s, uint32_t scratch[SP_SKETCH_MAX],
                                  uint32_t *ret_count);

/* The least number of keys that a page must share, if the larger one's shingle_total is that. Never
 * less for a larger total. */
uint32_t sp_candidate_needed(const struct sp_candidate_rule *rule, uint32_t larger_total);

/* Whether a and b are candidates: the rule itself. */
bool sp_candidate_pair(const struct sp_candidate_rule *rule, const struct sp_signature *a,
                       const struct sp_signature *b);

struct sp_candidates;

struct sp_candidates *sp_candidates_new(const struct sp_candidate_rule *rule);
void sp_candidates_free(struct sp_candidates *c);

/* Slots are numbers the caller gives out, densely from 0; below 2^27. `keys` are the signature's
 * (sp_candidate_keys), or all its hashes where it has no others. */
void sp_candidates_add(struct sp_candidates *c, uint32_t slot, const uint32_t *keys,
                       uint32_t count);
/* The same, in effect at the next sp_candidates_settle: for many at once. Nothing else may be
 * called in between. */
void sp_candidates_add_later(struct sp_candidates *c, uint32_t slot, const uint32_t *keys,
                             uint32_t count);
void sp_candidates_settle(struct sp_candidates *c);
void sp_candidates_remove(struct sp_candidates *c, uint32_t slot, const uint32_t *keys,
                          uint32_t count);

/* The slots that may be candidates of the signature (all that are, and few others), in ascending
 * order; `total` is its shingle_total. Valid until the next call. */
size_t sp_candidates_find(struct sp_candidates *c, const uint32_t *keys, uint32_t count,
                          uint32_t total, const uint32_t **ret_slots);

size_t sp_candidates_bytes(const struct sp_candidates *c);

#endif
