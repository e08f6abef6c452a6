/* Language as the first partition: what would be saved if pages of different detected languages
 * never met, and which pairs would be lost.
 *
 * Source: Zhu et al., WWW 2012, section 4.1, which partitions pages by language before it
 * partitions them by length, and measures only English pages. Saved are contents that a
 * probe would meet in the cells it visits; lost are pairs of distinct contents (of a sample, if
 * there are many: joined.h) with J >= tau, found by the exact join, to which different languages
 * were detected. Pages without a detected language count as one language more. */
#include "base/mem.h"
#include "evaluate/again.h"
#include "evaluate/experiment.h"
#include "evaluate/joined.h"
#include "evaluate/kinds.h"

enum { MAPS = 2, UNKNOWN = 0, LANGUAGES = 1 << 16, ROWS = 12 };

static const size_t kinds[MAPS] = {SP_KIND_PAPER_3D, SP_KIND_KD_3D};

struct languages {
    const struct sp_distinct *contents;
    struct sp_text *text;
    uint16_t *of; /* of each content */
    uint64_t pairs;
    uint64_t both_known; /* pairs lost, a language detected of either page */
    uint64_t one_unknown;
};

static void take_language(void *arg, size_t number, const struct sp_page_record *page)
{
    struct languages *l = arg;
    struct sp_signature *s =
        sp_text_signature(l->text, page->content_type, page->content, page->content_is_utf8);
    l->of[number] = s->language;
    sp_signature_unref(s);
}

static enum sp_err detect(const struct sp_evaluation *e, struct languages *l)
{
    struct sp_text_options text = e->trace->options.text;
    text.detect_language = true;
    l->text = sp_text_new(&text);
    enum sp_err err = sp_trace_again(e->trace, l->contents->fetches, l->contents->count,
                                     take_language, l, e->fault);
    sp_text_free(l->text);
    return err;
}

static void take_pair(void *arg, size_t i, size_t k, double similarity)
{
    struct languages *l = arg;
    (void)similarity;
    l->pairs++;
    if (l->of[i] == l->of[k])
        return;
    if (l->of[i] == UNKNOWN || l->of[k] == UNKNOWN)
        l->one_unknown++;
    else
        l->both_known++;
}

/* Sums over all probes the contents in the cells that they visit; at most 2^64 for 2^32 contents.
 */
struct met {
    uint64_t all;
    uint64_t same;
};

/* Handles one language after another, so that the counts by cell are one row. */
static struct met count_met(const struct languages *l, const struct sp_partition_map *map,
                            enum sp_split split, double tau)
{
    const struct sp_distinct *d = l->contents;
    struct met met = {0, 0};
    uint32_t *cells = sp_alloc((d->count + 1) * sizeof *cells);
    uint32_t *targets = sp_alloc(map->cells * sizeof *targets);
    uint64_t *all = sp_calloc(map->cells, sizeof *all), *same = sp_calloc(map->cells, sizeof *same);
    bool *done = sp_calloc(LANGUAGES, sizeof *done);
    for (size_t i = 0; i < d->count; i++)
        all[cells[i] = sp_partition_cell(map, d->lengths[split][i].at)]++;
    for (size_t first = 0; first < d->count; first++) {
        if (done[l->of[first]])
            continue;
        done[l->of[first]] = true;
        for (uint32_t c = 0; c < map->cells; c++)
            same[c] = 0;
        for (size_t i = first; i < d->count; i++)
            same[cells[i]] += l->of[i] == l->of[first];
        for (size_t i = first; i < d->count; i++) {
            if (l->of[i] != l->of[first])
                continue;
            uint32_t n = sp_partition_targets(map, d->lengths[split][i].at, tau,
                                              SP_ROUTING_LOSSLESS, 1, targets);
            for (uint32_t t = 0; t < n; t++) {
                met.all += all[targets[t]];
                met.same += same[targets[t]];
            }
        }
    }
    sp_free(cells);
    sp_free(targets);
    sp_free(all);
    sp_free(same);
    sp_free(done);
    return met;
}

