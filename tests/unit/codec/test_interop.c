/* avro-c, with the schema files, decodes what samepage encodes, finds each field in its place, and
 * encodes the same bytes. It is an independent implementation. */
#include <avro.h>
#include <stdio.h>

#include "base/mem.h"
#include "harness.h"
#include "samples.h"

struct peer {
    avro_schema_t schema;
    avro_value_iface_t *iface;
    avro_value_t value;
};

static void peer_open(struct peer *peer, const char *name)
{
    char path[512], text[32768];
    snprintf(path, sizeof path, "%s/%s.avsc", SP_SCHEMAS, name);
    FILE *f = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    size_t len = fread(text, 1, sizeof text, f);
    fclose(f);
    CU_ASSERT_FATAL(len < sizeof text);
    int failed = avro_schema_from_json_length(text, len, &peer->schema);
    if (failed)
        printf("%s: %s\n", path, avro_strerror());
    CU_ASSERT_FATAL(!failed);
    peer->iface = avro_generic_class_from_schema(peer->schema);
    avro_generic_value_new(peer->iface, &peer->value);
}

static void peer_close(struct peer *peer)
{
    avro_value_decref(&peer->value);
    avro_value_iface_decref(peer->iface);
    avro_schema_decref(peer->schema);
}

/* Whether avro-c decodes exactly these bytes and encodes them again. */
static bool peer_agrees(struct peer *peer, struct sp_view body)
{
    char *again = sp_alloc(body.len + 1);
    avro_reader_t reader = avro_reader_memory(body.data, (int64_t)body.len);
    avro_writer_t writer = avro_writer_memory(again, (int64_t)body.len + 1);
    char beyond;
    avro_value_reset(&peer->value);
    bool same = avro_value_read(reader, &peer->value) == 0 &&
                avro_read(reader, &beyond, 1) != 0 && /* no bytes left */
                avro_value_write(writer, &peer->value) == 0 &&
                avro_writer_tell(writer) == (int64_t)body.len &&
                memcmp(again, body.data, body.len) == 0;
    avro_reader_free(reader);
    avro_writer_free(writer);
    sp_free(again);
    return same;
}

static struct sp_view behind(const struct sp_buf *b, size_t frame)
{
    return sp_view(b->data + frame, b->len - frame);
}

static avro_value_t field(const avro_value_t *record, const char *name)
{
    avro_value_t value = {0};
    CU_ASSERT_FATAL(avro_value_get_by_name(record, name, &value, NULL) == 0);
    return value;
}

static avro_value_t branch_of(const avro_value_t *record, const char *name)
{
    avro_value_t value = field(record, name), branch = {0};
    CU_ASSERT_FATAL(avro_value_get_current_branch(&value, &branch) == 0);
    return branch;
}

static int64_t long_of(avro_value_t value)
{
    int64_t x = 0;
    CU_ASSERT(avro_value_get_long(&value, &x) == 0);
    return x;
}

/* True if the record has no such field. */
static bool long_is(const avro_value_t *record, const char *name, int64_t expected)
{
    avro_value_t value;
    return avro_value_get_by_name(record, name, &value, NULL) != 0 || long_of(value) == expected;
}

static bool birth_is(const avro_value_t *record, const char *name, uint64_t expected)
{
    avro_value_t value;
    return avro_value_get_by_name(record, name, &value, NULL) != 0 ||
           long_is(&value, "birth", (int64_t)expected);
}

/* Swapped fields would pass a byte comparison, so values are compared too. */
static bool payload_agrees(const avro_value_t *r, const struct sp_message *m)
{
    switch (m->kind) {
    case SP_MSG_CRAWLED:
        return long_is(r, "version", m->crawled.version);
    case SP_MSG_APPLIED:
        return long_is(r, "content_version", m->applied.content_version);
    case SP_MSG_MATCH:
    case SP_MSG_FIND_GROUP:
    case SP_MSG_LINK:
    case SP_MSG_UNION:
    case SP_MSG_DISSOLVE:
    case SP_MSG_MEMBERS:
        return long_is(r, "content_version", m->link.content_version) &&
               birth_is(r, "group", m->link.group.birth) && birth_is(r, "far", m->link.far.birth);
    case SP_MSG_ASSIGNED:
        return long_is(r, "epoch", (int64_t)m->assigned.epoch) &&
               birth_is(r, "far", m->assigned.far.birth);
    case SP_MSG_STATUS:
        return long_is(r, "content_version", m->verdict.content_version) &&
               long_is(r, "epoch", (int64_t)m->verdict.epoch) &&
               long_is(r, "group_size", m->verdict.group_size) &&
               birth_is(r, "far", m->verdict.far.birth);
    case SP_MSG_MOVE:
        return long_is(r, "content_version", m->move.content_version);
    case SP_MSG_CHANGE:
        return long_is(r, "version", m->change.version) &&
               long_is(r, "content_version", m->change.content_version) &&
               birth_is(r, "group", m->change.group.birth);
    case SP_MSG_ERASE:
        return true; /* no numbers except the clock */
    case SP_MSG_WAIT:
        return birth_is(r, "group", m->wait.group.birth) && birth_is(r, "far", m->wait.far.birth);
    case SP_MSG_PUT:
        return long_is(r, "cell", m->put.cell) &&
               long_is(r, "content_version", m->put.content_version);
    case SP_MSG_REMOVE:
        return long_is(r, "cell", m->remove.cell) &&
               long_is(r, "content_version", m->remove.content_version);
    case SP_MSG_PROBE:
        return long_is(r, "cell", m->probe.cell) &&
               long_is(r, "content_version", m->probe.content_version);
    case SP_MSG_AGAIN:
        return long_is(r, "cell", m->again.cell) && long_is(r, "from", m->again.from);
    }
    return false;
}

