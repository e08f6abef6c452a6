/* The list of experiments: see experiment.h. */
#include <string.h>

#include "evaluate/experiment.h"

#define X(name) &sp_experiment_##name,
static const struct sp_experiment *const experiments[] = {SP_EXPERIMENTS(X)};
#undef X

const struct sp_experiment *sp_experiment_at(size_t number)
{
    return number < sizeof experiments / sizeof *experiments ? experiments[number] : NULL;
}

const struct sp_experiment *sp_experiment_named(const char *name)
{
    const struct sp_experiment *e;
    for (size_t i = 0; (e = sp_experiment_at(i)); i++)
        if (strcmp(e->name, name) == 0)
            return e;
    return NULL;
}
