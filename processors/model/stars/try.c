/* Finds the kids of a star that are similar to a probe. Bounds of the overlap (stars.h, kid) leave
 * a few, which are compared, the nearest to the pivot first. */
#include <stdlib.h>

#include "base/mem.h"
#include "stars/internal.h"

/* The probe's side. */
struct trial {
    struct sp_stars *stars;
    const struct star *star;
    uint32_t kept;
    bool capped;
    uint32_t overlap; /* with the pivot */
    uint32_t beside;  /* upper bound of the shingles that it shares with a kid and the pivot does
                       * not have */
    uint32_t repeats; /* of shingles in the probe, which a kid may repeat as often; bounds count
                       * each once */
    uint32_t except;
    bool members; /* else tries only the fringe */
};

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The least overlap, in distinct shingles. */
static uint32_t needed(const struct trial *t, uint32_t kept)
{
    uint32_t all = sp_star_bound_overlap(t->stars, t->kept, t->capped, kept, t->star->kids->capped);
    return all > t->repeats ? all - t->repeats : 0;
}

/* Whether sizes allow x to be similar to such a kid. */
static bool may_match(const struct trial *t, uint32_t kept, uint32_t overlap, uint32_t beside)
{
    return t->stars->by_keys ||
           min_u32(t->overlap, overlap) + min_u32(beside, kept - overlap) >= needed(t, kept);
}

static void try_kid(struct trial *t, struct kid kid)
{
    struct sp_stars *s = t->stars;
    if (kid.row == t->except)
        return;
    sp_grow(&s->tried, &s->tried_cap, s->tried_count + 1);
    s->tried[s->tried_count++] =
        (struct tried){kid.row, kid.kept - kid.overlap, s->rows[kid.row].name, kid.kind};
}

/* Tries all kids that sizes do not rule out. */
static void try_litters(struct trial *t, const struct litters *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const struct litter *l = &all->items[i];
        if (may_match(t, l->kept, l->overlap, t->beside))
            for (uint32_t k = 0; k < l->count; k++)
                try_kid(t, sp_star_kid_at(t->stars, l->rows[k]));
    }
}

static void try_gathered(struct trial *t, uint32_t gathered)
{
    struct sp_stars *s = t->stars;
    for (uint32_t i = 0, end; i < gathered; i = end) {
        uint32_t row = s->gathered[i];
        for (end = i + 1; end < gathered && s->gathered[end] == row; end++)
            ;
        struct kid kid = sp_star_kid_at(s, row);
        if ((kid.kind == FRINGE || t->members) &&
            may_match(t, kid.kept, kid.overlap, t->beside + (end - i)))
            try_kid(t, kid);
    }
}

static int by_nearness(const void *a, const void *b)
{
    const struct tried *x = a, *y = b;
    if (x->beside != y->beside)
        return x->beside < y->beside ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void sift_down(struct tried *heap, uint32_t count, uint32_t at)
{
    struct tried moving = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && by_nearness(&heap[child + 1], &heap[child]) < 0;
        if (by_nearness(&moving, &heap[child]) <= 0)
            break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

/* Compares x with s->tried, the nearest first. Usually only a few are compared, so a heap is
 * cheaper than sorting. */
static bool try_nearest(struct sp_stars *s, uint32_t star, const struct sp_signature *x,
                        bool members)
{
    uint32_t before = NONE;
    for (uint32_t i = s->tried_count / 2; i-- > 0;)
        sift_down(s->tried, s->tried_count, i);
    while (s->tried_count) {
        struct tried k = s->tried[0];
        const struct sp_signature *child;
        double similarity;
        s->tried[0] = s->tried[--s->tried_count];
        sift_down(s->tried, s->tried_count, 0);
        if (k.row == before || !(members || k.kind == FRINGE))
            continue;
        before = k.row;
        if (!sp_star_signature_of(s, k.row, &child))
            return false;
        if ((s->by_keys || sp_star_bound_sizes(s, x->shingle_total, child->shingle_total)) &&
            sp_star_verify(s, x, child, &similarity)) {
            sp_star_touch(s, star, k.row, k.kind == FRINGE, similarity);
            members &= k.kind == FRINGE;
        }
    }
    return true;
}

bool sp_star_try_kids(struct sp_stars *s, uint32_t star, const struct sp_signature *x,
                      uint32_t except, const struct sp_signature *pivot, uint32_t overlap,
                      bool members)
{
    struct trial t = {.stars = s,
                      .star = &s->stars[star],
                      .kept = x->shingle_count,
                      .capped = sp_star_is_capped(x),
                      .overlap = overlap,
                      .beside = x->shingle_count - overlap,
                      .repeats = s->repeats,
                      .except = except,
                      .members = members};
    s->tried_count = 0;
    if (t.star->kids->indexed)
        try_gathered(&t, sp_star_gather_beside(s, star, x, pivot, &t.beside));
    for (int kind = 0; kind < KID_KINDS; kind++)
        if (members || kind == FRINGE)
            try_litters(&t, &t.star->kids->kinds[kind]);
    return try_nearest(s, star, x, members);
}
