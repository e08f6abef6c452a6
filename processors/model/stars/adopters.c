/* Which row has adopted which: s->adopters has the adopter of each adopted row, and a list of
 * s->beside the rows of each adopter. */
#include "base/hash.h"
#include "stars/internal.h"

/* Of the adopter's list. Lists of several adopters, and of shingles, may have one key. */
static uint32_t adoption_key(uint32_t adopter)
{
    return (uint32_t)sp_mix64(~(uint64_t)adopter);
}

uint32_t sp_star_adopter(const struct sp_stars *s, uint32_t row)
{
    return sp_counts_get(&s->adopters, row) - 1;
}

void sp_star_adoption_begin(struct sp_stars *s, uint32_t row, uint32_t adopter)
{
    sp_counts_add(&s->adopters, row, adopter + 1);
    sp_star_table_add(s->beside, adoption_key(adopter), row);
}

void sp_star_adoption_end(struct sp_stars *s, uint32_t row)
{
    sp_star_table_remove(s->beside, adoption_key(sp_star_adopter(s, row)), row);
    sp_counts_forget(&s->adopters, row);
}

uint32_t sp_star_one_adopted_by(const struct sp_stars *s, uint32_t adopter)
{
    struct sp_star_list list = sp_star_table_get(s->beside, adoption_key(adopter));
    const uint32_t *rows = sp_star_numbers(&list);
    for (uint32_t i = 0; i < list.count; i++) {
        const struct row *r = &s->rows[rows[i]];
        if (r->star != NONE && r->kind == ADOPTED && sp_star_adopter(s, rows[i]) == adopter)
            return rows[i];
    }
    return NONE;
}
