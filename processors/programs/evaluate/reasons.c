/* The notes of the report on Table 1: what is counted, and why some figures are higher than the
 * paper's. The reasons come from the variants with one approximation each. */
#include "evaluate/reasons.h"

#include <math.h>

static const double PAPER_REP = 0.013, PAPER_RER = 0.0174; /* its largest */

double sp_rep_of(const struct sp_accuracy *a, size_t variant, size_t milestone)
{
    return sp_group_pairs_rep(&a->variants[variant].errors[milestone].groups);
}

double sp_rer_of(const struct sp_accuracy *a, size_t variant, size_t milestone)
{
    return sp_group_pairs_rer(&a->variants[variant].errors[milestone].groups);
}

static size_t worst_milestone(const struct sp_accuracy *a, size_t variant,
                              double (*of)(const struct sp_accuracy *, size_t, size_t))
{
    size_t worst = 0;
    for (size_t m = 1; m < SP_MILESTONES; m++)
        if (of(a, variant, m) > of(a, variant, worst))
            worst = m;
    return worst;
}

void sp_reasons_put_definitions(struct sp_report *report)
{
    sp_report_text(
        report,
        "The groups are compared with a centralised run. At six milestones of each trace (10, "
        "20, 30, 50, 75 and 100 % of its fetches, as in the paper) all pages alive are compared "
        "with all others by the similarity function alone, without partitions, groups or "
        "candidates, and the components are computed from scratch. A page is alive if its latest "
        "fetch has content.");
    sp_report_text(
        report,
        "Group pairs. S: pairs of pages alive whose last published statuses name the same group. "
        "B: pairs of pages alive in one component of the centralised run. REP = |S - B| / |S|, "
        "the share of the published pairs that are not in the centralised run. RER = |B - S| / "
        "|B|, the share of the pairs of the centralised run that are missed. A group of n pages "
        "has n (n - 1) / 2 pairs, so one wrong edge between two large groups counts for all "
        "pairs between them.");
    sp_report_text(
        report,
        "Winner pairs, which an indexer acts on: a loser and its winner; each page counts once. "
        "REP: the share of published losers that are not similar to their winner now. RER: the "
        "share of the centralised run's losers that are not published as losers. The paper does "
        "not say which pairs it counts; it reports REP 0.8-1.3 % and RER 1.5-1.74 %.");
    sp_report_text(
        report,
        "The variants. exact: lossless routing; all messages of a fetch are processed before the "
        "next fetch (drained). fast: the paper's approximations, together and each by itself: "
        "(skip) a changed page that is similar to its group's representative is only stored in "
        "tier 2, in its own cell; (leave) when a member leaves, the rest of its group is "
        "re-checked only if more than fast.recheck_share of it is unlike its winner; (bounded) "
        "tier 2 is visited within the paper's bound on lengths. delayed: exact, but the tiers "
        "process a limited number of messages for each fetch, given as a share of the average "
        "number that a fetch causes. Where fetches cause more, the tiers fall behind. Then "
        "statuses are out of date: a new page that still waits is missed, and a changed page is "
        "in its former group.");
}

/* Says that there are only few pairs, so that a single one is a large share. */
static void put_few(uint64_t pairs, struct sp_report *report)
{
    if (pairs && pairs < 500)
        sp_report_textf(report,
                        "There are only %llu such pairs at that milestone: a single pair weighs "
                        "%.1f %%.",
                        (unsigned long long)pairs, 100.0 / (double)pairs);
}

