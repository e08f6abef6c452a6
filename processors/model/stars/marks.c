/* A mark names a star, so that a row can be compared later with the members that the star has then.
 * The number of the star does not do: when the star has ended, another one gets it.
 *
 * Members that left the star one by one were reported as having left, and are probed again
 * themselves. The mark must find all others:
 *
 *   a star whose members have all moved to another one hands its mark on to that one;
 *   while kids move from a headless star to that of its heir, they are in one of the two, and the
 *   mark of the headless star finds both;
 *   if the heir is lost, the kids that have not moved leave, and all others are in the star that
 *   was the heir's.
 *
 * The mark of the star to which kids move finds nothing until they have moved: some of the members
 * that it may be asked for are still in the other star. */
#include "base/mem.h"
#include "stars/internal.h"

/* So many marks are worth forgetting. Fewer are kept: a star that owes may still need its own. */
enum { MANY = 1024 };

/* By the mark, less one. */
struct mark {
    uint32_t star; /* NONE: it has ended */
    uint32_t same; /* the mark that finds its members now; 0: this one does */
};

uint32_t sp_star_mark(struct sp_stars *s, uint32_t star)
{
    if (!s->options.marks || (s->options.twins && s->by_bits))
        return 0; /* a row that has a twin relies on it for all stars */
    uint32_t mark = sp_counts_get(&s->mark_of, star);
    if (mark)
        return mark;
    sp_grow(&s->marks, &s->mark_cap, s->mark_count + 1);
    s->marks[s->mark_count++] = (struct mark){star, 0};
    return sp_counts_add(&s->mark_of, star, s->mark_count);
}

void sp_star_mark_end(struct sp_stars *s, uint32_t star)
{
    uint32_t mark = sp_counts_get(&s->mark_of, star);
    if (!mark)
        return;
    s->marks[mark - 1].star = NONE;
    sp_counts_forget(&s->mark_of, star);
}

void sp_star_mark_same(struct sp_stars *s, uint32_t star, uint32_t other)
{
    uint32_t mark = sp_star_mark(s, star), same = sp_star_mark(s, other);
    if (mark)
        s->marks[mark - 1].same = same;
}

void sp_star_mark_hand_on(struct sp_stars *s, uint32_t star, uint32_t to)
{
    bool is_heirs = sp_star_with_heir(sp_star_domain_of(s, star), s->stars[star].pivot) != NONE;
    if (is_heirs || sp_counts_get(&s->mark_of, star))
        sp_star_mark_same(s, star, to);
}

uint32_t sp_star_marked(const struct sp_stars *s, uint32_t mark, uint32_t ret_stars[2])
{
    SP_ASSERT(mark > 0 && mark <= s->mark_count);
    while (s->marks[mark - 1].same)
        mark = s->marks[mark - 1].same;
    uint32_t star = s->marks[mark - 1].star;
    if (star == NONE)
        return 0;
    const struct star *c = &s->stars[star];
    ret_stars[0] = star;
    if (!c->headless) /* kids of others may still move to it */
        return sp_star_with_heir(sp_star_domain_of(s, star), c->pivot) == NONE;
    if (c->kids->owing->heir == NONE)
        return 1;
    if (!sp_star_has_heir(s, star))
        return 0;
    ret_stars[1] = s->rows[c->kids->owing->heir].star;
    return 2;
}

void sp_stars_forget_marks(struct sp_stars *s)
{
    if (s->mark_count < MANY)
        return;
    sp_counts_done(&s->mark_of);
    s->mark_count = 0;
}
