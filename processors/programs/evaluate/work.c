/* Compare work, machine by machine: see work.h. */
#include "evaluate/work.h"

#include <math.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "candidates/candidates.h"

/* Each time is the least of this many measurements, because other work on the machine can only make
 * them longer. */
enum { REPEATS = 3 };

/* A visit of a content to a machine; visits of a machine are in order of arrival. */
struct visit {
    uint32_t content;
    uint32_t cells; /* index of its first cell */
    uint32_t cell_count;
};

struct machine {
    struct visit *visits;
    size_t visit_count;
    size_t visit_cap;
    uint32_t *cells; /* visited cells, of all visits */
    size_t cell_count;
    size_t cell_cap;
    uint64_t met; /* rows visited if none is skipped */
};

struct layout {
    const struct sp_partition_map *map;
    const struct sp_distinct *sample;
    uint32_t *home;   /* cell of each content */
    uint32_t *rows;   /* contents by cell, in order of arrival */
    uint32_t *starts; /* index of each cell's first row; cells + 1 entries */
    struct machine *machines;
};

static void add_visit(struct machine *m, uint32_t content, uint32_t cell)
{
    if (!m->visit_count || m->visits[m->visit_count - 1].content != content) {
        sp_grow(&m->visits, &m->visit_cap, m->visit_count + 1);
        m->visits[m->visit_count++] = (struct visit){content, (uint32_t)m->cell_count, 0};
    }
    sp_grow(&m->cells, &m->cell_cap, m->cell_count + 1);
    m->cells[m->cell_count++] = cell;
    m->visits[m->visit_count - 1].cell_count++;
}

/* Sorts rows by cell, by counting. */
static void sort_rows(struct layout *l, size_t count)
{
    uint32_t cells = l->map->cells;
    l->starts = sp_calloc(cells + 2, sizeof *l->starts);
    l->rows = sp_alloc((count + 1) * sizeof *l->rows);
    for (size_t i = 0; i < count; i++)
        l->starts[l->home[i] + 2]++;
    for (uint32_t c = 0; c < cells; c++)
        l->starts[c + 2] += l->starts[c + 1];
    for (size_t i = 0; i < count; i++)
        l->rows[l->starts[l->home[i] + 1]++] = (uint32_t)i;
}

static void lay_out(struct layout *l, const struct sp_work_options *o)
{
    const struct sp_lengths *lengths = o->contents->lengths[o->split];
    size_t count = l->sample->count;
    uint32_t *targets = sp_alloc(l->map->cells * sizeof *targets);
    uint32_t *filled = sp_calloc(l->map->cells, sizeof *filled); /* rows so far */
    l->machines = sp_calloc(l->map->machines, sizeof *l->machines);
    l->home = sp_alloc((count + 1) * sizeof *l->home);
    for (size_t i = 0; i < count; i++) {
        uint32_t n = sp_partition_targets(l->map, lengths[i].at, o->similarity.threshold,
                                          o->routing, o->rho, targets);
        for (uint32_t k = 0; k < n; k++) {
            struct machine *m = &l->machines[l->map->machine[targets[k]]];
            add_visit(m, (uint32_t)i, targets[k]);
            m->met += filled[targets[k]];
        }
        l->home[i] = sp_partition_cell(l->map, lengths[i].at);
        filled[l->home[i]]++;
    }
    sort_rows(l, count);
    sp_free(targets);
    sp_free(filled);
}

static void layout_done(struct layout *l)
{
    for (uint32_t m = 0; m < l->map->machines; m++) {
        sp_free(l->machines[m].visits);
        sp_free(l->machines[m].cells);
    }
    sp_free(l->machines);
    sp_free(l->home);
    sp_free(l->rows);
    sp_free(l->starts);
}

struct done {
    uint64_t met;
    uint64_t similar;
};

static bool similar(const struct sp_similarity_options *o, enum sp_work_way way,
                    const struct sp_signature *a, const struct sp_signature *b)
{
    return way == SP_WORK_FULL ? sp_jaccard(a, b) >= o->threshold - 1e-9
                               : sp_similar(o, a, b, NULL);
}

