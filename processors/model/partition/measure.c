/* Measures how a map distributes a sample: see train.h. */
#include <string.h>

#include "base/mem.h"
#include "partition/train.h"

static void count_page(const struct sp_partition_map *map, const uint32_t *cells, uint32_t count,
                       uint32_t own, bool *seen, uint32_t *ret_others)
{
    *ret_others = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t machine = map->machine[cells[i]];
        *ret_others += machine != own && !seen[machine];
        seen[machine] = true;
    }
    for (uint32_t i = 0; i < count; i++)
        seen[map->machine[cells[i]]] = false;
}

void sp_partition_measure(const struct sp_partition_map *map, const struct sp_lengths *pages,
                          size_t count, double tau, enum sp_routing routing, double rho,
                          struct sp_partition_measure *ret_measure)
{
    struct sp_partition_measure m = {.load = sp_calloc(map->machines, sizeof *m.load),
                                     .contacts = sp_alloc(count * sizeof *m.contacts)};
    uint32_t *cells = sp_alloc(map->cells * sizeof *cells);
    bool *seen = sp_calloc(map->machines, sizeof *seen);
    uint64_t all_cells = 0, all_contacts = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t own = map->machine[sp_partition_cell(map, pages[i].at)];
        uint32_t n = sp_partition_targets(map, pages[i].at, tau, routing, rho, cells);
        count_page(map, cells, n, own, seen, &m.contacts[i]);
        m.load[own]++;
        all_cells += n;
        all_contacts += m.contacts[i];
    }
    for (uint32_t k = 0; k < map->machines; k++)
        if (m.load[k] > most)
            most = m.load[k];
    double pages_count = (double)count, others = map->machines - 1.0;
    m.imbalance = (double)most * map->machines / pages_count;
    m.contacts_mean = (double)all_contacts / pages_count;
    m.cells_mean = (double)all_cells / pages_count;
    m.saved = others > 0 ? 1 - m.contacts_mean / others : 1;
    sp_free(cells);
    sp_free(seen);
    *ret_measure = m;
}

void sp_partition_measure_done(struct sp_partition_measure *measure)
{
    sp_free(measure->load);
    sp_free(measure->contacts);
    *measure = (struct sp_partition_measure){0};
}
