/* The kids of a star, as kids.c and litters.c keep them. */
#ifndef SP_STARS_KIDS_H
#define SP_STARS_KIDS_H

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

/* Kids with equal numbers of kept shingles and equal overlaps with the pivot. Most litters have
 * one. */
struct litter {
    union {
        uint32_t *rows; /* two or more: a heap by name; the word before it is its capacity */
        uint32_t only;  /* one */
    };
    uint64_t kept : 17;
    uint64_t overlap : 17;
    uint64_t count : 30;
};
_Static_assert(SP_STARS_ROWS <= 1 << 30, "`count` has room for the number of rows");

/* Those of one kind. */
struct litters {
    const struct litter *items; /* by size, then overlap */
    uint32_t count;
};

/* Of a headless or draining star. */
struct owing {
    uint32_t *queue; /* its kids when it began to owe, by name, last first */
    uint32_t queue_count;
    uint32_t queue_room;
    uint64_t passed; /* the name of the last kid taken from it */
    uint32_t heir;   /* the pivot its kids move to; NONE; its own pivot: lost */
};

struct kids {
    struct litter *litters; /* by kind, size, then overlap */
    struct owing *owing;    /* NULL: the star does not owe */
    uint32_t litter_counts[KID_KINDS];
    uint32_t rows[KID_KINDS];
    uint32_t min_total; /* least of all members so far */
    uint32_t max_total; /* largest of all members so far: never shrinks */
    uint32_t min_kept;  /* least of all kids so far: never grows */
    uint32_t
        max_beside : 17;  /* largest of all kids so far: shingles that the pivot does not have */
    uint32_t capped : 1;  /* some member is or was capped */
    uint32_t indexed : 1; /* s->beside has the shingles of kids that the pivot does not have */
};

static inline const uint32_t *sp_star_litter_rows(const struct litter *l)
{
    return l->count == 1 ? &l->only : l->rows;
}

#endif
