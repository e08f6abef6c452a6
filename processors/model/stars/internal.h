/* The functions that the files of the star index share; data.h has what they work on.
 *
 *   stars.c    the interface: makes the index, inserts and removes rows
 *   rows.c     the stored form of rows
 *   ties.c     what connects a row with the others of its star
 *   marks.c    names of stars that outlast them
 *   components.c the components of a collection, by this index
 *
 * A probe, in the order of its steps:
 *
 *   probe.c    finds the stars that a signature touches
 *   reach.c    how many of its shingles it must look up
 *   look.c     looks them up and counts hits by star
 *   bounds.c   bounds of overlaps, from sizes
 *   try.c      finds the kids of a star that are similar to it
 *   beside.c   the index of kids by their shingles that the pivot does not have ("beside" it)
 *   lacks.c    the index of kids by the shingles of the pivot that they lack
 *   patterns.c patterns that rule rows out without their signatures
 *   norms.c    these patterns by cosine
 *   opinions.c these patterns by combined
 *   bits.c     simhash: kids by the bits in which they differ from their pivot; twins
 *
 * A new row, after its probe:
 *
 *   place.c    finds its place
 *   foster.c   the star to whose fringe it can go
 *   star.c     makes and frees stars; they become headless or draining
 *   cover.c    chooses the shingles of a star to post, so that each member can be found
 *   kids.c     adds kids to a star and removes them
 *   litters.c  the kids of a star in litters: sets of equal size and equal overlap with the pivot
 *   adopters.c which row has adopted which
 *   centre.c   replaces a pivot by a more central member
 *
 * Rows that must leave their star:
 *
 *   mend.c     moves the kids of headless and draining stars
 *   queue.c    in which order
 *   lists.c    the stars of a domain that owe, their heirs, and the orphans
 *
 * What all use:
 *
 *   table.c    posting lists
 *   cells.c    the keys of a table that has few
 *   shards.c   the keys of a table that has many (bucket.h)
 *   arena.c    where the lists lie
 *   core.c     helpers
 *
 * A function that returns false has set s->err. */
#ifndef SP_STARS_INTERNAL_H
#define SP_STARS_INTERNAL_H

#include "base/assert.h"
#include "stars/data.h"

/* ---- bounds.c: sizes and overlaps count shingles kept ---- */

/* The number of the n shingles of a signature that a similar one may lack. */
uint32_t sp_star_bound_missing(const struct sp_stars *s, uint32_t n);
/* The least overlap of two similar signatures; never too large. */
uint32_t sp_star_bound_overlap(const struct sp_stars *s, uint32_t kept, bool capped,
                               uint32_t other_kept, bool other_capped);
/* Whether totals allow the length bound to reach tau. */
bool sp_star_bound_sizes(const struct sp_stars *s, uint32_t total, uint32_t other_total);
/* What the next function needs of a probe that keeps so many shingles. */
struct hits_bound {
    double most;    /* hits that are too few for a member of no size */
    double less;    /* of them for each shingle of the largest member */
    double largest; /* the size of the largest signature that is similar */
};
struct hits_bound sp_star_bound_probe(const struct sp_stars *s, uint32_t kept);
/* Whether so many hits of a probe, one or more, suffice in a star with members up to max_kept, none
 * of them capped. Inline because a probe asks for each star that it hits. */
static inline bool sp_star_bound_hits(const struct hits_bound *probe, uint32_t hits,
                                      uint32_t max_kept)
{
    double y = probe->largest < max_kept ? probe->largest : max_kept;
    return hits > probe->most - probe->less * y;
}

/* ---- cover.c ---- */

/* The words of the pivot's pattern, which a star's bits begin with; none if the pivot is capped. */
static inline uint32_t sp_star_pattern_of(const struct star *c)
{
    return c->capped ? 0 : sp_parity_words(c->kept, PARITY_BITS);
}
/* The bits of the posted shingles: c->posted_bytes bytes; those of the last shingles are omitted if
 * none of them is posted. */
