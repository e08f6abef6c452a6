/* The data of the star index: rows, stars, domains, and the scratch memory of a probe. kids.h has
 * the kids of a star, table.h the posting lists. */
#ifndef SP_STARS_DATA_H
#define SP_STARS_DATA_H

#include "base/counts.h"
#include "base/shelf.h"
#include "candidates/candidates.h"
#include "similarity/parity.h"
#include "stars/kids.h"
#include "stars/stars.h"
#include "stars/table.h"

enum {
    NONE = SP_STARS_NONE,
    ORPHAN = NONE - 1,
    POSTED_FEW = 12288,   /* keys of s->posted in a simple table (table.h), which takes more memory
                           * but is faster: each page looks up hundreds */
    BESIDE_FEW = 3072,    /* the same of s->beside, which is often that small and read rarely */
    BESIDE_MOST = 64,     /* kids in a list of s->beside; a longer list is of no use */
    POSTED_FROM = 16,     /* rows of a small domain */
    ABSORBED_KIDS = 16,   /* at most, of a star that another one absorbs */
    COMMON_FROM = 4,      /* stars: so many have posted a shingle that many pages share */
    INDEXED_FROM = 64,    /* kids; a smaller star is indexed if its kids are often tried in vain */
    PARITY_BITS = 1,      /* of a pattern, for each shingle */
    CENTRED_AT = 64,      /* children; at this size the pivot is chosen again among the members */
    CENTRED_MOST = 256,   /* kids, including those on the fringe */
    FETCHED_AT_ONCE = 16, /* signatures */
    LATER_MOST = 8,       /* stars that may be the foster star, if not compared */
    SP_STAR_BITS_MOST = 8 /* simhash: similar rows differ in fewer bits */
};

/* A row in no star, or an unused number, has star NONE. */
struct row {
    uint32_t star;
    uint32_t place;         /* in its litter; NONE: it is the pivot (or ghost) */
    uint64_t kept : 17;     /* shingles */
    uint64_t overlap : 17;  /* of a kid: with the pivot */
    uint64_t kind : 2;      /* enum kid_kind; if ADOPTED, s->adopters has its adopter */
    uint64_t orphan : 1;    /* on the fringe, and must be probed again */
    uint64_t in_vain : 4;   /* how often probes were compared with it in vain: patterns.c */
    uint64_t gathered : 20; /* 0, except during a gathering: beside.c */
};
_Static_assert(SP_MAX_SHINGLES_LIMIT < 1 << 17, "`kept` has room for the number of shingles");

struct star {
    uint64_t *bits;    /* cover.c; NULL: the star is not posted, or keys are */
    struct kids *kids; /* NULL: none */
    uint32_t domain;   /* its number; 0: a free star */
    union {
        uint32_t reach; /* its largest posted shingle */
        uint32_t place; /* the domain is not posted: in its list of all stars */
    };
    uint32_t pivot : 30;
    uint32_t headless : 1;      /* the pivot has left */
    uint32_t draining : 1;      /* its members are moving to a larger star */
    uint32_t kept : 17;         /* of the pivot */
    uint32_t posted_bytes : 14; /* of its bits */
    uint32_t capped : 1;        /* the pivot; s->totals has its total, which is `kept` if not */
};
_Static_assert(sizeof(struct star) == 32, "there is one for most contents");
_Static_assert(SP_STARS_ROWS <= 1 << 30, "`pivot` has room for a row");
_Static_assert(SP_MAX_SHINGLES_LIMIT / 8 < 1 << 14, "`posted_bytes` has room for all bits");

/* What a look-up needs of a star, so that a star that shares few shingles with the probe costs one
 * wait for memory. */
struct brief {
    uint32_t most;   /* the largest total of its members; 0: some are capped, any hit counts */
    uint16_t hits;   /* during a probe */
    uint16_t domain; /* bits of the salt: not equal in another domain, with few exceptions */
};

struct sp_stars_domain {
    struct sp_stars *stars;
    uint32_t number; /* in s->domains */
    uint32_t salt;
    uint32_t rows;
    bool posted;
    uint32_t *reach; /* by size, see reach.c; NULL: nothing is posted */
    uint32_t *all;   /* live stars; only if the domain is not posted */
    uint32_t all_count;
    uint32_t all_cap;
    /* lists.c; numbers of rows and stars */
    struct sp_shelf orphans; /* by name */
    struct sp_shelf owing;   /* headless and draining stars, by the pivot's name */
    struct sp_shelf heirs;   /* those of them that have an heir, by its row */
    uint64_t queued;         /* kids in the queues of these stars */
};

/* A star that a probe touched. */
struct touched {
    uint32_t star;
    uint32_t row;  /* similar to the probe */
    bool direct;   /* the pivot, or on the fringe; else a child or adopted */
    uint64_t name; /* of the row */
    double similarity;
};

struct found {
    uint32_t star;
    uint32_t hits;
    uint32_t need;  /* the least overlap with the pivot that matters */
    uint32_t apart; /* a lower bound of the shingles that only the probe or only the pivot has */
    uint64_t name;  /* of the pivot, for sorting */
};

