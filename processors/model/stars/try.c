/* Finds the kids of a star that are similar to a probe. Bounds of the overlap (stars.h, kid) leave
 * some, which are compared, the nearest to the pivot first. Usually one of the first is similar. If
 * not, it may be that the nearest are just those that cannot be, however many they are: so the
 * others are tried in turn, a few of each litter, then twice as many. */
#include "base/mem.h"
#include "base/order.h"
#include "stars/bits.h"
#include "stars/internal.h"
#include "stars/patterns.h"

/* A probe that is held against the kids of one star. */
struct trial {
    struct sp_stars *stars;
    uint32_t number; /* of the star */
    const struct star *star;
    const struct sp_signature *x; /* the probe */
    uint32_t except;              /* a row that is passed over, or NONE */
    uint32_t kept;                /* shingles of x */
    bool capped;
    uint32_t overlap; /* with the pivot */
    uint32_t beside;  /* upper bound of the shingles that it shares with a kid and the pivot does
                       * not have */
    uint32_t repeats; /* of shingles in the probe, which a kid may repeat as often; bounds count
                       * each once */
    bool members;     /* else tries only the fringe */
};

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
           sp_min_u32(t->overlap, overlap) + sp_min_u32(beside, kept - overlap) >= needed(t, kept);
}

static void add_tried(struct sp_stars *s, const struct litter *litter, uint32_t at, uint32_t row)
{
    struct kid kid = sp_star_kid_at(s, row);
    sp_grow(&s->tried, &s->tried_cap, s->tried_count + 1);
    s->tried[s->tried_count++] =
        (struct tried){litter, at, row, sp_star_name(s, row), kid.kept - kid.overlap, kid.kind};
}

/* Tries the kids that sizes do not rule out: at first only the first of each litter. */
static void try_litters(struct trial *t, struct litters all)
{
    for (uint32_t i = 0; i < all.count; i++) {
        const struct litter *l = &all.items[i];
        if (may_match(t, sp_star_litter_kept(l), sp_star_litter_overlap(l), t->beside))
            add_tried(t->stars, l, 0, sp_star_litter_row(t->stars, l, 0));
    }
}

