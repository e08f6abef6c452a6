/* The index of tier 2: finds the stored signatures that are similar to a probe. Its cost does not
 * grow with the number of near duplicates.
 *
 * A star is a pivot row and its children, all of them similar to the pivot (F and J >= tau).
 * Postings name stars, not rows: a shingle has one posting for a star, however many rows the star
 * has. A probe reports one similar row for each star: the members are connected through their
 * pivot, so one edge to any of them connects the probe with all. So a page among 100,000 near
 * duplicates is compared with one or two of them.
 *
 * Terms:
 *
 *   row       one signature in the index, by number; its name (sp_stars_options) orders rows
 *   domain    a set of rows that can meet, as those of one cell
 *   probe     a search with a signature; it touches a star if it resembles one of its rows
 *   child     a row that resembles the pivot of its star
 *   adopted   a row that does not resemble the pivot but a child of it, its adopter
 *   fringe    the rows that are found through the star without being members (below)
 *   member    the pivot, a child or an adopted row
 *   kid       any row of a star but the pivot: a child, an adopted row, a row on the fringe
 *   litter    the kids of a star that are of one kind, size and overlap with the pivot
 *   foster star  of a new row that resembles no member: the star to whose fringe it can go
 *   twin      by simhash, of a row: another one of its value in its star (below)
 *   headless  a star whose pivot was removed; the pivot's number stays in use, as a ghost
 *   draining  a star whose kids move to a larger one, because the two pivots are similar
 *   owes      said of a headless or draining star: kids of it have to move
 *   heir      the pivot to which kids of a headless or draining star move
 *   risen     a kid that left its star for one of its own, of which it is the pivot
 *   orphan    a row on the fringe whose adopter was removed: the caller must insert it again
 *   mark      a number that names a star, even after the star has ended (below)
 *   kept      shingles that a signature has; of a capped one, fewer than the total of its page
 *
 * No similar row is missed. Let n be the number of kept shingles of a row y, and D = floor((1 -
 * tau) n). If J(x, y) >= tau, x lacks at most D of the shingles of y. (This also holds for capped
 * signatures, which are compared over the range that both know: one side fills that range, it keeps
 * no fewer hashes than y, and the two share tau times that many.)
 *
 *   cover    The posted set S of a star has at least D + 1 shingles of each member y. So at least
 *            one of them is in x, which looks up all of its shingles that can be posted (reach.c).
 *            No order of the shingles is assumed: S takes those whose lists are shortest when it is
 *            made, so that shingles which all pages of a site share are hardly ever posted.
 *   count    x has at least D + 1 - (n - the least overlap of x and y) shingles of S: a star with
 *            fewer hits is skipped without reading a signature.
 *   parity   A few words for each star bound the overlap with its pivot from above
 *            (similarity/parity.h).
 *   kid      Let p be the pivot. |x n y| is at most min(|x n p|, |y n p|) plus the number of
 *            shingles that x and y share and p does not have. A star that is large, or whose kids
 *            are often tried in vain, indexes its kids by their shingles that p does not have,
 *            which gives that number exactly. Sizes rule out most kids that share none with x.
 *            If the others are often tried in vain, they are indexed by the shingles of p that
 *            they lack, because |x n y n p| is small unless x and y lack the same ones (lacks.c).
 *
 * A row may resemble no member of a star but share so much with its pivot that too few of its
 * shingles are rare. It is then on the star's fringe: it is not a member, but is found through the
 * star. If a later child resembles it, the child adopts it and it becomes a member. A new child
 * also adopts what it resembles on the fringes of other stars, and rows that are alone in their
 * stars; or else each later row that resembles them all would touch them one by one. Rows on the
 * fringe that resemble each other are reported one by one; the first row that resembles two of them
 * makes them a star, but only with more than 32 if it has too few rare shingles. Two similar rows
 * also go to a fringe if they share too few shingles that the pivot does not have.
 *
 * Source of the argument: prefix filters (Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant
 * 2007), without their global order; stars and their bounds are our own.
 *
 * Methods that do not bound the Jaccard similarity of their signatures (simhash, cosine) post the
 * keys of their candidate rule (candidates/candidates.h) in the same way: a star has a key as long
 * as one of its members has it. By simhash, children of equal bits are tried once, and the triangle
 * inequality rules some out (bits.c); by cosine, children are tried one after another, and norms of
 * parts of a page rule out pivots and children that probes were compared with in vain (norms.c).
 *
 * By combined, a row may share enough with a pivot and its kids, and yet be similar to none,
 * because their sentences differ: patterns of both rule such pairs out (opinions.c).
 *
 * The caller numbers the rows, densely from 0 and below 2^30. Rows of different domains never meet.
 * The index gets signatures by row from a callback (sp_stars_options); each must stay valid until
 * the call of the index returns.
 *
 * Cost for n kept shingles: a probe makes n look-ups, or a third of that among unlike texts. A new
 * star makes D + 1 postings, a child usually none. Removing a row costs O(n). If it is a pivot, its
 * star becomes headless and sp_stars_work moves the kids in steps, at one comparison each. The heir
 * is one of a few chosen by a hash, so that a removal costs O(1) in a crawl without an adversary.
 *
 * The choice of pivots and reported rows depends only on the rows and the order of the calls, even
 * if rows were stored and restored in between. Errors: if the callback fails, the call returns its
 * error; SP_FULL if the posting lists exceed 32 GiB. Then the index is unusable. Thread rule: one
 * thread at a time. */
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
    /* The lower half of the content hash of a row, which the index does not keep. */
    uint64_t (*name)(void *arg, uint32_t row);
    /* Prefetches into the processor's caches what `signature` will read for these rows. May be
     * NULL. */
    void (*prefetch)(void *arg, const uint32_t *rows, size_t count);
    /* Called when the stored form of the row has changed (sp_stars_row_get). May be NULL. */
    void (*changed)(void *arg, uint32_t row);
    void *arg;
    bool twins; /* rows may have twins (below) */
    /* Probes do not touch orphans: each will be inserted again, and its own probe will find what it
     * resembles. Else the touches of rows connect what is similar at any time. */
    bool orphans_apart;
    bool marks; /* stars have marks, and sp_stars_work reports those that rows have left */
};

