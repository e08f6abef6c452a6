/* Keeps the kids of a star by kind, size and overlap with the pivot, so that a bound rules out many
 * at once. */
#include <string.h>

#include "base/mem.h"
#include "base/tight.h"
#include "stars/internal.h"

/* The litters before those of that kind. */
static uint32_t litters_before(const struct kids *kids, int kind)
{
    uint32_t before = 0;
    for (int i = 0; i < kind; i++)
        before += kids->litter_counts[i];
    return before;
}

struct litters sp_star_litters(const struct kids *kids, int kind)
{
    uint32_t before = litters_before(kids, kind), count = kids->litter_counts[kind];
    return (struct litters){count ? kids->litters + before : NULL, count};
}

struct litters sp_star_all_litters(const struct kids *kids)
{
    return (struct litters){kids->litters, litters_before(kids, KID_KINDS)};
}

/* The first litter of that kind that is not before (kept, overlap). */
static uint32_t litter_place(const struct kids *kids, int kind, uint32_t kept, uint32_t overlap)
{
    uint32_t lo = litters_before(kids, kind), hi = lo + kids->litter_counts[kind];
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        const struct litter *m = &kids->litters[mid];
        uint32_t m_kept = sp_star_litter_kept(m);
        if (m_kept < kept || (m_kept == kept && sp_star_litter_overlap(m) < overlap))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Whether the kid's litter is at that place. */
static bool is_its(const struct kids *kids, uint32_t at, const struct row *r)
{
    return at < litters_before(kids, r->kind + 1) &&
           sp_star_litter_kept(&kids->litters[at]) == r->kept &&
           sp_star_litter_overlap(&kids->litters[at]) == r->overlap;
}

/* Adding or removing a litter moves those behind it, so room for few is enough. */
static void make_room(struct sp_stars *s, struct kids *kids, uint32_t before, uint32_t count)
{
    uint32_t room = sp_room_for(count), room_before = sp_room_for(before);
    if (room == room_before)
        return;
    kids->litters = sp_realloc(kids->litters, (room ? room : 1) * sizeof *kids->litters);
    s->stats.bytes += ((uint64_t)room - room_before) * sizeof *kids->litters;
}

/* Makes a litter of this kid. */
static void litter_begin(struct sp_stars *s, struct kids *kids, uint32_t at, uint32_t row)
{
    struct row *r = &s->rows[row];
    uint32_t all = litters_before(kids, KID_KINDS);
    make_room(s, kids, all, all + 1);
    struct litter *new = &kids->litters[at];
    memmove(new + 1, new, (all - at) * sizeof *new);
    *new = (struct litter){.row = row, .first = r->overlap, .second = r->kept};
    kids->litter_counts[r->kind]++;
    r->place = 0;
}

static void litter_end(struct sp_stars *s, struct kids *kids, int kind, uint32_t at)
{
    kids->litter_counts[kind]--;
    uint32_t left = litters_before(kids, KID_KINDS);
    struct litter *old = &kids->litters[at];
    memmove(old, old + 1, (left - at) * sizeof *old);
    make_room(s, kids, left + 1, left);
}

/* ---- heaps ---- */

static bool is_before(const struct sp_stars *s, uint32_t a, uint32_t b)
{
    uint64_t x = sp_star_name(s, a), y = sp_star_name(s, b);
    return x < y || (x == y && a < b);
}

static void put_at(struct sp_stars *s, struct heap *h, uint32_t at, uint32_t row)
{
    h->rows[at] = row;
    s->rows[row].place = at;
}

/* Puts the row where it belongs, at the free place `at` or above it. */
static void sift_up(struct sp_stars *s, struct heap *h, uint32_t at, uint32_t row)
{
    for (; at > 0 && is_before(s, row, h->rows[(at - 1) / 2]); at = (at - 1) / 2)
        put_at(s, h, at, h->rows[(at - 1) / 2]);
    put_at(s, h, at, row);
}

/* The same, at `at` or below it. */
static void sift_down(struct sp_stars *s, struct heap *h, uint32_t at, uint32_t row)
{
    for (uint32_t child; (child = 2 * at + 1) < h->count; at = child) {
        child += child + 1 < h->count && is_before(s, h->rows[child + 1], h->rows[child]);
        if (!is_before(s, h->rows[child], row))
            break;
        put_at(s, h, at, h->rows[child]);
    }
    put_at(s, h, at, row);
}

static void heap_resize(struct sp_stars *s, struct heap *h, uint32_t cap)
{
    h->rows = sp_realloc(h->rows, cap * sizeof *h->rows);
    s->stats.bytes += ((uint64_t)cap - h->cap) * sizeof *h->rows;
    h->cap = cap;
}

static uint32_t heap_new(struct sp_stars *s)
{
    uint32_t number = s->free_heap;
    if (number) {
        s->free_heap = s->heaps[number - 1].count;
    } else {
        sp_tight_grow(&s->heaps, &s->heap_cap, s->heap_count + 1);
        number = ++s->heap_count;
    }
    s->heaps[number - 1] = (struct heap){0};
    return number - 1;
}

static void heap_free(struct sp_stars *s, uint32_t number)
{
    struct heap *h = &s->heaps[number];
    s->stats.bytes -= h->cap * sizeof *h->rows;
    sp_free(h->rows);
    *h = (struct heap){.count = s->free_heap};
    s->free_heap = number + 1;
}

/* A litter of one kid gets a heap. */
static void heap_begin(struct sp_stars *s, struct litter *l)
{
    uint32_t kept = sp_star_litter_kept(l), overlap = sp_star_litter_overlap(l),
             number = heap_new(s);
    struct heap *h = &s->heaps[number];
    heap_resize(s, h, 2);
    h->rows[h->count++] = (uint32_t)l->row;
    *l = (struct litter){.row = number, .first = kept + 1, .second = overlap};
}

/* One row is left, and needs no heap. */
static void heap_end(struct sp_stars *s, struct litter *l)
{
    uint32_t kept = sp_star_litter_kept(l), overlap = sp_star_litter_overlap(l),
             number = (uint32_t)l->row;
    *l = (struct litter){.row = s->heaps[number].rows[0], .first = overlap, .second = kept};
    heap_free(s, number);
}

static void heap_put(struct sp_stars *s, struct litter *l, uint32_t row)
{
    if (!sp_star_litter_has_heap(l))
        heap_begin(s, l);
    struct heap *h = &s->heaps[l->row];
    if (h->count == h->cap)
        heap_resize(s, h, h->count + h->count / 4 + 1);
    h->count++;
    sift_up(s, h, h->count - 1, row);
}

static void heap_take(struct sp_stars *s, struct litter *l, uint32_t at)
{
    struct heap *h = &s->heaps[l->row];
    uint32_t last = h->rows[--h->count];
    if (at < h->count && at > 0 && is_before(s, last, h->rows[(at - 1) / 2]))
        sift_up(s, h, at, last);
    else if (at < h->count)
        sift_down(s, h, at, last);
    if (h->count == 1)
        heap_end(s, l);
}

/* ---- the litters of a star ---- */

uint64_t sp_star_litters_bytes(const struct sp_stars *s, const struct kids *kids)
{
    struct litters all = sp_star_all_litters(kids);
    uint64_t bytes = sp_room_for(all.count) * sizeof *all.items;
    for (uint32_t i = 0; i < all.count; i++)
        if (sp_star_litter_has_heap(&all.items[i]))
            bytes += s->heaps[all.items[i].row].cap * sizeof *s->heaps->rows;
    return bytes;
}

void sp_star_litters_free(struct sp_stars *s, struct kids *kids)
{
    struct litters all = sp_star_all_litters(kids);
    for (uint32_t i = 0; i < all.count; i++)
        if (sp_star_litter_has_heap(&all.items[i]))
            heap_free(s, (uint32_t)all.items[i].row);
    s->stats.bytes -= sp_room_for(all.count) * sizeof *kids->litters;
    sp_free(kids->litters);
}

void sp_star_litter_enter(struct sp_stars *s, uint32_t row, enum kid_kind kind, uint32_t adopter)
{
    struct row *r = &s->rows[row];
    struct star *c = &s->stars[r->star];
    r->kind = kind;
    uint32_t at = litter_place(c->kids, kind, r->kept, r->overlap);
    if (is_its(c->kids, at, r))
        heap_put(s, &c->kids->litters[at], row);
    else
        litter_begin(s, c->kids, at, row);
    r->orphan = kind == FRINGE && adopter == ORPHAN;
    c->kids->rows[kind]++;
    if (kind == ADOPTED)
        sp_star_adoption_begin(s, row, adopter);
    else if (r->orphan)
        sp_star_orphan_enter(s, row);
}

void sp_star_litter_leave(struct sp_stars *s, uint32_t row)
{
    struct row *r = &s->rows[row];
    struct star *c = &s->stars[r->star];
    uint32_t at = litter_place(c->kids, r->kind, r->kept, r->overlap);
    SP_ASSERT(is_its(c->kids, at, r));
    struct litter *l = &c->kids->litters[at];
    SP_ASSERT(r->place < sp_star_litter_count(s, l) && sp_star_litter_row(s, l, r->place) == row);
    if (sp_star_litter_has_heap(l))
        heap_take(s, l, r->place);
    else
        litter_end(s, c->kids, r->kind, at);
    c->kids->rows[r->kind]--;
    if (r->kind == ADOPTED)
        sp_star_adoption_end(s, row);
    else if (r->orphan)
        sp_star_orphan_leave(s, row);
    r->orphan = false;
}

/* ---- all kids ---- */

uint32_t sp_star_kids_count(const struct kids *kids)
{
    return sp_star_kids_of_kind(kids, CHILD) + sp_star_kids_of_kind(kids, ADOPTED) +
           sp_star_kids_of_kind(kids, FRINGE);
}

uint32_t sp_star_kids_of_kind(const struct kids *kids, enum kid_kind kind)
{
    return kids ? kids->rows[kind] : 0;
}

struct kid sp_star_kid_at(const struct sp_stars *s, uint32_t row)
{
    const struct row *r = &s->rows[row];
    uint32_t adopter = r->kind == ADOPTED ? sp_star_adopter(s, row) : r->orphan ? ORPHAN : NONE;
    return (struct kid){row, r->kept, r->overlap, (enum kid_kind)r->kind, adopter};
}

void sp_star_kids_each(const struct sp_stars *s, const struct kids *kids,
                       void (*each)(void *arg, struct kid kid), void *arg)
{
    for (int kind = 0; kids && kind < KID_KINDS; kind++) {
        struct litters l = sp_star_litters(kids, kind);
        for (uint32_t i = 0; i < l.count; i++)
            for (uint32_t k = 0; k < sp_star_litter_count(s, &l.items[i]); k++)
                each(arg, sp_star_kid_at(s, sp_star_litter_row(s, &l.items[i], k)));
    }
}

struct first {
    const struct sp_stars *stars;
    uint32_t *rows;
    uint32_t count;
    uint32_t most;
    uint32_t kinds;
};

static void note_first(void *arg, struct kid kid)
{
    struct first *f = arg;
    uint64_t name = sp_star_name(f->stars, kid.row);
    if (!(f->kinds >> kid.kind & 1) ||
        (f->count == f->most && sp_star_name(f->stars, f->rows[f->most - 1]) <= name))
        return;
    uint32_t at = f->count < f->most ? f->count++ : f->most - 1;
    for (; at > 0 && sp_star_name(f->stars, f->rows[at - 1]) > name; at--)
        f->rows[at] = f->rows[at - 1];
    f->rows[at] = kid.row;
}

uint32_t sp_star_kids_first(const struct sp_stars *s, const struct kids *kids, uint32_t kinds,
                            uint32_t most, uint32_t *ret_rows)
{
    struct first f = {s, ret_rows, 0, most, kinds};
    sp_star_kids_each(s, kids, note_first, &f);
    return f.count;
}