static inline const uint8_t *sp_star_posted(const struct star *c)
{
    return (const uint8_t *)(c->bits + sp_star_pattern_of(c));
}
/* The same with a bit for each shingle; valid until the next use of s->posting. */
const uint8_t *sp_star_posted_all(struct sp_stars *s, const struct star *c);
/* Restores the bits of a star. */
void sp_star_bits_put(struct sp_stars *s, uint32_t star, const uint8_t *posted,
                      const uint64_t *pattern);
/* The star may have none. */
void sp_star_bits_free(struct sp_stars *s, uint32_t star);
/* Posts a star that consists of its pivot alone. */
void sp_star_cover_pivot(struct sp_stars *s, uint32_t star, const struct sp_signature *pivot);
/* Whether the pivot's shingles can cover that child. */
bool sp_star_cover_possible(const struct sp_stars *s, const struct sp_signature *pivot,
                            const struct sp_signature *child);
/* Whether the child can only be covered by posting shingles that many other stars have posted. */
bool sp_star_cover_is_common(const struct sp_stars *s, uint32_t star,
                             const struct sp_signature *pivot, const struct sp_signature *child);
/* Whether a star of this pivot alone would post such shingles; its probe must have come just
 * before. */
bool sp_star_cover_alone_is_common(const struct sp_stars *s, const struct sp_signature *pivot);
/* Posts the shingles that cover the child; returns whether any had to be posted. */
bool sp_star_cover_child(struct sp_stars *s, uint32_t star, const struct sp_signature *pivot,
                         const struct sp_signature *child);
/* By keys: removes the child's keys that no other member has. */
void sp_star_uncover_child(struct sp_stars *s, uint32_t star, const struct sp_signature *child);
/* Adds the keys of a restored row. */
void sp_star_cover_keys(struct sp_stars *s, uint32_t star, const uint32_t *keys, uint32_t count);
/* Removes all postings of the star. */
void sp_star_uncover_star(struct sp_stars *s, uint32_t star, const struct sp_signature *pivot);
/* Posts all stars of a small domain that has grown. */
bool sp_star_domain_post(struct sp_stars_domain *d);

/* ---- litters.c ---- */

/* Adds a kid to, or removes it from, the litters of its star; s->rows has its star and sizes. */
void sp_star_litter_enter(struct sp_stars *s, uint32_t row, enum kid_kind kind, uint32_t adopter);
void sp_star_litter_leave(struct sp_stars *s, uint32_t row);
struct litters sp_star_litters(const struct kids *kids, int kind);
/* Those of all kinds. */
struct litters sp_star_all_litters(const struct kids *kids);
/* The memory of all litters in bytes. */
uint64_t sp_star_litters_bytes(const struct sp_stars *s, const struct kids *kids);
void sp_star_litters_free(struct sp_stars *s, struct kids *kids);
static inline uint32_t sp_star_litter_count(const struct sp_stars *s, const struct litter *l)
{
    return sp_star_litter_has_heap(l) ? s->heaps[l->row].count : 1;
}
/* Its row number `i`, below its count. Number 0 has the smallest name; those of 2 i + 1 and 2 i + 2
 * are not smaller than that of i. */
static inline uint32_t sp_star_litter_row(const struct sp_stars *s, const struct litter *l,
                                          uint32_t i)
{
    return sp_star_litter_has_heap(l) ? s->heaps[l->row].rows[i] : (uint32_t)l->row;
}
/* Kids of all kinds; NULL is allowed. */
uint32_t sp_star_kids_count(const struct kids *kids);
/* Kids of one kind. */
uint32_t sp_star_kids_of_kind(const struct kids *kids, enum kid_kind kind);
/* The row as a kid of its star. */
struct kid sp_star_kid_at(const struct sp_stars *s, uint32_t row);
/* Calls `each` for every kid. */
void sp_star_kids_each(const struct sp_stars *s, const struct kids *kids,
                       void (*each)(void *arg, struct kid kid), void *arg);

/* Writes the rows of the kids with the smallest names, at most `most` (1 or more), of the kinds
 * whose bit 1 << kind is set; returns how many. Looks at every kid. */
