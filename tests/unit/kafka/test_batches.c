/* Record batches as a broker sends them, made here byte by byte. */
#include <endian.h>

#include "harness.h"
#include "kafka/batches.h"

enum { TRANSACTIONAL = 16, CONTROL = 32, LZ4 = 3, ROOM = 4096 };

/* ---- writing ---- */

static void put_big(struct sp_buf *out, uint64_t x, size_t bytes)
{
    uint64_t big = htobe64(x);
    sp_buf_put(out, (const char *)&big + sizeof big - bytes, bytes);
}

static void put_field(struct sp_buf *out, struct sp_view v)
{
    sp_buf_put_zigzag(out, v.data ? (int64_t)v.len : -1);
    sp_buf_put_view(out, v);
}

static void put_record(struct sp_buf *out, int64_t offset, struct sp_view key, struct sp_view value)
{
    struct sp_buf body = {0};
    sp_buf_put_u8(&body, 0);
    sp_buf_put_zigzag(&body, 1000 * offset); /* time */
    sp_buf_put_zigzag(&body, offset);
    put_field(&body, key);
    put_field(&body, value);
    sp_buf_put_zigzag(&body, 0); /* headers */
    sp_buf_put_zigzag(out, (int64_t)body.len);
    sp_buf_put_view(out, sp_buf_view(&body));
    sp_buf_done(&body);
}

struct batch {
    int64_t base;
    uint32_t last; /* relative */
    uint16_t attributes;
    int64_t producer;
    uint32_t count;
    struct sp_buf records;
};

static void put_batch(struct sp_buf *out, struct batch *b)
{
    enum { COUNTED_HEADER = 49 };
    put_big(out, (uint64_t)b->base, 8);
    put_big(out, COUNTED_HEADER + b->records.len, 4);
    put_big(out, 0, 4);
    sp_buf_put_u8(out, 2);
    put_big(out, 0, 4);
    put_big(out, b->attributes, 2);
    put_big(out, b->last, 4);
    put_big(out, 0, 8);
    put_big(out, 0, 8);
    put_big(out, (uint64_t)b->producer, 8);
    put_big(out, 0, 2);
    put_big(out, 0, 4);
    put_big(out, b->count, 4);
    sp_buf_put_view(out, sp_buf_view(&b->records));
    sp_buf_done(&b->records);
}

/* A batch of `count` records whose values are a word. */
static void put_rows(struct sp_buf *out, int64_t base, uint32_t count, uint16_t attributes,
                     int64_t producer, const char *word)
{
    struct batch b = {base, count - 1, attributes, producer, count, {0}};
    for (uint32_t i = 0; i < count; i++)
        put_record(&b.records, i, sp_view("key", 3), sp_view_str(word));
    put_batch(out, &b);
}

static void put_end(struct sp_buf *out, int64_t base, int64_t producer, bool committed)
{
    const char key[] = {0, 0, 0, (char)committed};
    struct batch b = {base, 0, TRANSACTIONAL | CONTROL, producer, 1, {0}};
    put_record(&b.records, 0, sp_view(key, sizeof key), sp_view("\0\0\0\0\0", 6));
    put_batch(out, &b);
}

/* ---- reading ---- */

/* The offsets and values of all records: "3=a 4=b ". */
static const char *read_all(struct sp_batches *b)
{
    static char text[ROOM];
    struct sp_changelog_record record;
    size_t at = 0;
    text[0] = 0;
    while (sp_batches_next(b, &record) && at < ROOM / 2)
        at += (size_t)snprintf(text + at, ROOM - at, "%d=%.*s ", (int)record.offset,
                               record.value.data ? (int)record.value.len : 1,
                               record.value.data ? record.value.data : "-");
    return text;
}

static struct sp_batches reader(const struct sp_buf *bytes, int64_t from)
{
    return sp_batches(sp_buf_view(bytes), NULL, 0, from);
}

