/* The progress bar, and numbers with commas. Private to this folder. Thread rule: one thread. */
#ifndef SP_CLI_PROGRESS_H
#define SP_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct sp_progress {
    bool shown; /* standard error is a terminal */
    double start;
    double last;
    bool drawn;
    const char *unit;    /* of the first number of sp_progress_show; "pages" at first */
    const char *counted; /* what its last number counts; NULL: it is not shown */
    const char *phase;   /* of sp_progress_phase */
};

/* `counted` is borrowed. */
void sp_progress_start(struct sp_progress *p, const char *counted);
/* Matches sp_run_options.progress: how many units were read, in how many bytes of how many (0: not
 * known), and the number of `counted`. */
void sp_progress_show(void *arg, uint64_t units, uint64_t bytes, uint64_t bytes_total,
                      uint64_t count);
/* A growing number whose final value is not known: "comparing  1,234 pairs found". */
void sp_progress_count(struct sp_progress *p, const char *phase, uint64_t count, const char *what);
/* The bar of one step of several, with the time left: `done` of `total` (0: not known; then `done`
 * is shown as bytes). Call it with rising `done`. */
void sp_progress_phase(struct sp_progress *p, const char *phase, uint64_t done, uint64_t total);
/* Removes the bar. */
void sp_progress_end(struct sp_progress *p);
/* "1,234,567": sp_thousands(n).text, valid until the end of the expression. */
struct sp_thousands {
    char text[32];
};

struct sp_thousands sp_thousands(uint64_t n);

#endif
