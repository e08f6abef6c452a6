/* See map_text.h. */
#include "cli/map_text.h"

#include "base/mem.h"
#include "cli/progress.h"

static void draw_bar(double load, double most)
{
    static const char full[] = "##################################################";
    int n = most > 0 ? (int)(load / most * (double)(sizeof full - 1) + 0.5) : 0;
    printf(" %.*s\n", n, full);
}

static void print_range(const char *axis, uint32_t lo, uint32_t hi)
{
    if (lo == 0 && hi == UINT32_MAX)
        return;
    if (hi == UINT32_MAX)
        printf(" %s %u-", axis, lo);
    else
        printf(" %s %u-%u", axis, lo, hi - 1);
}

static uint64_t largest(const uint64_t *load, uint32_t count, uint64_t *ret_sum)
{
    uint64_t most = 0;
    *ret_sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        most = load[i] > most ? load[i] : most;
        *ret_sum += load[i];
    }
    return most;
}

static void draw_loads(const char *what, const uint64_t *load, uint32_t count,
                       const uint32_t *machine)
{
    uint64_t sum, most = largest(load, count, &sum);
    double mean = (double)sum / count;
    for (uint32_t i = 0; i < count; i++) {
        printf("%s %4u", what, i);
        if (machine)
            printf(" on %4u", machine[i]);
        printf(" %8llu %5.2f", (unsigned long long)load[i], mean > 0 ? (double)load[i] / mean : 0);
        draw_bar((double)load[i], (double)most);
    }
}

static void print_imbalance(const uint64_t *load, uint32_t count)
{
    uint64_t sum, most = largest(load, count, &sum);
    printf("imbalance (max/mean): %.4f\n", sum ? (double)most * count / (double)sum : 1);
}

static void print_boxes(const struct sp_partition_map *map)
{
    static const char *const axes[SP_AXES] = {"L1", "L2", "L3", "L"};
    printf("\nranges of the cells that are not all lengths:\n");
    for (uint32_t c = 0; c < map->cells; c++) {
        printf("cell %4u", c);
        for (int d = 0; d < SP_AXES; d++)
            print_range(axes[d], map->boxes[c].lo[d], map->boxes[c].hi[d]);
        printf("\n");
    }
}

static void print_head(const struct sp_partition_map *map)
{
    printf("version %u, %s slicing at threshold %g, %u cells on %u machines\n", map->version,
           map->slicing == SP_SLICING_KD ? "kd" : "grid", map->threshold, map->cells,
           map->machines);
    printf("%u sub-dictionaries, %s words (fingerprint %08x); trained on %s distinct pages\n\n",
           map->dictionary.dims, sp_thousands(map->dictionary.count).text,
           map->dictionary.fingerprint, sp_thousands(map->pages).text);
}

void sp_cli_draw_map(const struct sp_partition_map *map, const uint64_t *cell_load)
{
    uint64_t *load = sp_calloc(map->machines, sizeof *load);
    for (uint32_t c = 0; c < map->cells; c++)
        load[map->machine[c]] += cell_load[c];
    print_head(map);
    printf("pages of each cell, and as multiples of the mean:\n");
    draw_loads("cell", cell_load, map->cells, map->machines < map->cells ? map->machine : NULL);
    if (map->machines < map->cells) {
        printf("\npages of each machine:\n");
        draw_loads("machine", load, map->machines, NULL);
    }
    print_boxes(map);
    printf("\n");
    print_imbalance(load, map->machines);
    sp_free(load);
}

void sp_cli_print_contacts(FILE *to, const struct sp_partition_map *map,
                           const struct sp_lengths *lengths, size_t count)
{
    static const double taus[] = {0.5, 0.6, 0.7, 0.8, 0.9};
    if (map->machines == 1)
        return;
    fprintf(to, "lossless routing: threshold, other machines a page, share of transfers saved\n");
    for (size_t i = 0; i < sizeof taus / sizeof *taus; i++) {
        struct sp_partition_measure m;
        sp_partition_measure(map, lengths, count, taus[i], SP_ROUTING_LOSSLESS, 1, &m);
        fprintf(to, "  %.1f  %8.2f  %6.2f %%\n", taus[i], m.contacts_mean, 100 * m.saved);
        sp_partition_measure_done(&m);
    }
}