static bool numbers_agree(const avro_value_t *peer, const struct sp_message *m)
{
    avro_value_t r;
    return avro_value_get_current_branch(peer, &r) == 0 &&
           long_is(&r, "clock", (int64_t)m->clock) && payload_agrees(&r, m);
}

static bool messages_agree(const char *schema, int first, int last)
{
    struct peer peer;
    struct sp_buf out = {0};
    bool agree = true;
    peer_open(&peer, schema);
    for (int kind = first; kind <= last; kind++)
        for (uint64_t seed = 0; seed < 200; seed++) {
            struct sample s = {seed << 8 | (unsigned)kind};
            struct sp_message *m = sample_message(&s, (enum sp_message_kind)kind);
            sp_buf_reset(&out);
            sp_message_encode(m, &out);
            int branch = -1;
            bool same = peer_agrees(&peer, behind(&out, 10)) &&
                        avro_value_get_discriminant(&peer.value, &branch) == 0 &&
                        branch == kind - first && numbers_agree(&peer.value, m);
            if (!same)
                printf("%s, seed %d\n", sp_message_name(m->kind), (int)seed);
            agree = agree && same;
            sp_message_free(m);
        }
    peer_close(&peer);
    sp_buf_done(&out);
    return agree;
}

TEST(avro_c_reads_messages_of_tier_1)
{
    CU_ASSERT(messages_agree("tier1", SP_MSG_CRAWLED, SP_MSG_WAIT));
}

TEST(avro_c_reads_messages_of_tier_2)
{
    CU_ASSERT(messages_agree("tier2", SP_MSG_PUT, SP_MSG_AGAIN));
}

static bool string_is(avro_value_t value, const char *expected)
{
    const char *text = NULL;
    size_t size;
    return avro_value_get_string(&value, &text, &size) == 0 && strcmp(text, expected) == 0;
}

static bool enum_is(avro_value_t value, const char *expected)
{
    int symbol = -1;
    avro_value_get_enum(&value, &symbol);
    const char *name = avro_schema_enum_get(avro_value_get_schema(&value), symbol);
    return name && strcmp(name, expected) == 0;
}

static bool id_is(avro_value_t value, const char *bytes)
{
    const void *data = NULL;
    size_t size = 0;
    return avro_value_get_fixed(&value, &data, &size) == 0 && size == 16 &&
           memcmp(data, bytes, 16) == 0;
}

