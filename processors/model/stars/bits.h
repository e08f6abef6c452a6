/* Children and twins by simhash; see bits.c. */
#ifndef SP_STARS_BITS_H
#define SP_STARS_BITS_H

#include "stars/internal.h"

void sp_star_bits_open(struct sp_stars *s);
/* Sets `kept` and `overlap` of a child by simhash, which differs from the pivot in at most
 * s->bits_most bits. */
void sp_star_bits_keep(const struct sp_stars *s, const struct sp_signature *pivot,
                       const struct sp_signature *child, struct kid *kid);
/* Whether these can be such numbers. */
bool sp_star_bits_valid(const struct sp_stars *s, uint32_t kept, uint32_t overlap);
/* How far a kid with these numbers is from its pivot: in bits, or in shingles that the pivot does
 * not have. */
uint32_t sp_star_apart(const struct sp_stars *s, uint32_t kept, uint32_t overlap);
/* sp_star_try_kids by simhash. */
bool sp_star_bits_try(struct sp_stars *s, uint32_t star, const struct sp_signature *x,
                      uint32_t except, const struct sp_signature *pivot);
/* Finds a twin (stars.h) of the row, in its star or, if it has none, in those of s->found; touches
 * that star's pivot. *ret_twin: NONE if there is none. */
bool sp_star_find_twin(struct sp_stars *s, uint32_t row, const struct sp_signature *x,
                       uint32_t *ret_twin);

#endif
