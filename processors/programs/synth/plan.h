/* Computes fetch number k of a kind of skew: a pure function of the options, the kind and k.
 * Private to this folder. */
#ifndef SP_SYNTH_PLAN_H
#define SP_SYNTH_PLAN_H

#include "synth/order.h"
#include "synth/synth.h"

/* How a page's text differs from the document it is made of. W words, W / 100 of them "a few". */
enum sp_edit {
    SP_EDIT_NONE,
    SP_EDIT_WORDS,   /* a few words replaced by words that no other page has */
    SP_EDIT_PERCENT, /* each word replaced in that way with a chance of 1 % */
    SP_EDIT_ADDRESS, /* the page's URL or number is in its middle */
    SP_EDIT_RUNS,    /* one or two runs of words replaced in that way */
    SP_EDIT_ROLLING  /* block after block rewritten; `variant` of them are */
};

struct sp_skew_text {
    uint64_t document;
    bool own;          /* the document is this page's, or that of one near copy more */
    uint64_t template; /* the first `template_words` are of this document instead */
    uint32_t template_words;
    uint64_t first; /* the text begins with that word of the document */
    uint32_t words;
    enum sp_edit edit;
    uint64_t variant; /* tells the edits of a document's pages apart */
    struct {
        uint32_t at[2]; /* where the runs begin; equal: one run */
        uint32_t words; /* of each */
    } runs;
};

#define SP_SKEW_NOWHERE UINT64_MAX

struct sp_skew_fetch {
    enum sp_skew_kind kind;
    uint64_t family;
    uint64_t page;   /* number in its family */
    uint64_t target; /* of a redirect: another page, or SP_SKEW_NOWHERE, which is never crawled */
    int status;
    bool again;         /* the page was fetched before */
    bool numbered;      /* its URL has a number of fixed width */
    uint32_t padding;   /* bytes by which its URL is longer */
    int64_t popularity; /* below 0: none */
    int64_t ahead_ms;   /* its date is so much later than its place in the crawl says */
    struct sp_skew_text text;
    /* Its group is of its own, the whole family's, or that of another page in it. */
    enum { SP_GROUP_OWN, SP_GROUP_FAMILY, SP_GROUP_PAGE } group;
    uint64_t group_page;
};

struct sp_skew_plan {
    uint64_t seed;
    uint32_t words;
    uint64_t family;                /* as in struct sp_skew */
    uint64_t counts[SP_SKEW_KINDS]; /* fetches of each kind */
    struct sp_zipf zipf;
};

void sp_skew_plan_make(struct sp_skew_plan *plan, const struct sp_synth_options *options);
void sp_skew_plan_done(struct sp_skew_plan *plan);

/* k < plan->counts[kind]. */
struct sp_skew_fetch sp_skew_plan_fetch(const struct sp_skew_plan *plan, enum sp_skew_kind kind,
                                        uint64_t k);

/* Of a text of SP_EDIT_PERCENT: whether word i is replaced. */
bool sp_skew_plan_replaced(uint64_t seed, const struct sp_skew_text *text, uint32_t i);
/* Of SP_EDIT_WORDS: the word that edit number i < words / 100 replaces; ascending. */
uint32_t sp_skew_plan_edit_place(uint64_t seed, const struct sp_skew_text *text, uint32_t i);
/* Of SP_EDIT_RUNS: whether word i is replaced. */
bool sp_skew_plan_in_run(const struct sp_skew_text *text, uint32_t i);
/* Of SP_EDIT_ROLLING: how often word i was rewritten. */
uint64_t sp_skew_plan_generation(const struct sp_skew_text *text, uint32_t i);

#endif
