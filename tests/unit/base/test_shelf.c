/* The sorted list against a plain array, at any length. */
#include "base/shelf.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "harness.h"

enum { NUMBERS = 16000, STEPS = 12 * NUMBERS };

static int order(const void *key, const void *object)
{
    uint32_t a = *(const uint32_t *)object, b = *(const uint32_t *)key;
    return a < b ? -1 : a > b;
}

/* Heads that always, sometimes and never decide a comparison; and 0, which means heads of which one
 * half is close together and the other far apart. */
static const uint32_t steps[] = {1, 7, NUMBERS, 0};

static uint64_t head_of(uint32_t n, uint32_t step)
{
    if (step)
        return n / step;
    return n < NUMBERS / 2 ? n : (uint64_t)n << 50;
}

static size_t differences(const struct sp_shelf *s, const bool *there, uint32_t *numbers)
{
    struct sp_shelf_place place = sp_shelf_first(s);
    size_t wrong = 0, count = 0;
    for (uint32_t n = 0; n < NUMBERS; n++) {
        if (!there[n])
            continue;
        wrong += sp_shelf_next(s, &place) != &numbers[n];
        count++;
    }
    wrong += sp_shelf_next(s, &place) != NULL;
    return wrong + (s->count != count);
}

/* Whether the look-up of each number finds the number itself or the next larger one. */
static size_t wrong_look_ups(const struct sp_shelf *s, const bool *there, uint32_t *numbers,
                             uint32_t step)
{
    const uint32_t *next = NULL, *first;
    size_t wrong = 0;
    for (uint32_t n = NUMBERS; n-- > 0;) {
        next = there[n] ? &numbers[n] : next;
        struct sp_shelf_place place = sp_shelf_find(s, order, &n, head_of(n, step));
        wrong += sp_shelf_next(s, &place) != next;
        first = sp_shelf_first_with(s, head_of(n, step));
        wrong += there[n] && (!first || *first > n);
        wrong += first && head_of(*first, step) != head_of(n, step);
        wrong += first && first > numbers && there[first - numbers - 1] &&
                 head_of(*first - 1, step) == head_of(n, step);
    }
    return wrong;
}

static void hold(uint32_t heads)
{
    uint32_t *numbers = sp_alloc(NUMBERS * sizeof *numbers);
    bool *there = sp_calloc(NUMBERS, sizeof *there);
    struct sp_shelf s = {0};
    size_t wrong = 0;
    for (uint32_t i = 0; i < NUMBERS; i++)
        numbers[i] = i;
    for (uint64_t step = 0; step < STEPS; step++) {
        uint64_t x = sp_mix64(step + 1);
        uint32_t n = (uint32_t)(x >> 8) % NUMBERS;
        bool mostly_add = step / (STEPS / 3) != 1;
        if (!there[n] && (x & 3 || !mostly_add) == mostly_add) {
            sp_shelf_add(&s, order, &n, head_of(n, heads), &numbers[n]);
            there[n] = true;
        } else {
            wrong += sp_shelf_remove(&s, order, &n, head_of(n, heads)) != there[n];
            there[n] = false;
        }
        if (step % (NUMBERS - 1) == 0)
            wrong += differences(&s, there, numbers) + wrong_look_ups(&s, there, numbers, heads);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(differences(&s, there, numbers), 0);
    for (uint32_t n = 0; n < NUMBERS; n++)
        sp_shelf_remove(&s, order, &n, head_of(n, heads));
    CU_ASSERT_EQUAL(s.count, 0);
    struct sp_shelf_place place = sp_shelf_first(&s);
    CU_ASSERT_PTR_NULL(sp_shelf_next(&s, &place));
    sp_shelf_done(&s);
    sp_free(numbers);
    sp_free(there);
}

TEST(holds_what_a_plain_array_holds)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        hold(steps[i]);
}
