/* Patterns that rule rows out; see patterns.c. */
#ifndef SP_STARS_PATTERNS_H
#define SP_STARS_PATTERNS_H

#include "stars/internal.h"

/* How the patterns of a method are made and compared. */
struct pattern_kind {
    bool of_pivots; /* pivots have patterns as well, not only kids */
    bool at_first;  /* they rule stars out before any signature is read */
    /* Makes and frees s->probe_patterns. NULL: the kind needs none. */
    void *(*open)(const struct sp_stars *s);
    void (*close)(void *probe);
    /* Whether the signature can have a pattern, or be compared with those of others. */
    bool (*possible)(const struct sp_signature *x);
    void *(*make)(const struct sp_signature *x);
    /* The size of the pattern of a row that keeps so many shingles in bytes. */
    size_t (*bytes)(uint32_t kept, const void *pattern);
    /* Whether the pattern of such a row rules out that it is similar to the probe x. */
    bool (*exclude)(struct sp_stars *s, const struct sp_signature *x, uint32_t kept,
                    const void *pattern);
};

/* By cosine (norms.c) and by combined (opinions.c). */
extern const struct pattern_kind sp_star_norms, sp_star_opinions;

/* Chooses the kind of the method. */
void sp_star_patterns_open(struct sp_stars *s);
void sp_star_patterns_close(struct sp_stars *s);
/* Notes that a probe was compared with the row in vain: with a kid or, if the kind says so, a
 * pivot. */
void sp_star_pattern_learn(struct sp_stars *s, uint32_t row, const struct sp_signature *y);
void sp_star_pattern_forget(struct sp_stars *s, uint32_t row);
/* Whether the row's pattern is known and rules out that it is similar to the probe. */
bool sp_star_pattern_excludes(struct sp_stars *s, uint32_t row, const struct sp_signature *x);
/* Whether that holds for each kid. */
bool sp_star_pattern_excludes_all(struct sp_stars *s, const struct kids *kids,
                                  const struct sp_signature *x);
/* Drops the stars of s->found of which patterns rule out all members. */
void sp_star_patterns_filter(struct sp_stars *s, const struct sp_signature *x);
/* Makes the pattern of the probe's shingles, s->parity, unless it is known; returns its size in
 * words. */
uint32_t sp_star_pattern_words(struct sp_stars *s, const struct sp_signature *x);

#endif