/* The callbacks `signature` and `name` for rows whose signatures are in an array, a struct
 * sp_signature **, which is `arg`. */
enum sp_err sp_stars_signature_in_array(void *arg, uint32_t row,
                                        const struct sp_signature **ret_signature);
uint64_t sp_stars_name_in_array(void *arg, uint32_t row);

struct sp_stars_stats {
    uint64_t probes;
    uint64_t looked_up;  /* shingles or keys */
    uint64_t scanned;    /* postings, and kids that the index of lacks.c found */
    uint64_t candidates; /* stars that passed the count filter */
    uint64_t verified;   /* rows whose signature was compared with a probe's */
    uint64_t touches;
    uint64_t repivots;
    uint64_t moved; /* kids taken from the queues of headless and draining stars */
    uint64_t stars; /* now */
    uint64_t rows;  /* now */
    uint64_t postings;
    uint64_t bytes;
};

/* Options are copied. Never NULL. */
struct sp_stars *sp_stars_new(const struct sp_stars_options *options);
void sp_stars_free(struct sp_stars *s);
/* Counts since the index was made; `stars`, `rows`, `postings` and `bytes` are those of now. */
void sp_stars_stats(const struct sp_stars *s, struct sp_stars_stats *ret_stats);

/* ---- domains: sets of rows that can meet ---- */

struct sp_stars_domain;

/* `name` identifies the domain. If `small`, its stars are not posted while it has few rows: a probe
 * tries all of them, which is cheaper for most groups of pages. */
struct sp_stars_domain *sp_stars_domain_new(struct sp_stars *s, uint64_t name, bool small);
/* The domain must have no rows. NULL is allowed. */
void sp_stars_domain_free(struct sp_stars_domain *d);
/* The number of its rows. */
uint32_t sp_stars_domain_rows(const struct sp_stars_domain *d);
/* Whether its stars are posted. A domain that was posted when its rows were stored must be restored
 * with `small` false. */
bool sp_stars_domain_posted(const struct sp_stars_domain *d);

/* ---- probes ----
 *
 * Two rows of one simhash resemble the same rows. If a star has a row of the inserted row's value,
 * the new row joins that star, and the touches are only that star's pivot: `twin` is the first row
 * of that value in the star, by name, or the pivot. What the twin touches connects the new row as
 * well, as long as the twin does not leave its star; then the caller must probe the row again. So
 * the cost of a row does not grow with the number of rows of its value. A row relies on a pivot or
 * on a row with a smaller name, so no two rely on each other. */

