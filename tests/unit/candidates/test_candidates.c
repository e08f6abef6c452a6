/* The candidate rule, and the index compared with applying the rule to every slot. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "candidates/candidates.h"
#include "harness.h"
#include "made_up.h"

/* A signature of these hashes; sorts them. */
static struct sp_signature *signature_of(const uint32_t *hashes, uint32_t count, uint32_t total)
{
    struct sp_signature *s = made_up_capped((struct sp_id){0, 0}, count, total);
    memcpy(s->hashes, hashes, count * sizeof *hashes);
    return s;
}

enum { SIZE_MAX_SHINGLES = 400, SLOTS = 600 };

/* Draws sets that copy one another with various changes; some contain very common hashes. */
static void make_sets(uint64_t seed, uint32_t space, struct sp_signature **sets)
{
    static uint32_t values[SLOTS][SIZE_MAX_SHINGLES];
    static uint32_t counts[SLOTS];
    uint64_t random = sp_mix64(seed + 1);
    for (uint32_t s = 0; s < SLOTS; s++) {
        random = sp_mix64(random + s);
        uint32_t source = s ? random % s : 0, change = (random >> 20) % 60;
        bool copy = s > 0 && random >> 61 < 6;
        counts[s] = copy                      ? counts[source]
                    : (random >> 40) % 4 == 0 ? (random >> 30) % 20
                                              : (random >> 30) % SIZE_MAX_SHINGLES;
        for (uint32_t i = 0; i < counts[s]; i++) {
            uint64_t r = sp_mix64(random + i * 131);
            bool changed = !copy || r % 100 < change;
            values[s][i] = changed ? (uint32_t)(sp_mix64(r >> 8) % space) : values[source][i];
            if (i < 3 && s % 2)
                values[s][i] = i; /* boilerplate: in half of the sketches */
        }
        uint32_t sorted[SIZE_MAX_SHINGLES];
        memcpy(sorted, values[s], sizeof sorted);
        qsort(sorted, counts[s], sizeof *sorted, sp_by_u32);
        sets[s] = signature_of(sorted, counts[s], counts[s]);
    }
}

static void check_find(struct sp_candidates *c, const struct sp_candidate_rule *rule,
                       struct sp_signature *const *sets, const bool *there,
                       const struct sp_signature *probe, size_t *ret_accepted, size_t *ret_found)
{
    const uint32_t *found;
    size_t count = sp_candidates_find(c, sp_signature_shingles(probe), probe->shingle_count,
                                      probe->shingle_total, &found);
    bool is_found[SLOTS] = {false};
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_FATAL(found[i] < SLOTS);
        CU_ASSERT(i == 0 || found[i - 1] < found[i]);
        CU_ASSERT(there[found[i]]);
        is_found[found[i]] = true;
    }
    size_t missing = 0;
    for (uint32_t s = 0; s < SLOTS; s++) {
        bool accepted = there[s] && sp_candidate_pair(rule, probe, sets[s]);
        missing += accepted && !is_found[s];
        *ret_accepted += accepted;
    }
    CU_ASSERT_EQUAL(missing, 0);
    *ret_found += count;
}

TEST(find_returns_every_slot_that_the_rule_accepts)
{
    static const double thresholds[] = {0.8, 0.4, 0.6, 0.95, 1.0};
    static const uint32_t spaces[] = {UINT32_MAX, 3000, 200};
    static struct sp_signature *sets[SLOTS];
    for (uint64_t seed = 0; seed < 15; seed++) {
        struct sp_candidate_rule rule = sp_candidate_rule(SP_METHOD_SHINGLES, thresholds[seed % 5]);
        struct sp_candidates *c = sp_candidates_new(&rule);
        bool there[SLOTS] = {false};
        size_t accepted = 0, found = 0;
        make_sets(seed, spaces[seed % 3], sets);
        for (uint32_t s = 0; s < SLOTS; s++) {
            sp_candidates_add(c, s, sp_signature_shingles(sets[s]), sets[s]->shingle_count);
            there[s] = true;
            check_find(c, &rule, sets, there, sets[s], &accepted, &found);
        }
        for (uint32_t s = 0; s < SLOTS; s++)
            check_find(c, &rule, sets, there, sets[s], &accepted, &found);
        CU_ASSERT(accepted > 2 * SLOTS);
        if (spaces[seed % 3] == UINT32_MAX)
            CU_ASSERT(found < 20 * accepted); /* the filter is selective */
        sp_candidates_free(c);
        for (uint32_t s = 0; s < SLOTS; s++)
            sp_signature_unref(sets[s]);
    }
}

