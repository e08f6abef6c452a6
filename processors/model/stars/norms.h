/* Patterns by cosine; see norms.c. */
#ifndef SP_STARS_NORMS_H
#define SP_STARS_NORMS_H

#include "stars/internal.h"

/* A signature's pattern. */
struct norms {
    float error; /* at least the distance of the rounded norms from the exact ones */
    uint32_t count;
    uint8_t parts[]; /* the norm of each, in units of 1 / 255 */
};

/* The patterns of a probe, each made when it is needed. */
struct probe_norms;

/* Does nothing by another method. */
void sp_star_norms_open(struct sp_stars *s);
void sp_star_norms_close(struct sp_stars *s);
/* Whether the signature can have a pattern: it has all words of its page. */
bool sp_star_norms_possible(const struct sp_signature *x);
/* The size of a pattern of so many words in bytes. */
size_t sp_star_norms_bytes(uint32_t words);
struct norms *sp_star_norms_new(const struct sp_signature *x);
/* Whether the pattern rules out that its signature is similar to the probe x. */
bool sp_star_norms_exclude(struct sp_stars *s, const struct sp_signature *x,
                           const struct norms *pattern);

#endif
