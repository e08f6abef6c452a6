/* Wrong losers, day by day.
 *
 * Source: Zhu et al., WWW 2012, section 6.4: of the first results of other search engines, the
 * share that this system calls losers of a winner they do not resemble; 0.017 to 0.028 % a day.
 * There is no other engine here: all pages alive are examined. A day is a twenty-first of the
 * trace's fetches, as the paper's collection was crawled in three weeks. */
#include "base/mem.h"
#include "base/parallel.h"
#include "evaluate/crawls.h"
#include "evaluate/experiment.h"
#include "replay/pairs.h"

enum { DAYS = 21, WAYS = 3 };

static const struct {
    const char *name;
    enum sp_mode mode;
    double capacity; /* of the messages that a fetch leads to on average; 0: drained */
} ways[WAYS] = {{"exact", SP_MODE_EXACT, 0},
                {"fast", SP_MODE_FAST, 0},
                {"exact, 95 % of the messages delivered", SP_MODE_EXACT, 0.95}};

struct day {
    uint64_t examined; /* pages alive */
    uint64_t losers;   /* of these, by their last status */
    uint64_t wrong;    /* of these, not similar to their winner as it is now, or it has none */
};

struct days {
    const struct sp_crawl *crawl;
    const struct sp_replay_options *options;
    size_t points[DAYS];
    struct day day[WAYS][DAYS];
    struct sp_replay_result replays[WAYS];
};

struct watch {
    struct days *days;
    size_t way;
};

/* ---- counting ---- */

static bool right(const struct days *d, const uint32_t *latest, uint32_t page, uint32_t winner)
{
    const struct sp_crawl *c = d->crawl;
    if (winner == SP_NO_NUMBER || latest[winner] == SP_NO_NUMBER)
        return false;
    const struct sp_crawl_fetch *a = &c->fetches[latest[page]], *b = &c->fetches[latest[winner]];
    return b->kind == SP_PAGE_CONTENT &&
           (a->content == b->content ||
            sp_similar(&d->options->bus.group.similarity, c->contents[a->content],
                       c->contents[b->content], NULL));
}

static void look(void *arg, const struct sp_replay_moment *moment)
{
    struct watch *w = arg;
    struct days *d = w->days;
    const struct sp_crawl *c = d->crawl;
    if (moment->point >= DAYS)
        return; /* the backlog after the end of the input is not counted */
    struct day *day = &d->day[w->way][moment->point];
    uint32_t *latest = sp_alloc((c->page_count + 1) * sizeof *latest);
    sp_crawl_latest(c, d->points[moment->point], latest);
    for (uint32_t p = 0; p < c->page_count; p++) {
        if (latest[p] == SP_NO_NUMBER || c->fetches[latest[p]].kind != SP_PAGE_CONTENT)
            continue;
        bool loser = moment->said[p].status == SP_STATUS_LOSER;
        day->examined++;
        day->losers += loser;
        day->wrong += loser && !right(d, latest, p, moment->said[p].winner);
    }
    sp_free(latest);
}

static enum sp_err replay_one(struct days *d, size_t way)
{
    struct watch w = {d, way};
    struct sp_replay_options o = *d->options;
    o.points = d->points;
    o.point_count = DAYS;
    o.look = look;
    o.arg = &w;
    o.bus.group.mode = ways[way].mode;
    if (ways[way].capacity > 0) {
        o.budget = ways[way].capacity * (double)d->replays[0].stats.messages /
                   (double)(d->crawl->fetch_count + 1);
        o.decay_steps = 1;
    }
    return sp_replay(d->crawl, &o, &d->replays[way]);
}

/* ---- report ---- */

static void put_row(struct sp_table *t, const char *trace, size_t way, const struct day day[DAYS])
{
    struct day all = {0};
    double least = 1, most = 0;
    for (size_t i = 0; i < DAYS; i++) {
        double share = sp_share(day[i].wrong, day[i].examined);
        all.examined += day[i].examined;
        all.losers += day[i].losers;
        all.wrong += day[i].wrong;
        least = share < least ? share : least;
        most = share > most ? share : most;
    }
    sp_table_text(t, trace);
    sp_table_text(t, ways[way].name);
    sp_table_count(t, all.examined);
    sp_table_count(t, all.losers);
    sp_table_count(t, all.wrong);
    sp_table_percent(t, sp_share(all.wrong, all.examined), 3);
    sp_table_percent(t, least, 3);
    sp_table_percent(t, most, 3);
    sp_table_text(t, "0.017-0.028 %");
}

static enum sp_err evaluate_file(struct sp_evaluation *e, const struct sp_trace_file *file,
                                 struct sp_table *t)
{
    struct sp_partition_map map = {0};
    struct sp_crawl *crawl = sp_evaluate_crawl(e->trace, file);
    struct sp_replay_options options = sp_evaluate_replay(&e->options->bus, &map);
    struct days *d = sp_calloc(1, sizeof *d);
    d->crawl = crawl;
    d->options = &options;
    for (size_t i = 0; i < DAYS; i++)
        d->points[i] = crawl->fetch_count * (i + 1) / DAYS;
    enum sp_err err = sp_evaluate_map(crawl, options.bus.group.similarity.threshold, 24, &map);
    for (size_t way = 0; way < WAYS && err == SP_OK; way++)
        err = replay_one(d, way);
    for (size_t way = 0; way < WAYS && err == SP_OK; way++)
        put_row(t, file->name, way, d->day[way]);
    sp_free(d);
    sp_partition_done(&map);
    sp_crawl_free(crawl);
    return err;
}

static enum sp_err run(struct sp_evaluation *e)
{
    static const char *const columns[] = {"trace",      "way",         "examined",
                                          "losers",     "wrong",       "share",
                                          "best a day", "worst a day", "the paper's"};
    struct sp_table *t = sp_table_new("wrong-losers", "Wrong losers, over 21 days", columns,
                                      sizeof columns / sizeof *columns);
    enum sp_err err = SP_OK;
    for (size_t i = 0; i < e->trace->file_count && err == SP_OK; i++) {
        sp_evaluation_say(e, "Wrong losers", i, e->trace->file_count);
        err = evaluate_file(e, &e->trace->files[i], t);
    }
    sp_report_text(
        e->report,
        "Each of 21 days has a twenty-first of the fetches. At the end of each day every page "
        "alive is examined: if its last status is loser, does it still resemble the winner that "
        "the status names? A loser is compared with its winner before its status is published. "
        "So if all messages have been delivered, no loser is wrong, in either mode; if messages "
        "wait, statuses are out of date. The paper examines the first ten results of 400,000 "
        "queries to other engines. The errors that it finds are mostly pages of scripts whose "
        "text it could not read; that is a fault of the similarity function, and not counted "
        "here.");
    sp_evaluation_of_traces(e);
    sp_report_table(e->report, t);
    return err == SP_OK ? SP_OK : sp_fault_set(e->fault, err, "daily: a trace cannot be replayed");
}

const struct sp_experiment sp_experiment_daily = {"daily", "Section 6.4: wrong losers, day by day",
                                                  run, 0.2, 0};
