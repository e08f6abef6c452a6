/* The simulated world: the real stages on a simulated bus with crashes, and the oracle, which
 * computes the expected end from scratch. A seed determines everything. */
#ifndef SP_TESTS_SIMULATION_WORLD_H
#define SP_TESTS_SIMULATION_WORLD_H

#include "compare/compare.h"
#include "group/group.h"
#include "rnd.h"

enum { MAX_PAGES = 2560, MAX_PARTITIONS = 7 };

/* What the crawler last saw of a page: the oracle's only input. */
struct truth {
    int64_t version; /* 0: never crawled */
    int64_t content_version;
    enum sp_page_kind kind;
    struct sp_signature *signature; /* owned */
    uint32_t target;
    double popularity;
};

/* The last published status of a page. */
struct published {
    enum sp_page_status status;
    enum sp_reason reason;
    int32_t winner; /* page number; -1: none */
    float similarity;
    int64_t version;
    uint32_t group_size; /* this field and the next are not computed by the oracle */
    struct sp_group_id group;
};

struct sim_options {
    uint64_t seed;
    enum sp_mode mode;
    enum sp_canary canary;
    enum sp_compare_canary compare_canary;
    enum sp_method method;
    const char *relation; /* winner.relation; NULL: none */
    uint32_t tier1;       /* partitions; 0, here and below: chosen by the seed */
    uint32_t tier2;
    uint32_t cells;     /* of the first map */
    uint32_t batch_max; /* messages a transaction */
    bool big;           /* up to MAX_PAGES pages (big.h) */
    bool erases;        /* one event in seven erases a page */
    bool hostile;       /* others write to the channels (hostile.h); the result is not checked */
    bool trace;
};

struct sim_result {
    bool ok;
    uint64_t messages;
    uint64_t crashes;
    uint64_t events;
    uint64_t moves;
    char why[256];
};

struct sim_result sim_run(const struct sim_options *options);

/* oracle.c */
struct sp_id sim_page_id(uint32_t page);
const char *sim_url(uint32_t page);

/* Prints the true edges, to read beside the trace of a failing seed. */
void oracle_print_edges(const struct truth *truth, uint32_t pages,
                        const struct sp_similarity_options *similarity);
/* For each page the first page of its group; a page that is not there is alone. */
void oracle_groups(const struct sp_group_id *group, const bool *there, uint32_t pages,
                   uint32_t *ret_group);

/* From scratch: for each page the smallest number in its component (a page that was never crawled
 * is alone, unless one redirects to it); then, given the components, the status that must be
 * published for each page. With winner.margin it depends on the winners of before: then what was
 * said must follow from itself. */
void oracle_components(const struct truth *truth, uint32_t pages,
                       const struct sp_similarity_options *similarity, uint32_t *ret_component);
void oracle_statuses(const struct truth *truth, uint32_t pages, const uint32_t *component,
                     const struct sp_group_stage_options *rules, const struct published *said,
                     struct published *ret_said);

#endif