TEST(the_latest_candidates_are_those_of_find_from_the_end)
{
    enum { FEW = 5 };
    static struct sp_signature *sets[SLOTS];
    struct sp_candidate_rule rule = sp_candidate_rule(SP_METHOD_SHINGLES, 0.8);
    struct sp_candidates *c = sp_candidates_new(&rule);
    size_t accepted = 0, full = 0;
    make_sets(3, UINT32_MAX, sets);
    for (uint32_t s = 0; s < SLOTS; s++)
        sp_candidates_add(c, s, sp_signature_shingles(sets[s]), sets[s]->shingle_count);
    for (uint32_t s = 0; s < SLOTS; s++) {
        const struct sp_signature *probe = sets[s];
        const uint32_t *keys = sp_signature_shingles(probe), *found;
        uint32_t all[SLOTS], total = probe->shingle_total;
        size_t count = sp_candidates_latest(c, keys, probe->shingle_count, total, SLOTS, &found),
               at = 0;
        memcpy(all, found, count * sizeof *all);
        for (uint32_t slot = SLOTS; slot-- > 0;) {
            bool listed = at < count && all[at] == slot;
            at += listed;
            accepted += sp_candidate_pair(&rule, probe, sets[slot]);
            CU_ASSERT(listed || !sp_candidate_pair(&rule, probe, sets[slot]));
        }
        CU_ASSERT_EQUAL(at, count); /* descending, each once */
        size_t few = sp_candidates_latest(c, keys, probe->shingle_count, total, FEW, &found);
        CU_ASSERT(few <= FEW && few <= count); /* less: it gave up before boilerplate's slots */
        full += few == FEW;
        CU_ASSERT(memcmp(all, found, few * sizeof *all) == 0);
    }
    CU_ASSERT(accepted > SLOTS && full > SLOTS / 10);
    sp_candidates_free(c);
    for (uint32_t s = 0; s < SLOTS; s++)
        sp_signature_unref(sets[s]);
}

/* Postings that a search for the latest candidates reads, if `slots` have all keys or only one. */
static uint64_t walked_for_latest(uint32_t slots, uint32_t key_count)
{
    struct sp_candidate_rule rule = sp_candidate_rule(SP_METHOD_SHINGLES, 0.8);
    struct sp_candidates *c = sp_candidates_new(&rule);
    uint32_t keys[SP_SKETCH];
    const uint32_t *found;
    for (uint32_t i = 0; i < SP_SKETCH; i++)
        keys[i] = 1000 * i;
    for (uint32_t s = 0; s < slots; s++)
        sp_candidates_add(c, s, keys + s % (SP_SKETCH + 1 - key_count), key_count);
    sp_candidates_latest(c, keys, SP_SKETCH, 300, 10, &found);
    uint64_t walked = sp_candidates_walked(c);
    sp_candidates_free(c);
    return walked;
}

TEST(a_search_for_the_latest_does_not_read_the_whole_lists)
{
    CU_ASSERT_EQUAL(walked_for_latest(1000, SP_SKETCH), 10 * SP_SKETCH);
    CU_ASSERT_EQUAL(walked_for_latest(4000, SP_SKETCH), 10 * SP_SKETCH);
    CU_ASSERT_EQUAL(walked_for_latest(1000, 1), walked_for_latest(4000, 1));
    CU_ASSERT_EQUAL(walked_for_latest(4000, 1), 160);
}

