/* A contain stage over made-up pages, and what it reported about them. */
#ifndef SP_TEST_CONTAIN_WORLD_H
#define SP_TEST_CONTAIN_WORLD_H

#include "contain/contain.h"

enum { WORLD_PAGES = 64, WORLD_URL = 64 };

struct said {
    char url[WORLD_URL]; /* "": no container */
    float containment;
};

struct world {
    struct sp_db *db;
    struct sp_contents *contents;
    struct sp_contain_stage *stage;
    struct sp_contain_options options;
    struct said said[WORLD_PAGES];
    uint64_t hash; /* hash of all reports, in order */
};

void world_open(struct world *w, const struct sp_contain_options *options);
void world_close(struct world *w);
/* Commits, and opens the stage again from its rows. */
void world_restart(struct world *w);
void world_commit(struct world *w);
/* Returns one reference. Accepts numbers in any order, drops duplicates, keeps the `cap`
 * smallest. */
struct sp_signature *world_signature(const uint32_t *shingles, uint32_t count, uint32_t cap);
/* Puts page number `page`; reports about pages from WORLD_PAGES on are only counted. */
enum sp_err world_try_put(struct world *w, uint32_t page, const char *url, struct sp_signature *s);
void world_put(struct world *w, uint32_t page, const char *url, struct sp_signature *s);
void world_remove(struct world *w, uint32_t page);
struct sp_contain_stats world_stats(const struct world *w);

#endif