static void try_gathered(struct trial *t, uint32_t gathered)
{
    struct sp_stars *s = t->stars;
    for (uint32_t i = 0; i < gathered; i++) {
        uint32_t row = s->gathered[i], shared = s->rows[row].gathered;
        struct kid kid = sp_star_kid_at(s, row);
        s->rows[row].gathered = 0;
        if ((kid.kind == FRINGE || t->members) &&
            may_match(t, kid.kept, kid.overlap, t->beside + shared))
            add_tried(s, NULL, 0, row);
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

static void sift_up(struct tried *heap, uint32_t at)
{
    struct tried moving = heap[at];
    for (; at > 0 && by_nearness(&moving, &heap[(at - 1) / 2]) < 0; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = moving;
}

static void heap_make(struct sp_stars *s)
{
    for (uint32_t i = s->tried_count / 2; i-- > 0;)
        sift_down(s->tried, s->tried_count, i);
}

/* Takes the nearest out of s->tried; the next rows of its litter take its place. */
static struct tried take_nearest(struct sp_stars *s)
{
    struct tried nearest = s->tried[0];
    const struct litter *l = nearest.litter;
    uint32_t next = 2 * nearest.at + 1, end = l ? sp_star_litter_count(s, l) : 0;
    s->tried[0] = s->tried[--s->tried_count];
    sift_down(s->tried, s->tried_count, 0);
    for (uint32_t i = next; i < next + 2 && i < end; i++) {
        add_tried(s, l, i, sp_star_litter_row(s, l, i));
        sift_up(s->tried, s->tried_count - 1);
    }
    return nearest;
}

/* Drops the members from s->tried; or only those that stand for a litter. */
static void drop_members(struct sp_stars *s, bool only_litters)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->tried_count; i++)
        if (s->tried[i].kind == FRINGE || (only_litters && !s->tried[i].litter))
            s->tried[count++] = s->tried[i];
    s->tried_count = count;
    heap_make(s);
}

/* Whether the kid is similar. Returns false after an error, which is in s->err. */
static bool try_kid(const struct trial *t, uint32_t row, bool fringe, bool *ret_similar)
{
    struct sp_stars *s = t->stars;
    const struct sp_signature *x = t->x, *kid;
    double similarity;
    *ret_similar = false;
    if (sp_star_pattern_excludes(s, row, x))
        return true;
    if (!sp_star_signature_of(s, row, &kid))
        return false;
    *ret_similar = (s->by_keys || sp_star_bound_sizes(s, x->shingle_total, kid->shingle_total)) &&
                   sp_star_verify(s, x, kid, &similarity);
    if (*ret_similar)
        sp_star_touch(s, t->number, row, fringe, similarity);
    else
        sp_star_pattern_learn(s, row, kid);
    return true;
}

enum { NEAREST = 64, IN_TURN = 8 };

/* The signatures of the first kids of the heap, which are about the nearest. */
static void prefetch_nearest(struct sp_stars *s)
{
    enum { FIRST = 8 };
    uint32_t rows[FIRST], count = 0;
    for (; count < FIRST && count < s->tried_count; count++)
        rows[count] = s->tried[count].row;
    if (count > 1)
        sp_star_prefetch_signatures(s, rows, count);
}

/* Compares the probe with s->tried and the rest of their litters, the nearest first, but only with
 * the first NEAREST of the litters of members. *ret_more: others are left, and none was similar.
 * Usually only a few are compared, so heaps are cheaper than sorting. */
static bool try_nearest(const struct trial *t, bool *ret_more)
{
    struct sp_stars *s = t->stars;
    uint32_t before = t->except, members = 0;
    *ret_more = false;
    heap_make(s);
    prefetch_nearest(s);
    while (s->tried_count) {
        struct tried k = take_nearest(s);
        bool similar;
        if (k.row == before || k.row == t->except)
            continue;
        before = k.row;
        if (!try_kid(t, k.row, k.kind == FRINGE, &similar))
            return false;
        if (k.kind == FRINGE)
            continue;
        if (similar) {
            *ret_more = false;
            drop_members(s, false);
        } else if (k.litter && ++members == NEAREST) {
            *ret_more = true;
            drop_members(s, true);
        }
    }
    return true;
}

/* Tries the rows of the litter from number `from` to before number `to`, by name. */
static bool try_some(const struct trial *t, const struct litter *l, uint32_t from, uint32_t to,
                     bool *ret_similar)
{
    struct sp_stars *s = t->stars;
    *ret_similar = false;
    s->tried_count = 0;
    add_tried(s, l, 0, sp_star_litter_row(s, l, 0));
    for (uint32_t i = 0; i < to && s->tried_count && !*ret_similar; i++) {
        struct tried k = take_nearest(s);
        if (i >= from && k.row != t->except && !try_kid(t, k.row, false, ret_similar))
            return false;
    }
    return true;
}

/* Tries the members of all litters that sizes do not rule out, a few of each in turn, until one is
 * similar. */
static bool try_in_turn(const struct trial *t)
{
    bool more = true, similar = false;
    for (uint32_t from = 0, to = IN_TURN; more; from = to, to *= 2) {
        more = false;
        for (int kind = 0; kind < FRINGE; kind++) {
            struct litters all = sp_star_litters(t->star->kids, kind);
            for (uint32_t i = 0; i < all.count; i++) {
                const struct litter *l = &all.items[i];
                uint32_t count = sp_star_litter_count(t->stars, l);
                if (count <= from ||
                    !may_match(t, sp_star_litter_kept(l), sp_star_litter_overlap(l), t->beside))
                    continue;
                more |= count > to;
                if (!try_some(t, l, from, to, &similar))
                    return false;
                if (similar)
                    return true;
            }
        }
    }
    return true;
}

bool sp_star_try_kids(struct sp_stars *s, uint32_t star, const struct sp_signature *x,
                      uint32_t except, const struct sp_signature *pivot, uint32_t overlap,
                      bool members)
{
    if (s->by_bits)
        return sp_star_bits_try(s, star, x, except, pivot);
    struct trial t = {.stars = s,
                      .number = star,
                      .star = &s->stars[star],
                      .x = x,
                      .except = except,
                      .kept = x->shingle_count,
                      .capped = sp_star_is_capped(x),
                      .overlap = overlap,
                      .beside = x->shingle_count - overlap,
                      .repeats = s->repeats,
                      .members = members};
    s->tried_count = 0;
    if (t.star->kids->indexed)
        try_gathered(&t, sp_star_gather_beside(s, star, x, pivot, &t.beside));
    for (int kind = 0; kind < KID_KINDS; kind++)
        if (members || kind == FRINGE)
            try_litters(&t, sp_star_litters(t.star->kids, kind));
    bool more;
    return try_nearest(&t, &more) && (!more || try_in_turn(&t));
}
