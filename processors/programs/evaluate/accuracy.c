/* See accuracy.h. Three rounds of jobs run on all threads: baselines, drained variants, delayed
 * variants (whose budgets derive from the drained one). Jobs share the crawl and write to separate
 * places, so the result does not depend on the number of threads. */
#include "evaluate/accuracy.h"

#include "base/mem.h"
#include "base/parallel.h"

#define SKIP "a page similar to its group's representative is only stored in tier 2"
#define LEAVE "when a member leaves, the rest of its group is re-checked by fast.recheck_share"
#define BOUNDED "tier 2 is visited within the paper's bound on lengths"
#define ALL "the paper's three approximations"

const uint32_t sp_machines[SP_MACHINES] = {12, 24, 36};
static const uint32_t milestone_percents[SP_MILESTONES] = {10, 20, 30, 50, 75, 100};

const struct sp_variant sp_variants[SP_VARIANTS] = {
    {"exact", "lossless routing, drained", 12, false, false, false, 0},
    {"exact", "lossless routing, drained", 24, false, false, false, 0},
    {"exact", "lossless routing, drained", 36, false, false, false, 0},
    {"fast", ALL, 12, true, true, true, 0},
    {"fast", ALL, 24, true, true, true, 0},
    {"fast", ALL, 36, true, true, true, 0},
    {"skip only", SKIP, 24, true, false, false, 0},
    {"leave only", LEAVE, 24, false, true, false, 0},
    {"bounded only", BOUNDED, 24, false, false, true, 0},
    {"skip and leave", "what the setting mode=fast does", 24, true, true, false, 0},
    {"delayed 125 %", "exact, 125 % of the messages delivered", 24, false, false, false, 1.25},
    {"delayed 95 %", "exact, 95 % of the messages delivered", 24, false, false, false, 0.95},
    {"delayed 50 %", "exact, 50 % of the messages delivered", 24, false, false, false, 0.5}};

struct job {
    const struct sp_accuracy_options *options;
    struct sp_accuracy *a;
    size_t first; /* variant or milestone of the first job */
    enum sp_err errs[SP_VARIANTS];
};

/* The observer of one replay. */
struct watch {
    const struct sp_accuracy_options *options;
    struct sp_accuracy *a;
    size_t variant;
};

static void make_baselines(void *arg, unsigned thread, size_t from, size_t to)
{
    struct job *job = arg;
    (void)thread;
    for (size_t i = from; i < to; i++)
        job->errs[i] =
            sp_baseline_make(job->a->crawl, job->a->milestones[i],
                             &job->options->replay.bus.group.similarity, &job->a->baselines[i]);
}

/* ---- one way ---- */

static void count_errors(const struct watch *w, const struct sp_replay_moment *moment,
                         size_t milestone, struct sp_errors *ret_errors)
{
    const struct sp_crawl *c = w->a->crawl;
    const struct sp_baseline *b = &w->a->baselines[milestone];
    uint32_t *groups = sp_alloc((c->page_count + 1) * sizeof *groups);
    for (uint32_t p = 0; p < c->page_count; p++)
        groups[p] = moment->said[p].group;
    sp_group_pairs_count(groups, b->component, c->page_count, &ret_errors->groups);
    sp_winner_pairs_count(c, b, moment->said, &w->options->replay.bus.group.similarity,
                          &ret_errors->winners);
    ret_errors->pending = moment->pending;
    ret_errors->delivered = moment->stats.messages;
    sp_free(groups);
}

static void look(void *arg, const struct sp_replay_moment *moment)
{
    struct watch *w = arg;
    struct sp_variant_result *v = &w->a->variants[w->variant];
    if (moment->point >= SP_MILESTONES) {
        count_errors(w, moment, SP_MILESTONES - 1, &v->decay[moment->point - SP_MILESTONES]);
        return;
    }
    count_errors(w, moment, moment->point, &v->errors[moment->point]);
    if (moment->point == SP_MILESTONES - 1 && w->options->at_end)
        w->options->at_end(w->options->arg, w->a, w->variant, moment->said);
}

static enum sp_err run_variant(struct job *job, size_t number)
{
    const struct sp_variant *variant = &sp_variants[number];
    struct watch w = {job->options, job->a, number};
    struct sp_replay_options o = job->options->replay;
    o.points = job->a->milestones;
    o.point_count = SP_MILESTONES;
    o.look = look;
    o.arg = &w;
    for (size_t k = 0; k < SP_MACHINES; k++)
        if (sp_machines[k] == variant->machines)
            o.bus.group.maps = o.bus.compare.maps = (struct sp_maps){.now = &job->options->maps[k]};
    o.bus.group.mode = variant->skip || variant->leave ? SP_MODE_FAST : SP_MODE_EXACT;
    o.bus.group.fast_asks_tier2 = !variant->skip;
    o.bus.group.fast_rechecks = !variant->leave;
    o.bus.compare.routing = variant->bounded ? SP_ROUTING_BOUNDED : SP_ROUTING_LOSSLESS;
    if (variant->capacity > 0) {
        uint64_t messages = job->a->variants[SP_EXACT_24].replay.stats.messages;
        o.budget = variant->capacity * (double)messages / (double)(job->a->crawl->fetch_count + 1);
        o.decay_steps = SP_DECAY_STEPS;
    }
    return sp_replay(job->a->crawl, &o, &job->a->variants[number].replay);
}

static void run_variants(void *arg, unsigned thread, size_t from, size_t to)
{
    struct job *job = arg;
    for (size_t i = from; i < to; i++)
        job->errs[i] = run_variant(job, job->first + i);
    if (thread > 0)
        sp_message_thread_done();
}

/* ---- all of them ---- */

static enum sp_err run_jobs(struct job *job, size_t first, size_t end,
                            void (*run)(void *arg, unsigned thread, size_t from, size_t to))
{
    job->first = first;
    memset(job->errs, 0, sizeof job->errs);
    sp_parallel(job->options->threads, end - first, 1, run, job);
    for (size_t i = 0; i < end - first; i++)
        if (job->errs[i] != SP_OK)
            return job->errs[i];
    return SP_OK;
}

enum sp_err sp_accuracy_run(const struct sp_crawl *crawl, const struct sp_accuracy_options *options,
                            struct sp_accuracy *ret_accuracy)
{
    struct sp_accuracy *a = ret_accuracy;
    *a = (struct sp_accuracy){.crawl = crawl};
    struct job job = {.options = options, .a = a};
    for (size_t i = 0; i < SP_MILESTONES; i++)
        a->milestones[i] = crawl->fetch_count * milestone_percents[i] / 100;
    enum sp_err err = run_jobs(&job, 0, SP_MILESTONES, make_baselines);
    if (err == SP_OK)
        err = run_jobs(&job, 0, SP_DELAYED, run_variants);
    if (err == SP_OK)
        err = run_jobs(&job, SP_DELAYED, SP_VARIANTS, run_variants);
    return err;
}

void sp_accuracy_done(struct sp_accuracy *a)
{
    for (size_t i = 0; i < SP_MILESTONES; i++)
        sp_baseline_done(&a->baselines[i]);
    *a = (struct sp_accuracy){0};
}
