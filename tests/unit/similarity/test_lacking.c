/* The index of what items lack of a reference, against comparing all pairs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/order.h"
#include "harness.h"
#include "similarity/lacking.h"
#include "similarity/tally.h"

enum { TEXT = 96, RUN = 5, ITEMS = 700 };

static const double SHARE = 1.0 / 9; /* J of 0.8 */

/* The reference with `words` words replaced, each of which changes a run of shingles. Nobody else
 * has the new ones, except that those of every fortieth are the same. */
static struct sp_signature *edited(uint64_t *random, uint32_t words, uint32_t number)
{
    struct sp_signature *s = sp_signature_alloc(TEXT, 0);
    uint32_t own = number % 40 ? 1000 * (number + 1) : 1000;
    for (uint32_t i = 0; i < TEXT; i++)
        s->hashes[i] = (uint32_t)sp_mix64(i + 1);
    for (uint32_t k = 0; k < words; k++) {
        uint32_t at = (uint32_t)(sp_mix64((*random)++) % TEXT);
        for (uint32_t i = at; i < at + RUN && i < TEXT; i++)
            s->hashes[i] = (uint32_t)sp_mix64(own + 100 * k + i);
    }
    qsort(s->hashes, TEXT, sizeof *s->hashes, sp_by_u32);
    s->shingle_total = TEXT;
    return s;
}

static uint32_t shared(const struct sp_signature *a, const struct sp_signature *b)
{
    uint32_t count = 0;
    for (uint32_t i = 0, k = 0; i < a->shingle_count && k < b->shingle_count;) {
        uint32_t x = a->hashes[i], y = b->hashes[k];
        count += x == y;
        i += x <= y;
        k += y <= x;
    }
    return count;
}

static double most_of(const struct sp_signature *s)
{
    return SHARE * s->shingle_count + 1e-6;
}

static bool similar(const struct sp_signature *a, const struct sp_signature *b)
{
    return a->shingle_count + b->shingle_count - 2.0 * shared(a, b) <= most_of(a) + most_of(b);
}

struct items {
    struct sp_signature *of[ITEMS];
    uint32_t number[ITEMS]; /* in the index */
    bool in[ITEMS];
};

static bool has(struct sp_lacking_found found, uint32_t item)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < found.count; i++)
        times += found.items[i] == item;
    CU_ASSERT_TRUE(times <= 1);
    return times;
}

/* A search that knows which shingles of x no item has finds the similar items that share none of
 * them: here, all shingles of x that the reference does not have. */
static void check_knowing(struct sp_lacking *l, const struct items *items, uint32_t x,
                          const struct sp_signature *reference)
{
    uint32_t unshared[TEXT], count = 0;
    const struct sp_signature *s = items->of[x];
    for (uint32_t i = 0; i < TEXT; i++)
        if (!bsearch(&s->hashes[i], reference->hashes, TEXT, sizeof *s->hashes, sp_by_u32))
            unshared[count++] = s->hashes[i];
    struct sp_lacking_found found = sp_lacking_find_knowing(l, s, most_of(s), unshared, count);
    for (uint32_t y = 0; y < ITEMS; y++) {
        if (!items->in[y])
            continue;
        bool shares = false;
        for (uint32_t i = 0; i < count; i++)
            shares |= bsearch(&unshared[i], items->of[y]->hashes, TEXT, sizeof *unshared,
                              sp_by_u32) != NULL;
        CU_ASSERT_TRUE(shares || has(found, items->number[y]) || !similar(s, items->of[y]));
        CU_ASSERT_EQUAL(has(found, items->number[y]), sp_lacking_is_found(l, items->number[y]));
    }
}

/* Looks for each item. Returns the share of those found that are not similar, of all pairs. */
static double check_all(struct sp_lacking *l, const struct items *items,
                        const struct sp_signature *reference)
{
    uint64_t in_vain = 0, pairs = 0;
    for (uint32_t x = 0; x < ITEMS; x++) {
        int64_t self = items->in[x] ? (int64_t)items->number[x] : SP_LACKING_NONE;
        struct sp_lacking_found found =
            sp_lacking_find(l, items->of[x], most_of(items->of[x]), self);
        for (uint32_t y = 0; y < ITEMS; y++) {
            if (!items->in[y] || x == y)
                continue;
            bool is_found = has(found, items->number[y]);
            bool is_similar = similar(items->of[x], items->of[y]);
            CU_ASSERT_TRUE(is_found || !is_similar);
            in_vain += is_found && !is_similar;
            pairs++;
        }
        check_knowing(l, items, x, reference);
    }
    return pairs ? (double)in_vain / (double)pairs : 0;
}

