/* Makes and frees stars, and changes their state: headless or draining. */
#include "base/mem.h"
#include "base/tight.h"
#include "stars/internal.h"

/* The list of all stars of a domain that is not posted. */
static void list_enter(struct sp_stars *s, struct sp_stars_domain *d, uint32_t star)
{
    sp_grow(&d->all, &d->all_cap, d->all_count + 1);
    s->stars[star].place = d->all_count;
    d->all[d->all_count++] = star;
}

static void list_leave(struct sp_stars *s, struct sp_stars_domain *d, uint32_t star)
{
    uint32_t place = s->stars[star].place;
    SP_ASSERT(place < d->all_count && d->all[place] == star);
    d->all[place] = d->all[--d->all_count];
    s->stars[d->all[place]].place = place;
}

static void make_room(struct sp_stars *s)
{
    sp_tight_grow(&s->stars, &s->star_cap, s->star_count);
    sp_tight_grow(&s->briefs, &s->brief_cap, s->star_count);
}

uint32_t sp_star_make(struct sp_stars_domain *d, uint32_t pivot, uint32_t kept, uint32_t total)
{
    struct sp_stars *s = d->stars;
    uint32_t star = s->free_star;
    if (star != NONE) {
        s->free_star = s->stars[star].place;
    } else {
        star = s->star_count++;
        make_room(s);
    }
    s->stars[star] =
        (struct star){.domain = d->number, .pivot = pivot, .kept = kept, .capped = kept < total};
    if (kept < total)
        sp_counts_add(&s->totals, star, total);
    s->briefs[star] = (struct brief){.domain = (uint16_t)d->salt};
    sp_star_brief_note(s, star);
    if (!d->posted)
        list_enter(s, d, star);
    struct row *r = sp_star_row_at(s, pivot);
    r->star = star;
    r->place = NONE;
    r->kept = kept;
    s->stats.stars++;
    return star;
}

uint32_t sp_star_new(struct sp_stars_domain *d, uint32_t pivot,
                     const struct sp_signature *signature)
{
    uint32_t star = sp_star_make(d, pivot, signature->shingle_count, signature->shingle_total);
    sp_star_row_changed(d->stars, pivot);
    return star;
}

/* The star's pivot can no longer be the heir of others: they have lost theirs. */
static void disinherit(struct sp_stars *s, uint32_t star)
{
    const struct sp_stars_domain *d = sp_star_domain_of(s, star);
    for (uint32_t owing; (owing = sp_star_with_heir(d, s->stars[star].pivot)) != NONE;) {
        uint32_t pivot = s->stars[owing].pivot;
        if (s->stars[owing].headless)
            sp_star_mark_same(s, owing, star);
        sp_star_set_heir(s, owing, pivot);
        sp_star_row_changed(s, pivot);
    }
}

void sp_star_free(struct sp_stars *s, uint32_t star)
{
    struct star *c = &s->stars[star];
    struct sp_stars_domain *d = sp_star_domain_of(s, star);
    disinherit(s, star);
    if (c->headless || c->draining)
        sp_star_owing_leave(s, star);
    else if (!d->posted)
        list_leave(s, d, star);
    s->rows[c->pivot].star = NONE;
    sp_star_bits_free(s, star);
    sp_star_kids_free(s, star);
    if (c->capped)
        sp_counts_forget(&s->totals, star);
    sp_star_mark_end(s, star);
    *c = (struct star){.place = s->free_star};
    s->free_star = star;
    s->stats.stars--;
}

static void enter_owing(struct sp_stars *s, uint32_t star)
{
    sp_star_owing_enter(s, star);
    sp_star_queue_fill(s, star);
}

void sp_star_lose_pivot(struct sp_stars *s, uint32_t star)
{
    struct star *c = &s->stars[star];
    struct sp_stars_domain *d = sp_star_domain_of(s, star);
    disinherit(s, star);
    if (!d->posted)
        list_leave(s, d, star);
    sp_star_owing_make(s, star)->passed = 0; /* the kids that had stayed must move as well */
    c->headless = true;
    if (c->draining)
        sp_star_queue_fill(s, star);
    else
        enter_owing(s, star);
    c->draining = false;
}

void sp_star_drain(struct sp_stars *s, uint32_t star, uint32_t heir)
{
    disinherit(s, star);
    sp_star_owing_make(s, star);
    sp_star_set_heir(s, star, heir);
    s->stars[star].draining = true;
    enter_owing(s, star);
    sp_star_row_changed(s, s->stars[star].pivot);
}

void sp_star_keep(struct sp_stars *s, uint32_t star)
{
    sp_star_owing_leave(s, star);
    s->stars[star].draining = false;
    sp_star_owing_free(s, star);
    sp_star_row_changed(s, s->stars[star].pivot);
    if (sp_star_kids_count(s->stars[star].kids) == 0)
        sp_star_kids_free(s, star);
}
