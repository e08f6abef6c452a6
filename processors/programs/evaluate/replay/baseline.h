/* The centralised run that a trace's groups are compared with (Zhu et al., WWW 2012, section 6.3):
 * at one moment of the crawl, all pages alive are compared with all others, by F alone. No
 * partitions, no candidate rule, no groups kept: the components of the distinct contents from
 * scratch (similarity/connected.h).
 *
 * A page is alive if its latest fetch has content. Redirects connect no two pages with
 * content (each leads to one page and none leads away from content), so among pages alive the
 * components of F are those of "near duplicate of or redirects to". A page without words is alone.
 *
 * Time and memory grow with the pages alive, not with the trace. Thread rule: any thread, the trace
 * is only read. */
#ifndef SP_REPLAY_BASELINE_H
#define SP_REPLAY_BASELINE_H

#include "replay/crawl.h"
#include "similarity/similarity.h"

struct sp_baseline {
    uint32_t page_count;
    uint32_t *fetch;     /* each page's latest; SP_NO_NUMBER: none */
    uint32_t *content;   /* of each page; SP_NO_NUMBER: not alive */
    uint32_t *component; /* a page of it, the same for all of one; SP_NO_NUMBER: not alive */
    uint32_t *winner; /* the page that covers it, by the rule of group/verdicts.c; itself: it is not
                         a loser; SP_NO_NUMBER: not alive */
    uint64_t alive;
    uint64_t contents;  /* distinct among them */
    uint64_t compared;  /* pairs of distinct contents */
    double cpu_seconds; /* of the components; winners left out */
};

enum sp_err sp_baseline_make(const struct sp_crawl *crawl, size_t fetch_count,
                             const struct sp_similarity_options *similarity,
                             struct sp_baseline *ret_baseline);
void sp_baseline_done(struct sp_baseline *b);

/* Whether page a is kept rather than page b, by their latest fetches. */
bool sp_baseline_outranks(const struct sp_crawl *crawl, const struct sp_baseline *b,
                          uint32_t page_a, uint32_t page_b);

#endif