uint32_t sp_star_kids_first(const struct sp_stars *s, const struct kids *kids, uint32_t kinds,
                            uint32_t most, uint32_t *ret_rows);

/* ---- adopters.c ---- */

/* The row, which is being adopted, has that adopter; or it is no longer adopted. */
void sp_star_adoption_begin(struct sp_stars *s, uint32_t row, uint32_t adopter);
void sp_star_adoption_end(struct sp_stars *s, uint32_t row);
/* The adopter of an adopted row. */
uint32_t sp_star_adopter(const struct sp_stars *s, uint32_t row);
/* Some row that it has adopted, or NONE. */
uint32_t sp_star_one_adopted_by(const struct sp_stars *s, uint32_t adopter);

/* ---- beside.c ---- */

/* Writes the shingles of `child` that `pivot` does not have, each once, to ret_hashes (room
 * for those of `child`); returns how many. */
uint32_t sp_star_kid_beside(const struct sp_signature *child, const struct sp_signature *pivot,
                            uint32_t *ret_hashes);
/* Add the kid of an indexed star to the index of these shingles, or remove it. `pivot` is the
 * number of the pivot's row. */
void sp_star_kid_beside_put(struct sp_stars *s, uint32_t pivot, uint32_t row,
                            const uint32_t *hashes, uint32_t count);
void sp_star_kid_beside_take(struct sp_stars *s, uint32_t pivot, uint32_t row,
                             const uint32_t *hashes, uint32_t count);
/* The same as sp_star_kid_beside, into s->hashes. */
uint32_t sp_star_beside_of(struct sp_stars *s, const struct sp_signature *child,
                           const struct sp_signature *pivot);
/* Indexes all kids of a star. Does not report that as a change. */
void sp_star_index_all(struct sp_stars *s, uint32_t star, const struct sp_signature *pivot);
/* The shingles of a probe that the pivot does not have. */
struct beside {
    uint32_t rare;     /* those in the index, the first of s->hashes */
    uint32_t common;   /* the others */
    uint32_t gathered; /* kids with which it shares rare ones */
    uint32_t unknown;  /* the first ones of these: it shares some that the index of lacks.c does not
                        * know */
};
/* Fills s->gathered with the kids that share a rare shingle with x; each one's `gathered` is the
 * number of such shingles, and the caller must reset it. */
struct beside sp_star_gather_beside(struct sp_stars *s, uint32_t star, const struct sp_signature *x,
                                    const struct sp_signature *pivot);

/* ---- lacks.c ---- */

/* So many kids of an indexed star were tried in vain. Makes the index when these are as many as
 * there are kids, and again after many times as many; or makes another part of it. That reads
 * signatures of kids. False: an error. */
bool sp_star_lacks_note(struct sp_stars *s, struct kids *kids, const struct sp_signature *pivot,
                        uint32_t in_vain);
/* Add a kid to the index, or remove it, if there is one. */
void sp_star_lacks_put(struct sp_stars *s, struct kids *kids, uint32_t row,
                       const struct sp_signature *x);
void sp_star_lacks_take(struct sp_stars *s, struct kids *kids, uint32_t row);
void sp_star_lacks_free(struct sp_stars *s, struct kids *kids);
/* For tests: false if the kid is in an index that there is not, or not in one that is whole. */
bool sp_star_lacks_has(const struct sp_stars *s, const struct kids *kids, uint32_t row);
/* Memory of the index in bytes. */
size_t sp_star_lacks_bytes(const struct kids *kids);
/* The kids that can be similar to a probe: all that are, and a few others. Valid until the next use
 * of the index. */
struct lacking {
    const struct lacks *of; /* NULL: there is no index */
    const uint32_t *items;
    uint32_t count;
};
/* Kids that share with x one of these shingles, the first `rare` of s->hashes, may be left out if
 * the index does not know it. */
struct lacking sp_star_lacks_find(struct sp_stars *s, const struct kids *kids,
                                  const struct sp_signature *x, uint32_t rare);