/* Both return the same candidates for every query. */
static void check_same(struct sp_candidates *one_by_one, struct sp_candidates *at_once,
                       const uint32_t *sketches, uint32_t slots)
{
    size_t wrong = 0;
    for (uint32_t s = 0; s < slots; s++) {
        const uint32_t *a, *b, *sketch = sketches + s * SP_SKETCH;
        size_t n = sp_candidates_find(one_by_one, sketch, SP_SKETCH, 300, &a);
        size_t m = sp_candidates_find(at_once, sketch, SP_SKETCH, 300, &b);
        wrong += n == 0 || n != m || memcmp(a, b, n * sizeof *a) != 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

enum { MANY = 50000 }; /* more than the index buffers */

/* Adds the first `few` slots in bulk, the others one by one. */
static void check_at_once(uint32_t few)
{
    static uint32_t sketches[MANY * SP_SKETCH];
    struct sp_candidate_rule rule = sp_candidate_rule(SP_METHOD_SHINGLES, 0.8);
    struct sp_candidates *one_by_one = sp_candidates_new(&rule);
    struct sp_candidates *at_once = sp_candidates_new(&rule);
    const uint32_t *last = sketches;
    for (uint32_t s = 0; s < MANY; s++) {
        uint32_t *sketch = sketches + s * SP_SKETCH;
        for (uint32_t i = 0; i < SP_SKETCH; i++)
            sketch[i] =
                s % 3 && i % 2 ? last[i] : (uint32_t)sp_mix64(s * SP_SKETCH + i) % (1u << 30);
        last = sketch;
        sp_candidates_add(one_by_one, s, sketch, SP_SKETCH);
        if (s == few)
            sp_candidates_settle(at_once);
        if (s < few)
            sp_candidates_add_later(at_once, s, sketch, SP_SKETCH);
        else
            sp_candidates_add(at_once, s, sketch, SP_SKETCH);
    }
    sp_candidates_settle(at_once);
    sp_candidates_settle(at_once); /* settling twice changes nothing */
    check_same(one_by_one, at_once, sketches, MANY);
    CU_ASSERT(sp_candidates_bytes(at_once) < sp_candidates_bytes(one_by_one) * 11 / 10);
    for (uint32_t s = 1; s < MANY; s += 2) { /* later additions work */
        sp_candidates_add(one_by_one, MANY + s, sketches + s * SP_SKETCH, SP_SKETCH);
        sp_candidates_add(at_once, MANY + s, sketches + s * SP_SKETCH, SP_SKETCH);
    }
    check_same(one_by_one, at_once, sketches, MANY);
    sp_candidates_free(one_by_one);
    sp_candidates_free(at_once);
}

TEST(slots_added_at_once_are_found_like_those_added_one_by_one)
{
    check_at_once(MANY);
    check_at_once(30); /* some shards are empty */
}

TEST(the_rule_is_symmetric_and_accepts_a_page_itself)
{
    static struct sp_signature *sets[SLOTS];
    struct sp_candidate_rule rule = sp_candidate_rule(SP_METHOD_SHINGLES, 0.8);
    make_sets(77, 3000, sets);
    for (uint32_t a = 0; a < SLOTS; a++) {
        if (sets[a]->shingle_count > 0)
            CU_ASSERT(sp_candidate_pair(&rule, sets[a], sets[a]));
        for (uint32_t b = 0; b < SLOTS; b += 7)
            CU_ASSERT_EQUAL(sp_candidate_pair(&rule, sets[a], sets[b]),
                            sp_candidate_pair(&rule, sets[b], sets[a]));
    }
    for (uint32_t s = 0; s < SLOTS; s++)
        sp_signature_unref(sets[s]);
}

TEST(the_rule_is_the_one_documented)
{
    struct sp_candidate_rule rule = sp_candidate_rule(SP_METHOD_SHINGLES, 0.8);
    CU_ASSERT_EQUAL(rule.sketch, 16);
    CU_ASSERT_EQUAL(rule.shared_min, 4);
    rule = sp_candidate_rule(SP_METHOD_SHINGLES, 1.0);
    CU_ASSERT_EQUAL(rule.sketch, 16);
    CU_ASSERT_EQUAL(rule.shared_min, 16);
    uint32_t last = 0;
    for (int percent = 30; percent <= 100; percent++) {
        rule = sp_candidate_rule(SP_METHOD_SHINGLES, percent / 100.0);
        CU_ASSERT(rule.shared_min >= 1 && rule.shared_min <= rule.sketch);
        CU_ASSERT(rule.sketch >= SP_SKETCH && rule.sketch <= SP_SKETCH_MAX);
        CU_ASSERT(percent >= 58 || rule.sketch > SP_SKETCH);
        CU_ASSERT(percent < 58 || rule.shared_min >= last);
        last = rule.shared_min;
    }
}

/* Share of missed pairs with J = common / size_of_union exactly, of random hashes. */
static double miss_rate(double tau, uint32_t size_of_union, uint32_t common, int pairs,
                        uint64_t seed)
{
    struct sp_candidate_rule rule = sp_candidate_rule(SP_METHOD_SHINGLES, tau);
    uint64_t random = seed;
    int missed = 0;
    for (int p = 0; p < pairs; p++) {
        uint32_t a[1000], b[1000], n = 0, m = 0;
        for (uint32_t i = 0; i < size_of_union; i++) {
            random = sp_mix64(random + 1);
            uint32_t hash = (uint32_t)(random >> 32);
            if (i < common || i % 2)
                a[n++] = hash;
            if (i < common || i % 2 == 0)
                b[m++] = hash;
        }
        qsort(a, n, sizeof *a, sp_by_u32);
        qsort(b, m, sizeof *b, sp_by_u32);
        struct sp_signature *x = signature_of(a, n, n), *y = signature_of(b, m, m);
        missed += !sp_candidate_pair(&rule, x, y);
        sp_signature_unref(x);
        sp_signature_unref(y);
    }
    return (double)missed / pairs;
}

TEST(the_rule_misses_next_to_none_of_the_pairs_at_the_threshold)
{
    CU_ASSERT(miss_rate(0.8, 100, 80, 60000, 1) < 1e-4);
    CU_ASSERT(miss_rate(0.8, 20, 16, 60000, 2) < 1e-4);
    CU_ASSERT(miss_rate(0.8, 5, 4, 60000, 3) < 1e-4);
    CU_ASSERT(miss_rate(0.8, 900, 720, 8000, 4) < 1e-4);
    CU_ASSERT(miss_rate(0.5, 100, 50, 40000, 5) < 1e-4);
    CU_ASSERT(miss_rate(0.9, 100, 90, 40000, 6) < 1e-4);
    CU_ASSERT_EQUAL(miss_rate(1.0, 100, 100, 10000, 7), 0);
    /* Dissimilar pairs are filtered out. */
    CU_ASSERT(miss_rate(0.8, 200, 6, 5000, 8) > 0.9);
    CU_ASSERT(miss_rate(0.8, 100, 0, 5000, 9) > 0.999);
}

TEST(memory_is_bounded_a_slot)
{
    enum { PAGES = 40000 };
    struct sp_candidate_rule rule = sp_candidate_rule(SP_METHOD_SHINGLES, 0.8);
    struct sp_candidates *c = sp_candidates_new(&rule);
    uint32_t sketch[16];
    size_t empty = sp_candidates_bytes(c);
    for (uint32_t s = 0; s < PAGES; s++) {
        for (uint32_t i = 0; i < 16; i++) /* shared by ten sets */
            sketch[i] = (uint32_t)sp_mix64(i % 4 ? s * 16ull + i : (s / 10) * 16ull + i);
        qsort(sketch, 16, sizeof *sketch, sp_by_u32);
        sp_candidates_add(c, s, sketch, 16);
    }
    size_t full = sp_candidates_bytes(c);
    CU_ASSERT((full - empty) / PAGES >= 16 * 4);
    CU_ASSERT((full - empty) / PAGES < 260);
    sp_candidates_free(c);
}

TEST(an_empty_index_and_an_empty_probe_find_nothing)
{
    struct sp_candidate_rule rule = sp_candidate_rule(SP_METHOD_SHINGLES, 0.8);
    struct sp_candidates *c = sp_candidates_new(&rule);
    const uint32_t *found, hashes[] = {1, 2, 3};
    CU_ASSERT_EQUAL(sp_candidates_find(c, hashes, 3, 3, &found), 0);
    sp_candidates_add(c, 0, hashes, 0);
    sp_candidates_add(c, 1, hashes, 3);
    CU_ASSERT_EQUAL(sp_candidates_find(c, hashes, 0, 0, &found), 0);
    CU_ASSERT_EQUAL_FATAL(sp_candidates_find(c, hashes, 3, 3, &found), 1);
    CU_ASSERT_EQUAL(found[0], 1);
    sp_candidates_free(c);
    sp_candidates_free(NULL);
}
