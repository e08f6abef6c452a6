/* Distinct contents, their lengths, and the maps made from them: see contents.h. */
#include "evaluate/contents.h"

#include <stdlib.h>

#include "base/mem.h"
#include "partition/words.h"

enum { DICTIONARY_WORDS = 8192 };

/* One cell a machine is the paper's reading; a grid of many small cells packed onto the machines is
 * the remedy for the cells of its diagonal, which overflow. Small cells of a k-d split, neighbours
 * together, leave a machine's load as it is and have fewer rows to pass. */
const struct sp_map_kind sp_map_kinds[SP_MAP_KINDS] = {
    {"1D grid (paper)", SP_SLICING_GRID, 1, SP_SPLIT_TOTAL, 1, SP_PACKING_BALANCED},
    {"2D grid (paper)", SP_SLICING_GRID, 2, SP_SPLIT_BALANCED_2, 1, SP_PACKING_BALANCED},
    {"3D grid (paper)", SP_SLICING_GRID, 3, SP_SPLIT_BALANCED_3, 1, SP_PACKING_BALANCED},
    {"3D grid, packed", SP_SLICING_GRID, 3, SP_SPLIT_BALANCED_3, 64, SP_PACKING_BALANCED},
    {"1D k-d", SP_SLICING_KD, 1, SP_SPLIT_TOTAL, 1, SP_PACKING_NEIGHBOURS},
    {"2D k-d", SP_SLICING_KD, 2, SP_SPLIT_SPREAD_2, 1, SP_PACKING_NEIGHBOURS},
    {"3D k-d", SP_SLICING_KD, 3, SP_SPLIT_SPREAD_3, 1, SP_PACKING_NEIGHBOURS},
    {"3D k-d, small cells", SP_SLICING_KD, 3, SP_SPLIT_SPREAD_3, 16, SP_PACKING_NEIGHBOURS},
};

const uint32_t sp_machine_counts[SP_MACHINE_COUNTS] = {2, 4, 8, 16, 32, 64};

/* ---- distinct contents ----------------------------------------------------------------------- */

struct known {
    struct sp_id content;
    uint32_t fetch;
};

static int by_content(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    int order = sp_id_cmp(x->content, y->content);
    return order ? order : x->fetch < y->fetch ? -1 : x->fetch > y->fetch;
}

static int by_fetch(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The first fetch of each content, ascending. */
static void choose(const struct sp_trace *t, const uint32_t *fetches, size_t count,
                   struct sp_contents *c)
{
    struct known *known = sp_alloc((count + 1) * sizeof *known);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (t->fetches[fetches[i]].signature)
            known[n++] = (struct known){t->fetches[fetches[i]].signature->content_hash, fetches[i]};
    qsort(known, n, sizeof *known, by_content);
    c->fetches = sp_alloc((n + 1) * sizeof *c->fetches);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !sp_id_eq(known[i - 1].content, known[i].content))
            c->fetches[c->count++] = known[i].fetch;
    qsort(c->fetches, c->count, sizeof *c->fetches, by_fetch);
    sp_free(known);
}

void sp_contents_init(const struct sp_trace *t, const uint32_t *fetches, size_t count,
                      struct sp_contents *ret_contents)
{
    struct sp_contents c = {0};
    choose(t, fetches, count, &c);
    c.signatures = sp_alloc((c.count + 1) * sizeof(struct sp_signature *));
    sp_trace_signatures(t, c.fetches, c.count, c.signatures);
    struct sp_lengths *total = sp_calloc(c.count + 1, sizeof *total);
    struct sp_lengths *three = sp_calloc(c.count + 1, sizeof *three);
    for (size_t i = 0; i < c.count; i++) {
        total[i].at[0] = c.signatures[i]->shingle_total;
        for (size_t d = 0; d < SP_DIMS; d++)
            three[i].at[d] = c.signatures[i]->length[d];
    }
    c.lengths[SP_SPLIT_TOTAL] = total;
    c.lengths[SP_SPLIT_SETTINGS] = three;
    *ret_contents = c;
}

void sp_contents_done(struct sp_contents *c)
{
    for (size_t s = 0; s < SP_SPLITS; s++)
        sp_free(c->lengths[s]);
    sp_free(c->signatures);
    sp_free(c->fetches);
    *c = (struct sp_contents){0};
}

/* ---- trained dictionaries -------------------------------------------------------------------- */

struct words {
    struct sp_text *text;
    struct sp_bag **bags;
    enum sp_err err;
};

static void take_words(void *arg, size_t number, const struct sp_page_record *page)
{
    struct words *w = arg;
    struct sp_signature *s = NULL;
    uint64_t *words;
    enum sp_err err =
        sp_text_signature(w->text, page->content_type, page->content, page->content_is_utf8, &s);
    if (err != SP_OK) {
        w->err = err;
        return;
    }
    size_t count = sp_text_first_words(w->text, &words);
    w->bags[number] = sp_bag_new(words, count);
    sp_signature_unref(s);
}

static enum sp_err make_lengths(struct sp_contents *c, struct sp_bag *const *bags)
{
    static const struct {
        enum sp_split split;
        enum sp_words_rule rule;
        uint32_t dims;
    } made[] = {{SP_SPLIT_BALANCED_2, SP_WORDS_BALANCED, 2},
                {SP_SPLIT_BALANCED_3, SP_WORDS_BALANCED, 3},
                {SP_SPLIT_SPREAD_2, SP_WORDS_SPREAD, 2},
                {SP_SPLIT_SPREAD_3, SP_WORDS_SPREAD, 3}};
    for (size_t m = 0; m < sizeof made / sizeof *made; m++) {
        struct sp_dictionary dictionary;
        enum sp_err err = sp_words_train(made[m].rule, made[m].dims, DICTIONARY_WORDS, bags,
                                         c->count, &dictionary);
        if (err != SP_OK)
            return err;
        struct sp_lengths *lengths = sp_calloc(c->count + 1, sizeof *lengths);
        for (size_t i = 0; i < c->count; i++)
            sp_bag_lengths(bags[i], &dictionary, lengths[i].at);
        c->lengths[made[m].split] = lengths;
        sp_dictionary_done(&dictionary);
    }
    return SP_OK;
}

