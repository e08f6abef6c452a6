/* The tree of rows against a plain array, with key prefixes that always, sometimes and never decide
 * a comparison. */
#include "store/rows.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/mem.h"
#include "harness.h"

enum { KEYS = 20000, STEPS = 200000 };

struct key {
    char text[32];
};

/* Keys sort like their numbers. */
static struct sp_view key_of(uint32_t number, const char *format, struct key *buffer)
{
    int length = snprintf(buffer->text, sizeof buffer->text, format, number / 100, number % 100);
    return sp_view(buffer->text, (size_t)length);
}

static struct sp_stored_row *row_of(uint32_t number, uint32_t value, const char *format)
{
    struct key buffer;
    return sp_stored_row_new(key_of(number, format, &buffer), sp_view(&value, sizeof value), false);
}

static uint32_t value_of(const struct sp_stored_row *row)
{
    uint32_t value = 0;
    memcpy(&value, row->value.data, row->value.len);
    return value;
}

/* Values by number; 0: no row. */
static size_t differences(const struct sp_rows *rows, const uint32_t *values)
{
    struct sp_rows_place place = sp_rows_first(rows);
    size_t wrong = 0, count = 0;
    for (uint32_t n = 0; n < KEYS; n++) {
        if (!values[n])
            continue;
        const struct sp_stored_row *row = sp_rows_next(&place);
        wrong += !row || value_of(row) != values[n];
        count++;
    }
    wrong += sp_rows_next(&place) != NULL;
    return wrong + (rows->count != count);
}

/* Whether the look-up of each number finds its row or the next existing one. */
static size_t wrong_look_ups(const struct sp_rows *rows, const uint32_t *values, const char *format)
{
    size_t wrong = 0;
    uint32_t next = 0;
    for (uint32_t n = KEYS; n-- > 0;) {
        struct key buffer;
        struct sp_view key = key_of(n, format, &buffer);
        next = values[n] ? values[n] : next;
        struct sp_rows_place place = sp_rows_seek(rows, key);
        const struct sp_stored_row *found = sp_rows_find(rows, key), *at = sp_rows_next(&place);
        wrong += (found ? value_of(found) : 0) != values[n];
        wrong += (at ? value_of(at) : 0) != next;
    }
    return wrong;
}

static void hold(const char *format)
{
    uint32_t *values = sp_calloc(KEYS, sizeof *values);
    struct sp_rows rows = {0};
    size_t wrong = 0;
    for (uint32_t step = 1; step <= STEPS; step++) {
        uint64_t x = sp_mix64(step);
        uint32_t n = (uint32_t)(x >> 8) % KEYS;
        bool mostly_add = step / 60000 != 1;
        struct key buffer;
        if (x % 8 < (mostly_add ? 6 : 1)) {
            values[n] = step;
            sp_rows_put(&rows, row_of(n, step, format));
        } else {
            values[n] = 0;
            sp_rows_erase(&rows, key_of(n, format, &buffer));
        }
        if (step % 20000 == 0)
            wrong += differences(&rows, values) + wrong_look_ups(&rows, values, format);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    sp_rows_clear(&rows);
    CU_ASSERT_EQUAL(rows.count + rows.bytes + rows.leaves, 0);
    sp_free(values);
}

TEST(rows_are_found_if_key_prefixes_differ)
{
    hold("%04u%02u");
}

TEST(rows_are_found_if_a_hundred_keys_share_a_prefix)
{
    hold("%08u/%02u");
}

TEST(rows_are_found_if_all_keys_share_a_prefix)
{
    hold("the same head/%04u%02u");
}

static struct sp_rows filled(uint32_t from, uint32_t to, int step)
{
    struct sp_rows rows = {0};
    for (uint32_t n = from; n != to; n += (uint32_t)step)
        sp_rows_put(&rows, row_of(n, n + 1, "the same head/%04u%02u"));
    return rows;
}

TEST(leaves_are_full_where_rows_come_in_order)
{
    struct sp_rows rows = filled(0, KEYS, 1);
    CU_ASSERT_EQUAL(rows.leaves, (KEYS + 61) / 62);
    sp_rows_clear(&rows);
}

/* Leaves are at least half full when keys arrive in descending order. */
TEST(few_rows_are_in_few_leaves)
{
    struct sp_rows rows = filled(KEYS - 1, UINT32_MAX, -1);
    CU_ASSERT_EQUAL(rows.count, KEYS);
    CU_ASSERT(rows.leaves <= KEYS / 31 + 1);
    struct key buffer;
    for (uint32_t n = 0; n < KEYS; n++)
        if (n % 64)
            sp_rows_erase(&rows, key_of(n, "the same head/%04u%02u", &buffer));
    CU_ASSERT_EQUAL(rows.count, (KEYS + 63) / 64);
    CU_ASSERT(rows.leaves <= rows.count / 4);
    for (uint32_t n = 0; n < KEYS; n += 64)
        sp_rows_erase(&rows, key_of(n, "the same head/%04u%02u", &buffer));
    CU_ASSERT_EQUAL(rows.count + rows.bytes, 0);
    CU_ASSERT(rows.leaves <= 1);
    sp_rows_put(&rows, row_of(7, 8, "%u%u"));
    CU_ASSERT_EQUAL(rows.count, 1);
    sp_rows_clear(&rows);
}

/* Freeing the tree reads no row: the address sanitizer would report it. */
TEST(dropping_the_tree_reads_no_row)
{
    static const char zeros[16];
    struct sp_rows rows = {0};
    struct sp_stored_row *taken[17];
    for (size_t i = 0; i < 17; i++) {
        taken[i] = sp_stored_row_new(sp_view(zeros, i), sp_view(NULL, 0), false);
        sp_rows_put(&rows, taken[i]);
    }
    CU_ASSERT_EQUAL(rows.count, 17);
    for (size_t i = 0; i < 17; i++)
        sp_free(taken[i]);
    sp_rows_let_go(&rows);
    CU_ASSERT_PTR_NULL(rows.root);
}
