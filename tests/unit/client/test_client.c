/* The status client against librdkafka's mock cluster: what it refuses, what it returns for events,
 * deletions and undecodable bytes, and where it resumes after a commit. The mock hardly supports
 * transactions; tests/kafka covers them with a real broker. */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "base/mem.h"
#include "client/ends.h"
#include "codec/codec.h"
#include "harness.h"
#include "samepage/status.h"

enum { TIMEOUT_MS = 60000 };

struct broker {
    rd_kafka_t *producer;
    const char *bootstraps;
};

static struct broker begin(void)
{
    char why[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "test.mock.num.brokers", "1", why, sizeof why);
    struct broker b = {rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why), NULL};
    CU_ASSERT_PTR_NOT_NULL_FATAL(b.producer);
    rd_kafka_mock_cluster_t *cluster = rd_kafka_handle_mock_cluster(b.producer);
    rd_kafka_mock_topic_create(cluster, "status", 1, 1);
    b.bootstraps = rd_kafka_mock_cluster_bootstraps(cluster);
    return b;
}

static void end(struct broker *b)
{
    rd_kafka_destroy(b->producer);
}

static void produce(struct broker *b, struct sp_view value)
{
    rd_kafka_resp_err_t err =
        rd_kafka_producev(b->producer, RD_KAFKA_V_TOPIC("status"), RD_KAFKA_V_PARTITION(0),
                          RD_KAFKA_V_KEY("k", 1), RD_KAFKA_V_VALUE((void *)value.data, value.len),
                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
    CU_ASSERT_EQUAL(err, RD_KAFKA_RESP_ERR_NO_ERROR);
    CU_ASSERT_EQUAL(rd_kafka_flush(b->producer, TIMEOUT_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
}

static void say_loser(struct broker *b, const char *url)
{
    struct sp_buf out = {0};
    struct sp_status_event event = {.url = url,
                                    .version_ms = 5,
                                    .status = SP_STATUS_LOSER,
                                    .winner_url = "https://a.example/",
                                    .similarity = 0.875f,
                                    .reason = SP_REASON_CONTENT,
                                    .group = {3, {0, 7}},
                                    .group_size = 2,
                                    .epoch = 4,
                                    .rule = SP_RANK_SHORT};
    sp_status_encode(&event, NULL, &out);
    produce(b, sp_buf_view(&out));
    sp_buf_done(&out);
}

static struct samepage_status_client *open_client(const struct broker *b, const char *group)
{
    const char *properties[] = {"bootstrap.servers",
                                b->bootstraps,
                                "session.timeout.ms",
                                "3000",
                                "heartbeat.interval.ms",
                                "300",
                                NULL};
    char error[256] = "";
    struct samepage_status_client *c =
        samepage_status_open(properties, "status", group, error, sizeof error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c);
    CU_ASSERT_STRING_EQUAL(error, "");
    return c;
}

/* Polls until there is a result other than a timeout. */
static int next(struct samepage_status_client *c, struct samepage_status_event *event)
{
    int got = SAMEPAGE_NONE;
    for (int ms = 0; ms < TIMEOUT_MS && (got == SAMEPAGE_NONE || got == SAMEPAGE_RETRY); ms += 100)
        got = samepage_status_next(c, 100, event);
    return got;
}

TEST(a_missing_topic_is_named)
{
    struct broker b = begin();
    const char *properties[] = {"bootstrap.servers", b.bootstraps, "allow.auto.create.topics",
                                "false", NULL};
    char error[256] = "";
    rd_kafka_mock_topic_set_error(rd_kafka_handle_mock_cluster(b.producer), "other",
                                  RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    CU_ASSERT_PTR_NULL(samepage_status_open(properties, "other", NULL, error, sizeof error));
    CU_ASSERT_STRING_EQUAL(error, "there is no topic other; `samepage topics create` creates it");
    end(&b);
}

TEST(what_cannot_be_opened_is_explained)
{
    static const char *const unknown[] = {"bootstrap.server", "x", NULL};
    static const char *const no_value[] = {"client.id", NULL};
    char error[256];
    CU_ASSERT_PTR_NULL(samepage_status_open(unknown, "status", NULL, error, sizeof error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "bootstrap.server: "));
    CU_ASSERT_PTR_NULL(samepage_status_open(no_value, "status", NULL, error, sizeof error));
    CU_ASSERT_STRING_EQUAL(error, "client.id: the property has no value");
    CU_ASSERT_PTR_NULL(samepage_status_open(no_value, "status", NULL, error, 10));
    CU_ASSERT_STRING_EQUAL(error, "client.id"); /* truncated */
    CU_ASSERT_PTR_NULL(samepage_status_open(no_value, "status", NULL, NULL, 0));
    samepage_status_close(NULL);
}

TEST(events_deletions_and_other_bytes_are_told_apart)
{
    struct broker b = begin();
    say_loser(&b, "https://b.example/");
    produce(&b, sp_view_str("no event"));
    produce(&b, sp_view(NULL, 0));
    say_loser(&b, "https://c.example/");
    struct samepage_status_client *c = open_client(&b, NULL);
    struct samepage_status_event event;
    CU_ASSERT_STRING_EQUAL(samepage_status_error(c), "");
    CU_ASSERT_EQUAL_FATAL(next(c, &event), SAMEPAGE_EVENT);
    CU_ASSERT_STRING_EQUAL(event.url, "https://b.example/");
    CU_ASSERT_STRING_EQUAL(event.winner_url, "https://a.example/");
    CU_ASSERT_EQUAL(event.status, SAMEPAGE_STATUS_LOSER);
    CU_ASSERT_EQUAL(event.reason, SAMEPAGE_REASON_CONTENT);
    CU_ASSERT_EQUAL(event.similarity, 0.875f);
    CU_ASSERT_EQUAL(event.version_ms, 5);
    CU_ASSERT_EQUAL(event.group_size, 2);
    CU_ASSERT_EQUAL(event.epoch, 4);
    CU_ASSERT_EQUAL(event.rule, SAMEPAGE_RULE_SHORT);
    CU_ASSERT_EQUAL(next(c, &event), SAMEPAGE_BAD);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(samepage_status_error(c), "topic status, partition 0, offset 1: "));
    CU_ASSERT_EQUAL_FATAL(next(c, &event), SAMEPAGE_EVENT); /* the tombstone is skipped */
    CU_ASSERT_STRING_EQUAL(event.url, "https://c.example/");
    char error[256];
    CU_ASSERT_EQUAL(samepage_status_commit(c, error, sizeof error), SAMEPAGE_INVALID);
    CU_ASSERT_STRING_EQUAL(error, "a client without a group cannot commit");
    samepage_status_close(c);
    end(&b);
}

TEST(an_erased_page_is_named_until_the_next_call)
{
    struct broker b = begin();
    produce(&b, sp_view(NULL, 0)); /* its key is "k" */
    struct samepage_status_client *c = open_client(&b, NULL);
    struct samepage_status_event event;
    CU_ASSERT_PTR_NULL(samepage_status_erased(c));
    for (int ms = 0; ms < TIMEOUT_MS && !samepage_status_erased(c); ms += 100)
        CU_ASSERT_EQUAL(samepage_status_next(c, 100, &event), SAMEPAGE_NONE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(samepage_status_erased(c));
    CU_ASSERT_STRING_EQUAL(samepage_status_erased(c), "k");
    CU_ASSERT_EQUAL(samepage_status_next(c, 0, &event), SAMEPAGE_NONE);
    CU_ASSERT_PTR_NULL(samepage_status_erased(c));
    samepage_status_close(c);
    end(&b);
}

TEST(a_reader_has_caught_up_when_it_has_returned_all_that_the_topic_had)
{
    struct broker b = begin();
    const char *properties[] = {"bootstrap.servers", b.bootstraps, NULL};
    struct samepage_status_event event;
    char error[256] = "";
    say_loser(&b, "https://b.example/");
    say_loser(&b, "https://c.example/");
    struct samepage_status_client *c = sp_client_open(properties, "status", error, sizeof error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_FALSE(sp_client_caught_up(c));
        CU_ASSERT_EQUAL_FATAL(next(c, &event), SAMEPAGE_EVENT);
    }
    for (int ms = 0; ms < TIMEOUT_MS && !sp_client_caught_up(c); ms += 100)
        CU_ASSERT_EQUAL(samepage_status_next(c, 100, &event), SAMEPAGE_NONE);
    CU_ASSERT_TRUE(sp_client_caught_up(c));
    say_loser(&b, "https://d.example/");
    CU_ASSERT_EQUAL_FATAL(next(c, &event), SAMEPAGE_EVENT);
    CU_ASSERT_TRUE(sp_client_caught_up(c));
    samepage_status_close(c);
    end(&b);
}

/* The mock cannot delete topics: offsets are this much less. */
static int64_t less;

rd_kafka_message_t *__real_rd_kafka_consumer_poll(rd_kafka_t *handle, int timeout_ms);
rd_kafka_message_t *__wrap_rd_kafka_consumer_poll(rd_kafka_t *handle, int timeout_ms);

rd_kafka_message_t *__wrap_rd_kafka_consumer_poll(rd_kafka_t *handle, int timeout_ms)
{
    rd_kafka_message_t *m = __real_rd_kafka_consumer_poll(handle, timeout_ms);
    if (m && m->err == RD_KAFKA_RESP_ERR_NO_ERROR)
        m->offset -= less;
    return m;
}

TEST(a_topic_that_was_made_again_is_told_once_and_no_event_is_missed)
{
    struct broker b = begin();
    struct samepage_status_event event;
    say_loser(&b, "https://b.example/");
    say_loser(&b, "https://c.example/");
    struct samepage_status_client *c = open_client(&b, NULL);
    CU_ASSERT_EQUAL(next(c, &event), SAMEPAGE_EVENT);
    CU_ASSERT_EQUAL(next(c, &event), SAMEPAGE_EVENT);
    less = 2;
    say_loser(&b, "https://d.example/");
    say_loser(&b, "https://e.example/");
    CU_ASSERT_EQUAL(next(c, &event), SAMEPAGE_REMADE);
    CU_ASSERT_PTR_NOT_NULL(strstr(samepage_status_error(c), "deleted and recreated"));
    CU_ASSERT_EQUAL(next(c, &event), SAMEPAGE_EVENT);
    CU_ASSERT_STRING_EQUAL(event.url, "https://d.example/");
    CU_ASSERT_EQUAL(next(c, &event), SAMEPAGE_EVENT);
    CU_ASSERT_STRING_EQUAL(event.url, "https://e.example/");
    less = 0;
    samepage_status_close(c);
    end(&b);
}

/* Messages of a topic that was recreated have other times. */
static int64_t delay_ms;

int64_t __real_rd_kafka_message_timestamp(const rd_kafka_message_t *m,
                                          rd_kafka_timestamp_type_t *type);
int64_t __wrap_rd_kafka_message_timestamp(const rd_kafka_message_t *m,
                                          rd_kafka_timestamp_type_t *type);

int64_t __wrap_rd_kafka_message_timestamp(const rd_kafka_message_t *m,
                                          rd_kafka_timestamp_type_t *type)
{
    return __real_rd_kafka_message_timestamp(m, type) + delay_ms;
}

/* How much later it is than the clock says. */
static int64_t later_ms;

int64_t __real_sp_clock_ms(void);
int64_t __wrap_sp_clock_ms(void);

int64_t __wrap_sp_clock_ms(void)
{
    return __real_sp_clock_ms() + later_ms;
}

static int seeks;

rd_kafka_resp_err_t __real_rd_kafka_seek(rd_kafka_topic_t *topic, int32_t partition, int64_t offset,
                                         int timeout_ms);
rd_kafka_resp_err_t __wrap_rd_kafka_seek(rd_kafka_topic_t *topic, int32_t partition, int64_t offset,
                                         int timeout_ms);

rd_kafka_resp_err_t __wrap_rd_kafka_seek(rd_kafka_topic_t *topic, int32_t partition, int64_t offset,
                                         int timeout_ms)
{
    seeks++;
    return __real_rd_kafka_seek(topic, partition, offset, timeout_ms);
}

/* A client that has read two events, and the end a while ago. */
static struct samepage_status_client *read_to_end(struct broker *b, const char *group)
{
    struct samepage_status_event event;
    say_loser(b, "https://b.example/");
    say_loser(b, "https://c.example/");
    struct samepage_status_client *c = open_client(b, group);
    CU_ASSERT_EQUAL_FATAL(next(c, &event), SAMEPAGE_EVENT);
    CU_ASSERT_EQUAL_FATAL(next(c, &event), SAMEPAGE_EVENT);
    CU_ASSERT_EQUAL(samepage_status_next(c, 500, &event), SAMEPAGE_NONE);
    later_ms += 2000;
    seeks = 0;
    return c;
}

static void expect(struct samepage_status_client *c, const char *url)
{
    struct samepage_status_event event = {.url = ""};
    CU_ASSERT_EQUAL(next(c, &event), SAMEPAGE_EVENT);
    CU_ASSERT_STRING_EQUAL(event.url, url);
}

TEST(a_topic_that_was_made_again_and_is_longer_than_before_is_told_and_read_from_its_beginning)
{
    struct broker b = begin();
    struct samepage_status_event event;
    struct samepage_status_client *c = read_to_end(&b, NULL);
    delay_ms = 1;
    say_loser(&b, "https://d.example/");
    CU_ASSERT_EQUAL(next(c, &event), SAMEPAGE_REMADE);
    CU_ASSERT_PTR_NOT_NULL(strstr(samepage_status_error(c), "deleted and recreated"));
    expect(c, "https://b.example/");
    expect(c, "https://c.example/");
    expect(c, "https://d.example/");
    CU_ASSERT_EQUAL(seeks, 1);
    delay_ms = 0;
    samepage_status_close(c);
    end(&b);
}

/* The last event is read again, not returned again. */
TEST(a_topic_that_is_the_same_after_a_while_or_an_error_is_asked_for_one_event)
{
    struct broker b = begin();
    struct samepage_status_event event;
    struct samepage_status_client *c = read_to_end(&b, NULL);
    say_loser(&b, "https://d.example/");
    expect(c, "https://d.example/");
    CU_ASSERT_EQUAL(seeks, 1);
    say_loser(&b, "https://e.example/"); /* soon afterwards */
    expect(c, "https://e.example/");
    CU_ASSERT_EQUAL(seeks, 1);
    rd_kafka_mock_cluster_t *cluster = rd_kafka_handle_mock_cluster(b.producer);
    rd_kafka_mock_broker_set_down(cluster, 1);
    for (int i = 0; i < 5; i++)
        samepage_status_next(c, 100, &event);
    rd_kafka_mock_broker_set_up(cluster, 1);
    say_loser(&b, "https://f.example/");
    say_loser(&b, "https://g.example/");
    expect(c, "https://f.example/");
    expect(c, "https://g.example/");
    CU_ASSERT_EQUAL(seeks, 2);
    samepage_status_close(c);
    end(&b);
}

TEST(a_member_of_a_group_is_told_that_the_topic_was_made_again)
{
    struct broker b = begin();
    struct samepage_status_event event;
    struct samepage_status_client *c = read_to_end(&b, "indexer");
    delay_ms = 1;
    say_loser(&b, "https://d.example/");
    CU_ASSERT_EQUAL(next(c, &event), SAMEPAGE_REMADE);
    expect(c, "https://b.example/");
    delay_ms = 0;
    samepage_status_close(c);
    end(&b);
}

TEST(a_member_of_a_group_goes_on_behind_what_it_committed)
{
    struct broker b = begin();
    struct samepage_status_event event;
    char error[256];
    say_loser(&b, "https://b.example/");
    say_loser(&b, "https://c.example/");
    struct samepage_status_client *c = open_client(&b, "indexer");
    CU_ASSERT_EQUAL(samepage_status_commit(c, error, sizeof error),
                    SAMEPAGE_NONE); /* no message yet */
    CU_ASSERT_EQUAL_FATAL(next(c, &event), SAMEPAGE_EVENT);
    CU_ASSERT_STRING_EQUAL(event.url, "https://b.example/");
    CU_ASSERT_EQUAL(samepage_status_commit(c, error, sizeof error), SAMEPAGE_NONE);
    CU_ASSERT_EQUAL_FATAL(next(c, &event), SAMEPAGE_EVENT); /* returned, but not committed */
    samepage_status_close(c);
    c = open_client(&b, "indexer");
    CU_ASSERT_EQUAL_FATAL(next(c, &event), SAMEPAGE_EVENT);
    CU_ASSERT_STRING_EQUAL(event.url, "https://c.example/");
    samepage_status_close(c);
    end(&b);
}

static int waited_ms;  /* for a reply, at most */
static bool is_silent; /* the broker: replies are not waited for */

rd_kafka_event_t *__real_rd_kafka_queue_poll(rd_kafka_queue_t *queue, int timeout_ms);
rd_kafka_event_t *__wrap_rd_kafka_queue_poll(rd_kafka_queue_t *queue, int timeout_ms);

rd_kafka_event_t *__wrap_rd_kafka_queue_poll(rd_kafka_queue_t *queue, int timeout_ms)
{
    enum { SHORT_MS = 100 };
    waited_ms = timeout_ms;
    return __real_rd_kafka_queue_poll(queue, is_silent ? SHORT_MS : timeout_ms);
}

/* It accepts the request, like one whose process was stopped. */
TEST(a_commit_waits_ten_seconds_for_a_broker_that_does_not_reply)
{
    enum { SILENCE_MS = 3000 };
    struct broker b = begin();
    rd_kafka_mock_cluster_t *cluster = rd_kafka_handle_mock_cluster(b.producer);
    struct samepage_status_event event;
    char error[256] = "";
    say_loser(&b, "https://b.example/");
    struct samepage_status_client *c = open_client(&b, "indexer");
    CU_ASSERT_EQUAL_FATAL(next(c, &event), SAMEPAGE_EVENT);
    rd_kafka_mock_broker_set_rtt(cluster, 1, SILENCE_MS);
    is_silent = true;
    CU_ASSERT_EQUAL(samepage_status_commit(c, error, sizeof error), SAMEPAGE_RETRY);
    CU_ASSERT_STRING_EQUAL(
        error, "no broker has replied within 10 seconds; events may be delivered again");
    CU_ASSERT_EQUAL(waited_ms, 10000);
    CU_ASSERT_EQUAL(samepage_status_commit(c, error, sizeof error), SAMEPAGE_NONE);
    is_silent = false;
    rd_kafka_mock_broker_set_rtt(cluster, 1, 0);
    say_loser(&b, "https://c.example/");
    CU_ASSERT_EQUAL_FATAL(next(c, &event), SAMEPAGE_EVENT);
    CU_ASSERT_STRING_EQUAL(event.url, "https://c.example/");
    CU_ASSERT_EQUAL(samepage_status_commit(c, error, sizeof error), SAMEPAGE_NONE);
    samepage_status_close(c);
    end(&b);
}

/* librdkafka would wait for the reply to the commit. */
TEST(a_client_whose_broker_does_not_reply_to_a_commit_can_be_closed)
{
    enum { SILENCE_MS = 600000 };
    struct broker b = begin();
    struct samepage_status_event event;
    say_loser(&b, "https://b.example/");
    struct samepage_status_client *c = open_client(&b, "indexer");
    CU_ASSERT_EQUAL_FATAL(next(c, &event), SAMEPAGE_EVENT);
    rd_kafka_mock_broker_set_rtt(rd_kafka_handle_mock_cluster(b.producer), 1, SILENCE_MS);
    is_silent = true;
    CU_ASSERT_EQUAL(samepage_status_commit(c, NULL, 0), SAMEPAGE_RETRY);
    is_silent = false;
    samepage_status_close(c);
    end(&b);
}

/* The end is fixed when the client is opened: nothing before it is returned and nothing after it is
 * missed, however late the first poll is. */
TEST(a_reader_without_a_group_may_start_at_the_end_and_commits_nothing)
{
    struct broker b = begin();
    const char *properties[] = {"bootstrap.servers", b.bootstraps, "auto.offset.reset", "latest",
                                NULL};
    struct samepage_status_event event;
    char error[256] = "";
    say_loser(&b, "https://b.example/");
    struct samepage_status_client *c =
        samepage_status_open(properties, "status", NULL, error, sizeof error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c);
    say_loser(&b, "https://c.example/");
    CU_ASSERT_EQUAL_FATAL(next(c, &event), SAMEPAGE_EVENT);
    CU_ASSERT_STRING_EQUAL(event.url, "https://c.example/");
    CU_ASSERT_EQUAL(samepage_status_commit(c, error, sizeof error), SAMEPAGE_INVALID);
    CU_ASSERT_STRING_EQUAL(error, "a client without a group cannot commit");
    samepage_status_close(c);
    end(&b);
}

static int asked_ms; /* for the ends, at most */

rd_kafka_resp_err_t __real_rd_kafka_offsets_for_times(rd_kafka_t *handle,
                                                      rd_kafka_topic_partition_list_t *list,
                                                      int timeout_ms);
rd_kafka_resp_err_t __wrap_rd_kafka_offsets_for_times(rd_kafka_t *handle,
                                                      rd_kafka_topic_partition_list_t *list,
                                                      int timeout_ms);

rd_kafka_resp_err_t __wrap_rd_kafka_offsets_for_times(rd_kafka_t *handle,
                                                      rd_kafka_topic_partition_list_t *list,
                                                      int timeout_ms)
{
    asked_ms = timeout_ms;
    return __real_rd_kafka_offsets_for_times(handle, list, is_silent ? 100 : timeout_ms);
}

TEST(a_reader_waits_ten_seconds_for_a_broker_that_does_not_say_where_the_end_is)
{
    enum { LIST_OFFSETS = 2, SILENCE_MS = 3000 };
    struct broker b = begin();
    const char *properties[] = {"bootstrap.servers", b.bootstraps, "auto.offset.reset", "latest",
                                NULL};
    char error[256] = "";
    rd_kafka_mock_broker_push_request_error_rtts(rd_kafka_handle_mock_cluster(b.producer), 1,
                                                 LIST_OFFSETS, 1, RD_KAFKA_RESP_ERR_NO_ERROR,
                                                 SILENCE_MS);
    is_silent = true;
    CU_ASSERT_PTR_NULL(samepage_status_open(properties, "status", NULL, error, sizeof error));
    is_silent = false;
    CU_ASSERT_STRING_EQUAL(error, "topic status: Local: Timed out");
    CU_ASSERT_EQUAL(asked_ms, 10000);
    end(&b);
}