TEST(records_have_the_offsets_keys_and_values_of_the_log)
{
    struct sp_buf bytes = {0};
    struct sp_changelog_record record;
    struct batch b = {70, 5, 0, -1, 3, {0}};
    put_record(&b.records, 0, sp_view("k", 1), sp_view("v", 1));
    put_record(&b.records, 3, sp_view("", 0), sp_view("", 0)); /* compaction leaves gaps */
    put_record(&b.records, 5, sp_view("gone", 4), sp_view(NULL, 0));
    put_batch(&bytes, &b);
    struct sp_batches r = reader(&bytes, 70);
    CU_ASSERT_TRUE_FATAL(sp_batches_next(&r, &record));
    CU_ASSERT_EQUAL(record.offset, 70);
    CU_ASSERT_TRUE(sp_view_eq(record.key, sp_view("k", 1)));
    CU_ASSERT_TRUE(sp_view_eq(record.value, sp_view("v", 1)));
    CU_ASSERT_TRUE_FATAL(sp_batches_next(&r, &record));
    CU_ASSERT_EQUAL(record.offset, 73);
    CU_ASSERT_EQUAL(record.key.len, 0);
    CU_ASSERT_PTR_NOT_NULL(record.value.data);
    CU_ASSERT_TRUE_FATAL(sp_batches_next(&r, &record));
    CU_ASSERT_EQUAL(record.offset, 75);
    CU_ASSERT_PTR_NULL(record.value.data);
    CU_ASSERT_FALSE(sp_batches_next(&r, &record));
    CU_ASSERT_FALSE(r.strange);
    CU_ASSERT_EQUAL(r.next, 76);
    sp_buf_done(&bytes);
}

TEST(what_is_before_the_offset_or_cut_is_left_out)
{
    struct sp_buf bytes = {0};
    put_rows(&bytes, 10, 3, 0, -1, "a");
    put_rows(&bytes, 13, 2, 0, -1, "b");
    struct sp_batches whole = reader(&bytes, 11);
    CU_ASSERT_STRING_EQUAL(read_all(&whole), "11=a 12=a 13=b 14=b ");
    CU_ASSERT_EQUAL(sp_batches_end(sp_buf_view(&bytes), 11), 15);
    size_t first = bytes.len;
    put_rows(&bytes, 15, 2, 0, -1, "c");
    while (bytes.len > first) {
        bytes.len--;
        struct sp_batches cut = reader(&bytes, 12);
        CU_ASSERT_STRING_EQUAL(read_all(&cut), "12=a 13=b 14=b ");
        CU_ASSERT_EQUAL(cut.next, 15);
        CU_ASSERT_FALSE(cut.strange);
        CU_ASSERT_EQUAL(sp_batches_end(sp_buf_view(&bytes), 12), 15);
    }
    sp_buf_done(&bytes);
}

/* Compaction leaves a batch without records where a producer's last one was. */
TEST(a_batch_without_records_is_passed)
{
    struct sp_buf bytes = {0};
    struct batch empty = {5, 9, 0, 1, 0, {0}};
    put_batch(&bytes, &empty);
    put_rows(&bytes, 15, 1, 0, -1, "a");
    struct sp_batches r = reader(&bytes, 5);
    CU_ASSERT_STRING_EQUAL(read_all(&r), "15=a ");
    CU_ASSERT_EQUAL(r.next, 16);
    sp_buf_done(&bytes);
}

