/* Generates a crawl whose duplicates are known, for tests, the demo and benchmarks.
 *
 * Pages are numbered; everything about a page is a pure function of (seed, number), so memory does
 * not grow with the crawl. Page n is an original, or a near or exact copy of an earlier page, or a
 * redirect. Between first fetches, earlier pages are fetched again: unchanged, edited, rewritten,
 * gone, moved, or back from the dead. Thread rule: one thread each. */
#ifndef SP_SYNTH_SYNTH_H
#define SP_SYNTH_SYNTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "synth/skew.h"

struct sp_synth_options {
    uint64_t pages; /* distinct URLs; fetched again on top: recrawl_permille of them */
    /* The first page fetched, at most `pages`; default 0. Copies, redirects and further fetches are
     * of all earlier pages: a crawl that has been going on for a while. */
    uint64_t from;
    uint64_t seed;
    uint32_t words; /* mean words of a page's main text, at least 1; default 300 */
    /* Of 1,000 pages: */
    uint32_t near_permille;     /* near copies of an earlier page; default 200 */
    uint32_t exact_permille;    /* exact copies of an earlier page's text; default 100 */
    uint32_t redirect_permille; /* redirects; default 30 */
    uint32_t recrawl_permille;  /* fetches of an earlier page, for each new one; default 150 */
    uint32_t plain_permille;    /* plain text instead of HTML; default 100 */
    /* Default: none. Else `pages` counts fetches, all are plain text, `words` is the exact number
     * of a page's words, at least SP_SKEW_WORDS_MIN, and the options not named here count for
     * nothing. */
    struct sp_skew skew;
};

void sp_synth_options_default(struct sp_synth_options *ret_options);

struct sp_synth;

/* Never NULL. */
struct sp_synth *sp_synth_new(const struct sp_synth_options *options);
void sp_synth_free(struct sp_synth *s);

/* The number of fetches of the whole crawl, for a progress report: O(pages), a few nanoseconds
 * each, and O(1) for a skewed crawl. */
uint64_t sp_synth_fetches(const struct sp_synth *s);

/* Appends the next fetch as one line of JSON to `line`, and what is true of it as one line to
 * `truth` (may be NULL):
 *   {"url","version_ms","kind":"original|near|exact|redirect|gone|again","document","edit_permille",
 *    "target"}
 * `document` is the number of the text the page has: pages of one document with edits 0 have
 * exactly equal main text; edit_permille of the words of the others are replaced. Of a skewed crawl
 * also "skew", the kind, and "group": with default settings, pages are in one group at the end if
 * and only if the latest versions of both have the same. False: the crawl is over. */
bool sp_synth_next(struct sp_synth *s, struct sp_buf *line, struct sp_buf *truth);

#endif
