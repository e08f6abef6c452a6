/* The index of shingles compared with comparing all pairs. */
#include <pthread.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "cover/pairs.h"
#include "harness.h"

enum { UNITS = 180, SHINGLES = 160 };

struct world {
    struct sp_unit units[UNITS];
    uint32_t sets[UNITS * SHINGLES];
    pthread_mutex_t mutex;
    uint32_t found[UNITS][UNITS]; /* overlap + 1 */
    size_t calls;
};

static void note(void *arg, unsigned thread, size_t a, size_t b, uint32_t overlap)
{
    struct world *w = arg;
    (void)thread;
    pthread_mutex_lock(&w->mutex);
    CU_ASSERT_EQUAL(w->found[a][b], 0); /* reported only once */
    w->found[a][b] = overlap + 1;
    w->calls++;
    pthread_mutex_unlock(&w->mutex);
}

static int by_value(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

/* Sets that copy parts of one another; some are much smaller or larger than their source. */
static void make_world(struct world *w, uint64_t seed, uint32_t blocks)
{
    uint64_t random = sp_mix64(seed + 1);
    uint32_t end = 0;
    for (size_t i = 0; i < UNITS; i++) {
        random = sp_mix64(random + i);
        const struct sp_unit *source = i ? &w->units[random % i] : NULL;
        uint32_t size = random >> 40 & 15 ? 1 + (uint32_t)(random >> 20) % SHINGLES : 0;
        uint32_t copied = source && random >> 60 < 13 ? source->size : 0;
        uint32_t *set = w->sets + end, n = 0;
        for (uint32_t k = 0; k < size; k++) {
            uint64_t r = sp_mix64(random ^ k * 977);
            uint64_t value = k < copied && r % 16 ? w->sets[source->at + k] : sp_mix64(r >> 8);
            set[n++] = (uint32_t)(r % 23 == 0 ? value % 50 : value); /* some are common */
        }
        qsort(set, n, sizeof *set, by_value);
        uint32_t kept = 0;
        for (uint32_t k = 0; k < n; k++)
            if (k == 0 || set[k] != set[k - 1])
                set[kept++] = set[k];
        w->units[i] = (struct sp_unit){.at = end,
                                       .size = kept,
                                       .block = blocks ? 1 + (uint32_t)(random >> 8) % blocks : 0,
                                       .apart = (uint32_t)(seed % 2 * (random >> 22 & 3)),
                                       .role = {random >> 50 & 7, random >> 54 & 7},
                                       .from = (double)(random >> 30 & 15),
                                       .to = (double)(random >> 30 & 15) + 5,
                                       .least = (double)(random >> 34 & 15) - 2,
                                       .greatest = (double)(random >> 34 & 15) + 6};
        end += kept;
    }
}

/* Sets that replace up to 15 of the shingles of one, some of them by shingles that others have. */
static void make_family(struct world *w, uint64_t seed, uint32_t blocks)
{
    uint64_t random = sp_mix64(seed + 99);
    for (uint32_t i = 0; i < UNITS; i++) {
        uint32_t *set = w->sets + i * 120ul, size = 120 - (i % 9 == 8 ? random >> 40 & 15 : 0);
        for (uint32_t k = 0; k < size; k++)
            set[k] = (uint32_t)sp_mix64(k + 7);
        random = sp_mix64(random + i);
        for (uint32_t edits = random >> 50 & 15; edits > 0; edits--) {
            uint64_t r = sp_mix64(random + edits);
            set[r % 4 ? r % size : edits] = (uint32_t)(r >> 8 & 7 ? r >> 16 : r >> 16 & 31);
        }
        qsort(set, size, sizeof *set, by_value);
        uint32_t kept = 0;
        for (uint32_t k = 0; k < size; k++)
            if (k == 0 || set[k] != set[k - 1])
                set[kept++] = set[k];
        w->units[i] = (struct sp_unit){.at = i * 120ul,
                                       .size = kept,
                                       .block = blocks ? 1 + i % blocks : 0,
                                       .apart = (uint32_t)(seed % 2 * (random >> 24 & 3)),
                                       .role = {random >> 8 & 7, random >> 12 & 7},
                                       .to = 1,
                                       .greatest = random >> 16 & 7 ? 1 : -1,
                                       .least = -1};
    }
}

static uint32_t overlap_of(const struct world *w, const struct sp_unit *x, const struct sp_unit *y)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->size; i++)
        n += bsearch(&w->sets[x->at + i], w->sets + y->at, y->size, 4, by_value) != NULL;
    return n;
}