static void put_rep_reason(const struct sp_accuracy *a, const char *name, struct sp_report *report)
{
    size_t m = worst_milestone(a, SP_FAST_24, sp_rep_of);
    const struct sp_group_pairs *p = &a->variants[SP_FAST_24].errors[m].groups;
    const struct sp_group_stage_stats *lax = &a->variants[SP_MODE_FAST_24].replay.stats.group;
    const struct sp_group_stage_stats *strict = &a->variants[SP_SKIP_ONLY].replay.stats.group;
    sp_report_textf(
        report,
        "%s, fast: REP reaches %.2f %% at milestone %zu of 6, above the paper's %.1f %%: %llu of "
        "%llu pairs, in %llu groups; %llu of them are in one group. By itself, leave gives %.2f "
        "%% there, skip %.2f %%, bounded %.2f %%. When the page that connected two parts of a "
        "group changes, the parts stay in one group until more pages are unlike the winner than "
        "fast.recheck_share allows (milestones 1 to 6: %.2f, %.2f, %.2f, %.2f, %.2f, %.2f %%). "
        "If every group is re-checked (skip alone), tier 1 compares %.2f pairs of pages for each "
        "fetch instead of %.2f, and RER is %.2f %% instead of %.2f %%: pages that are wrongly in "
        "one group may hide pairs that skip misses.",
        name, 100 * sp_group_pairs_rep(p), m + 1, 100 * PAPER_REP,
        (unsigned long long)(p->system - p->both), (unsigned long long)p->system,
        (unsigned long long)p->false_groups, (unsigned long long)p->worst_false,
        100 * sp_rep_of(a, SP_LEAVE_ONLY, m), 100 * sp_rep_of(a, SP_SKIP_ONLY, m),
        100 * sp_rep_of(a, SP_BOUNDED_ONLY, m), 100 * sp_rep_of(a, SP_FAST_24, 0),
        100 * sp_rep_of(a, SP_FAST_24, 1), 100 * sp_rep_of(a, SP_FAST_24, 2),
        100 * sp_rep_of(a, SP_FAST_24, 3), 100 * sp_rep_of(a, SP_FAST_24, 4),
        100 * sp_rep_of(a, SP_FAST_24, 5), (double)strict->compared / (double)a->crawl->fetch_count,
        (double)lax->compared / (double)a->crawl->fetch_count, 100 * sp_rer_of(a, SP_SKIP_ONLY, m),
        100 * sp_rer_of(a, SP_FAST_24, m));
    put_few(p->system, report);
}

static void put_rer_reason(const struct sp_accuracy *a, const char *name, struct sp_report *report)
{
    size_t m = worst_milestone(a, SP_FAST_24, sp_rer_of);
    const struct sp_group_pairs *p = &a->variants[SP_FAST_24].errors[m].groups;
    double skip = sp_rer_of(a, SP_SKIP_ONLY, m), bounded = sp_rer_of(a, SP_BOUNDED_ONLY, m);
    sp_report_textf(
        report,
        "%s, fast: RER reaches %.2f %% at milestone %zu of 6, above the paper's %.2f %%: %llu of "
        "%llu pairs, of %llu components; %llu of them are of one component. By itself, skip gives "
        "%.2f %% there, leave %.2f %%, bounded %.2f %%: the error is mostly that of %s.",
        name, 100 * sp_group_pairs_rer(p), m + 1, 100 * PAPER_RER,
        (unsigned long long)(p->baseline - p->both), (unsigned long long)p->baseline,
        (unsigned long long)p->missed_components, (unsigned long long)p->worst_missed, 100 * skip,
        100 * sp_rer_of(a, SP_LEAVE_ONLY, m), 100 * bounded,
        bounded > skip
            ? "bounded: pages whose lengths differ by more than the bound allows are never "
              "compared in tier 2, even if enough of their shingles are equal"
            : "skip: a changed page that is still similar to its group's representative is "
              "compared in its own cell alone. So if it has become similar to a page in another "
              "cell, that pair is not found until one of the two changes and asks tier 2");
    put_few(p->baseline, report);
}

void sp_reasons_put(const struct sp_accuracy *a, const char *name, struct sp_report *report)
{
    double exact = 0;
    for (size_t v = 0; v < SP_MACHINES; v++)
        for (size_t m = 0; m < SP_MILESTONES; m++)
            exact = fmax(exact, sp_rep_of(a, v, m) + sp_rer_of(a, v, m));
    sp_report_textf(report, "%s, exact: %s.", name,
                    exact > 0 ? "NOT equal to the centralised run, which is a fault"
                              : "no pair differs from the centralised run, at any milestone, with "
                                "any number of machines");
    bool rep = sp_rep_of(a, SP_FAST_24, worst_milestone(a, SP_FAST_24, sp_rep_of)) > PAPER_REP;
    bool rer = sp_rer_of(a, SP_FAST_24, worst_milestone(a, SP_FAST_24, sp_rer_of)) > PAPER_RER;
    if (rep)
        put_rep_reason(a, name, report);
    if (rer)
        put_rer_reason(a, name, report);
    if (!rep && !rer)
        sp_report_textf(report, "%s, fast: within the paper's figures at every milestone.", name);
    const struct sp_winner_pairs *w = &a->variants[SP_FAST_24].errors[SP_MILESTONES - 1].winners;
    sp_report_textf(report,
                    "%s, fast: at the end %llu of %llu published losers are not similar to "
                    "their winner%s.",
                    name, (unsigned long long)w->wrong, (unsigned long long)w->system,
                    w->wrong ? ", which is a fault"
                             : ": whatever its group, a loser is compared with its winner");
}
