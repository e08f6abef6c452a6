/* The world of the stories: one group stage, a bus, and the simplest cell. Pages are letters.
 *
 * A text is a range of shingles, so that similarity can be read off: of 0 to 99 and 10 to 109, 90
 * of 110 shingles are common (J = 0.82), of 0 to 99 and 20 to 119 only 80 of 120 (J = 0.67). The
 * cell keeps every page's signature and compares it with all others; it tells nothing of a page
 * that tier 1 has settled, as if all that it resembles were in other cells. */
#ifndef SP_TESTS_UNIT_GROUP_STORY_H
#define SP_TESTS_UNIT_GROUP_STORY_H

#include "group/page_actor.h"
#include "group/stage.h"
#include "harness.h"

enum { PAGES = 26, SHINGLES = 100 };

struct text {
    uint32_t from;   /* the first of its shingles */
    int64_t version; /* 0: the page is not in the cell */
};

struct world {
    struct sp_db *db;
    struct sp_group_stage *stage;
    struct sp_similarity_options similarity;
    struct sp_partition_map map;
    struct sp_message *first, **last;
    int64_t now;
    struct text cell[PAGES];
    struct sp_status_event said[PAGES]; /* the last status of each page; winner_url is not kept */
    char winner[PAGES];                 /* of it; 0: none */
    uint32_t events;
    uint32_t asked;   /* puts that are not settled */
    uint32_t settled; /* and those that are */
    struct sp_group_stage_options options;
};

struct sp_id id_of(char page);
/* A message for the stage; it is handled by drain. */
void push(struct world *w, struct sp_message *m);
void drain(struct world *w);
/* The stage is made again from its store. */
void restart(struct world *w);
/* What is fetched; then no message is under way. `from`: the first shingle of the text. */
void crawl(struct world *w, char page, uint32_t from);
void redirect(struct world *w, char page, char target);
void die(struct world *w, char page);
struct sp_group_id group_of(struct world *w, char page);
/* Whether the pages, a letter each, are in one group. */
bool together(struct world *w, const char *pages);
/* Whether this was the last status of the page; winner 0: none. */
bool is(const struct world *w, char page, enum sp_page_status status, char winner);
uint64_t rechecks(const struct world *w);
/* Tells the story twice: with small groups, and with groups that are handled by content. */
void tell_in(enum sp_mode mode, double recheck_share, void (*story)(struct world *w));
void tell(void (*story)(struct world *w));

#endif
