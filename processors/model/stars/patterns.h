/* Patterns that rule rows out; see patterns.c. */
#ifndef SP_STARS_PATTERNS_H
#define SP_STARS_PATTERNS_H

#include "stars/internal.h"

/* Notes that a probe was compared with the row in vain: with a kid or, by cosine and combined, a
 * pivot. */
void sp_star_pattern_learn(struct sp_stars *s, uint32_t row, const struct sp_signature *y);
void sp_star_pattern_forget(struct sp_stars *s, uint32_t row);
/* Whether the row's pattern is known and rules out that it is similar to the probe. */
bool sp_star_pattern_excludes(struct sp_stars *s, uint32_t row, const struct sp_signature *x);
/* Whether that holds for each kid. */
bool sp_star_pattern_excludes_all(struct sp_stars *s, const struct kids *kids,
                                  const struct sp_signature *x);
/* By cosine: drops the stars of s->found of which patterns rule out all members. */
void sp_star_patterns_filter(struct sp_stars *s, const struct sp_signature *x);
void sp_star_patterns_free(struct sp_stars *s);
/* Makes the pattern of the probe, s->parity, unless it is known; returns its size in words. */
uint32_t sp_star_pattern_words(struct sp_stars *s, const struct sp_signature *x);

#endif
