/* The winner rule: which pages of a group are kept, and which of them stands for each of the
 * others.
 *
 * Rank. Source: Zhu et al., WWW 2012, section 5 (selection of winners): popularity, static before
 * dynamic URLs, short before long ones, then the market rule; the page id makes it a total order.
 *
 * Cover. A page loses only to a winner that covers it: one it is similar to (F) and that a relation
 * of the user, if there is one, allows. Source of relations: Paudel, Anand, Berberich,
 * "User-Defined Redundancy in Web Archives"; relation/relation.h is their language.
 *
 * Thread rule: any thread. */
#ifndef SP_WINNERS_WINNERS_H
#define SP_WINNERS_WINNERS_H

#include "page/message.h"
#include "page/method.h"
#include "page/signature.h"
#include "relation/relation.h"

/* Ranks a URL; popularity comes from the crawl. */
struct sp_rank sp_rank_of(struct sp_view url, double popularity);

/* A popularity rounded so that those which are "about the same" (5) are the same: they differ by no
 * more than the share `tolerance`, above 0 and at most 1. 0: as it is.
 *
 * "Within a tolerance of each other" is no equality: of three, the first and second and the second
 * and third may be within it, and the first and third not. Winners found by it would depend on the
 * order of comparison. So each popularity falls into a class by itself, and classes are compared:
 * the order stays total, and a page's class does not depend on any other page. The price: of two
 * that lie at a border of classes, however near, one is more popular.
 *
 * Classes are relative, as popularities (visits, links) span orders of magnitude: between two
 * powers of two there are ceil(1 / tolerance) of one width. Rounding is to the nearest, so that
 * whole and round numbers lie within classes rather than at borders; and it is exact arithmetic of
 * IEEE 754, without a logarithm, so that all machines agree. */
double sp_popularity_class(double popularity, double tolerance);

/* Below 0 where a (with page id a_page) comes before b. */
int sp_rank_cmp(const struct sp_rank *a, struct sp_id a_page, const struct sp_rank *b,
                struct sp_id b_page);

/* Which part of the rank puts a loser's winner before it. */
enum sp_rank_rule sp_rank_decided(const struct sp_rank *winner, struct sp_id winner_page,
                                  const struct sp_rank *loser, struct sp_id loser_page);

/* Parses winner.relation for groups of that method. SP_INVALID: the fault says what is wrong, or
 * what it asks for that groups do not know. */
enum sp_err sp_winner_relation_parse(const char *source, enum sp_method method,
                                     struct sp_relation **ret_relation, struct sp_fault *fault);

/* What a relation can know of a page in a group. All of it changes only with the page's content or
 * rank, so that statuses do not depend on the order of events. Not to be copied. */
struct sp_winner_facts {
    union sp_cell cells[SP_FIELD_COUNT];
    struct sp_buf canonical;
    struct sp_view url;
    struct sp_view host;
    const struct sp_signature *signature;
};

/* `url`, in any spelling, and `signature` outlive the facts. `since_ms`, the relation's timestamp:
 * when the page was first fetched with this content. */
void sp_winner_facts_init(struct sp_winner_facts *ret_facts, const struct sp_relation *relation,
                          struct sp_view url, int64_t since_ms, double popularity,
                          const struct sp_signature *signature);
void sp_winner_facts_done(struct sp_winner_facts *facts);

/* Whether the relation asks how much two pages share; else its answer is cheap. */
bool sp_winner_relation_measures(const struct sp_relation *relation);

/* Whether the relation lets `a` lose to `b`. Measures are those of the signatures: exact up to
 * signature.max_shingles, above it estimates. */
bool sp_winner_relation_holds(const struct sp_relation *relation, const struct sp_winner_facts *a,
                              const struct sp_winner_facts *b);

/* The winners of `count` members that are numbered in order of rank:
 *
 *   1  in order of rank, a member is a winner unless one before it covers it;
 *   2  from the last winner to the first, one is dropped if another winner covers it and others
 *      cover all that it stood for: a relation such as a.timestamp <= b.timestamp can give a page
 *      an heir that is ranked behind it;
 *   3  a loser's winner is the first that covers it.
 *
 * ret_winner[i] becomes the number of i's winner, i itself where it is one; ret_similarity[i] what
 * `covers` said of the two, else 0. */
typedef bool sp_winner_covers(void *arg, uint32_t loser, uint32_t winner, float *ret_similarity);
void sp_winners_choose(uint32_t count, sp_winner_covers *covers, void *arg, uint32_t *ret_winner,
                       float *ret_similarity);

#endif
