/* Records a second, of each SP_RUN_RATE_RECORDS of a run. Thread rule: one thread. */
#ifndef SP_LOCAL_RATES_H
#define SP_LOCAL_RATES_H

#include "local/run.h"

/* The records and the times at which the current rate starts. */
struct sp_rates {
    uint64_t from;
    double start;
    double cpu_start;
};

/* The next rate starts now, at this number of records. */
void sp_rates_start(struct sp_rates *r, uint64_t records);
/* Adds a rate to the result if its records are that many more. */
void sp_rates_note(struct sp_rates *r, struct sp_run_result *result);

#endif
