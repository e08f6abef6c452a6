/* The shadow: a sample of the pages, kept beside the stages and compared among themselves by F, to
 * see whether what the stages publish is right while they run. docs/AUDIT.md says what each count
 * proves.
 *
 * The sample. A draw is a hash, as a number from 0 to 1. A page is watched while one of its two
 * draws is below audit.share:
 *
 *   by URL      a hash of its page id: any page, whatever its content
 *   by content  a hash of the shingle that is the first one in a fixed order (Broder 1997)
 *
 * Two pages of similarity J have the same draw by content with probability J, so near duplicates
 * are watched together: of a hundred pairs at J = 0.8, share 0.01 watches 0.8, and not 0.01 as
 * drawing pages one by one would.
 *
 * Both are pure functions of the page, so every process and every run watches the same ones.
 *
 * It judges pairs of watched pages whose statuses are about the contents that the shadow holds. It
 * does not judge a pair with one page outside the sample, nor why two pages are in one group: a
 * chain may lead through pages that are not watched. The rules are in rules.c.
 *
 * A status may still be under way. So a status that looks wrong is first a suspect (suspects.c). It
 * is judged again with every event of its pages, and counted only if it still looks wrong after
 * `patience` more looks. A look is a call of sp_shadow_judge.
 *
 * Nothing here has an effect on stages. Memory: at most `most` pages, a signature and about 300
 * bytes each; if there are more, the share is halved. Thread rule: one thread. */
#ifndef SP_SHADOW_SHADOW_H
#define SP_SHADOW_SHADOW_H

#include "page/message.h"
#include "similarity/similarity.h"

struct sp_shadow;

/* The bound of the draws for a share from 0 to 1; 0: no page is drawn. */
uint64_t sp_shadow_limit(double share);
/* Whether either draw of a fetch (a SP_MSG_CRAWLED) is below the bound. A fetch without content
 * (SP_PAGE_UNSEEN, a redirect, a dead page) has only the draw by URL. Pure. */
bool sp_shadow_draws(uint64_t limit, const struct sp_message *crawled);

enum sp_shadow_kind {
    SP_SHADOW_MISSING, /* two near duplicates that their statuses keep apart */
    SP_SHADOW_WRONG    /* a status that its own pages contradict */
};

/* Borrowed; valid during the call. */
struct sp_shadow_alarm {
    enum sp_shadow_kind kind;
    const char *what; /* for people */
    const char *url;
    const char *other_url; /* of the other page; NULL: the rule is about one page */
    double similarity;     /* of the two; 0 if they are not similar */
};

struct sp_shadow_options {
    struct sp_similarity_options similarity;
    double share;                /* 0 < share <= 1 */
    uint32_t most;               /* pages */
    uint64_t patience;           /* looks */
    double popularity_tolerance; /* as the group stage's */
    /* Messages are always under way (Kafka), so a fetch without a status at a look may still be
     * accepted. Fetches without a time are not watched then, because no status can be matched to
     * them. Only fetches that are drawn are seen, so a status is about the fetch with its own
     * version, and if there is none, about content that is not watched. */
    bool streaming;
    /* Which page wins follows from rank and F alone: mode exact, no margin, no relation. */
    bool ranked;
    bool related; /* there is a relation: two similar pages may both be kept */
    /* What was found, once for each. */
    void (*alarm)(void *arg, const struct sp_shadow_alarm *alarm);
    /* A page is watched from now on, or no longer; may be NULL. */
    void (*watched)(void *arg, struct sp_id page, bool watched);
    void *arg;
};

struct sp_shadow_counts {
    uint64_t missing; /* found so far */
    uint64_t wrong;
    uint64_t pages;    /* watched now */
    uint64_t judged;   /* similar pairs judged so far, each time */
    uint64_t suspects; /* now */
    int64_t late_ms; /* the longest that something looked wrong and became right, or does still; by
                      * the times of the fetches */
    double share;    /* now */
};

struct sp_shadow *sp_shadow_new(const struct sp_shadow_options *options);
void sp_shadow_free(struct sp_shadow *s); /* NULL is allowed */

/* A page was fetched. Before its status; the message stays the caller's. */
void sp_shadow_fetch(struct sp_shadow *s, const struct sp_message *crawled);
/* The page is erased on request: nothing of it is kept or judged. Watched or not. */
void sp_shadow_forget(struct sp_shadow *s, struct sp_id page);
/* Whether a status of that page would be looked at. */
bool sp_shadow_watches(const struct sp_shadow *s, struct sp_id page);
/* A status was published. */
void sp_shadow_status(struct sp_shadow *s, const struct sp_status_event *event);
/* A look: judges what has changed. Unless `streaming`, no message is under way. `owed`: large
 * groups have yet to tell some pages their status, so nothing is counted. */
void sp_shadow_judge(struct sp_shadow *s, bool owed);
/* Call when no message is under way and nothing is owed: what still looks wrong is counted,
 * whatever its age. */
void sp_shadow_settle(struct sp_shadow *s);

/* A page as a state has it. */
struct sp_shadow_page_state {
    struct sp_id page;
    const char *url;
    int64_t version;
    enum sp_page_kind kind;
    struct sp_rank rank;            /* as the group stage keeps it */
    struct sp_signature *signature; /* NULL if it has no content */
};

/* For a start: watches the page again, with its last status. False: it is not of the sample. */
bool sp_shadow_restore(struct sp_shadow *s, const struct sp_shadow_page_state *page,
                       const struct sp_status_event *status);

void sp_shadow_counts(const struct sp_shadow *s, struct sp_shadow_counts *ret_counts);

#endif
