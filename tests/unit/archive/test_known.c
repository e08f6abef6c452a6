/* Look-ups of an archive's records by payload, URL and similarity, before and after the log is read
 * again. */
#include "archive/known.h"
#include "harness.h"
#include "page/builder.h"

static struct sp_signature *signature_of(const uint64_t *words, size_t count)
{
    struct sp_signature_options o = {.max_shingles = 1024};
    struct sp_builder *b = sp_builder_new(&o);
    sp_builder_begin(b);
    sp_builder_words(b, words, count);
    struct sp_signature *s = sp_builder_finish(b, 0);
    sp_builder_free(b);
    return s;
}

enum { WORDS = 300 };

/* A signature of text `text` with `changed` consecutive words replaced. */
static struct sp_signature *page(uint64_t text, size_t changed)
{
    uint64_t words[WORDS];
    for (size_t i = 0; i < WORDS; i++)
        words[i] = sp_mix64(text << 32 | i) + (i < changed);
    return signature_of(words, WORDS);
}

static uint32_t add(struct sp_known *k, uint64_t payload, uint64_t url,
                    const struct sp_signature *signature, struct sp_buf *log)
{
    struct sp_known_record r = {.payload = {payload, payload}, .url = {url, url}};
    r.place = (struct sp_place){1, payload};
    r.parent = sp_known_count(k);
    return sp_known_add(k, &r, signature, log);
}

static void check_known(struct sp_known *k, const struct sp_signature *probe)
{
    uint32_t like[SP_KNOWN_LIKE];
    CU_ASSERT_EQUAL(sp_known_count(k), 4);
    CU_ASSERT_EQUAL(sp_known_payload(k, (struct sp_id){10, 10}), 0); /* the first one */
    CU_ASSERT_EQUAL(sp_known_payload(k, (struct sp_id){0, 0}), SP_KNOWN_NONE);
    CU_ASSERT_EQUAL(sp_known_payload(k, (struct sp_id){99, 99}), SP_KNOWN_NONE);
    CU_ASSERT_EQUAL(sp_known_url(k, (struct sp_id){5, 5}), 0); /* a repeated URL */
    CU_ASSERT_EQUAL(sp_known_url(k, (struct sp_id){7, 7}), 3);
    CU_ASSERT_EQUAL(sp_known_url(k, (struct sp_id){8, 8}), SP_KNOWN_NONE);
    CU_ASSERT_EQUAL_FATAL(sp_known_like(k, probe, like), 2);
    CU_ASSERT_EQUAL(like[0], 1);
    CU_ASSERT_EQUAL(like[1], 0);
    CU_ASSERT_EQUAL(sp_known_at(k, 1)->place.offset, 11);
}

TEST(records_are_found_and_found_again_from_the_log)
{
    struct sp_signature *base = page(1, 0), *near = page(1, 20), *probe = page(1, 22),
                        *other = page(2, 0);
    struct sp_known *k = sp_known_new(0.5), *again = sp_known_new(0.5);
    struct sp_buf log = {0};
    add(k, 10, 5, base, &log);
    add(k, 11, 6, near, &log);
    add(k, 10, 5, other, &log);
    add(k, 0, 7, NULL, &log);
    sp_known_seen(k, (struct sp_id){5, 5}, 0, &log);
    check_known(k, probe);
    CU_ASSERT_EQUAL(sp_known_load(again, sp_buf_view(&log)), SP_OK);
    check_known(again, probe);
    for (size_t n = 1; n < log.len; n++) { /* any prefix is either loaded or refused */
        struct sp_known *part = sp_known_new(0.5);
        enum sp_err err = sp_known_load(part, sp_view(log.data, n));
        CU_ASSERT_TRUE(err == SP_OK || err == SP_CORRUPT);
        CU_ASSERT_TRUE(sp_known_count(part) <= 4);
        sp_known_free(part);
    }
    sp_buf_done(&log);
    sp_known_free(k);
    sp_known_free(again);
    sp_signature_unref(base);
    sp_signature_unref(near);
    sp_signature_unref(probe);
    sp_signature_unref(other);
}
