/* See rates.h. */
#include "local/rates.h"

#include "base/clock.h"
#include "base/mem.h"

void sp_rates_start(struct sp_rates *r, uint64_t records)
{
    *r = (struct sp_rates){records, sp_clock_seconds(), sp_clock_process_seconds()};
}

void sp_rates_note(struct sp_rates *r, struct sp_run_result *result)
{
    double records = (double)(result->records - r->from);
    if (records < SP_RUN_RATE_RECORDS)
        return;
    struct sp_rates now;
    sp_rates_start(&now, result->records);
    result->rates = sp_realloc(result->rates, (result->rate_count + 1) * sizeof *result->rates);
    result->rates[result->rate_count++] =
        (struct sp_run_rate){.by_clock = records / (now.start - r->start),
                             .by_cpu = records / (now.cpu_start - r->cpu_start)};
    *r = now;
}
