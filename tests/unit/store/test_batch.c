/* A batch of writes is sorted by key, whatever order they came in, and keeps the last of several to
 * one key. */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "harness.h"
#include "store/batch.h"

enum { WRITES = 1000, KEY_BYTES = 24 };

static void note(struct sp_write_batch *b, const char *key, int value)
{
    sp_write_batch_note(b, sp_view_str(key), sp_view(&value, sizeof value), false);
}

static int value_of(const struct sp_write_batch *b, const struct sp_write *w)
{
    int value = -1;
    struct sp_view v = sp_write_batch_value(b, w);
    if (v.len == sizeof value)
        memcpy(&value, v.data, sizeof value);
    return value;
}

/* Sorts; every key has the value that `wanted` names for it. */
static void check(struct sp_write_batch *b, size_t keys, int (*wanted)(const char *key))
{
    sp_write_batch_sort(b, 0);
    CU_ASSERT_EQUAL(b->count, keys);
    char before[KEY_BYTES] = "";
    for (size_t i = 0; i < b->count; i++) {
        struct sp_view key = sp_write_batch_key(b, &b->writes[i]);
        char text[KEY_BYTES];
        snprintf(text, sizeof text, "%.*s", (int)key.len, key.data);
        CU_ASSERT(strcmp(before, text) < 0);
        CU_ASSERT_EQUAL(value_of(b, &b->writes[i]), wanted(text));
        memcpy(before, text, sizeof before);
    }
    sp_write_batch_done(b);
}

static int number_in(const char *key)
{
    return (int)strtol(strrchr(key, '-') + 1, NULL, 10);
}

/* Random keys, as most are. */
TEST(keys_in_random_order_are_sorted)
{
    for (int times = 1; times <= 4; times *= 4) {
        struct sp_write_batch b = {0};
        for (int i = 0; i < times * WRITES; i++) {
            char key[KEY_BYTES];
            snprintf(key, sizeof key, "P%08x-%06d", (unsigned)sp_mix64((uint64_t)i), i);
            note(&b, key, i);
        }
        check(&b, (size_t)times * WRITES, number_in);
    }
}

/* The first bytes of all keys are equal, and the order is the worst for an insertion. */
TEST(keys_that_begin_alike_in_reverse_order_are_sorted)
{
    struct sp_write_batch b = {0};
    for (int i = WRITES - 1; i >= 0; i--) {
        char key[KEY_BYTES];
        snprintf(key, sizeof key, "all-begin-alike-%06d", i);
        note(&b, key, i);
    }
    check(&b, WRITES, number_in);
}

/* They differ only where the radix sort does not look at first. */
TEST(keys_that_differ_late_in_reverse_order_are_sorted)
{
    struct sp_write_batch b = {0};
    for (int i = WRITES - 1; i >= 0; i--) {
        char key[KEY_BYTES];
        snprintf(key, sizeof key, "%c%c%c%c%c-%d", 'a' + i / 500, 'b', 'c', 'a' + i / 40 % 25,
                 'A' + i % 40, i);
        note(&b, key, i);
    }
    check(&b, WRITES, number_in);
}

enum { ROUNDS = 7 };

static int of_last_round(const char *key)
{
    return (ROUNDS - 1) * WRITES + number_in(key);
}

TEST(the_last_write_to_a_key_counts)
{
    struct sp_write_batch b = {0};
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < WRITES; i++) {
            char key[KEY_BYTES];
            snprintf(key, sizeof key, "P%04x-%d", (unsigned)sp_mix64((uint64_t)i) & 0xffff, i);
            note(&b, key, round * WRITES + i);
        }
    check(&b, WRITES, of_last_round);
}