/* Whether the index says of each kid whether it has this shingle. */
bool sp_star_lacks_knows(const struct kids *kids, uint32_t shingle);
/* The i-th of them; *ret_name: its name. */
uint32_t sp_star_lacking_row(const struct lacking *found, uint32_t i, uint64_t *ret_name);
/* Whether a kid of the star is one of them. */
bool sp_star_is_lacking(const struct sp_stars *s, const struct lacking *found, uint32_t row);

/* ---- lists.c: in order of names, so that it does not depend on history ---- */

/* The row, a kid of a star, is an orphan now, or no longer. */
void sp_star_orphan_enter(struct sp_stars *s, uint32_t row);
void sp_star_orphan_leave(struct sp_stars *s, uint32_t row);
/* There must be one. */
uint32_t sp_star_first_orphan(const struct sp_stars_domain *d);
/* Adds a star that owes (sp_star_owing_make) to the list of its domain, or removes it. Call the
 * first before its queue is filled, the second before its queue is freed. */
void sp_star_owing_enter(struct sp_stars *s, uint32_t star);
void sp_star_owing_leave(struct sp_stars *s, uint32_t star);
/* There must be one. */
uint32_t sp_star_first_owing(const struct sp_stars_domain *d);
/* Of an owing star. */
void sp_star_set_heir(struct sp_stars *s, uint32_t star, uint32_t heir);
/* Whether the owing star has an heir that is still a pivot, whose star is neither headless nor
 * draining. */
bool sp_star_has_heir(const struct sp_stars *s, uint32_t star);
/* The first star in the list that has this heir, and another pivot; NONE: there is none. */
uint32_t sp_star_with_heir(const struct sp_stars_domain *d, uint32_t heir);
/* The number at the place, which moves to the next one; NONE at the end. */
uint32_t sp_star_next_listed(const struct sp_shelf *list, struct sp_shelf_place *place);

/* ---- kids.c ---- */

/* Adds the row to the star as a kid: posts what covers it, indexes it if the star is, and reports
 * the rows that have changed. */
void sp_star_kid_add(struct sp_stars *s, uint32_t star, uint32_t row,
                     const struct sp_signature *pivot, const struct sp_signature *child,
                     enum kid_kind kind, uint32_t adopter);
/* So many kids of a star that is not indexed were tried in vain. Indexes it if that is often. Which
 * kids a probe finds does not depend on that. False: an error. */
bool sp_star_kids_note(struct sp_stars *s, uint32_t star, const struct sp_signature *pivot,
                       uint32_t in_vain);
/* The star's kids; makes an empty set if there is none. */
struct kids *sp_star_kids_make(struct sp_stars *s, uint32_t star);
/* Restores a kid. */
void sp_star_kid_put(struct sp_stars *s, uint32_t star, struct kid kid, uint32_t total);
/* Takes the kid out of its star; the rows that it adopted keep it as their adopter. */
bool sp_star_kid_remove(struct sp_stars *s, uint32_t row, const struct sp_signature *child);
/* The same for good: the rows that it adopted become orphans. */
bool sp_star_kid_leave(struct sp_stars *s, uint32_t row, const struct sp_signature *child);
/* A child of the star adopts the row, which was on the star's fringe. */
void sp_star_kid_adopt(struct sp_stars *s, uint32_t row, uint32_t adopter);
/* Makes the star owe, with an empty queue and no heir, unless it does. Returns what it owes. */
struct owing *sp_star_owing_make(struct sp_stars *s, uint32_t star);
void sp_star_owing_free(struct sp_stars *s, uint32_t star);
void sp_star_kids_free(struct sp_stars *s, uint32_t star);

/* ---- queue.c: the kids of an owing star, in the order in which they are taken ---- */

/* Fills the queue with all its kids; those of a draining star that have been taken stay out. */
void sp_star_queue_fill(struct sp_stars *s, uint32_t star);
/* Takes the next row that is still a kid of the star; NONE: there is none. */
uint32_t sp_star_queue_take(struct sp_stars *s, uint32_t star);
/* The row that was just taken is the next one again. */
void sp_star_queue_put_back(struct sp_stars *s, uint32_t star);