TEST(all_similar_items_are_found_and_few_others)
{
    uint64_t random = 1;
    struct items *items = sp_calloc(1, sizeof *items);
    struct sp_signature *reference = edited(&random, 1, 1);
    struct sp_lacking *l = sp_lacking_new(reference, true);
    for (uint32_t i = 0; i < ITEMS; i++) {
        items->of[i] = i % 50 ? edited(&random, 2 + i % 2, i) : edited(&random, i % 3, i);
        items->number[i] = sp_lacking_put(l, items->of[i], most_of(items->of[i]));
        items->in[i] = true;
    }
    CU_ASSERT_TRUE(check_all(l, items, reference) < 0.05);
    CU_ASSERT_TRUE(sp_lacking_odd(l) < ITEMS / 20);
    for (int round = 0; round < 3; round++) { /* numbers are used again */
        for (uint32_t i = (uint32_t)round; i < ITEMS; i += 3) {
            sp_lacking_take(l, items->number[i]);
            items->in[i] = false;
        }
        CU_ASSERT_TRUE(check_all(l, items, reference) < 0.05);
        for (uint32_t i = (uint32_t)round; i < ITEMS; i += 6) {
            items->number[i] = sp_lacking_put(l, items->of[i], most_of(items->of[i]));
            items->in[i] = true;
        }
        check_all(l, items, reference);
    }
    for (uint32_t i = 0; i < ITEMS; i++) {
        if (items->in[i])
            sp_lacking_take(l, items->number[i]);
        sp_signature_unref(items->of[i]);
    }
    CU_ASSERT_EQUAL(sp_lacking_odd(l), 0);
    sp_lacking_free(l);
    sp_signature_unref(reference);
    sp_free(items);
}

/* What has little of the reference, and what any signature may resemble, is found by each
 * search. */
TEST(odd_items_are_always_found)
{
    uint64_t random = 1;
    struct sp_signature *reference = edited(&random, 0, 1), *other = sp_signature_alloc(TEXT, 0);
    struct sp_signature *x = edited(&random, 2, 3);
    struct sp_lacking *l = sp_lacking_new(reference, true);
    uint32_t items[3];
    CU_ASSERT_EQUAL(sp_lacking_find(l, x, most_of(x), SP_LACKING_NONE).count, 0);
    for (uint32_t i = 0; i < TEXT; i++)
        other->hashes[i] = i;
    items[0] = sp_lacking_put(l, other, most_of(other));
    items[1] = sp_lacking_put(l, reference, most_of(reference));
    items[2] = sp_lacking_put(l, x, (double)INFINITY);
    CU_ASSERT_EQUAL(sp_lacking_odd(l), 3);
    for (uint32_t i = 0; i < 3; i++) {
        struct sp_lacking_found found = sp_lacking_find(l, x, most_of(x), SP_LACKING_NONE);
        for (uint32_t k = i; k < 3; k++)
            CU_ASSERT_TRUE(has(found, items[k]));
        sp_lacking_take(l, items[i]);
    }
    CU_ASSERT_EQUAL(sp_lacking_odd(l), 0);
    sp_lacking_free(l);
    sp_signature_unref(reference);
    sp_signature_unref(other);
    sp_signature_unref(x);
}

/* The first reference has changes of its own, which all items but those with the same ones lack. */
TEST(the_centre_has_what_many_items_have)
{
    uint64_t random = 1;
    struct sp_signature *all = edited(&random, 0, 1), *reference = edited(&random, 2, 3), *items[9];
    struct sp_lacking *l = sp_lacking_new(reference, true);
    CU_ASSERT_TRUE(shared(all, reference) < TEXT);
    for (uint32_t i = 0; i < 9; i++) {
        items[i] = edited(&random, 3, 5 + i);
        sp_lacking_put(l, items[i], most_of(items[i]));
    }
    struct sp_signature *centre = sp_lacking_centre(l);
    CU_ASSERT_PTR_NOT_NULL_FATAL(centre);
    CU_ASSERT_EQUAL(centre->shingle_count, TEXT);
    CU_ASSERT_EQUAL(memcmp(centre->hashes, all->hashes, TEXT * sizeof *all->hashes), 0);
    sp_lacking_free(l);
    l = sp_lacking_new(centre, true);
    CU_ASSERT_PTR_NULL(sp_lacking_centre(l));
    for (uint32_t i = 0; i < 9; i++)
        sp_lacking_put(l, items[i], most_of(items[i]));
    CU_ASSERT_PTR_NULL(sp_lacking_centre(l));
    for (uint32_t i = 0; i < 9; i++)
        sp_signature_unref(items[i]);
    sp_lacking_free(l);
    sp_signature_unref(all);
    sp_signature_unref(reference);
    sp_signature_unref(centre);
}

