/* The accuracy experiment: a crawl through both tiers in several ways, each compared with the
 * centralised run at six milestones (Zhu et al., WWW 2012, section 6.3, Table 1). What REP and RER
 * are is defined in replay/pairs.h. Private to this folder and its tests.
 *
 * The ways:
 *
 *   exact      lossless routing, drained: must agree with the baseline, with any number of cells
 *   fast       the paper's three approximations together:
 *                skip     a page similar to its group's representative is only stored in tier 2
 *                leave    when a member leaves, the rest of its group is re-checked only where more
 *                         than fast.recheck_share of it is unlike its winner
 *                bounded  tier 2 is visited within the paper's bound on lengths, with rho
 *   one each exact but for one of the three: the errors that this one causes
 *   delayed    exact, but the tiers deliver a limited number of messages for each fetch: where a
 *              part of the crawl leads to more, a backlog builds up; it is worked off when the
 *              trace is at its end
 *
 * Thread rule: one call at a time; it uses threads of its own. */
#ifndef SP_EVALUATE_ACCURACY_H
#define SP_EVALUATE_ACCURACY_H

#include "replay/pairs.h"

enum {
    SP_MILESTONES = 6, /* 10 to 100 % of the fetches; the paper's: 10 to 100 million URLs */
    SP_MACHINES = 3,   /* 12, 24 and 36 cells: one for each machine of tier 2 */
    SP_DECAY_STEPS = 10,
    SP_VARIANTS = 13
};

extern const uint32_t sp_machines[SP_MACHINES];

/* One way through the tiers. */
struct sp_variant {
    const char *name; /* `fast` and `exact` are there for each number of machines */
    const char *what;
    uint32_t machines;
    bool skip;
    bool leave;
    bool bounded;
    double capacity; /* messages delivered, of those that a fetch leads to on average; 0: all */
};

extern const struct sp_variant sp_variants[SP_VARIANTS];

/* Those that are named in tables and texts. */
enum {
    SP_EXACT_24 = 1,
    SP_FAST_24 = 4,
    SP_SKIP_ONLY = 6,
    SP_LEAVE_ONLY = 7,
    SP_BOUNDED_ONLY = 8,
    SP_MODE_FAST_24 = 9,
    SP_DELAYED = 10 /* the first; all after it are delayed, too */
};

struct sp_errors {
    struct sp_group_pairs groups;
    struct sp_winner_pairs winners;
    uint64_t pending;   /* messages under way */
    uint64_t delivered; /* messages, since the beginning */
};

struct sp_variant_result {
    struct sp_errors errors[SP_MILESTONES];
    struct sp_errors decay[SP_DECAY_STEPS]; /* of delayed ways */
    struct sp_replay_result replay;
};

struct sp_accuracy {
    const struct sp_crawl *crawl;     /* borrowed */
    size_t milestones[SP_MILESTONES]; /* fetches */
    struct sp_baseline baselines[SP_MILESTONES];
    struct sp_variant_result variants[SP_VARIANTS];
};

struct sp_accuracy_options {
    struct sp_replay_options replay;     /* the ways change what is theirs */
    const struct sp_partition_map *maps; /* one for each of sp_machines; borrowed */
    unsigned threads;                    /* 1 to SP_PARALLEL_THREADS */
    /* Called at the end of the trace with what a way has published; its errors are in *accuracy.
     * Runs in the way's thread, so calls for different ways overlap. May be NULL. */
    void (*at_end)(void *arg, const struct sp_accuracy *accuracy, size_t variant,
                   const struct sp_said *said);
    void *arg;
};

/* Fills *ret_accuracy, which the caller frees with sp_accuracy_done, also after an error. */
enum sp_err sp_accuracy_run(const struct sp_crawl *crawl, const struct sp_accuracy_options *options,
                            struct sp_accuracy *ret_accuracy);
void sp_accuracy_done(struct sp_accuracy *a);

#endif
