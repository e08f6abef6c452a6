/* The world and its processes, shared by the files of the simulation. */
#ifndef SP_TESTS_SIMULATION_STATE_H
#define SP_TESTS_SIMULATION_STATE_H

#include "queue.h"
#include "world.h"

enum {
    CHANNELS = 2 * MAX_PARTITIONS + 1,
    MESSAGES_MAX = 400 * 1000,
    DISTURBED_MAX = 5 * 1000, /* hostile: after so many messages the others stop */
    SETTLED_MAX = 100 * 1000, /* hostile: and the crawl has ended after so many */
    MAPS = 3,
    EVENTS_MAX = 150,
    FETCHES_MAX = 2 * MAX_PAGES, /* of a big world */
    KEPT = 16
};

struct process {
    enum sp_tier tier;
    bool stale; /* still has the previous maps */
    uint32_t number;
    struct sp_db *db;
    struct sp_group_stage *group;
    struct sp_compare_stage *compare;
    struct queue in[CHANNELS]; /* one for each sender; the last is the crawler */
    struct queue aside;        /* waits for the newest maps; the next: since the last commit */
    struct queue setting_aside;
    bool took_aside; /* in the open transaction */
    struct sp_outbox outbox;
    struct world *world;
};

/* What the bus has told of the groups of a page (alone.c). */
struct told_groups {
    struct sp_group_id alone; /* of its own, in which it was left alone; none: birth 0 */
    int64_t version;          /* that was left alone */
    struct sp_group_id came;  /* the page last came to it */
};

/* How the texts of a big world are drawn. */
enum big_texts {
    BIG_CHAIN,   /* ranges of a line, as in other worlds */
    BIG_FAMILIES /* near copies of the texts of families, each near the next one */
};

/* What happens to all pages of a group in turn. */
enum big_fate { FATE_NONE, FATE_ERASED, FATE_CHANGED, FATE_CHAINED, FATE_GONE };

/* Of a big world (big.h). */
struct big {
    enum big_texts texts;
    bool long_chain; /* at first each page resembles the next one, and every second one wins */
    uint32_t families;
    uint32_t size;   /* shingles of a page of a family */
    uint32_t most;   /* of these, replaced */
    uint32_t family; /* of the next text; families: any */
    uint32_t aim;    /* of the next redirect */
    uint32_t head;   /* of the longest chain of redirects */
    uint32_t moving; /* a page that was sent to another group last, or `pages` */
    enum big_fate fate;
    struct sp_group_id doomed; /* the group */
    uint32_t next;             /* page to be looked at */
    uint32_t flaps;            /* times that `flapper` still changes its text */
    uint32_t flapper;          /* a page */
    uint32_t home;             /* the fetch of its text, in world.crawled */
    uint32_t erased;           /* in a hundred events */
    uint32_t backlog;          /* messages under way beyond which nothing more happens */
    uint32_t units; /* 0, or a step of deferred work is so many times as large: the index of a group
                     * is lost with each crash */
};

struct world {
    struct sim_options o;
    struct rnd rnd;
    struct sp_group_stage_options group;
    struct sp_compare_stage_options compare;
    struct sp_relation *relation;       /* or NULL */
    struct sp_partition_map maps[MAPS]; /* each replaces the one before */
    struct sp_languages languages;      /* with cells of their own */
    uint32_t map;                       /* the present map */
    bool moving;                        /* pages may be in cells of the previous map */
    bool direct;                        /* a partition handles its own messages at once */
    bool respells;                      /* one fetch in four spells the URL in another way */
    bool sets_aside; /* a process without the newest maps puts messages for their cells aside */
    struct process processes[2 * MAX_PARTITIONS];
    uint32_t process_count;
    struct process *here; /* the process whose transaction is open */
    struct queue sent;    /* sent in that transaction */
    struct published said[MAX_PAGES];
    struct published saying[MAX_PAGES]; /* published in the open transaction */
    bool says[MAX_PAGES];
    struct truth truth[MAX_PAGES];
    struct sp_signature *crawled[FETCHES_MAX]; /* by version - 1; NULL: no content, or unchanged */
    uint32_t page_of[FETCHES_MAX];             /* by version - 1 */
    struct told_groups told[MAX_PAGES];
    struct told_groups told_before[MAX_PAGES]; /* at the last commit */
    bool tells;                                /* `told` has changed since */
    bool known[MAX_PAGES];
    struct queue foreign; /* hostile: what others write to the channels */
    struct sp_message *kept[KEPT];
    uint32_t pages;
    uint32_t span; /* of the contents: where they may begin */
    uint64_t messages_max;
    struct big big;
    struct sim_result result;
};

/* Marks the run as failed; keeps the first reason. */
void sim_fail(struct world *w, const char *why);
/* Fetches the page. `draw` sets its kind, signature and target. */
void sim_crawl(struct world *w, uint32_t page, void (*draw)(struct world *w, struct truth *t));
/* Resets the page to never fetched; redirects to it stay. */
void sim_erase(struct world *w, uint32_t page);
/* The number of the page. */
uint32_t sim_page_number(const struct world *w, struct sp_id id);
/* moving.c: whether a process still has the previous maps. */
bool sim_stale_process(const struct world *w);
/* Whether a page is still on its way to an old cell, sent by a process without the new maps, or
 * messages wait for the new ones. */
bool sim_put_under_way(const struct world *w);
uint64_t sim_rows_to_move(const struct world *w);
/* alone.c: to be called with each message before its step, and at the end of each transaction. */
void sim_check_alone(struct world *w, const struct sp_message *m);
void sim_alone_commit(struct world *w);
void sim_alone_abort(struct world *w);
/* check.c: once no message is pending, compares the stored state and the published statuses with
 * the oracle. */
void sim_check(struct world *w);

#endif
