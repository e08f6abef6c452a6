/* The kids of a star, as kids.c and litters.c keep them. */
#ifndef SP_STARS_KIDS_H
#define SP_STARS_KIDS_H

#include <stdbool.h>
#include <stdint.h>

#include "stars/stars.h"

enum kid_kind {
    CHILD,   /* similar to the pivot */
    ADOPTED, /* similar to a child, its adopter, but not to the pivot */
    FRINGE,  /* not known to be similar to any member, so no member. It is found through the star
              * because it shares too much with the pivot to have enough rare shingles */
    KID_KINDS
};

struct kid {
    uint32_t row;
    uint32_t kept;
    uint32_t overlap; /* with the pivot */
    enum kid_kind kind;
    uint32_t adopter; /* of ADOPTED; of FRINGE: ORPHAN if it must be probed again, else NONE */
};

/* Kids with equal numbers of kept shingles and equal overlaps with the pivot. Most litters are one
 * kid. Others have their rows in a heap, and the order of the two numbers tells which it is. */
struct litter {
    uint64_t row : 30;    /* of one kid; or the number of the heap */
    uint64_t first : 17;  /* one kid: the overlap; or kept + 1, which is larger than `second` */
    uint64_t second : 17; /* one kid: kept, which is not smaller than `first`; or the overlap */
};
_Static_assert(sizeof(struct litter) == 8, "most kids have one of their own");
_Static_assert(SP_STARS_ROWS <= 1 << 30, "`row` has room for the number of a row");

static inline bool sp_star_litter_has_heap(const struct litter *l)
{
    return l->first > l->second;
}

static inline uint32_t sp_star_litter_kept(const struct litter *l)
{
    return (uint32_t)(sp_star_litter_has_heap(l) ? l->first - 1u : l->second);
}

static inline uint32_t sp_star_litter_overlap(const struct litter *l)
{
    return (uint32_t)(sp_star_litter_has_heap(l) ? l->second : l->first);
}

/* The rows of a litter, by name, so that the first are found without looking at all. */
struct heap {
    uint32_t *rows; /* of a free heap: NULL */
    uint32_t count; /* of a free heap: the number of the next free one plus one, or 0 */
    uint32_t cap;
};

/* Those of one kind. */
struct litters {
    const struct litter *items; /* by size, then overlap */
    uint32_t count;
};

/* Of a headless or draining star. */
struct owing {
    uint32_t *queue; /* its kids, the next to be taken last: queue.c */
    uint32_t queue_count;
    uint32_t queue_room;
    uint64_t passed; /* the name of the last kid taken from it */
    uint32_t heir;   /* the pivot its kids move to; NONE; its own pivot: lost */
    bool listed;     /* the star is in its domain's list of those that owe */
};

struct kids {
    struct litter *litters; /* by kind, size, then overlap */
    struct lacks *lacks;    /* lacks.c; NULL: few were tried in vain */
    uint32_t litter_counts[KID_KINDS];
    uint32_t rows[KID_KINDS];
    uint32_t min_total; /* least of all members so far */
    uint32_t max_total; /* largest of all members so far: never shrinks */
    uint32_t min_kept;  /* least of all kids so far: never grows */
    uint32_t centred;   /* children when the pivot was last chosen among them (centre.c) */
    uint32_t
        max_beside : 17;   /* largest of all kids so far: shingles that the pivot does not have */
    uint32_t capped : 1;   /* some member is or was capped */
    uint32_t indexed : 1;  /* s->beside has the shingles of kids that the pivot does not have */
    uint32_t early : 1;    /* indexed while it was small, which is not stored */
    uint32_t owes : 1;     /* the star is headless or draining */
    uint32_t in_vain : 11; /* kids tried in vain while it was not indexed */
    struct owing owing[];  /* one if it owes */
};

/* Whether they are indexed and that is stored; NULL is allowed. */
static inline bool sp_star_kids_large(const struct kids *kids)
{
    return kids && kids->indexed && !kids->early;
}

#endif
