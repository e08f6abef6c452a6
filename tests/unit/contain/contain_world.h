/* A contain stage with made-up pages, and what it has said of them. */
#ifndef SP_TEST_CONTAIN_WORLD_H
#define SP_TEST_CONTAIN_WORLD_H

#include "contain/contain.h"

enum { WORLD_PAGES = 64, WORLD_URL = 64 };

struct said {
    char url[WORLD_URL]; /* "": none */
    float containment;
};

struct world {
    struct sp_db *db;
    struct sp_contents *contents;
    struct sp_contain_stage *stage;
    struct sp_contain_options options;
    struct said said[WORLD_PAGES];
    uint64_t hash; /* of all that was said, in order */
};

void world_open(struct world *w, const struct sp_contain_options *options);
void world_close(struct world *w);
/* Commits, and makes the stage again from its rows. */
void world_restart(struct world *w);
void world_commit(struct world *w);
/* One reference. Takes the numbers in any order, repeats dropped; keeps the `cap` smallest. */
struct sp_signature *world_signature(const uint32_t *shingles, uint32_t count, uint32_t cap);
/* Of page number `page`; what is said of pages from WORLD_PAGES on is only counted. */
enum sp_err world_try_put(struct world *w, uint32_t page, const char *url, struct sp_signature *s);
void world_put(struct world *w, uint32_t page, const char *url, struct sp_signature *s);
void world_remove(struct world *w, uint32_t page);
struct sp_contain_stats world_stats(const struct world *w);

#endif