/* One similar row of a star. */
struct sp_touch {
    uint32_t row;      /* the pivot if it is similar, else a kid */
    uint32_t pivot;    /* of its star; SP_STARS_NONE: the star is headless */
    double similarity; /* of `row` */
};

struct sp_touches {
    const struct sp_touch *items; /* most similar first */
    size_t count;
    uint32_t twin;  /* of the inserted row, or SP_STARS_NONE */
    uint32_t risen; /* a kid that left its star for one of its own when the row was inserted, as its
                     * pivot; or SP_STARS_NONE */
};

/* Finds what the signature touches in the domain, except for the row `except` (SP_STARS_NONE: no
 * exception); changes nothing. Valid until the next call. */
enum sp_err sp_stars_probe(struct sp_stars_domain *d, const struct sp_signature *signature,
                           uint32_t except, struct sp_touches *ret_touches);

/* The same, then adds the row to the domain as a kid or a pivot. The touches are those from
 * before. */
enum sp_err sp_stars_insert(struct sp_stars_domain *d, uint32_t row,
                            const struct sp_signature *signature, struct sp_touches *ret_touches);

/* sp_stars_probe with the row's own signature, except for the row itself; *ret_touches as after
 * inserting it. */
enum sp_err sp_stars_probe_row(struct sp_stars_domain *d, uint32_t row,
                               const struct sp_signature *signature,
                               struct sp_touches *ret_touches);

/* Removes the row. *ret_ghost: it was a pivot, and its signature and number stay in use until
 * sp_stars_work returns it among the ghosts. */
enum sp_err sp_stars_remove(struct sp_stars_domain *d, uint32_t row, bool *ret_ghost);

/* ---- stars that change ----
 *
 * A caller that stores touches as edges must keep them valid. A row that touched a child and not
 * its pivot relies on the child to connect it with the star. When the child leaves the star (it is
 * removed, is in `rows` or `moved` below, or has risen), the caller must probe the row again. A row
 * that has moved or risen must be probed again itself: nothing says yet that it resembles rows of
 * its former star. (A caller that follows the anchors of changed rows learns from them which row
 * has risen.) */

struct sp_stars_left {
    const uint32_t *rows; /* left their star; the caller must insert each again with its
                           * signature */
    size_t count;
    const uint32_t *moved; /* moved to another star; others may have stayed */
    size_t moved_count;
    /* If marks are wanted: of the star that each of `rows` and `moved` has left, or 0. */
    const uint32_t *row_marks;
    const uint32_t *moved_marks;
    const uint32_t *heirs; /* left a headless star for one of their own, to which those of its kids
                            * move that resemble them; rows that rely on them still may */
    size_t heir_count;
    const uint32_t *ghosts; /* former pivots that are no longer needed */
    size_t ghost_count;
};

/* Moves at most `kids` kids of headless and draining stars. The result is valid until the next
 * call. */
enum sp_err sp_stars_work(struct sp_stars_domain *d, uint32_t kids, struct sp_stars_left *ret_left);
/* Whether there are kids to move. */
bool sp_stars_owes(const struct sp_stars_domain *d);
/* At least so many as there are. Costs O(headless and draining stars). */
uint32_t sp_stars_owed(const struct sp_stars_domain *d);

/* ---- marks ----
 *
 * A row that relied on a kid that has left its star need not be compared with all that it
 * resembles, but with the members of that star which did not leave it themselves. A mark names
 * these, wherever they are when it is used. */

/* The mark of the row's star; 0: stars have no marks, because rows may rely on twins. */
uint32_t sp_stars_mark(struct sp_stars *s, uint32_t row);
/* sp_stars_probe_row, but finds only members of the star of that mark, and no twin. *ret_known:
 * false if the index does not know where they are; then nothing was compared. */
enum sp_err sp_stars_probe_marked(struct sp_stars_domain *d, uint32_t mark, uint32_t row,
                                  const struct sp_signature *signature,
                                  struct sp_touches *ret_touches, bool *ret_known);
/* The caller has no mark any more: those that it had are not valid. */
void sp_stars_forget_marks(struct sp_stars *s);

/* ---- the place of a row ---- */

/* The pivot of the row's star; the row itself if it is a pivot or on the fringe; SP_STARS_NONE if
 * the star is headless. */
