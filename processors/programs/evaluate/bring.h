/* The effect of deduplication on a trace: runs all of its fetches through both tiers, as `run`
 * does, and counts what became of each document. Private to this folder and its tests.
 *
 * A document is a page that has content at the end. Thread rule: one thread. */
#ifndef SP_EVALUATE_BRING_H
#define SP_EVALUATE_BRING_H

#include "evaluate/evaluate.h"
#include "evaluate/trace.h"

enum { SP_BRING_PARTS = 8 }; /* of the fetches, each timed by itself */

enum sp_fate { SP_FATE_KEPT, SP_FATE_EXACT, SP_FATE_NEAR, SP_FATES };

struct sp_brought_document {
    uint32_t page;  /* number in the trace */
    uint32_t fetch; /* that gave its content */
    enum sp_fate fate;
    uint32_t winner; /* of one that is not kept: the document that it repeats; SP_NO_PAGE where that
                        has no content */
    float similarity;
};

struct sp_tally {
    uint64_t documents[SP_FATES];
    uint64_t bytes[SP_FATES];
};

struct sp_host_tally {
    struct sp_id id; /* key of a map: first */
    char *name;
    struct sp_tally tally;
};

struct sp_brought {
    struct sp_brought_document *documents; /* in the order of the fetches that gave them */
    size_t count;
    struct sp_tally all;
    struct sp_host_tally **hosts; /* those that lose most documents first, then by name */
    size_t host_count;
    uint64_t groups;                /* of more than one document, by their winners */
    double seconds[SP_BRING_PARTS]; /* of processor time, of each part */
    uint64_t fetches[SP_BRING_PARTS];
    uint64_t rows[SP_BRING_PARTS];        /* distinct contents in tier 2 after each part, */
    uint64_t index_bytes[SP_BRING_PARTS]; /* and what its index needs for them */
};

/* `what` is shown as progress. */
enum sp_err sp_bring(const struct sp_evaluate_options *o, const struct sp_trace *t,
                     const char *what, struct sp_brought *ret_brought);
void sp_brought_done(struct sp_brought *b);

uint64_t sp_tally_documents(const struct sp_tally *t);
uint64_t sp_tally_bytes(const struct sp_tally *t);

/* The 95 % interval of a share that was found in `count` cases (Wilson, 1927). */
void sp_share_interval(double share, uint64_t count, double *ret_least, double *ret_most);

/* Estimates the seconds for each fetch in a crawl of `at` fetches. *ret_least: the cost in the
 * cheaper half of the parts. *ret_most: that of the most expensive part, if the cost keeps growing
 * as it grew from the first half to the second. */
void sp_bring_cost(const struct sp_brought *b, double at, double *ret_least, double *ret_most);

/* Bytes by which each fetch makes the index of tier 2 grow. If it has grown, its initial size is
 * left out. */
double sp_bring_index_bytes(const struct sp_brought *b);

#endif
