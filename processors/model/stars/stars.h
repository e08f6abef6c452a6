/* Which stored signatures is a probe similar to? An index that near duplicates do not slow down.
 *
 * A star is a pivot row and its children, all of them similar to the pivot (F and J >= tau). Only
 * stars are posted: a posting says that a shingle belongs to a star, however many rows it has. A
 * probe is told of one similar row a star, since the members of a star hang together through their
 * pivot: one edge to any of them connects it with all. So a page among 100,000 near duplicates is
 * compared with one or two of them.
 *
 * No similar row is missed. Let n be the number of shingles kept of a row y, and D = floor((1 -
 * tau) n): if J(x, y) >= tau, x lacks at most D of the shingles of y. (Capped signatures know only
 * their smallest hashes and are compared over the range that both know. One side fills that range,
 * and keeps no fewer than y; both have tau times that many hashes in common; so this holds for
 * them, too.)
 *
 *   cover    The posted set S of a star has at least D + 1 shingles of each member y. So at least
 *            one of them is in x, which looks up all of its shingles. No order of the shingles is
 *            assumed: S takes those with the shortest lists of the moment, so that what all pages
 *            of a site share is hardly ever posted, or met.
 *   count    x has at least D + 1 - (n - the least overlap of x and y) shingles of S: a star with
 *            fewer hits is passed over without a look at a signature.
 *   parity   A few words a star bound the overlap with its pivot from above (parity.c).
 *   kid      Let p be the pivot. |x n y| is at most min(|x n p|, |y n p|) plus the number of
 * shingles that x and y share beside those of p. A large star has an index of what its kids have
 *            beside p, which gives that number exactly. Kids without any in common with x are
 *            ruled out by their sizes.
 *
 * A row that resembles no member of a star, but shares so much with its pivot that too few of its
 * shingles are rare, lies on the star's fringe: it is no member, but found through the star. When a
 * later child resembles it, the child adopts it, and it is a member.
 *
 * Source of the argument: prefix filters (Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant
 * 2007), without their global order; stars and their bounds are our own.
 *
 * Methods whose measure is no Jaccard similarity (simhash, cosine, lcs) post the keys of their
 * candidate rule (candidates/candidates.h) in the same way: a star has a key as long as one of its
 * members has it. Their children have no bounds, and are tried one after another.
 *
 * Rows are numbers that the caller gives out, densely from 0, below 2^30. Rows of different domains
 * never meet. A signature is asked for by its row (sp_stars_options) and must stay valid until the
 * call that asked for it returns.
 *
 * Cost, for n shingles kept: a probe makes n look-ups. A new star makes D + 1 postings, a child
 * mostly none. A row that leaves costs O(n); if it is a pivot, its star is headless, and its kids
 * are moved in steps of sp_stars_work, at one comparison each. The heir is chosen by a hash, so
 * that a crawl without malice pays O(1) a removal.
 *
 * What is chosen (pivots, witnesses) depends on the rows and the order of the calls and on nothing
 * else, also after rows were stored and restored.
 * Errors: a signature that cannot be had ends the call with its error; the index is then unusable.
 * Thread rule: one thread at a time. */
#ifndef SP_STARS_STARS_H
#define SP_STARS_STARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "page/signature.h"
#include "similarity/similarity.h"

enum {
    SP_STARS_ROWS = 1 << 30, /* rows are below it */
    SP_STARS_NONE = 0x7fffffff
};

struct sp_stars;

struct sp_stars_options {
    struct sp_similarity_options similarity;
    /* The signature of a row, borrowed. */
    enum sp_err (*signature)(void *arg, uint32_t row, const struct sp_signature **ret_signature);
    /* The stored form of the row has changed (sp_stars_row_get); NULL: nobody asks. */
    void (*changed)(void *arg, uint32_t row);
    void *arg;
};

struct sp_stars_stats {
    uint64_t probes;
    uint64_t looked_up;  /* shingles or keys */
    uint64_t scanned;    /* postings */
    uint64_t candidates; /* stars that passed the count filter */
    uint64_t verified;   /* rows whose signature was compared with a probe's */
    uint64_t touches;
    uint64_t repivots;
    uint64_t moved; /* children of pivots that left */
    uint64_t stars; /* now */
    uint64_t rows;  /* now */
    uint64_t postings;
    uint64_t bytes;
};

/* Options are copied. Never NULL. */
struct sp_stars *sp_stars_new(const struct sp_stars_options *options);
void sp_stars_free(struct sp_stars *s);
void sp_stars_stats(const struct sp_stars *s, struct sp_stars_stats *ret_stats);

/* ---- domains: sets of rows that can meet ---- */

struct sp_stars_domain;

/* `name` tells domains apart. With `small` its stars are not posted while it has few rows: a probe
 * then tries all of them, which is cheaper for most groups of pages. */
struct sp_stars_domain *sp_stars_domain_new(struct sp_stars *s, uint64_t name, bool small);
/* It must have no rows any more. NULL is allowed. */
void sp_stars_domain_free(struct sp_stars_domain *d);
uint32_t sp_stars_domain_rows(const struct sp_stars_domain *d);
/* Whether its stars are posted: a small domain whose rows were stored posted is restored as one
 * that is not small. */
bool sp_stars_domain_posted(const struct sp_stars_domain *d);

/* ---- probes ---- */

/* One similar row for a star. */
struct sp_touch {
    uint32_t row;      /* the pivot where it is similar, else a child */
    uint32_t pivot;    /* of its star; SP_STARS_NONE: the star is headless */
    double similarity; /* of `row` */
};

