/* simulate FIRST LAST [exact|fast] [--method NAME] [--relation TEXT] [--canary NAME] [--trace]
 *
 * Runs the seeds FIRST … LAST-1; a failing seed is run again with its trace printed. With a canary
 * (one rule of the protocol left out) it is the other way round: the program fails if no seed
 * notices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

static const struct {
    const char *name;
    enum sp_canary canary;
} canaries[] = {{"no-relink", SP_CANARY_NO_RELINK},
                {"no-version", SP_CANARY_NO_VERSION},
                {"no-epoch", SP_CANARY_NO_EPOCH},
                {"no-successor", SP_CANARY_NO_SUCCESSOR},
                {"early-announce", SP_CANARY_EARLY_ANNOUNCE},
                {"quiet-move", SP_CANARY_QUIET_MOVE}};

static enum sp_canary canary_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof canaries / sizeof *canaries; i++)
        if (strcmp(canaries[i].name, name) == 0)
            return canaries[i].canary;
    fprintf(stderr, "simulate: no canary %s\n", name);
    exit(2);
}

static enum sp_method method_by_name(const char *name)
{
    for (enum sp_method m = 0; m < SP_METHOD_COUNT; m++)
        if (strcmp(sp_method_info(m)->name, name) == 0)
            return m;
    fprintf(stderr, "simulate: no method %s\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: simulate FIRST LAST [exact|fast] [--method NAME] [--relation TEXT] "
                        "[--canary NAME] [--trace]\n");
        return 2;
    }
    uint64_t first = strtoull(argv[1], NULL, 10), last = strtoull(argv[2], NULL, 10);
    struct sim_options o = {0};
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "fast") == 0)
            o.mode = SP_MODE_FAST;
        else if (strcmp(argv[i], "--trace") == 0)
            o.trace = true;
        else if (strcmp(argv[i], "--method") == 0 && i + 1 < argc)
            o.method = method_by_name(argv[++i]);
        else if (strcmp(argv[i], "--relation") == 0 && i + 1 < argc)
            o.relation = argv[++i];
        else if (strcmp(argv[i], "--canary") == 0 && i + 1 < argc)
            o.canary = canary_by_name(argv[++i]);
    }
    uint64_t failed = 0, messages = 0, crashes = 0, events = 0, moves = 0;
    for (o.seed = first; o.seed < last; o.seed++) {
        struct sim_result r = sim_run(&o);
        messages += r.messages;
        crashes += r.crashes;
        events += r.events;
        moves += r.moves;
        if (r.ok)
            continue;
        failed++;
        printf("seed %llu: %s\n", (unsigned long long)o.seed, r.why);
        if (o.canary != SP_CANARY_NONE)
            break;
        if (failed == 1 && !o.trace) {
            struct sim_options again = o;
            again.trace = true;
            sim_run(&again);
        }
    }
    printf("%llu seeds, %llu failed, %llu events, %llu messages, %llu crashes, %llu moves\n",
           (unsigned long long)(last - first), (unsigned long long)failed,
           (unsigned long long)events, (unsigned long long)messages, (unsigned long long)crashes,
           (unsigned long long)moves);
    return o.canary == SP_CANARY_NONE ? failed > 0 : failed == 0;
}