/* In so many rounds, each for some of the units. */
static void find(struct world *w, const struct sp_pairs_options *o, size_t rounds,
                 struct sp_pairs_stats *stats)
{
    struct sp_pairs *pairs = sp_pairs_open(w->units, UNITS, w->sets, o);
    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < UNITS; i++)
            w->units[i].asked = w->units[i].role[1] && i % rounds == round;
        sp_pairs_find(pairs);
    }
    sp_pairs_close(pairs, stats);
}

/* Compares all pairs of w, and frees it. */
static void check_world(struct world *w, double jaccard, double of_a, double of_b, uint64_t memory,
                        unsigned threads, size_t rounds, struct sp_pairs_stats *ret_stats)
{
    struct sp_pairs_stats stats = {0};
    struct sp_pairs_options o = {.share = {of_a, of_b},
                                 .jaccard = jaccard,
                                 .threads = threads,
                                 .memory_bytes = memory,
                                 .each = note,
                                 .arg = w};
    size_t expected = 0, wrong = 0;
    pthread_mutex_init(&w->mutex, NULL);
    find(w, &o, rounds, &stats);
    for (size_t i = 0; i < UNITS; i++)
        for (size_t k = 0; k < UNITS; k++) {
            const struct sp_unit *a = &w->units[i], *b = &w->units[k];
            bool may = i != k && a->role[0] && b->role[1] && a->block == b->block &&
                       (a->apart == 0 || a->apart != b->apart) && a->from <= b->greatest &&
                       b->least <= a->to;
            uint32_t overlap = may ? overlap_of(w, a, b) : 0;
            bool wanted = overlap > 0 && overlap >= of_a * a->size - 1e-6 &&
                          overlap >= of_b * b->size - 1e-6 &&
                          overlap >= jaccard * (a->size + b->size - overlap) - 1e-6;
            wrong += w->found[i][k] != (wanted ? overlap + 1 : 0);
            expected += wanted;
        }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(w->calls, expected);
    CU_ASSERT_EQUAL(stats.pairs, expected);
    CU_ASSERT(expected > 10);
    CU_ASSERT(memory > 1 << 20 ? stats.blocks == 1 : stats.blocks > 3);
    pthread_mutex_destroy(&w->mutex);
    sp_free(w);
    *ret_stats = stats;
}

static void check_jaccard(uint64_t seed, double jaccard, double of_a, double of_b, uint32_t blocks,
                          uint64_t memory, unsigned threads, size_t rounds)
{
    struct world *w = sp_calloc(1, sizeof *w);
    struct sp_pairs_stats stats;
    make_world(w, seed, blocks);
    check_world(w, jaccard, of_a, of_b, memory, threads, rounds, &stats);
}

static void check(uint64_t seed, double of_a, double of_b, uint32_t blocks, uint64_t memory,
                  unsigned threads, size_t rounds)
{
    check_jaccard(seed, 0, of_a, of_b, blocks, memory, threads, rounds);
}

TEST(the_index_finds_exactly_the_pairs_that_comparing_all_finds)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        check(seed, 0.7, 0, 0, 1 << 24, 1, 1);
        check(seed, 0, 0.7, 0, 1 << 24, 1, 1);
        check(seed, 0.6, 0.6, 0, 1 << 24, 1, 1);
        check(seed, 0.9, 0.3, 0, 1 << 24, 1, 1);
        check(seed, 0.01, 0, 0, 1 << 24, 1, 1);
    }
}

TEST(blocks_threads_and_little_memory_change_nothing)
{
    for (uint64_t seed = 10; seed < 13; seed++) {
        check(seed, 0.5, 0, 3, 1 << 24, 1, 1);
        check(seed, 0.5, 0.2, 2, 1 << 24, 3, 1);
        check(seed, 0.7, 0, 0, 1 << 13, 2, 1);
        check(seed, 0, 0.4, 2, 1 << 13, 1, 1);
    }
}

TEST(rounds_find_each_pair_once)
{
    for (uint64_t seed = 20; seed < 23; seed++)
        for (size_t rounds = 2; rounds < 6; rounds++) {
            check(seed, 0.5, 0, 3, 1 << 24, 1, rounds);
            check(seed, 0.6, 0.6, 0, 1 << 24, 2, rounds);
            check(seed, 0.2, 0.5, 2, 1 << 24, 1, rounds);
            check(seed, 0.7, 0, 0, 1 << 12, 2, rounds);
        }
}