struct sp_touches {
    const struct sp_touch *items; /* most similar first */
    size_t count;
};

/* What the signature touches in the domain, but for the row `except` (SP_STARS_NONE: none); changes
 * nothing. Valid until the next call. */
enum sp_err sp_stars_probe(struct sp_stars_domain *d, const struct sp_signature *signature,
                           uint32_t except, struct sp_touches *ret_touches);

/* The same, and then the row becomes part of the domain: a child of the most similar pivot, or a
 * pivot. The touches say what it met before that. */
enum sp_err sp_stars_insert(struct sp_stars_domain *d, uint32_t row,
                            const struct sp_signature *signature, struct sp_touches *ret_touches);

/* Takes the row out. *ret_ghost: it was a pivot, and its signature is needed until
 * sp_stars_work says otherwise; its number must not be used again before that. */
enum sp_err sp_stars_remove(struct sp_stars_domain *d, uint32_t row, bool *ret_ghost);

/* ---- stars that change ----
 *
 * A caller that has noted touches as edges follows them: a row that touched a child, and not its
 * pivot, relies on the child being in one star with the others. When the child leaves its star (it
 * is removed, or is in `rows` or `moved` below), the row must be probed again. */

struct sp_stars_left {
    const uint32_t *rows; /* left their star, and must be inserted again, each with its signature */
    size_t count;
    const uint32_t *moved; /* moved to another star, while others stayed, perhaps */
    size_t moved_count;
    const uint32_t *ghosts; /* pivots that nobody needs any more */
    size_t ghost_count;
};

/* Moves up to so many kids: of pivots that left, and of stars that become part of larger ones.
 * Valid until the next call. */
enum sp_err sp_stars_work(struct sp_stars_domain *d, uint32_t kids, struct sp_stars_left *ret_left);
/* Whether there is something to move. */
bool sp_stars_owes(const struct sp_stars_domain *d);

/* ---- what is known of a row ---- */

/* The pivot of its star, itself where it is one; SP_STARS_NONE where its star is headless. */
uint32_t sp_stars_pivot(const struct sp_stars *s, uint32_t row);
/* How many rows its star has, at most. */
uint32_t sp_stars_members(const struct sp_stars *s, uint32_t row);
bool sp_stars_has(const struct sp_stars *s, uint32_t row);

/* The row that the row hangs on in its star, and that it is similar to: the pivot, of an adopted
 * one its adopter. Itself where it is a pivot or on the fringe; SP_STARS_NONE where it has none for
 * the moment (a headless star's child, an orphan). It changes only with sp_stars_options.changed.
 */
uint32_t sp_stars_anchor(const struct sp_stars *s, uint32_t row);
/* Whether both are members of one star. */
bool sp_stars_together(const struct sp_stars *s, uint32_t a, uint32_t b);

/* Calls `each` for every row that is in the same star as `row`, in no particular order. */
void sp_stars_each_member(const struct sp_stars *s, uint32_t row,
                          void (*each)(void *arg, uint32_t row), void *arg);

/* ---- stored rows ---- */

enum sp_star_role {
    SP_STAR_PIVOT,
    SP_STAR_GHOST,   /* a pivot that left */
    SP_STAR_CHILD,   /* similar to the pivot */
    SP_STAR_ADOPTED, /* similar to a child */
    SP_STAR_FRINGE,  /* no member: it only lies in the index beside the pivot */
    SP_STAR_ORPHAN   /* on the fringe since its adopter left, and soon to be inserted again */
};

/* What must be kept of a row to restore it without its signature. */
struct sp_star_row {
    enum sp_star_role role;
    uint32_t other;   /* PIVOT, GHOST: the heir, or SP_STARS_NONE; else the pivot (or ghost) */
    uint32_t adopter; /* ADOPTED */
    uint64_t passed;  /* PIVOT with an heir: how far it has come */
    uint32_t kept;    /* shingles kept, and of all */
    uint32_t total;
    uint32_t overlap;       /* of a kid: with the pivot */
    bool indexed;           /* PIVOT, GHOST: kids can be found by what they have beside the pivot */
    const uint8_t *posted;  /* PIVOT, GHOST: (kept + 7) / 8 bytes, a bit for each posted shingle;
                             * NULL: the domain is not posted, or keys are */
    const uint64_t *parity; /* the same; sp_stars_parity_words(kept) of them */
    const uint32_t *hashes; /* PIVOT, GHOST: what is posted; else what it has beside the pivot.
                             * Where keys are posted: the row's keys */
    uint32_t hash_count;
};

uint32_t sp_stars_parity_words(uint32_t kept);
/* The stored form of a row that is in the domain or a ghost. Valid until the next call. */
enum sp_err sp_stars_row_get(struct sp_stars_domain *d, uint32_t row, struct sp_star_row *ret_row);
/* Restores a row; a child after its pivot (or ghost). `name` is its content hash's lower half.
 * SP_CORRUPT where the row cannot be one. sp_stars_settle comes after a domain's last row. */
enum sp_err sp_stars_row_put(struct sp_stars_domain *d, uint32_t row, uint64_t name,
                             const struct sp_star_row *in);
void sp_stars_settle(struct sp_stars_domain *d);

/* Calls `each` for the pivot (or ghost) of every star that a probe with the signature may look at;
 * changes nothing. */
void sp_stars_expect(struct sp_stars_domain *d, const struct sp_signature *signature,
                     void (*each)(void *arg, uint32_t row), void *arg);
/* For the processor's caches: this signature will be probed for soon. */
void sp_stars_prefetch(const struct sp_stars_domain *d, const struct sp_signature *signature);

#endif
