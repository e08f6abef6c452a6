/* bench_filter [LISTS [HASHES [REPEATED]]]
 *
 * Times samepage_filter_run on lists of 100 documents with HASHES hashes each (64), none of them
 * cached. REPEATED of every hundred documents (10) are near duplicates of an earlier one of the
 * list. Prints a line of JSON: microseconds a list, at the percentiles 50, 99 and 100. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "samepage/filter.h"

enum { DOCUMENTS = 100, POOL = 5000, HASHES_MAX = 4096 };

static uint64_t seed = 1;

static uint32_t chance(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 32);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Every second document of the pool is a near duplicate of the one before: it differs in one hash
 * of twenty. */
static void make_pool(struct samepage_document **pool, size_t hashes)
{
    uint32_t set[HASHES_MAX];
    for (size_t i = 0; i < POOL; i++) {
        for (size_t h = 0; h < hashes; h++)
            if (i % 2 == 0 || chance() % 20 == 0)
                set[h] = chance();
        pool[i] = samepage_document_from_hashes(set, hashes, hashes, hashes);
    }
}

int main(int argc, char **argv)
{
    static struct samepage_document *pool[POOL];
    size_t lists = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    size_t hashes = argc > 2 ? strtoul(argv[2], NULL, 10) : SAMEPAGE_DOCUMENT_DEFAULT_HASHES;
    uint32_t repeated = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 10;
    if (lists == 0 || hashes == 0 || hashes > HASHES_MAX)
        return 2;
    make_pool(pool, hashes);
    struct samepage_filter *filter = samepage_filter_new(0.8, 0);
    double *times = sp_calloc(lists, sizeof *times);
    uint64_t kept = 0;
    for (size_t n = 0; n < lists; n++) {
        const struct samepage_document *ranked[DOCUMENTS];
        struct samepage_verdict verdicts[DOCUMENTS];
        size_t before = 0;
        for (size_t i = 0; i < DOCUMENTS; i++) {
            size_t other = i && chance() % 100 < repeated ? (before ^ 1) : chance() % POOL;
            ranked[i] = pool[before = other];
        }
        double start = now();
        kept += (uint64_t)samepage_filter_run(filter, ranked, DOCUMENTS, verdicts);
        times[n] = now() - start;
    }
    qsort(times, lists, sizeof *times, by_time);
    printf("{\"lists\":%zu,\"documents\":%d,\"hashes\":%zu,\"kept\":%.2f,\"p50_us\":%.1f,"
           "\"p99_us\":%.1f,\"max_us\":%.1f}\n",
           lists, DOCUMENTS, hashes, (double)kept / (double)lists, times[lists / 2],
           times[lists * 99 / 100], times[lists - 1]);
    for (size_t i = 0; i < POOL; i++)
        samepage_document_free(pool[i]);
    samepage_filter_free(filter);
    sp_free(times);
    return 0;
}
