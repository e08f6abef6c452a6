/* The world of the stories: one group stage, a bus, and the simplest possible cell. Pages are
 * letters.
 *
 * A text is a range of shingles, so that similarity can be read off: 0 to 99 and 10 to 109 share 90
 * of 110 shingles (J = 0.82), 0 to 99 and 20 to 119 only 80 of 120 (J = 0.67). The cell keeps every
 * page's signature and compares it with all others. For a page that tier 1 has settled it reports
 * nothing, as if all similar pages were in other cells. */
#ifndef SP_TESTS_UNIT_GROUP_STORY_H
#define SP_TESTS_UNIT_GROUP_STORY_H

#include "group/page_actor.h"
#include "group/stage.h"
#include "harness.h"

enum { PAGES = 26, SHINGLES = 100 };

struct text {
    uint32_t from;   /* its first shingle */
    int64_t version; /* 0: the page is not in the cell */
};

struct world {
    struct sp_db *db;
    struct sp_group_stage *stage;
    struct sp_similarity_options similarity;
    struct sp_partition_map map;
    struct sp_message *first, **last;
    int64_t now;
    bool busy;      /* no idle time between messages: deferred work is not done */
    double favour;  /* popularity added to that of the page's letter */
    bool respelled; /* URLs have a fragment, another one in each fetch */
    struct text cell[PAGES];
    struct sp_status_event said[PAGES]; /* the last status of each page, without winner_url */
    char winner[PAGES];                 /* the winner in that status; 0: none */
    uint32_t events;
    uint32_t asked;   /* puts that are not settled */
    uint32_t settled; /* puts that are settled */
    struct sp_group_stage_options options;
};

struct sp_id id_of(char page);
/* Queues a message for the stage; drain handles it. */
void push(struct world *w, struct sp_message *m);
void drain(struct world *w);
/* Appends the key and the value of the first row of that kind in the stage's store. */
void first_row(struct world *w, char kind, struct sp_buf *key, struct sp_buf *value);
/* Replaces a row. */
void replace_row(struct world *w, struct sp_view key, struct sp_view value);
/* Opens the stage again from its store. */
void restart(struct world *w);
/* Fetches the page and handles all messages. `from`: the first shingle of the text. */
void crawl(struct world *w, char page, uint32_t from);
/* Fetches the pages from `first` to `last`; each text begins `step` shingles after the one before.
 */
void crawl_each(struct world *w, char first, char last, uint32_t from, uint32_t step);
/* The text has no words, so the page is similar to no other, not even to one with the same text. */
void crawl_wordless(struct world *w, char page);
/* Adds `favour` to the popularity of the letter. */
void crawl_favoured(struct world *w, char page, uint32_t from, double favour);
/* Spells the URL as no fetch before. */
void crawl_respelled(struct world *w, char page, uint32_t from);
void redirect(struct world *w, char page, char target);
void die(struct world *w, char page);
struct sp_group_id group_of(struct world *w, char page);
/* Whether these pages, one letter each, are in one group. */
bool together(struct world *w, const char *pages);
/* Whether this was the last status of the page; winner 0: none. */
bool is(const struct world *w, char page, enum sp_page_status status, char winner);
struct sp_group_stage_stats stats_of(const struct world *w);
/* Tells the story twice: with small groups, and with every group treated as a large one, by
 * content. */
void tell_in(enum sp_mode mode, double recheck_share, void (*story)(struct world *w));
void tell(void (*story)(struct world *w));
/* In mode exact, and in mode fast without rechecks. */
void tell_in_both_modes(void (*story)(struct world *w));

#endif