/* One item in `part` has a run of its own version, and the others have another run of theirs. */
static void check_versions(uint32_t part)
{
    uint64_t random = 1;
    struct sp_signature *all = edited(&random, 0, 1), *most = edited(&random, 1, 3),
                        *few = edited(&random, 1, 5);
    uint32_t added = 2 * TEXT - shared(all, most) - shared(all, few);
    struct sp_lacking *l = sp_lacking_new(all, true);
    for (uint32_t i = 0; i < 3 * part; i++)
        sp_lacking_put(l, i % part ? most : few, most_of(all));
    struct sp_signature *centre = sp_lacking_centre(l);
    CU_ASSERT_PTR_NOT_NULL_FATAL(centre);
    CU_ASSERT_EQUAL(centre->shingle_count, TEXT + added);
    CU_ASSERT_EQUAL(shared(centre, all), TEXT);
    CU_ASSERT_EQUAL(shared(centre, most), TEXT);
    CU_ASSERT_EQUAL(shared(centre, few), TEXT);
    sp_lacking_free(l);
    sp_signature_unref(all);
    sp_signature_unref(most);
    sp_signature_unref(few);
    sp_signature_unref(centre);
}

TEST(the_centre_has_all_versions_that_several_items_have)
{
    check_versions(4);
    check_versions(20); /* as at the edge of a text, if the items lack runs of its first words */
}

/* Items that are not similar to the reference are similar only to items that add the same. */
static struct sp_lacking_found find_among(uint32_t count)
{
    uint64_t random = 1;
    struct sp_signature *reference = edited(&random, 0, 1), *x = edited(&random, 3, 2);
    struct sp_lacking *l = sp_lacking_new(reference, true);
    for (uint32_t i = 0; i < count; i++) {
        struct sp_signature *s = edited(&random, 3, 40 * i + 41);
        if (TEXT - shared(s, reference) > most_of(s))
            sp_lacking_put(l, s, most_of(s));
        sp_signature_unref(s);
    }
    struct sp_lacking_found found = sp_lacking_find(l, x, most_of(x), SP_LACKING_NONE);
    sp_lacking_free(l);
    sp_signature_unref(reference);
    sp_signature_unref(x);
    found.items = NULL;
    return found;
}

TEST(words_of_items_that_cannot_be_similar_are_not_read)
{
    for (uint32_t count = ITEMS; count <= 4 * ITEMS; count *= 4) {
        struct sp_lacking_found found = find_among(count);
        CU_ASSERT_EQUAL(found.words, 0);
        CU_ASSERT_EQUAL(found.count, 0);
    }
}

TEST(rows_are_added_up_bit_by_bit)
{
    enum { ROWS = 140, WORDS = 16 };
    static uint64_t bits[ROWS][WORDS];
    const struct sp_tally_range all = {0, WORDS};
    const uint64_t *rows[ROWS];
    uint32_t least[WORDS];
    uint64_t found[WORDS], random = 1;
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t k = 0; k < WORDS; k++) {
            bits[i][k] = sp_mix64(random) & sp_mix64(random + 1);
            random += 2;
        }
        rows[i] = bits[i];
    }
    for (uint32_t count = 0; count <= ROWS; count += count < 20 ? 1 : 13) {
        for (uint32_t k = 0; k < WORDS; k++)
            least[k] = (uint32_t)(sp_mix64(random++) % (count / 2 + 2));
        for (uint32_t k = 0; k < 8; k++) /* few of the rows may have no bit */
            least[k] = count + 1 - count % 5 * (count > 5);
        for (enum sp_tally_kind kind = SP_TALLY_PORTABLE; kind <= SP_TALLY_KINDS; kind++) {
            sp_tally_function *tally = kind < SP_TALLY_KINDS ? sp_tally_of(kind) : sp_tally;
            if (!tally)
                continue; /* not on this processor */
            tally(rows, count, all, least, found);
            for (uint32_t item = 0; item < 64 * WORDS; item++) {
                uint32_t sum = 0;
                for (uint32_t i = 0; i < count; i++)
                    sum += bits[i][item / 64] >> item % 64 & 1;
                CU_ASSERT_EQUAL(found[item / 64] >> item % 64 & 1, sum >= least[item / 64]);
            }
        }
    }
}
