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
    SP_RUN_PART = 64,        /* it ends before the next text begins */
    SP_RUN_PARAGRAPH = 128   /* behind it a <p> is open, with no other block inside */
};

/* A container that begins or ends. */
struct sp_run_step {
    uint8_t tag; /* enum sp_tag */
    bool ends;
    uint8_t context; /* of a container that begins: enum sp_context, by itself */
};

struct sp_container {
    uint8_t tag;     /* enum sp_tag */
    uint8_t context; /* enum sp_context, all of it in 8 bits */
};

enum { SP_RUN_TOP = 4 };

/* The innermost containers, as they lie in memory. */
union sp_run_top {
    struct sp_container containers[SP_RUN_TOP];
    uint64_t bits;
};

/* What all steps of a run do together if the innermost containers have certain tags: the last
 * `pops` of them end, then `pushes` begin. */
struct sp_run_change {
    bool known;
    uint8_t pops;
    uint8_t pushes;
    union sp_run_top tags;   /* needed at the end of the stack, the last one last; contexts are 0 */
    union sp_run_top mask;   /* of those bytes that count */
    union sp_run_top pushed; /* contexts are to be combined with that of what is around them */
};

struct sp_run {
    uint16_t len;    /* bytes */
    uint8_t effects; /* enum sp_run_effect */
    uint8_t heading; /* SP_IN_HEADING or 0 */
    uint8_t step_count;
    struct sp_run_change change;
    struct sp_run_step *steps; /* room for SP_RUN_STEPS */
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
