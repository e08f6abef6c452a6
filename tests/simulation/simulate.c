/* simulate FIRST LAST [exact|fast] [--method NAME] [--relation TEXT] [--canary NAME] [--big]
 * [--erase] [--hostile] [--trace]
 *
 * Runs the seeds FIRST … LAST-1; runs a failing seed again and prints its trace. With a canary (one
 * rule of the protocol left out) the program fails if no seed detects it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

static const struct {
    const char *name;
    enum sp_canary canary;
    enum sp_compare_canary compare;
} canaries[] = {{"no-relink", SP_CANARY_NO_RELINK, 0},
                {"no-round", SP_CANARY_NO_ROUND, 0},
                {"short-round", SP_CANARY_SHORT_ROUND, 0},
                {"stale-cover", SP_CANARY_STALE_COVER, 0},
                {"quiet-leave", SP_CANARY_QUIET_LEAVE, 0},
                {"no-version", SP_CANARY_NO_VERSION, 0},
                {"no-epoch", SP_CANARY_NO_EPOCH, 0},
                {"no-successor", 0, SP_COMPARE_NO_SUCCESSOR},
                {"no-gap", 0, SP_COMPARE_NO_GAP},
                {"early-announce", SP_CANARY_EARLY_ANNOUNCE, 0},
                {"quiet-move", SP_CANARY_QUIET_MOVE, 0},
                {"no-reliance", 0, SP_COMPARE_NO_RELIANCE},
                {"quiet-return", 0, SP_COMPARE_QUIET_RETURN},
                {"quiet-anchor", 0, SP_COMPARE_QUIET_ANCHOR},
                {"late-representative", SP_CANARY_LATE_REPRESENTATIVE, 0},
                {"no-recheck", SP_CANARY_NO_RECHECK, 0},
                {"quiet-alone", SP_CANARY_QUIET_ALONE, 0},
                {"quiet-store", 0, SP_COMPARE_QUIET_STORE},
                {"no-late-split", SP_CANARY_NO_LATE_SPLIT, 0},
                {"dissolve-pieces", SP_CANARY_DISSOLVE_PIECES, 0},
                {"trust-read", SP_CANARY_TRUST_READ, 0},
                {"no-opens", SP_CANARY_NO_OPENS, 0},
                {"no-wait", SP_CANARY_NO_WAIT, 0},
                {"early-end", SP_CANARY_EARLY_END, 0},
                {"overtake", SP_CANARY_OVERTAKE, 0},
                {"no-standing", SP_CANARY_NO_STANDING, 0}};

static void set_canary(struct sim_options *o, const char *name)
{
    for (size_t i = 0; i < sizeof canaries / sizeof *canaries; i++)
        if (strcmp(canaries[i].name, name) == 0) {
            o->canary = canaries[i].canary;
            o->compare_canary = canaries[i].compare;
            return;
        }
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

static void refuse(const char *argument)
{
    fprintf(
        stderr,
        "simulate: %s: not understood; usage: simulate FIRST LAST [exact|fast] "
        "[--method NAME] [--relation TEXT] [--canary NAME] [--big] [--erase] [--hostile] [--trace]\n",
        argument);
    exit(2);
}

static uint64_t number(const char *argument)
{
    char *end;
    uint64_t n = strtoull(argument, &end, 10);
    if (*argument < '0' || *argument > '9' || *end)
        refuse(argument);
    return n;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        refuse(argc < 2 ? "no seeds" : "one number");
    uint64_t first = number(argv[1]), last = number(argv[2]);
    if (last <= first)
        refuse(argv[2]); /* no world would be a success */
    struct sim_options o = {.mode = SP_MODE_EXACT};
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "exact") == 0)
            o.mode = SP_MODE_EXACT;
        else if (strcmp(argv[i], "fast") == 0)
            o.mode = SP_MODE_FAST;
        else if (strcmp(argv[i], "--trace") == 0)
            o.trace = true;
        else if (strcmp(argv[i], "--big") == 0)
            o.big = true;
        else if (strcmp(argv[i], "--erase") == 0)
            o.erases = true;
        else if (strcmp(argv[i], "--hostile") == 0)
            o.hostile = true;
        else if (strcmp(argv[i], "--method") == 0 && i + 1 < argc)
            o.method = method_by_name(argv[++i]);
        else if (strcmp(argv[i], "--relation") == 0 && i + 1 < argc)
            o.relation = argv[++i];
        else if (strcmp(argv[i], "--canary") == 0 && i + 1 < argc)
            set_canary(&o, argv[++i]);
        else
            refuse(argv[i]);
    }
    const bool canary = o.canary || o.compare_canary;
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
        if (canary)
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
    return canary ? failed == 0 : failed > 0;
}
