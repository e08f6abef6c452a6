/* What people see while they wait, and numbers as they read them. Private to this folder. */
#ifndef SP_CLI_PROGRESS_H
#define SP_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct sp_progress {
    bool shown; /* standard error is a terminal */
    double start;
    double last;
    uint64_t first_bytes;
    bool drawn;
    const char *counted; /* what the last number of sp_progress_show is; NULL: it is not shown */
    const char *phase;   /* of sp_progress_phase */
};

/* `counted` stays the caller's. */
void sp_progress_start(struct sp_progress *p, const char *counted);
/* Matches sp_run_options.progress. */
void sp_progress_show(void *arg, uint64_t pages, uint64_t bytes, uint64_t bytes_total,
                      uint64_t count);
/* A number that grows and of which nobody knows the end: "comparing  1,234 pairs". */
void sp_progress_count(struct sp_progress *p, const char *phase, uint64_t count, const char *what);
/* A bar of one step of several, with the time it still takes; call with rising `done`. */
void sp_progress_phase(struct sp_progress *p, const char *phase, uint64_t done, uint64_t total);
/* Removes the bar. */
void sp_progress_end(struct sp_progress *p);
/* "1,234,567": sp_thousands(n).text, which lasts as long as the expression that it is part of. */
struct sp_thousands {
    char text[32];
};

struct sp_thousands sp_thousands(uint64_t n);

#endif
