/* Patterns by combined; see opinions.c. */
#ifndef SP_STARS_OPINIONS_H
#define SP_STARS_OPINIONS_H

#include "stars/internal.h"

/* The pattern of a signature that is not capped. */
struct opinions;

/* The patterns of a probe, made when they are needed. */
struct probe_opinions;

/* Does nothing by another method. */
void sp_star_opinions_open(struct sp_stars *s);
void sp_star_opinions_close(struct sp_stars *s);
struct opinions *sp_star_opinions_new(const struct sp_signature *x);
/* The size of the pattern in bytes. */
size_t sp_star_opinions_bytes(const struct opinions *pattern);
/* Whether the pattern rules out that its signature is similar to the probe x, which is not capped.
 */
bool sp_star_opinions_exclude(struct sp_stars *s, const struct sp_signature *x,
                              const struct opinions *pattern);

#endif
