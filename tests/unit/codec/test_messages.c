/* Messages between stages: encoding and decoding change nothing. */
#include "base/mem.h"
#include "harness.h"
#include "samples.h"

/* Returns -1 if the message changed. */
static long round_trip(struct sample *s, enum sp_message_kind kind)
{
    struct sp_message *m = sample_message(s, kind), *back = NULL;
    struct sp_buf out = {0};
    sp_message_encode(m, &out);
    bool same = sp_message_decode(sp_buf_view(&out), &back) == SP_OK &&
                sample_same_message(m, back) && sp_message_tier(back) == sp_message_tier(m);
    long bytes = same ? (long)out.len : -1;
    sp_message_free(back);
    sp_message_free(m);
    sp_buf_done(&out);
    return bytes;
}

TEST(every_kind_of_message_encodes_and_decodes_unchanged)
{
    for (int kind = SP_MSG_CRAWLED; kind < SP_MSG_KINDS; kind++)
        for (uint64_t seed = 0; seed < 500; seed++) {
            struct sample s = {seed << 8 | (unsigned)kind};
            CU_ASSERT(round_trip(&s, (enum sp_message_kind)kind) > 0);
        }
}

TEST(the_kind_is_known_without_decoding)
{
    for (int kind = SP_MSG_CRAWLED; kind < SP_MSG_KINDS; kind++) {
        struct sample s = {(uint64_t)kind << 8 | 3};
        struct sp_message *m = sample_message(&s, (enum sp_message_kind)kind);
        struct sp_buf out = {0};
        sp_message_encode(m, &out);
        CU_ASSERT_EQUAL(sp_message_peek(sp_buf_view(&out)), kind);
        CU_ASSERT_EQUAL(sp_message_peek(sp_view(out.data, 5)), 0);
        out.data[3] ^= 1;
        CU_ASSERT_EQUAL(sp_message_peek(sp_buf_view(&out)), 0);
        sp_message_free(m);
        sp_buf_done(&out);
    }
}

TEST(messages_are_small)
{
    struct sp_message *m = sp_message_new(SP_MSG_ASSIGNED);
    struct sp_buf out = {0};
    m->clock = 1000000;
    m->assigned.far.birth = 900000;
    m->assigned.epoch = 3;
    sp_message_encode(m, &out);
    CU_ASSERT(out.len <= 10 + 1 + 3 + 16 + 3 + 16 + 1);
    sp_message_free(m);
    sp_buf_done(&out);
}

/* Encoding appends: one buffer holds several framed messages. */
TEST(encoding_appends)
{
    struct sample s = {7};
    struct sp_message *a = sample_message(&s, SP_MSG_PUT), *b = sample_message(&s, SP_MSG_LINK);
    struct sp_message *back = NULL;
    struct sp_buf out = {0};
    sp_message_encode(a, &out);
    size_t first = out.len;
    sp_message_encode(b, &out);
    CU_ASSERT(sp_message_decode(sp_view(out.data + first, out.len - first), &back) == SP_OK);
    CU_ASSERT(sample_same_message(b, back));
    sp_message_free(back);
    CU_ASSERT(sp_message_decode(sp_buf_view(&out), &back) == SP_MALFORMED);
    sp_message_free(a);
    sp_message_free(b);
    sp_buf_done(&out);
}

/* Decoders reject messages on which an actor would assert. */
TEST(messages_that_break_the_rules_of_their_kind_are_refused)
{
    static const enum sp_message_kind need_edges[] = {SP_MSG_MATCH, SP_MSG_FIND_GROUP, SP_MSG_LINK,
                                                      SP_MSG_UNION, SP_MSG_DISSOLVE};
    struct sp_message *back = NULL;
    struct sp_buf out = {0};
    for (size_t i = 0; i < sizeof need_edges / sizeof *need_edges; i++) {
        struct sp_message *m = sp_message_new(need_edges[i]);
        sp_buf_reset(&out);
        sp_message_encode(m, &out);
        CU_ASSERT(sp_message_decode(sp_buf_view(&out), &back) == SP_MALFORMED);
        sp_message_free(m);
    }
    struct sample s = {3};
    struct sp_message *m = sample_message(&s, SP_MSG_CRAWLED);
    sp_signature_unref(m->crawled.signature);
    m->crawled.signature = NULL;
    m->crawled.page_kind = SP_PAGE_CONTENT; /* content without a signature */
    sp_buf_reset(&out);
    sp_message_encode(m, &out);
    CU_ASSERT(sp_message_decode(sp_buf_view(&out), &back) == SP_MALFORMED);
    m->crawled.page_kind = SP_PAGE_REDIRECT; /* a redirect to nowhere */
    m->crawled.target = (struct sp_id){0, 0};
    sp_buf_reset(&out);
    sp_message_encode(m, &out);
    CU_ASSERT(sp_message_decode(sp_buf_view(&out), &back) == SP_MALFORMED);
    m->crawled.page_kind = SP_PAGE_DEAD; /* a rank that is not a number */
    m->crawled.rank.popularity = __builtin_nan("");
    sp_buf_reset(&out);
    sp_message_encode(m, &out);
    CU_ASSERT(sp_message_decode(sp_buf_view(&out), &back) == SP_MALFORMED);
    sp_message_free(m);
    m = sp_message_new(SP_MSG_STATUS); /* of no group */
    sp_buf_reset(&out);
    sp_message_encode(m, &out);
    CU_ASSERT(sp_message_decode(sp_buf_view(&out), &back) == SP_MALFORMED);
    CU_ASSERT_PTR_NULL(back);
    sp_message_free(m);
    sp_buf_done(&out);
}

/* Earlier stages told a redirect so to forget the URL of its target. Read without the target, the
 * message would erase the redirect. */
TEST(an_erasure_that_names_a_target_is_refused)
{
    enum { BRANCH = 8 + 2 + 1 + 1 + 16 }; /* after fingerprint, kind, clock and page */
    struct sp_message *m = sp_message_new(SP_MSG_ERASE), *back = NULL;
    struct sp_buf out = {0}, old = {0};
    m->page = (struct sp_id){1, 2};
    m->erase.url = sp_strdup("");
    sp_message_encode(m, &out);
    CU_ASSERT_FATAL(out.len > BRANCH && out.data[BRANCH] == 0);
    sp_buf_put(&old, out.data, BRANCH);
    sp_buf_put_u8(&old, 2); /* the second branch */
    sp_buf_put_id(&old, (struct sp_id){3, 4});
    sp_buf_put(&old, out.data + BRANCH + 1, out.len - BRANCH - 1);
    CU_ASSERT_EQUAL(sp_message_decode(sp_buf_view(&old), &back), SP_MALFORMED);
    CU_ASSERT_PTR_NULL(back);
    sp_message_free(m);
    sp_buf_done(&out);
    sp_buf_done(&old);
}