static void count_call(void *arg, unsigned thread, size_t a, size_t b, uint32_t overlap)
{
    size_t *calls = arg;
    (void)thread, (void)a, (void)b, (void)overlap;
    ++*calls;
}

/* As of a unit of several documents, of which each is asked in another round. */
TEST(a_unit_that_is_asked_again_finds_the_same_pairs)
{
    struct world *w = sp_calloc(1, sizeof *w);
    make_world(w, 28, 2);
    for (unsigned indexed = 0; indexed < 2; indexed++) {
        size_t calls = 0, first = 0;
        struct sp_pairs_stats stats = {0};
        struct sp_pairs_options o = {.share = {indexed ? 0 : 0.5, indexed ? 0.5 : 0},
                                     .threads = 1,
                                     .memory_bytes = 1 << 24,
                                     .each = count_call,
                                     .arg = &calls};
        for (size_t i = 0; i < UNITS; i++)
            w->units[i].asked = w->units[i].role[1];
        struct sp_pairs *pairs = sp_pairs_open(w->units, UNITS, w->sets, &o);
        for (int round = 1; round <= 3; round++) {
            sp_pairs_find(pairs);
            first = round == 1 ? calls : first;
            CU_ASSERT_EQUAL(calls, (size_t)round * first);
        }
        sp_pairs_close(pairs, &stats);
        CU_ASSERT(first > 10);
    }
    sp_free(w);
}

TEST(the_places_of_shingles_change_nothing)
{
    for (uint64_t seed = 30; seed < 36; seed++) {
        check_jaccard(seed, 0.6, 0.6, 0.6, 0, 1 << 24, 1, 1);
        check_jaccard(seed, 0.4, 0.4, 0.4, 0, 1 << 24, 2, 1);
        check_jaccard(seed, 0.3, 0.5, 0.3, 2, 1 << 24, 1, 3);
        check_jaccard(seed, 0.2, 0.2, 0.2, 0, 1 << 24, 2, 4);
        check_jaccard(seed, 0.2, 0.2, 0.7, 2, 1 << 24, 1, 1);
        check_jaccard(seed, 0.3, 0.3, 0.3, 0, 1 << 12, 2, 2);
    }
}

static void check_family(uint64_t seed, double jaccard, double of_a, double of_b, uint32_t blocks,
                         unsigned threads, size_t rounds)
{
    struct world *w = sp_calloc(1, sizeof *w);
    struct sp_pairs_stats stats;
    make_family(w, seed, blocks);
    check_world(w, jaccard, of_a, of_b, 1 << 24, threads, rounds, &stats);
    printf("%.2f, %.2f, %.2f, %u blocks: %llu compared, %llu pairs\n", jaccard, of_a, of_b, blocks,
           (unsigned long long)stats.candidates, (unsigned long long)stats.pairs);
    CU_ASSERT((double)stats.candidates <= 1.2 * (double)stats.pairs + UNITS);
}

TEST(units_that_differ_a_little_from_one_are_compared_with_those_that_share_enough)
{
    for (uint64_t seed = 40; seed < 44; seed++) {
        check_family(seed, 0.8, 0.8, 0.8, 0, 1, 1);
        check_family(seed, 0.85, 0.85, 0.9, 2, 1, 3);
        check_family(seed, 0.9, 0.9, 0.9, 0, 2, 4);
        check_family(seed, 0, 0.92, 0, 0, 1, 1);
        check_family(seed, 0, 0, 0.95, 2, 1, 3);
        check_family(seed, 0, 0.9, 0.95, 0, 1, 2);
        check_family(seed, 0, 0.7, 0.95, 0, 2, 2);
    }
}

TEST(an_empty_collection_has_no_pairs)
{
    struct sp_pairs_options o = {.share = {1.5, 0}, .threads = 1, .memory_bytes = 1 << 20};
    struct sp_pairs_stats stats = {0};
    for (o.share[0] = 1.5; o.share[0] > 0.4; o.share[0] -= 1) {
        struct sp_pairs *pairs = sp_pairs_open(NULL, 0, NULL, &o);
        sp_pairs_find(pairs);
        sp_pairs_close(pairs, &stats);
    }
    CU_ASSERT_EQUAL(stats.candidates, 0);
}