static struct done scan_visit(const struct layout *l, const struct machine *m,
                              const struct visit *v, const struct sp_similarity_options *o,
                              enum sp_work_way way)
{
    const struct sp_signature *probe = l->sample->signatures[v->content];
    struct done done = {0};
    for (uint32_t k = 0; k < v->cell_count; k++) {
        uint32_t cell = m->cells[v->cells + k];
        for (uint32_t i = l->starts[cell]; i < l->starts[cell + 1]; i++) {
            if (l->rows[i] >= v->content)
                break; /* not stored yet at that time */
            done.met++;
            done.similar += similar(o, way, probe, l->sample->signatures[l->rows[i]]);
        }
    }
    return done;
}

/* Makes one visit of every `every`, chosen by a hash of the content's number. */
static double scan(const struct layout *l, const struct machine *m,
                   const struct sp_similarity_options *o, enum sp_work_way way, uint64_t every,
                   struct done *ret_done)
{
    uint64_t met = 0;
    *ret_done = (struct done){m->met, 0};
    double start = sp_clock_thread_seconds();
    for (size_t i = 0; i < m->visit_count; i++) {
        if (every > 1 && sp_mix64(m->visits[i].content + 1) % every != 0)
            continue;
        struct done done = scan_visit(l, m, &m->visits[i], o, way);
        met += done.met;
        ret_done->similar += done.similar;
    }
    double seconds = sp_clock_thread_seconds() - start;
    return met > 0 ? seconds * (double)m->met / (double)met : seconds;
}

static double search(const struct layout *l, const struct machine *m, uint32_t number,
                     const struct sp_similarity_options *o, struct done *ret_done)
{
    struct sp_candidate_rule rule = sp_candidate_rule(o->method, o->threshold);
    uint32_t *contents = sp_alloc((l->sample->count + 1) * sizeof *contents), stored = 0;
    const uint32_t *slots, *keys;
    uint32_t scratch[SP_SKETCH_MAX], key_count;
    struct sp_candidates *index = sp_candidates_new(&rule);
    *ret_done = (struct done){0};
    double start = sp_clock_thread_seconds();
    for (size_t i = 0; i < m->visit_count; i++) {
        uint32_t content = m->visits[i].content;
        const struct sp_signature *probe = l->sample->signatures[content];
        keys = sp_candidate_keys(&rule, probe, scratch, &key_count);
        size_t n = sp_candidates_find(index, keys, key_count, probe->shingle_total, &slots);
        ret_done->met += n;
        for (size_t k = 0; k < n; k++) {
            const struct sp_signature *row = l->sample->signatures[contents[slots[k]]];
            ret_done->similar +=
                sp_candidate_pair(&rule, probe, row) && sp_similar(o, probe, row, NULL);
        }
        if (l->map->machine[l->home[content]] != number)
            continue;
        contents[stored] = content;
        sp_candidates_add(index, stored++, keys, key_count);
    }
    double seconds = sp_clock_thread_seconds() - start;
    sp_candidates_free(index);
    sp_free(contents);
    return seconds;
}

void sp_work_run(const struct sp_work_options *o, enum sp_work_way way, uint64_t most,
                 struct sp_work *ret_work)
{
    const struct sp_partition_map *map = o->map;
    const struct sp_similarity_options *similarity = &o->similarity;
    struct layout l = {.map = map, .sample = o->contents};
    struct sp_work w = {0};
    uint64_t all = 0;
    lay_out(&l, o);
    for (uint32_t m = 0; m < map->machines; m++)
        all += l.machines[m].met;
    uint64_t every = most && all > most ? (all + most - 1) / most : 1;
    for (uint32_t m = 0; m < map->machines; m++) {
        struct done done = {0};
        double least = INFINITY;
        for (int repeat = 0; repeat < REPEATS; repeat++)
            least = fmin(least, way == SP_WORK_INDEX
                                    ? search(&l, &l.machines[m], m, similarity, &done)
                                    : scan(&l, &l.machines[m], similarity, way, every, &done));
        w.met += done.met;
        w.met_most = done.met > w.met_most ? done.met : w.met_most;
        w.similar += done.similar;
        w.sum += least;
        w.slowest = fmax(w.slowest, least);
    }
    layout_done(&l);
    *ret_work = w;
}
