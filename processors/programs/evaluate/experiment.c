/* See experiment.h. */
#include <sys/resource.h>

#include "evaluate/experiment.h"

#include "base/mem.h"

double sp_evaluation_peak_bytes(void)
{
    struct rusage usage = {.ru_maxrss = 0};
    getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * (double)usage.ru_maxrss;
}

void sp_evaluation_say(const struct sp_evaluation *e, const char *what, uint64_t done, uint64_t of)
{
    if (e->options->progress)
        e->options->progress(e->options->progress_arg, what, done, of);
}

enum sp_err sp_evaluation_alive(struct sp_evaluation *e, const struct sp_distinct **ret_alive)
{
    const struct sp_trace *t = e->trace;
    if (!e->alive_made) {
        uint32_t *alive = sp_alloc((t->fetch_count + 1) * sizeof *alive);
        sp_distinct_init(t, alive, sp_trace_alive(t, 0, t->fetch_count, alive), &e->alive);
        sp_free(alive);
        enum sp_err err = sp_distinct_read_words(&e->alive, t, e->fault);
        if (err != SP_OK) {
            sp_distinct_done(&e->alive);
            return err;
        }
        e->alive_made = true;
    }
    *ret_alive = &e->alive;
    return SP_OK;
}
