/* Candidates: finds the stored signatures that are worth comparing with a probe.
 *
 * The rule is a pure, symmetric function of two signatures: each has up to SP_SKETCH_MAX keys, and
 * two are candidates if they share at least `shared_min` keys, or fewer if the pages are too short
 * for that. The keys depend on the method:
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
 *      probability 1 - angle / pi. The bands are as wide as misses under 1e-4 at tau allow. With
 *      few words the sums take few values, and the probability is lower: of 2,500 random pairs
 *      with up to 8 distinct words 52 were missed, of 20,000 others none
 *   lcs       the minimal sentence hashes in m = 7 buckets, n = 3 of each (Huang, Wang, Li 2008),
 *      a sample of the sentences as above: an LCS ratio of tau needs a J of the sentences of tau.
 *      Under 1e-4 are missed for tau >= 0.5. The paper's sets of perhaps-similar pages are closed
 *      by a partial transitivity; here groups are, which are connected components
 *
 * The sketch has 16 postings for a page of any length, where the exact prefix filter has 0.2 n + 1
 * (61 for 300 words). So this index takes about 170 bytes a page. The cells of tier 2 use another
 * one, whose cost does not grow with the number of near duplicates (stars/stars.h).
 *
 * The index is a hash table from a hash to the slots that have it. A row that shares shared_min of
 * k hashes is in at least one of any k - shared_min + 1 lists, so a probe counts slots in the
 * shortest lists and need not walk the longest ones (boilerplate that every page of a site has).
 * Thread rule: one thread at a time. */
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
    uint32_t sketch;     /* k, the largest number of keys: SP_SKETCH, or more if tau < 0.55 */
    uint32_t shared_min; /* at least 1 */
    uint32_t blocks;     /* simhash: the largest number of differing bits, plus 1 */
    uint32_t bits;       /* cosine: in each band */
};

/* The rule of a method at threshold tau, which must be at least the method's `least`
 * (similarity.h). */
struct sp_candidate_rule sp_candidate_rule(enum sp_method method, double threshold);

/* Returns the signature's keys, ascending: its own hashes, or keys written to scratch. */
const uint32_t *sp_candidate_keys(const struct sp_candidate_rule *rule,
                                  const struct sp_signature *s, uint32_t scratch[SP_SKETCH_MAX],
                                  uint32_t *ret_count);

/* The least number of keys that two candidates share if the larger shingle_total is `larger_total`.
 * It never decreases as that grows. */
uint32_t sp_candidate_needed(const struct sp_candidate_rule *rule, uint32_t larger_total);

/* Whether a and b are candidates by the rule. */
bool sp_candidate_pair(const struct sp_candidate_rule *rule, const struct sp_signature *a,
                       const struct sp_signature *b);

struct sp_candidates;

/* An empty index. The rule is copied. Never NULL. */
struct sp_candidates *sp_candidates_new(const struct sp_candidate_rule *rule);
/* NULL is allowed. */
void sp_candidates_free(struct sp_candidates *c);

/* The caller numbers the slots, densely from 0 and below 2^27. `keys` are the signature's keys
 * (sp_candidate_keys), or all its hashes if its method has no others. */
void sp_candidates_add(struct sp_candidates *c, uint32_t slot, const uint32_t *keys,
                       uint32_t count);
/* The same for many slots. Takes effect at the next sp_candidates_settle; call nothing else before
 * that. */
void sp_candidates_add_later(struct sp_candidates *c, uint32_t slot, const uint32_t *keys,
                             uint32_t count);
void sp_candidates_settle(struct sp_candidates *c);

/* The slots that may be candidates of the signature, ascending: all that are, and a few others.
 * `total` is its shingle_total. Valid until the next call. */
size_t sp_candidates_find(struct sp_candidates *c, const uint32_t *keys, uint32_t count,
                          uint32_t total, const uint32_t **ret_slots);

/* The last `most` candidates, the last first. Needs slots that were added in ascending order, each
 * with distinct keys. Costs O(most): it looks at the ends of the lists, at 16 slots for each that
 * it may return, so it may miss candidates behind many slots that share too few keys. */
size_t sp_candidates_latest(struct sp_candidates *c, const uint32_t *keys, uint32_t count,
                            uint32_t total, uint32_t most, const uint32_t **ret_slots);

/* Postings that were read by all look-ups. */
uint64_t sp_candidates_walked(const struct sp_candidates *c);

/* For tests: memory of the index in bytes. */
size_t sp_candidates_bytes(const struct sp_candidates *c);

#endif
