/* Which pages the report shows side by side. Private to this folder and its tests. */
#ifndef SP_EVALUATE_EXAMPLES_H
#define SP_EVALUATE_EXAMPLES_H

#include "evaluate/accuracy.h"

enum { SP_EXAMPLES = 4 };

/* Two pages for people to look at. */
struct sp_example {
    bool found;
    bool good;
    uint32_t fetch_a; /* in the crawl */
    uint32_t fetch_b;
    char verdict[240];
};

struct sp_examples {
    const struct sp_similarity_options *similarity;
    struct sp_example list[SP_EXAMPLES];
};

/* From the ways that have examples:
 *
 *   exact, 24 machines   the loser least similar to its winner; one of middling similarity
 *   fast, 24 machines    two pages of one group that the baseline has apart; two similar pages
 *                        that are in different groups
 *
 * For sp_accuracy_options.at_end, with a struct sp_examples: each way writes to places of its
 * own. */
void sp_examples_pick(void *examples, const struct sp_accuracy *a, size_t variant,
                      const struct sp_said *said);

#endif
