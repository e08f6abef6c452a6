/* The winner rule: which pages of a group are kept, and which of them replaces each of the others.
 *
 * Rank. Source: Zhu et al., WWW 2012, section 5 (selection of winners): popularity, static before
 * dynamic URLs, short before long URLs, then the market rule. The page id makes it a total order.
 *
 * Cover. A page loses only to a winner that covers it: it is similar to the winner (F), and the
 * user's relation, if there is one, allows it. Source of relations: Paudel, Anand, Berberich,
 * "User-Defined Redundancy in Web Archives"; relation/relation.h defines their language.
 *
 * Thread rule: any thread. */
#ifndef SP_WINNERS_WINNERS_H
#define SP_WINNERS_WINNERS_H

#include "page/message.h"
#include "page/method.h"
#include "page/signature.h"
#include "relation/relation.h"

/* Ranks a canonical URL, so that another spelling ranks a page no differently; popularity comes
 * from the crawl. */
struct sp_rank sp_rank_of(struct sp_view url, double popularity);

/* Rounds a popularity so that popularities which are "about the same" (section 5) become equal.
 * Those of one class differ by at most the share `tolerance`, which is above 0 and at most 1; with
 * 0 nothing is rounded.
 *
 * Why classes: "within a tolerance of each other" is not transitive, so winners would depend on the
 * order of comparison. The class of a popularity depends on no other page, and comparing classes
 * keeps the order total. The price: two popularities on both sides of a class border differ,
 * however close they are.
 *
 * Classes are relative, because popularities (visits, links) span orders of magnitude: between two
 * powers of two there are ceil(1 / tolerance) classes of equal width. Rounding to the nearest puts
 * integers and round numbers inside classes rather than at borders. It uses exact IEEE 754
 * arithmetic and no logarithm, so that all machines agree. */
double sp_popularity_class(double popularity, double tolerance);

/* Negative if a (with page id a_page) ranks before b. */
int sp_rank_cmp(const struct sp_rank *a, struct sp_id a_page, const struct sp_rank *b,
                struct sp_id b_page);

/* A number that never decreases along the order of sp_rank_cmp. It differs for nearly all pages of
 * popularity 0 or of a whole number below two million; of any other popularity, all pages have the
 * same. */
uint64_t sp_rank_head(const struct sp_rank *rank, struct sp_id page);

/* Returns the part of the rank that puts the winner before the loser. */
enum sp_rank_rule sp_rank_decided(const struct sp_rank *winner, struct sp_id winner_page,
                                  const struct sp_rank *loser, struct sp_id loser_page);

/* Parses winner.relation for groups of that method. SP_INVALID: the fault says what is wrong, or
 * which field is not known to groups. */
enum sp_err sp_winner_relation_parse(const char *source, enum sp_method method,
                                     struct sp_relation **ret_relation, struct sp_fault *fault);

/* What a relation can know about a page in a group. It changes only with the page's content or
 * rank, so that statuses do not depend on the order of events. Must not be copied: it holds
 * pointers into itself. */
struct sp_winner_facts {
    union sp_cell cells[SP_FIELD_COUNT];
    struct sp_buf canonical;
    struct sp_view url;
    struct sp_view host;
    const struct sp_signature *signature;
};

/* `url`, which need not be canonical, and `signature` must outlive the facts. `since_ms` is the
 * relation's timestamp: when the page was first fetched with this content. */
void sp_winner_facts_init(struct sp_winner_facts *ret_facts, const struct sp_relation *relation,
                          struct sp_view url, int64_t since_ms, double popularity,
                          const struct sp_signature *signature);
void sp_winner_facts_done(struct sp_winner_facts *facts);

/* Whether the relation uses a measure; without one it is cheap to evaluate. */
bool sp_winner_relation_measures(const struct sp_relation *relation);

/* Whether the relation lets `a` lose to `b`. Measures come from the signatures: exact up to
 * signature.max_shingles, estimates for larger pages. */
bool sp_winner_relation_holds(const struct sp_relation *relation, const struct sp_winner_facts *a,
                              const struct sp_winner_facts *b);

/* Chooses the winners among `count` members, which are numbered by rank:
 *
 *   1  in order of rank, a member becomes a winner unless an earlier winner covers it;
 *   2  from the last winner to the first, a winner is dropped if other winners cover it and all of
 *      its losers. With a relation such as a.timestamp <= b.timestamp a page of lower rank can
 *      cover it;
 *   3  a loser's winner is the first that covers it.
 *
 * ret_winner[i] becomes the number of i's winner, or i if it is a winner itself; ret_similarity[i]
 * becomes what `covers` reported for the two, or 0. */
typedef bool sp_winner_covers(void *arg, uint32_t loser, uint32_t winner, float *ret_similarity);
void sp_winners_choose(uint32_t count, sp_winner_covers *covers, void *arg, uint32_t *ret_winner,
                       float *ret_similarity);

#endif