/* A kid that may be similar. */
struct tried {
    const struct litter *litter; /* NULL: it is tried for itself; else it stands for all rows below
                                  * it in the heap of the litter */
    uint32_t at;                 /* its place there */
    uint32_t row;
    uint64_t name;
    uint32_t order; /* of trying: the shingles that the pivot does not have, or 0 */
    enum kid_kind kind;
    bool unknown; /* to the index of lacks.c: it may be similar even if it is not found there */
};

/* A star that may be the foster star of the probe. */
struct later {
    uint32_t star;
    uint32_t shared; /* twice an upper bound of the shingles that the probe and the pivot share */
};

struct mark;
struct pattern_block;
struct pattern_kind;

struct sp_stars {
    struct sp_stars_options options;
    struct sp_candidate_rule rule;
    bool by_keys; /* similar rows need not share shingles */
    double tau;
    bool by_bits;                                /* the method is simhash */
    uint32_t bits_most;                          /* of them: similar rows differ in no more bits */
    uint32_t choose[64][SP_STAR_BITS_MOST];      /* binomial coefficients */
    uint32_t bits_before[SP_STAR_BITS_MOST + 1]; /* the number of differences with fewer bits */
    enum sp_err err;
    struct sp_star_table *posted; /* shingle or key -> stars */
    struct sp_star_table *beside; /* shingle of a star -> kids that have it; adopter -> adopted */
    struct sp_counts common;   /* shingle of a star that many kids have; by keys: key of a star */
    struct sp_counts adopters; /* adopted row -> its adopter's number plus one */
    struct sp_counts totals;   /* star whose pivot is capped -> the pivot's total */
    struct sp_counts lacks;    /* kid -> its item in the index of lacks.c plus one */
    struct sp_counts mark_of;  /* star -> its mark: marks.c */
    uint32_t lacks_at_once;    /* for tests: kids that lacks.c reads at once; 0: its own number */
    struct row *rows;
    uint32_t row_cap;
    struct heap *heaps; /* of litters */
    uint32_t heap_count;
    uint32_t heap_cap;
    uint32_t free_heap; /* its number plus one; 0: none */
    struct star *stars;
    uint32_t star_count;
    uint32_t star_cap;
    uint32_t free_star;               /* a list through `place` */
    struct sp_stars_domain **domains; /* by number; number 0 is none */
    uint32_t domain_count;
    uint32_t domain_cap;
    struct mark *marks;
    uint32_t mark_count;
    uint32_t mark_cap;
    struct pattern_block **patterns; /* patterns.c */
    uint32_t pattern_cap;
    struct brief *briefs; /* of each star */
    uint32_t brief_cap;
    /* scratch, valid until the next use of its file */
    uint32_t *lengths; /* of the posting lists of the probe's first shingles */
    uint32_t length_count;
    const struct sp_signature *lengths_of; /* the row that is being placed, while s->lengths are
                                            * right for it; else NULL */
    uint32_t lengths_cap;
    uint32_t *hit; /* stars that the look-ups of the probe met */
    uint32_t hit_count;
    uint32_t hit_cap;
    struct found *found;
    uint32_t found_count;
    uint32_t found_cap;
    struct touched *touched;
    uint32_t touched_count;
    uint32_t touched_cap;
    struct touched *absorbed;
    uint32_t absorbed_cap;
    uint64_t parity[SP_PARITY_WORDS_MAX]; /* of the probe */
    bool parity_known;
    const struct pattern_kind *pattern_kind; /* that of the method */
    void *probe_patterns;                    /* of the probe, if the kind needs them */
    uint32_t probe_known;                    /* which of these are made: see the kind; 0: none */
    uint32_t repeats;        /* shingles of the probe that repeat another one (hash collisions) */
    uint32_t foster;         /* the foster star of the probe (foster.c), or NONE */
    uint32_t foster_overlap; /* with its pivot */
    struct later later[LATER_MOST]; /* not compared yet; by `shared`, largest first */
    uint32_t later_count;
    uint32_t risen; /* the kid that sp_star_place has made a pivot (centre.c), or NONE */
    struct tried *tried;
    uint32_t tried_count;
    uint32_t tried_cap;
    struct sp_touch *touches;
    uint32_t touches_cap;
    uint64_t *order;
    uint32_t order_cap;
    uint32_t *fresh; /* shingles without a list that a star posts */
    uint32_t fresh_count;
    uint32_t fresh_cap;
    uint8_t *posting; /* bits of the star whose shingles are being posted or read */
    uint32_t posting_cap;
    uint32_t *hashes;
    uint32_t hashes_cap;
    uint32_t *keys; /* of shingles in s->beside */
    uint32_t keys_cap;
    uint32_t *gathered;
    uint32_t gathered_cap;
    uint32_t *left;
    uint32_t left_cap;
    uint32_t *left_marks;
    uint32_t left_marks_cap;
    uint32_t *moved;
    uint32_t moved_cap;
    uint32_t *moved_marks;
    uint32_t moved_marks_cap;
    uint32_t *heirs;
    uint32_t heirs_cap;
    uint32_t *ghosts;
    uint32_t ghosts_cap;
    struct sp_stars_stats stats;
};

#endif