static enum sp_err read_words(const struct sp_evaluate_options *o, const struct sp_trace *t,
                              struct sp_contents *c, const char **ret_message)
{
    struct sp_text_options text = o->run.text;
    struct words w = {.bags = sp_calloc(c->count + 1, sizeof(struct sp_bag *))};
    text.detect_language = false;
    w.text = sp_text_new(&text);
    enum sp_err err = sp_trace_again(o, t, c->fetches, c->count, take_words, &w, ret_message);
    if (err == SP_OK && w.err != SP_OK) {
        err = w.err;
        *ret_message = "a content that was read before cannot be read again";
    }
    if (err == SP_OK && c->count > 0) {
        *ret_message = "the dictionaries of the maps cannot be trained";
        sp_evaluate_say(o, "dictionaries", 0, 0);
        err = make_lengths(c, w.bags);
    }
    for (size_t i = 0; i < c->count; i++)
        sp_free(w.bags[i]);
    sp_free(w.bags);
    sp_text_free(w.text);
    return err;
}

enum sp_err sp_contents_alive(const struct sp_evaluate_options *o, const struct sp_trace *t,
                              const struct sp_contents **ret_contents, const char **ret_message)
{
    enum sp_err err = SP_OK;
    if (!t->kept->alive) {
        struct sp_contents *c = sp_alloc(sizeof *c);
        uint32_t *alive = sp_alloc((t->fetch_count + 1) * sizeof *alive);
        sp_contents_init(t, alive, sp_trace_alive(t, 0, t->fetch_count, alive), c);
        sp_free(alive);
        t->kept->alive = c;
        err = read_words(o, t, c, ret_message);
    }
    if (err == SP_OK)
        *ret_contents = t->kept->alive;
    return err;
}

/* ---- maps ------------------------------------------------------------------------------------ */

enum sp_err sp_contents_train(const struct sp_contents *c, const struct sp_map_kind *kind,
                              uint32_t machines, double tau, struct sp_partition_map *ret_map)
{
    struct sp_dictionary none = {0}; /* a map made to be measured, never to be kept */
    struct sp_train_options o;
    sp_train_options_default(&o);
    o.slicing = kind->slicing;
    o.dims = kind->dims;
    o.cells = machines * kind->cells_each;
    o.cells = o.cells > SP_MAX_CELLS ? SP_MAX_CELLS : o.cells;
    o.machines = machines;
    o.packing = kind->packing;
    o.threshold = tau;
    return sp_partition_train(&o, c->lengths[kind->split], c->count, &none, ret_map);
}

struct sp_map_measure sp_contents_measure(const struct sp_partition_map *map,
                                          const struct sp_lengths *pages, size_t count,
                                          uint32_t machines, double tau, enum sp_routing routing,
                                          double rho)
{
    struct sp_partition_measure m;
    sp_partition_measure(map, pages, count, tau, routing, rho, &m);
    struct sp_map_measure result = {.imbalance = m.imbalance * machines / map->machines,
                                    .visited = 1 + m.contacts_mean,
                                    .saved = 1 - m.contacts_mean / (machines - 1.0)};
    sp_partition_measure_done(&m);
    return result;
}

/* ---- values by map and number of machines ---------------------------------------------------- */

void sp_maps_table(struct sp_report *report, const char *name, const char *caption,
                   double values[SP_MAP_KINDS][SP_MACHINE_COUNTS], int decimals)
{
    const char *columns[1 + SP_MAP_KINDS] = {"machines"};
    for (size_t k = 0; k < SP_MAP_KINDS; k++)
        columns[1 + k] = sp_map_kinds[k].label;
    struct sp_table *t = sp_table_new(name, caption, columns, 1 + SP_MAP_KINDS);
    for (size_t m = 0; m < SP_MACHINE_COUNTS; m++) {
        sp_table_count(t, sp_machine_counts[m]);
        for (size_t k = 0; k < SP_MAP_KINDS; k++)
            sp_table_number(t, values[k][m], decimals);
    }
    sp_report_table(report, t);
}

void sp_maps_plot(struct sp_report *report, const char *name, const char *caption,
                  const char *y_label, double values[SP_MAP_KINDS][SP_MACHINE_COUNTS],
                  const struct sp_series *line)
{
    static const double machines[SP_MACHINE_COUNTS] = {2, 4, 8, 16, 32, 64};
    struct sp_series series[SP_MAP_KINDS + 1];
    for (size_t k = 0; k < SP_MAP_KINDS; k++)
        series[k] = (struct sp_series){sp_map_kinds[k].label, values[k], false};
    if (line)
        series[SP_MAP_KINDS] = *line;
    struct sp_plot plot = {.name = name,
                           .caption = caption,
                           .x_label = "machines",
                           .y_label = y_label,
                           .x = machines,
                           .x_count = SP_MACHINE_COUNTS,
                           .x_log = true,
                           .y_log = true,
                           .series = series,
                           .series_count = SP_MAP_KINDS + (line != NULL)};
    sp_report_plot(report, &plot);
}