uint32_t sp_stars_pivot(const struct sp_stars *s, uint32_t row);
/* The number of members of its star; 1 if the row is on the fringe. */
uint32_t sp_stars_members(const struct sp_stars *s, uint32_t row);
/* The ghost of the row's headless star; SP_STARS_NONE if it is a member of no such star. */
uint32_t sp_stars_ghost(const struct sp_stars *s, uint32_t row);
/* Whether the row is in a domain; false for a ghost. */
bool sp_stars_has(const struct sp_stars *s, uint32_t row);

/* The similar row that connects the row with its star: the pivot, or its adopter. The row itself if
 * it is a pivot or on the fringe; SP_STARS_NONE if it has none for now (a child of a headless star,
 * an orphan). Whenever it changes, sp_stars_options.changed is called. */
uint32_t sp_stars_anchor(const struct sp_stars *s, uint32_t row);
/* Whether both are members of one star. */
bool sp_stars_together(const struct sp_stars *s, uint32_t a, uint32_t b);

/* Calls `each` for every member of the row's star, in no particular order. */
void sp_stars_each_member(const struct sp_stars *s, uint32_t row,
                          void (*each)(void *arg, uint32_t row), void *arg);
/* The same, a few at a time: returns the next members, `most` of them unless none are left after
 * these. *place begins as {0}; until the end, the star must not change. */
struct sp_stars_place {
    uint32_t litter;
    uint32_t at;
};
uint32_t sp_stars_next_members(const struct sp_stars *s, uint32_t row, struct sp_stars_place *place,
                               uint32_t most, uint32_t *ret_rows);

/* ---- stored rows ---- */

enum sp_star_role {
    SP_STAR_PIVOT,
    SP_STAR_GHOST,   /* a pivot that left */
    SP_STAR_CHILD,   /* similar to the pivot */
    SP_STAR_ADOPTED, /* similar to a child */
    SP_STAR_FRINGE,  /* not a member; only found through the star */
    SP_STAR_ORPHAN   /* on the fringe since its adopter left; will be inserted again */
};

static inline bool sp_star_role_is_pivot(enum sp_star_role role)
{
    return role == SP_STAR_PIVOT || role == SP_STAR_GHOST;
}

/* What must be stored of a row to restore it without its signature. */
struct sp_star_row {
    enum sp_star_role role;
    uint32_t other;   /* PIVOT, GHOST: the heir, or SP_STARS_NONE; else the pivot (or ghost) */
    uint32_t adopter; /* ADOPTED */
    uint64_t passed;  /* PIVOT with an heir: the name of the last kid that was moved */
    uint32_t kept;    /* kept shingles; total: of all shingles */
    uint32_t total;
    uint32_t overlap;       /* of a kid: with the pivot */
    bool indexed;           /* PIVOT, GHOST: kids are indexed by their shingles that the pivot does
                             * not have */
    uint32_t centred;       /* PIVOT, GHOST: children when the pivot was chosen among them */
    const uint8_t *posted;  /* PIVOT, GHOST: (kept + 7) / 8 bytes, a bit for each posted shingle;
                             * NULL: the domain is not posted, or keys are */
    const uint64_t *parity; /* the same; sp_stars_parity_words(kept) of them */
    const uint32_t *hashes; /* PIVOT, GHOST: the posted shingles; else those that the pivot does not
                             * have. If keys are posted: the row's keys */
    uint32_t hash_count;
};

/* The number of words of a pivot's parity pattern. */
uint32_t sp_stars_parity_words(uint32_t kept);
/* The stored form of a ghost or of a row in the domain. Valid until the next call. */
enum sp_err sp_stars_row_get(struct sp_stars_domain *d, uint32_t row, struct sp_star_row *ret_row);
/* Restores a row; restore a pivot or ghost before its kids. SP_CORRUPT if the row is not valid.
 * Call sp_stars_settle after the last row of all domains. */
enum sp_err sp_stars_row_put(struct sp_stars_domain *d, uint32_t row, const struct sp_star_row *in);
void sp_stars_settle(struct sp_stars *s);

/* Calls `each` for the pivot or ghost of every star that a probe with the signature may examine;
 * changes nothing. */
void sp_stars_expect(struct sp_stars_domain *d, const struct sp_signature *signature,
                     void (*each)(void *arg, uint32_t row), void *arg);
/* Prefetches into the processor's caches what a probe with this signature will read. */
void sp_stars_prefetch(const struct sp_stars_domain *d, const struct sp_signature *signature);

#endif