TEST(aborted_transactions_are_left_out)
{
    struct sp_buf bytes = {0};
    struct sp_aborted aborted[] = {{7, 0, false}, {9, 6, false}};
    put_rows(&bytes, 0, 2, TRANSACTIONAL, 7, "x");
    put_rows(&bytes, 2, 1, TRANSACTIONAL, 8, "a"); /* another producer */
    put_rows(&bytes, 3, 1, 0, 7, "b");             /* not in a transaction */
    put_rows(&bytes, 4, 1, TRANSACTIONAL, 7, "x");
    put_end(&bytes, 5, 7, false);
    put_rows(&bytes, 6, 1, TRANSACTIONAL, 9, "x");
    put_rows(&bytes, 7, 1, TRANSACTIONAL, 7, "c"); /* its next transaction */
    put_end(&bytes, 8, 7, true);
    put_end(&bytes, 9, 9, false);
    put_rows(&bytes, 10, 1, TRANSACTIONAL, 9, "d");
    struct sp_batches r = sp_batches(sp_buf_view(&bytes), aborted, 2, 0);
    CU_ASSERT_STRING_EQUAL(read_all(&r), "2=a 3=b 7=c 10=d ");
    CU_ASSERT_EQUAL(r.next, 11);
    CU_ASSERT_FALSE(r.strange);
    sp_buf_done(&bytes);
}

/* The aborted transaction began after a committed one of the same producer. */
TEST(a_transaction_before_the_aborted_one_is_kept)
{
    struct sp_buf bytes = {0};
    struct sp_aborted aborted[] = {{7, 2, false}};
    put_rows(&bytes, 0, 1, TRANSACTIONAL, 7, "a");
    put_end(&bytes, 1, 7, true);
    put_rows(&bytes, 2, 1, TRANSACTIONAL, 7, "x");
    put_end(&bytes, 3, 7, false);
    struct sp_batches r = sp_batches(sp_buf_view(&bytes), aborted, 1, 0);
    CU_ASSERT_STRING_EQUAL(read_all(&r), "0=a ");
    CU_ASSERT_EQUAL(r.next, 4);
    sp_buf_done(&bytes);
}

static void check_strange(const struct sp_buf *bytes, const char *before, int64_t next)
{
    struct sp_batches r = reader(bytes, 0);
    CU_ASSERT_STRING_EQUAL(read_all(&r), before);
    CU_ASSERT_TRUE(r.strange);
    CU_ASSERT_EQUAL(r.next, next);
}

TEST(a_compressed_batch_is_strange)
{
    struct sp_buf bytes = {0};
    put_rows(&bytes, 0, 2, 0, -1, "a");
    put_rows(&bytes, 2, 1, LZ4, -1, "b");
    check_strange(&bytes, "0=a 1=a ", 2);
    sp_buf_done(&bytes);
}

TEST(a_batch_of_another_magic_is_strange)
{
    enum { AT_MAGIC = 16 };
    struct sp_buf bytes = {0};
    put_rows(&bytes, 0, 1, 0, -1, "a");
    size_t second = bytes.len;
    put_rows(&bytes, 1, 1, 0, -1, "b");
    bytes.data[second + AT_MAGIC] = 1;
    check_strange(&bytes, "0=a ", 1);
    CU_ASSERT_EQUAL(sp_batches_end(sp_buf_view(&bytes), 0), 1);
    sp_buf_done(&bytes);
}

/* A record with a length, an offset or a number of records that its batch does not have. */
TEST(a_damaged_batch_is_strange)
{
    struct sp_buf bytes = {0};
    struct batch more = {0, 0, 0, -1, 2, {0}}, later = {0, 0, 0, -1, 1, {0}};
    put_record(&more.records, 0, sp_view("k", 1), sp_view("a", 1));
    put_batch(&bytes, &more);
    check_strange(&bytes, "0=a ", 0);
    sp_buf_reset(&bytes);
    put_record(&later.records, 1, sp_view("k", 1), sp_view("a", 1));
    put_batch(&bytes, &later);
    check_strange(&bytes, "", 0);
    enum { AT_KEY_LENGTH = 61 + 4 };
    for (int length = 2; length < 256; length++) {
        sp_buf_reset(&bytes);
        put_rows(&bytes, 0, 1, 0, -1, "a");
        bytes.data[AT_KEY_LENGTH] = (char)length;
        struct sp_batches r = reader(&bytes, 0);
        struct sp_changelog_record record;
        CU_ASSERT(sp_batches_next(&r, &record) ? record.key.len < bytes.len : r.strange);
    }
    sp_buf_done(&bytes);
}
