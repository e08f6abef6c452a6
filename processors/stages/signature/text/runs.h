/* Runs of tags: tags and comments with nothing but white space between them, read as one. A page
 * has few different runs, and most of them were on the page before as well; what a run that is
 * known by its bytes does to the text around it is a list of a few steps. The result never depends
 * on what was read before. Thread rule: one thread at a time for each. */
#ifndef SP_TEXT_RUNS_H
#define SP_TEXT_RUNS_H

#include "text/elements.h"

enum { SP_RUN_STEPS = 9 };

enum sp_run_effect {
    SP_RUN_SPACE = 1,        /* separates words */
    SP_RUN_LINK_END = 2,     /* then ends the open link */
    SP_RUN_SPACE_BEHIND = 4, /* then separates words */
    SP_RUN_BLOCK = 8,        /* then ends the open block, before all steps */
    SP_RUN_LINK_LOST = 16,   /* ends the open link when the open block has no text any more */
    SP_RUN_HEADING = 32,     /* heading says whether what follows is in a heading */
    SP_RUN_PART = 64         /* it ends before the next text begins */
};

/* A container that begins or ends. */
struct sp_run_step {
    uint8_t tag; /* enum sp_tag */
    bool ends;
    uint8_t context; /* of a container that begins: enum sp_context, by its attributes */
};

struct sp_run {
    uint16_t len;    /* bytes */
    uint8_t effects; /* enum sp_run_effect */
    uint8_t heading; /* SP_IN_HEADING or 0 */
    uint8_t step_count;
    struct sp_run_step steps[SP_RUN_STEPS];
};

struct sp_runs;

struct sp_runs *sp_runs_new(void);
void sp_runs_free(struct sp_runs *r);

/* The run that begins with the '<' at `at`, or its beginning; NULL if it is not known, or if its
 * first tag has an effect that is no step. Valid until the next call. *ret_end is where the run
 * ends if it is not SP_RUN_PART, and probably if it is not known. */
const struct sp_run *sp_runs_find(struct sp_runs *r, struct sp_elements *e,
                                  const struct sp_markup *page, size_t at, size_t *ret_end);

#endif