static enum sp_err put_met(const struct sp_evaluation *e, const struct languages *l)
{
    static const char *const columns[] = {"map of 64 machines", "contents met", "of its language",
                                          "saved"};
    struct sp_table *t =
        sp_table_new("language-met", "Contents in the cells that a probe visits", columns, 4);
    double tau = e->options->bus.group.similarity.threshold;
    enum sp_err err = SP_OK;
    for (size_t k = 0; k < MAPS && err == SP_OK; k++) {
        const struct sp_map_kind *kind = &sp_map_kinds[kinds[k]];
        struct sp_partition_map map;
        err = sp_kind_train(kind, l->contents, SP_MACHINES_MOST, tau, &map);
        if (err != SP_OK)
            break;
        struct met met = count_met(l, &map, kind->split, tau);
        sp_table_text(t, kind->label);
        sp_table_number(t, (double)met.all / (double)l->contents->count, 1);
        sp_table_number(t, (double)met.same / (double)l->contents->count, 1);
        sp_table_percent(t, 1 - (double)met.same / (double)met.all, 1);
        sp_partition_done(&map);
    }
    sp_report_table(e->report, t);
    return err == SP_OK ? SP_OK : sp_fault_set(e->fault, err, "language: a map cannot be trained");
}

/* ---- a map for each language ---- */

struct apart {
    uint64_t met;
    double visited; /* machines, summed over probes */
    double most;    /* contents on one machine */
};

/* Measures the contents of one language on machines of their own. */
static enum sp_err measure_one(const struct sp_evaluation *e, const struct sp_map_kind *kind,
                               const struct sp_distinct *d, uint32_t machines, struct apart *a)
{
    double tau = e->options->bus.group.similarity.threshold;
    const struct sp_kind_routing routing = {tau, SP_ROUTING_LOSSLESS, 1};
    struct sp_partition_map map;
    enum sp_err err = sp_kind_train(kind, d, machines, tau, &map);
    if (err != SP_OK)
        return err;
    struct sp_kind_measure m = sp_kind_measure(&map, d, kind->split, machines, &routing);
    double most = m.imbalance * (double)d->count / machines;
    struct languages l = {.contents = d, .of = sp_calloc(d->count, sizeof *l.of)};
    a->met += count_met(&l, &map, kind->split, tau).all;
    a->visited += m.visited * (double)d->count;
    a->most = most > a->most ? most : a->most;
    sp_free(l.of);
    sp_partition_done(&map);
    return SP_OK;
}

/* Machines are assigned in proportion to a language's contents. Languages too small for a machine
 * share one, with a cell each, so that a probe visits only that machine. */
static enum sp_err measure_apart(const struct sp_evaluation *e, const struct languages *l,
                                 const struct sp_map_kind *kind, struct apart *ret_apart)
{
    const struct sp_distinct *d = l->contents;
    struct apart a = {0};
    struct sp_distinct one = {0};
    enum sp_err err = SP_OK;
    double few = 0;
    bool *done = sp_calloc(LANGUAGES, sizeof *done);
    one.lengths[kind->split] = sp_alloc((d->count + 1) * sizeof **one.lengths);
    for (size_t first = 0; first < d->count && err == SP_OK; first++) {
        if (done[l->of[first]])
            continue;
        done[l->of[first]] = true;
        one.count = 0;
        for (size_t i = first; i < d->count; i++)
            if (l->of[i] == l->of[first])
                one.lengths[kind->split][one.count++] = d->lengths[kind->split][i];
        double share = (double)one.count / (double)d->count;
        uint32_t machines = (uint32_t)(share * SP_MACHINES_MOST);
        if (machines >= 2) {
            err = measure_one(e, kind, &one, machines, &a);
            continue;
        }
        a.met += (uint64_t)one.count * one.count;
        a.visited += (double)one.count;
        few = few + (double)one.count > (double)d->count / SP_MACHINES_MOST && few > 0
                  ? (double)one.count
                  : few + (double)one.count;
        a.most = few > a.most ? few : a.most;
    }
    sp_free(one.lengths[kind->split]);
    sp_free(done);
    *ret_apart = a;
    return err;
}