TEST(fields_have_their_names)
{
    struct peer peer;
    struct sp_buf out = {0};
    peer_open(&peer, "tier1");
    struct sp_message *m = sp_message_new(SP_MSG_STATUS);
    m->clock = 11;
    m->page = (struct sp_id){0x0102030405060708, 0x090a0b0c0d0e0f10};
    m->verdict.far = (struct sp_group_id){12, {1, 2}};
    m->verdict.epoch = 13;
    m->verdict.content_version = 14;
    m->verdict.status = SP_STATUS_LOSER;
    m->verdict.reason = SP_REASON_REDIRECT;
    m->verdict.group_size = 15;
    m->verdict.winner_url = sp_memdup("w", 2);
    sp_message_encode(m, &out);
    CU_ASSERT(peer_agrees(&peer, behind(&out, 10)));
    avro_value_t record, far;
    avro_value_get_current_branch(&peer.value, &record);
    CU_ASSERT_EQUAL(long_of(field(&record, "clock")), 11);
    CU_ASSERT(id_is(field(&record, "page"), "\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20"));
    far = field(&record, "far");
    CU_ASSERT_EQUAL(long_of(field(&far, "birth")), 12);
    CU_ASSERT_EQUAL(long_of(field(&record, "epoch")), 13);
    CU_ASSERT_EQUAL(long_of(field(&record, "content_version")), 14);
    CU_ASSERT(enum_is(field(&record, "status"), "loser"));
    CU_ASSERT(enum_is(field(&record, "reason"), "redirect"));
    CU_ASSERT_EQUAL(long_of(field(&record, "group_size")), 15);
    CU_ASSERT(string_is(branch_of(&record, "winner_url"), "w"));
    sp_message_free(m);
    m = sp_message_new(SP_MSG_CHANGE);
    m->change.version = 21;
    m->change.content_version = 22;
    m->change.page_kind = SP_PAGE_DEAD;
    m->bounced = true;
    m->change.rank.url_bytes = 23;
    sp_buf_reset(&out);
    sp_message_encode(m, &out);
    CU_ASSERT(peer_agrees(&peer, behind(&out, 10)));
    avro_value_get_current_branch(&peer.value, &record);
    int bounced = 0;
    avro_value_t value = field(&record, "bounced"), rank = field(&record, "rank");
    CU_ASSERT(avro_value_get_boolean(&value, &bounced) == 0 && bounced);
    CU_ASSERT_EQUAL(long_of(field(&record, "version")), 21);
    CU_ASSERT_EQUAL(long_of(field(&record, "content_version")), 22);
    CU_ASSERT(enum_is(field(&record, "page_kind"), "dead"));
    CU_ASSERT_EQUAL(long_of(field(&rank, "url_bytes")), 23);
    sp_message_free(m);
    peer_close(&peer);
    sp_buf_done(&out);
}

TEST(avro_c_reads_pages)
{
    struct peer peer;
    struct sp_buf out = {0};
    peer_open(&peer, "page");
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct sample s = {seed};
        struct sp_page_record page = sample_page(&s);
        sp_buf_reset(&out);
        sp_page_encode(&page, NULL, &out);
        CU_ASSERT(peer_agrees(&peer, behind(&out, 10)));
    }
    struct sp_page_record page = {.url = sp_view_str("u"),
                                  .fetch_time_ms = 5,
                                  .http_status = 301,
                                  .redirect_url = sp_view_str("r"),
                                  .content_type = sp_view_str("t"),
                                  .popularity = 0.5,
                                  .content = sp_view_str("c"),
                                  .content_is_utf8 = true};
    sp_buf_reset(&out);
    sp_page_encode(&page, NULL, &out);
    CU_ASSERT(peer_agrees(&peer, behind(&out, 10)));
    int32_t status = 0;
    avro_value_t value = field(&peer.value, "http_status");
    CU_ASSERT(avro_value_get_int(&value, &status) == 0 && status == 301);
    CU_ASSERT(string_is(field(&peer.value, "url"), "u"));
    CU_ASSERT_EQUAL(long_of(branch_of(&peer.value, "fetch_time_ms")), 5);
    CU_ASSERT(string_is(branch_of(&peer.value, "redirect_url"), "r"));
    CU_ASSERT(string_is(branch_of(&peer.value, "content_type"), "t"));
    CU_ASSERT(string_is(branch_of(&peer.value, "content"), "c"));
    peer_close(&peer);
    sp_buf_done(&out);
}

TEST(avro_c_reads_status_events)
{
    struct peer peer;
    struct sp_buf out = {0};
    peer_open(&peer, "status");
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct sample s = {seed};
        struct sp_status_event event = sample_status(&s);
        sp_buf_reset(&out);
        sp_status_encode(&event, NULL, &out);
        CU_ASSERT(peer_agrees(&peer, behind(&out, 10)));
        CU_ASSERT(string_is(field(&peer.value, "url"), event.url));
        CU_ASSERT_EQUAL(long_of(field(&peer.value, "version_ms")), event.version_ms);
        CU_ASSERT(enum_is(field(&peer.value, "status"), sp_status_name(event.status)));
        CU_ASSERT_EQUAL(long_of(field(&peer.value, "group_size")), event.group_size);
        CU_ASSERT_EQUAL((uint64_t)long_of(field(&peer.value, "epoch")), event.epoch);
        if (event.reason)
            CU_ASSERT(enum_is(branch_of(&peer.value, "reason"), sp_reason_name(event.reason)));
        if (event.rule)
            CU_ASSERT(enum_is(branch_of(&peer.value, "rule"), sp_rank_rule_name(event.rule)));
        if (event.contained_in)
            CU_ASSERT(string_is(branch_of(&peer.value, "contained_in"), event.contained_in));
        if (event.winner_url)
            CU_ASSERT(string_is(branch_of(&peer.value, "winner_url"), event.winner_url));
    }
    peer_close(&peer);
    sp_buf_done(&out);
}