/* ---- try.c ---- */

/* Appends similar kids to s->touched: all on the fringe, and if `members`, the member found first,
 * trying the nearest to the pivot first. `overlap` is that of x with the pivot. */
bool sp_star_try_kids(struct sp_stars *s, uint32_t star, const struct sp_signature *x,
                      uint32_t except, const struct sp_signature *pivot, uint32_t overlap,
                      bool members);

/* ---- foster.c ---- */

/* A probe begins. */
void sp_star_foster_begin(struct sp_stars *s);
/* The star has that overlap with x, and its pivot is not similar. */
void sp_star_foster_note(struct sp_stars *s, uint32_t star, const struct sp_signature *x,
                         uint32_t overlap);
/* The star has no similar member. `apart`: a lower bound of the shingles that only one of x and the
 * pivot has. */
void sp_star_foster_later(struct sp_stars *s, uint32_t star, const struct sp_signature *x,
                          uint32_t apart);
/* False: sp_star_foster_find would find none. */
static inline bool sp_star_foster_may_be(const struct sp_stars *s)
{
    return s->foster != NONE || s->later_count > 0;
}
/* s->foster and s->foster_overlap are right afterwards, until stars change. False: an error. */
bool sp_star_foster_find(struct sp_stars *s, const struct sp_signature *x);
/* Whether the pivot's overlap with x must be below `need`. `apart` as above. */
static inline bool sp_star_is_far(const struct star *c, const struct sp_signature *x,
                                  uint32_t apart, uint32_t need)
{
    return apart + 2ull * need > (uint64_t)x->shingle_count + c->kept;
}

/* ---- core.c ---- */

/* The error of the index. SP_FULL: a table has no more room for lists. */
enum sp_err sp_star_outcome(struct sp_stars *s);

/* The signature of a row, from the caller's callback; borrowed until the call of the index
 * returns. */
bool sp_star_signature_of(struct sp_stars *s, uint32_t row,
                          const struct sp_signature **ret_signature);
/* Announces calls of the function above, all at once, so that they wait for memory only once. */
void sp_star_prefetch_signatures(struct sp_stars *s, const uint32_t *rows, size_t count);
/* What orders rows wherever an order is needed. */
static inline uint64_t sp_star_name(const struct sp_stars *s, uint32_t row)
{
    return s->options.name(s->options.arg, row);
}
/* Whether the signature does not have all shingles of its page. */
bool sp_star_is_capped(const struct sp_signature *signature);
/* How many shingles or keys are equal to the one before (shingles: by a collision of hashes). */
uint32_t sp_star_repeats(const uint32_t *keys, uint32_t count);
/* F of two signatures; counted in the statistics. */
bool sp_star_verify(struct sp_stars *s, const struct sp_signature *x, const struct sp_signature *y,
                    double *ret_similarity);
/* The entry of a row; makes room for it. Valid until the next call. */
struct row *sp_star_row_at(struct sp_stars *s, uint32_t row);
/* Tells the caller that the stored form of the row has changed. */
void sp_star_row_changed(struct sp_stars *s, uint32_t row);
static inline struct sp_stars_domain *sp_star_domain_of(const struct sp_stars *s, uint32_t star)
{
    return s->domains[s->stars[star].domain];
}
/* The key of a shingle in the posting lists, which all domains share. */
uint32_t sp_star_domain_key(const struct sp_stars_domain *d, uint32_t shingle);
/* The total of its pivot. */
uint32_t sp_star_total(const struct sp_stars *s, const struct star *c);
/* The least and largest total of all members. */
void sp_star_kids_sizes(const struct sp_stars *s, const struct star *c, uint32_t *ret_min,
                        uint32_t *ret_max);
/* Called when members of other sizes have come, or all kids have gone. */
void sp_star_brief_note(struct sp_stars *s, uint32_t star);
/* Appends to s->touched. */
void sp_star_touch(struct sp_stars *s, uint32_t star, uint32_t row, bool direct, double similarity);

