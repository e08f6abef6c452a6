/* A star index over made-up signatures, and its components computed from scratch. */
#ifndef SP_TESTS_STARS_HELPER_H
#define SP_TESTS_STARS_HELPER_H

#include "base/bytes.h"
#include "stars/stars.h"

enum { MAX_ROWS = 1 << 17 };

struct edges {
    uint32_t *to;
    uint32_t count;
    uint32_t cap;
};

struct sample {
    struct sp_similarity_options similarity;
    uint32_t max_shingles;
    struct sp_stars *stars;
    struct sp_stars_domain *domain;
    struct sp_signature **signatures; /* by row */
    bool *live;
    bool *ghost;
    struct edges *edges; /* what the last probe of each row touched */
    bool *reported;      /* since the last call of sample_unreported */
    uint64_t *forms;     /* a hash of each row's stored form at that call */
    uint64_t named;      /* names that the index looked up */
    uint64_t announced;  /* rows whose signatures a probe was about to read */
    uint32_t rows;
    uint32_t risen; /* the last of touches */
    uint64_t random;
    uint32_t fails_after; /* so many signatures are read, then one cannot be; 0: all can */
};

void sample_init(struct sample *s, const struct sp_similarity_options *similarity,
                 uint32_t max_shingles, bool small);
void sample_done(struct sample *s);
uint64_t sample_random(struct sample *s, uint64_t below);

/* A signature of these shingles (sorted here, repeats kept), capped at max_shingles. `serial`
 * determines its content hash. */
struct sp_signature *signature_of_set(const struct sample *s, uint32_t *shingles, uint32_t count,
                                      uint64_t serial);

/* Adds a row, taking ownership of the signature; returns its number. */
uint32_t sample_add(struct sample *s, struct sp_signature *signature);
void sample_remove(struct sample *s, uint32_t row);
/* Moves this many kids of stars that owe, or all of them. */
void sample_work(struct sample *s, uint32_t kids);
void sample_settle(struct sample *s);

/* Whether stars and edges connect exactly the similar rows. */
bool sample_is_exact(struct sample *s);
/* Returns a row whose stored form changed since the last call without a report by the index, or
 * SP_STARS_NONE. */
uint32_t sample_unreported(struct sample *s);
/* Opens the index again from its stored rows. */
void sample_restore(struct sample *s);

#endif