static enum sp_err put_apart(const struct sp_evaluation *e, const struct languages *l)
{
    static const char *const columns[] = {
        "map of 64 machines", "machines visited",    "machines visited, a map a language",
        "messages saved",     "contents met",        "contents met, a map a language",
        "contacts saved",     "largest / mean load", "largest / mean load, a map a language"};
    struct sp_table *t = sp_table_new(
        "language-messages", "One map for all, and machines for each language", columns, 9);
    enum sp_err err = SP_OK;
    double n = (double)l->contents->count;
    for (size_t k = 0; k < MAPS && err == SP_OK; k++) {
        const struct sp_map_kind *kind = &sp_map_kinds[kinds[k]];
        struct apart all = {0}, apart = {0};
        err = measure_one(e, kind, l->contents, SP_MACHINES_MOST, &all);
        if (err == SP_OK)
            err = measure_apart(e, l, kind, &apart);
        if (err != SP_OK)
            break;
        sp_table_text(t, kind->label);
        sp_table_number(t, all.visited / n, 2);
        sp_table_number(t, apart.visited / n, 2);
        sp_table_percent(t, 1 - apart.visited / all.visited, 1);
        sp_table_number(t, (double)all.met / n, 1);
        sp_table_number(t, (double)apart.met / n, 1);
        sp_table_percent(t, 1 - (double)apart.met / (double)all.met, 1);
        sp_table_number(t, all.most * SP_MACHINES_MOST / n, 2);
        sp_table_number(t, apart.most * SP_MACHINES_MOST / n, 2);
    }
    sp_report_table(e->report, t);
    sp_report_text(
        e->report,
        "One map for each language: each language has machines in proportion to its contents, "
        "and is cut by length over these; languages with a share of less than two machines have "
        "one cell each. Messages are the machines that the probe of a page visits, its own "
        "included. The dictionaries of k-d maps assign words that occur on the same pages, and "
        "so words of one language, to one sub-dictionary: such a map saves a part of it without "
        "knowing the language.");
    return err == SP_OK ? SP_OK : sp_fault_set(e->fault, err, "language: a map cannot be trained");
}

/* Prints the most frequent ones; equally frequent ones in alphabetical order. */
static void put_languages(const struct sp_evaluation *e, const struct languages *l)
{
    static const char *const columns[] = {"language", "contents", "share"};
    struct sp_table *t = sp_table_new("languages", "Languages detected", columns, 3);
    uint32_t *count = sp_calloc(LANGUAGES, sizeof *count);
    for (size_t i = 0; i < l->contents->count; i++)
        count[l->of[i]]++;
    for (int row = 0; row < ROWS; row++) {
        uint32_t most = 0;
        for (uint32_t i = 1; i < LANGUAGES; i++)
            most = count[i] > count[most] ? i : most;
        if (count[most] == 0)
            break;
        char name[3] = {(char)(most >> 8), (char)most, 0};
        sp_table_text(t, most == UNKNOWN ? "none" : name);
        sp_table_count(t, count[most]);
        sp_table_percent(t, (double)count[most] / (double)l->contents->count, 1);
        count[most] = 0;
    }
    sp_free(count);
    sp_report_table(e->report, t);
}

static enum sp_err find_lost(const struct sp_evaluation *e, struct languages *l)
{
    struct sp_joined joined;
    sp_joined_choose(l->contents, SP_JOINED_MOST, &joined);
    sp_joined_say(&joined, e->report);
    enum sp_err err = sp_joined_each(&joined, &e->options->bus.group.similarity, take_pair, l);
    sp_joined_done(&joined);
    return err;
}

static void put_lost(const struct sp_evaluation *e, const struct languages *l)
{
    static const char *const columns[] = {"similar pairs", "two languages", "share",
                                          "one not detected", "share"};
    struct sp_table *t =
        sp_table_new("language-lost", "Pairs that languages would part", columns, 5);
    double pairs = l->pairs ? (double)l->pairs : 1;
    sp_table_count(t, l->pairs);
    sp_table_count(t, l->both_known);
    sp_table_percent(t, (double)l->both_known / pairs, 3);
    sp_table_count(t, l->one_unknown);
    sp_table_percent(t, (double)l->one_unknown / pairs, 3);
    sp_report_table(e->report, t);
}

static enum sp_err run(struct sp_evaluation *e)
{
    struct languages l = {0};
    enum sp_err err = sp_evaluation_alive(e, &l.contents);
    if (err != SP_OK)
        return err;
    if (l.contents->count == 0) {
        sp_report_text(e->report, "No page is alive at the end: there is nothing to compare.");
        return SP_OK;
    }
    sp_evaluation_of_contents(e, l.contents);
    sp_report_text(
        e->report,
        "With similarity.languages = apart, pages of different detected languages are never near "
        "duplicates. The tables show what this would save here if the languages also had cells "
        "of their own, and which pairs would be lost: contents of one text in two languages, for "
        "example pages that are mostly code or names.");
    l.of = sp_calloc(l.contents->count, sizeof *l.of);
    err = detect(e, &l);
    if (err == SP_OK) {
        put_languages(e, &l);
        err = put_met(e, &l);
    }
    if (err == SP_OK)
        err = put_apart(e, &l);
    if (err == SP_OK)
        err = find_lost(e, &l);
    if (err == SP_OK)
        put_lost(e, &l);
    sp_free(l.of);
    return err;
}

const struct sp_experiment sp_experiment_language = {
    "language", "Section 4: language as the first partition", run, 0.5, 0};