/* ---- probe.c ---- */

/* Fills s->touched, most similar first, and s->lengths if the domain is posted. */
bool sp_star_probe(struct sp_stars_domain *d, const struct sp_signature *x, uint32_t except);
/* The same for the row's own signature, except for the row; *ret_twin: its twin, or NONE. */
bool sp_star_probe_row(struct sp_stars_domain *d, uint32_t row, const struct sp_signature *x,
                       uint32_t *ret_twin);
/* sp_star_probe, but only among these stars. */
bool sp_star_probe_stars(struct sp_stars_domain *d, const uint32_t *stars, uint32_t count,
                         const struct sp_signature *x, uint32_t except);
/* Converts s->touched for the caller. */
void sp_star_probe_report(struct sp_stars *s, struct sp_touches *ret_touches);

/* ---- marks.c ---- */

/* The star's mark; 0: stars have none. */
uint32_t sp_star_mark(struct sp_stars *s, uint32_t star);
/* The star is about to end. */
void sp_star_mark_end(struct sp_stars *s, uint32_t star);
/* From now on the star's mark names `other`, which has all of its members that have not left. */
void sp_star_mark_same(struct sp_stars *s, uint32_t star, uint32_t other);
/* The same for a star that is about to end, but makes no marks for stars that need none: nobody has
 * the mark of this one, and it is not the heir's star of another one, which could hand its mark on
 * to it. */
void sp_star_mark_hand_on(struct sp_stars *s, uint32_t star, uint32_t to);
/* The stars that have the members that the mark names, one or two; returns their number, or 0 if
 * they are not known. */
uint32_t sp_star_marked(const struct sp_stars *s, uint32_t mark, uint32_t ret_stars[2]);

/* ---- look.c ---- */

/* Extends s->lengths from s->length_count to the first `count` keys. `hits`: also counts them, by
 * star, and fills s->found. A repeated key counts once. */
void sp_star_look_up(struct sp_stars_domain *d, const uint32_t *keys, uint32_t count, bool hits);

/* ---- reach.c ---- */

/* Called when the star has a larger posted shingle, or members of other sizes. */
void sp_star_reach_note(struct sp_stars *s, uint32_t star);
/* The number of shingles, the smallest, that a probe must look up. */
uint32_t sp_star_reach(const struct sp_stars_domain *d, const struct sp_signature *x);

/* ---- place.c ---- */

/* Puts the row, which is in no star, into the domain. Its probe must have come just before. */
bool sp_star_place(struct sp_stars_domain *d, uint32_t row, const struct sp_signature *x);

/* ---- star.c ---- */

/* Makes a star of this pivot alone; does not post it. The second function also reports that the
 * pivot's row has changed. */
uint32_t sp_star_make(struct sp_stars_domain *d, uint32_t pivot, uint32_t kept, uint32_t total);
uint32_t sp_star_new(struct sp_stars_domain *d, uint32_t pivot,
                     const struct sp_signature *signature);
void sp_star_free(struct sp_stars *s, uint32_t star);
/* Makes the star headless and queues its kids. */
void sp_star_lose_pivot(struct sp_stars *s, uint32_t star);
/* Makes the star draining: its kids will move to the star of the pivot `heir`. */
void sp_star_drain(struct sp_stars *s, uint32_t star, uint32_t heir);
/* Stops draining; the star keeps the members it has. */
void sp_star_keep(struct sp_stars *s, uint32_t star);

/* ---- centre.c ---- */

/* Called when the star has got a child, this row, while s->touched holds the result of its probe.
 * If the star has doubled, chooses its pivot again; then stars with similar pivots become one. */
bool sp_star_grown(struct sp_stars *s, uint32_t star, uint32_t row);
/* Counts the rows that could be children of the candidate if it were a pivot; it counts itself if
 * it is one of them. After an error, which is in s->err, fewer. */
uint32_t sp_star_count_children(struct sp_stars *s, const uint32_t *rows, uint32_t count,
                                uint32_t candidate);

#endif
