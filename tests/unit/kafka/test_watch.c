/* The monitor beside the stages, on a mock cluster: the tests produce fetches and statuses, and set
 * the stages' committed offsets. */
#include "base/clock.h"
#include "base/url.h"
#include "codec/codec.h"
#include "harness.h"
#include "kafka/copies.h"
#include "kafka/watch.h"
#include "made_up.h"
#include "mock_world.h"
#include "winners/winners.h"

enum { HASHES = 100 };

static struct sp_watch_options options;
static volatile sig_atomic_t stop;
static enum sp_err result;
static struct sp_fault fault;
static pthread_t thread;

static void *watch(void *arg)
{
    (void)arg;
    result = sp_watch_run(&options, &stop, &fault);
    sp_message_thread_done();
    return NULL;
}

/* In an existing world. */
static void start_with(void (*log)(const char *level, const char *text))
{
    stop = 0;
    options = (struct sp_watch_options){
        .kafka = world.options.kafka,
        .audit = {.share = 1, .most = 1000, .patience = 1, .ranked = true},
        .interval_ms = 20,
        .restart_ms = 50,
        .log = log,
        .metrics = &world.metrics};
    sp_similarity_options_default(&options.audit.similarity);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, watch, NULL), 0);
    CU_ASSERT_FATAL(world_wait_for(&world.metrics.ready, 1));
}

static void start(void)
{
    start_with(NULL);
}

static void begin(void)
{
    world_create(true);
    start();
}

static enum sp_err end(void)
{
    stop = 1;
    pthread_join(thread, NULL);
    world_destroy();
    return result;
}

static struct sp_id id_of(const char *url)
{
    struct sp_buf name = {0};
    CU_ASSERT_EQUAL(sp_url_canonical(sp_view_str(url), &name), SP_OK);
    struct sp_id id = sp_hash128(name.data, name.len);
    sp_buf_done(&name);
    return id;
}

static void produce(const char *topic, struct sp_view key, struct sp_view value)
{
    CU_ASSERT_EQUAL(rd_kafka_producev(world.host, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(0),
                                      RD_KAFKA_V_KEY(key.data, key.len),
                                      RD_KAFKA_V_VALUE((void *)(uintptr_t)value.data, value.len),
                                      RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
                    RD_KAFKA_RESP_ERR_NO_ERROR);
    CU_ASSERT_EQUAL(rd_kafka_flush(world.host, PATIENCE_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
}

/* A page with the same text as all others here. The signature stage sends it to the group stage and
 * copies it for the audit. */
static void fetch(const char *url, int64_t version)
{
    struct sp_buf value = {0};
    struct sp_message *m = sp_message_new(SP_MSG_CRAWLED);
    struct sp_signature *s = made_up((struct sp_id){1, 1}, HASHES);
    for (uint32_t i = 0; i < HASHES; i++)
        s->hashes[i] = i * 40000000u;
    m->page = id_of(url);
    m->crawled.url = sp_strdup(url);
    m->crawled.version = version;
    m->crawled.page_kind = SP_PAGE_CONTENT;
    m->crawled.signature = s;
    m->crawled.rank = sp_rank_of(sp_view_str(url), 0);
    sp_message_encode(m, &value);
    produce("t.audit", sp_view(&m->page, sizeof m->page), sp_buf_view(&value));
    produce("t.tier1", sp_view(&m->page, sizeof m->page), sp_buf_view(&value));
    sp_message_free(m);
    sp_buf_done(&value);
}

static void erase(const char *url)
{
    struct sp_id page = id_of(url);
    produce("t.audit", sp_view(&page, sizeof page), (struct sp_view){0});
}

/* `winner`: of its group of two, possibly the page itself; NULL: the page is alone. */
static void tell(const char *url, int64_t version, const char *winner)
{
    struct sp_buf value = {0};
    bool loses = winner && strcmp(winner, url) != 0;
    struct sp_status_event e = {.url = url,
                                .version_ms = version,
                                .status = loses    ? SP_STATUS_LOSER
                                          : winner ? SP_STATUS_WINNER
                                                   : SP_STATUS_UNIQUE,
                                .winner_url = loses ? winner : NULL,
                                .similarity = loses ? 1 : 0,
                                .reason = loses ? SP_REASON_EXACT : SP_REASON_NONE,
                                .group = {.birth = 1, .founder = id_of(winner ? winner : url)},
                                .group_size = winner ? 2 : 1};
    sp_status_encode(&e, NULL, &value);
    produce("t.status", sp_view_str(url), sp_buf_view(&value));
    sp_buf_done(&value);
}

/* The stages have handled everything up to this offset; the monitor checks only up to there. */
static void handled(int64_t fetches)
{
    world_commit_offset("t.group", "t.tier1", fetches);
    world_commit_offset("t.compare", "t.tier2", 0);
}

/* The monitor tells it after it has counted what it received. */
static void wait_for_pages(uint64_t count)
{
    int64_t end = sp_clock_ms() + PATIENCE_MS;
    while (world_count_of(&world.metrics.audit_pages) != count && sp_clock_ms() < end)
        usleep(5000);
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.audit_pages), count);
}

TEST(two_equal_pages_that_stay_apart_are_told_as_missing_and_only_once)
{
    begin();
    fetch("https://a.example/", 1);
    fetch("https://b.example/", 2);
    tell("https://a.example/", 1, NULL);
    tell("https://b.example/", 2, NULL);
    CU_ASSERT(world_wait_for(&world.metrics.received, 4));
    usleep(100000);
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.audit_missing), 0); /* may be on their way */
    handled(2);
    CU_ASSERT(world_wait_for(&world.metrics.audit_missing, 1));
    CU_ASSERT(world_wait_for(&world.metrics.audit_judged, 1));
    wait_for_pages(2);
    usleep(200000);
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.audit_missing), 1);
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.audit_wrong), 0);
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.received), 4); /* nothing is read twice */
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.errors), 0);
    CU_ASSERT_EQUAL(end(), SP_OK);
}

TEST(statuses_that_are_right_are_judged_and_raise_nothing)
{
    begin();
    fetch("https://a.example/", 1);
    tell("https://a.example/", 1, NULL);
    fetch("https://b.example/longer", 2);
    tell("https://b.example/longer", 2, NULL); /* before tier 2 has compared it */
    CU_ASSERT(world_wait_for(&world.metrics.received, 4));
    tell("https://a.example/", 1, "https://a.example/");
    tell("https://b.example/longer", 2, "https://a.example/");
    CU_ASSERT(world_wait_for(&world.metrics.received, 6));
    handled(2);
    CU_ASSERT(world_wait_for(&world.metrics.audit_judged, 1));
    usleep(200000);
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.audit_missing), 0);
    CU_ASSERT_EQUAL(end(), SP_OK);
}

TEST(what_was_there_before_the_monitor_is_not_judged)
{
    world_create(true);
    fetch("https://a.example/", 1);
    fetch("https://b.example/", 2);
    tell("https://a.example/", 1, NULL);
    tell("https://b.example/", 2, NULL);
    start();
    handled(2);
    usleep(300000);
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.received), 0);
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.audit_pages), 0);
    CU_ASSERT_EQUAL(end(), SP_OK);
}

TEST(an_erased_page_is_watched_no_longer)
{
    begin();
    fetch("https://a.example/", 1);
    fetch("https://b.example/", 2);
    tell("https://a.example/", 1, NULL);
    tell("https://b.example/", 2, NULL);
    CU_ASSERT(world_wait_for(&world.metrics.audit_pages, 2));
    erase("https://b.example/");
    CU_ASSERT(world_wait_for(&world.metrics.received, 5));
    handled(2);
    wait_for_pages(1);
    usleep(200000);
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.audit_missing), 0);
    CU_ASSERT_EQUAL(end(), SP_OK);
}

/* Nothing tells the monitor what the newer version says: no copy of it was made. */
TEST(a_status_of_a_version_that_was_not_copied_is_not_judged)
{
    begin();
    fetch("https://a.example/", 1);
    tell("https://a.example/", 1, NULL);
    fetch("https://b.example/", 2);
    tell("https://b.example/", 3, NULL);
    CU_ASSERT(world_wait_for(&world.metrics.received, 4));
    handled(2);
    usleep(300000);
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.audit_missing), 0);
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.audit_judged), 0);
    CU_ASSERT_EQUAL(end(), SP_OK);
}

/* The group stage still has a message to handle, of another page, that no sample has. */
TEST(a_message_that_waits_in_tier_1_keeps_a_look_waiting)
{
    begin();
    fetch("https://a.example/", 1);
    fetch("https://b.example/", 2);
    tell("https://a.example/", 1, NULL);
    tell("https://b.example/", 2, NULL);
    CU_ASSERT(world_wait_for(&world.metrics.received, 4));
    for (int i = 0; i < 40; i++)
        produce("t.tier1", sp_view_str("another"), sp_view_str("message"));
    usleep(100000);
    handled(41);
    usleep(300000);
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.audit_missing), 0);
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.received), 4);
    handled(42);
    CU_ASSERT(world_wait_for(&world.metrics.audit_missing, 1));
    CU_ASSERT_EQUAL(end(), SP_OK);
}

/* ---- topics that are recreated ---- */

/* The mock cannot delete topics: the monitor is told ends that are so much later at first. */
static int64_t later;

rd_kafka_resp_err_t __real_rd_kafka_offsets_for_times(rd_kafka_t *handle,
                                                      rd_kafka_topic_partition_list_t *list,
                                                      int ms);
rd_kafka_resp_err_t __wrap_rd_kafka_offsets_for_times(rd_kafka_t *handle,
                                                      rd_kafka_topic_partition_list_t *list,
                                                      int ms);

rd_kafka_resp_err_t __wrap_rd_kafka_offsets_for_times(rd_kafka_t *handle,
                                                      rd_kafka_topic_partition_list_t *list, int ms)
{
    rd_kafka_resp_err_t code = __real_rd_kafka_offsets_for_times(handle, list, ms);
    for (int i = 0; i < list->cnt; i++)
        list->elems[i].offset += __atomic_load_n(&later, __ATOMIC_RELAXED);
    return code;
}

static char warned[512];

static void on_log(const char *level, const char *text)
{
    if (strcmp(level, "warning") == 0 && !warned[0])
        snprintf(warned, sizeof warned, "%s", text);
}

TEST(topics_that_were_made_again_are_read_from_their_beginning)
{
    world_create(true);
    warned[0] = 0;
    fetch("https://a.example/", 1);
    fetch("https://b.example/", 2);
    tell("https://a.example/", 1, NULL);
    tell("https://b.example/", 2, NULL);
    __atomic_store_n(&later, 1000, __ATOMIC_RELAXED);
    start_with(on_log);
    __atomic_store_n(&later, 0, __ATOMIC_RELAXED);
    CU_ASSERT(world_wait_for(&world.metrics.restarts, 1));
    CU_ASSERT(world_wait_for(&world.metrics.received, 4));
    handled(2);
    CU_ASSERT(world_wait_for(&world.metrics.audit_missing, 1));
    CU_ASSERT_EQUAL(end(), SP_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(warned, "so it was deleted and recreated"));
}

/* ---- topics that a broker does not know ---- */

static uint64_t unknown;     /* times that this was said */
static uint64_t waited_ms;   /* by the monitor */
static bool may_hurry;       /* its pauses take no time from the restart on */
static sig_atomic_t hurries; /* they do now */

bool __real_sp_clock_pause(uint32_t ms, bool (*goes_on)(void *arg), void *arg);
bool __wrap_sp_clock_pause(uint32_t ms, bool (*goes_on)(void *arg), void *arg);

bool __wrap_sp_clock_pause(uint32_t ms, bool (*goes_on)(void *arg), void *arg)
{
    bool free = hurries && pthread_equal(pthread_self(), thread);
    if (free)
        waited_ms += ms;
    return __real_sp_clock_pause(free ? 0 : ms, goes_on, arg);
}

static void count_unknown(const char *level, const char *text)
{
    (void)level;
    if (strstr(text, "begins again"))
        hurries = may_hurry && !__atomic_load_n(&later, __ATOMIC_RELAXED);
    if (strstr(text, "t.audit: the broker does not know this topic any more"))
        __atomic_add_fetch(&unknown, 1, __ATOMIC_RELAXED);
}

/* The monitor begins again, because of another topic, while `t.audit` is unknown. */
static void forget_topic(bool hurry)
{
    unknown = waited_ms = 0;
    may_hurry = hurry;
    hurries = 0;
    world_create(true);
    tell("https://a.example/", 1, NULL);
    __atomic_store_n(&later, 1000, __ATOMIC_RELAXED);
    start_with(count_unknown);
    rd_kafka_mock_topic_set_error(world.cluster, "t.audit",
                                  RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    __atomic_store_n(&later, 0, __ATOMIC_RELAXED);
}

/* A broker that has just started may not have heard of it yet. */
TEST(a_topic_that_comes_back_is_waited_for)
{
    forget_topic(false);
    CU_ASSERT(world_wait_for(&unknown, 1));
    rd_kafka_mock_topic_set_error(world.cluster, "t.audit", RD_KAFKA_RESP_ERR_NO_ERROR);
    CU_ASSERT(world_wait_for(&world.metrics.ready, 1));
    CU_ASSERT_EQUAL(end(), SP_OK);
    CU_ASSERT_EQUAL(unknown, 1);
}

TEST(a_topic_that_is_gone_is_waited_for_half_a_minute)
{
    enum { RESTART_MS = 50, ASKED_MS = 30000 };
    forget_topic(true);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(result, SP_INVALID);
    CU_ASSERT_STRING_EQUAL(fault.text, "t.audit: there is no such topic; `samepage topics create` "
                                       "creates it");
    CU_ASSERT_EQUAL(waited_ms, RESTART_MS + ASKED_MS);
    CU_ASSERT_EQUAL(unknown, 1);
    world_destroy();
}

/* ---- topics that are recreated, and are longer than before ---- */

/* The messages of a topic that was recreated have other times. */
static int64_t delay_ms;

int64_t __real_rd_kafka_message_timestamp(const rd_kafka_message_t *m,
                                          rd_kafka_timestamp_type_t *type);
int64_t __wrap_rd_kafka_message_timestamp(const rd_kafka_message_t *m,
                                          rd_kafka_timestamp_type_t *type);

int64_t __wrap_rd_kafka_message_timestamp(const rd_kafka_message_t *m,
                                          rd_kafka_timestamp_type_t *type)
{
    return __real_rd_kafka_message_timestamp(m, type) +
           __atomic_load_n(&delay_ms, __ATOMIC_RELAXED);
}

TEST(topics_that_were_made_again_and_are_longer_than_before_are_read_from_their_beginning)
{
    world_create(true);
    warned[0] = 0;
    start_with(on_log);
    fetch("https://a.example/", 1);
    tell("https://a.example/", 1, NULL);
    CU_ASSERT(world_wait_for(&world.metrics.received, 2));
    fetch("https://b.example/", 2);
    tell("https://b.example/", 2, NULL);
    CU_ASSERT(world_wait_for(&world.metrics.received, 4));
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.restarts), 0);
    __atomic_store_n(&delay_ms, 1, __ATOMIC_RELAXED);
    tell("https://b.example/", 2, NULL);
    CU_ASSERT(world_wait_for(&world.metrics.restarts, 1));
    CU_ASSERT(world_wait_for(&world.metrics.received, 9));
    handled(2);
    CU_ASSERT(world_wait_for(&world.metrics.audit_missing, 1));
    CU_ASSERT_EQUAL(world_count_of(&world.metrics.restarts), 1);
    CU_ASSERT_EQUAL(end(), SP_OK);
    __atomic_store_n(&delay_ms, 0, __ATOMIC_RELAXED);
    CU_ASSERT_PTR_NOT_NULL(strstr(warned, "t.status [0]: no longer has the message"));
}

/* ---- laps ---- */

static int questions; /* one at the start, and at most three a lap */
static int refused;   /* so many of them get no reply */

enum sp_err __real_sp_kafka_committed(rd_kafka_t *handle, rd_kafka_topic_partition_list_t *list,
                                      int ms, struct sp_fault *why);
enum sp_err __wrap_sp_kafka_committed(rd_kafka_t *handle, rd_kafka_topic_partition_list_t *list,
                                      int ms, struct sp_fault *why);

enum sp_err __wrap_sp_kafka_committed(rd_kafka_t *handle, rd_kafka_topic_partition_list_t *list,
                                      int ms, struct sp_fault *why)
{
    __atomic_add_fetch(&questions, 1, __ATOMIC_RELAXED);
    if (refused > 0 && refused--)
        return SP_BUSY;
    return __real_sp_kafka_committed(handle, list, ms, why);
}

/* rd_kafka_ListConsumerGroupOffsets would end the process by an assertion (client.h). */
TEST(offsets_of_a_group_can_be_asked_for_again_after_its_coordinator_was_away)
{
    enum { ASKED_MS = 300 };
    world_create(true);
    world_commit_offset("t.group", "t.tier1", 7);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, "t.tier1", 0);
    rd_kafka_t *handle = NULL;
    CU_ASSERT_EQUAL_FATAL(
        sp_kafka_open(&world.options.kafka, SP_KAFKA_WATCHER, "group", NULL, NULL, &handle, &fault),
        SP_OK);
    CU_ASSERT_EQUAL(sp_kafka_committed(handle, list, PATIENCE_MS, &fault), SP_OK);
    rd_kafka_mock_broker_set_down(world.cluster, -1);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(sp_kafka_committed(handle, list, ASKED_MS, &fault), SP_BUSY);
    rd_kafka_mock_broker_set_up(world.cluster, -1);
    CU_ASSERT_EQUAL(sp_kafka_committed(handle, list, PATIENCE_MS, &fault), SP_OK);
    CU_ASSERT_EQUAL(list->elems[0].offset, 7);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(handle);
    world_destroy();
}

TEST(offsets_of_a_group_that_may_not_be_read_are_not_asked_for_again)
{
    enum { FETCH_OFFSETS = 9 };
    world_create(true);
    world_commit_offset("t.group", "t.tier1", 7);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, "t.tier1", 0);
    rd_kafka_t *handle = NULL;
    CU_ASSERT_EQUAL_FATAL(
        sp_kafka_open(&world.options.kafka, SP_KAFKA_WATCHER, "group", NULL, NULL, &handle, &fault),
        SP_OK);
    world_inject(FETCH_OFFSETS, 1, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED);
    CU_ASSERT_EQUAL(sp_kafka_committed(handle, list, PATIENCE_MS, &fault), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, SP_KAFKA_FORBIDDEN));
    CU_ASSERT_EQUAL(sp_kafka_committed(handle, list, PATIENCE_MS, &fault), SP_OK);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(handle);
    world_destroy();
}

TEST(a_quiet_crawl_is_looked_at_once_in_an_interval)
{
    world_create(true);
    options = (struct sp_watch_options){.kafka = world.options.kafka,
                                        .audit = {.share = 1, .most = 1000, .patience = 1},
                                        .interval_ms = 2 * PATIENCE_MS,
                                        .metrics = &world.metrics};
    sp_similarity_options_default(&options.audit.similarity);
    questions = 0;
    stop = 0;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, watch, NULL), 0);
    CU_ASSERT_FATAL(world_wait_for(&world.metrics.ready, 1));
    int64_t give_up_ms = sp_clock_ms() + PATIENCE_MS;
    while (!__atomic_load_n(&questions, __ATOMIC_RELAXED) && sp_clock_ms() < give_up_ms)
        usleep(5000);
    usleep(500000);
    int asked = __atomic_load_n(&questions, __ATOMIC_RELAXED);
    CU_ASSERT(asked > 0 && asked <= 3);
    int64_t start_ms = sp_clock_ms();
    CU_ASSERT_EQUAL(end(), SP_OK); /* stopping does not wait for the end of a lap */
    CU_ASSERT(sp_clock_ms() - start_ms < PATIENCE_MS);
}

/* An error of the broker begins it again, and the signature stage is still the same. */
TEST(absent_copies_are_told_again_only_after_there_were_some)
{
    struct sp_copies c = {.said = false};
    world_create(true);
    CU_ASSERT_EQUAL(sp_copies_open(&c, &world.options.kafka, &fault), SP_OK);
    for (int i = 0; i < 3; i++) {
        c.handled = 1000;
        CU_ASSERT_EQUAL(sp_copies_missing(&c, 1), i == 0);
        sp_copies_close(&c);
        CU_ASSERT_EQUAL(sp_copies_open(&c, &world.options.kafka, &fault), SP_OK);
    }
    c.copies = 1;
    sp_copies_close(&c);
    CU_ASSERT_EQUAL(sp_copies_open(&c, &world.options.kafka, &fault), SP_OK);
    c.handled = 1000;
    CU_ASSERT_TRUE(sp_copies_missing(&c, 1));
    sp_copies_close(&c);
    world_destroy();
}

static int told_of_no_copies;

static void note_no_copies(const char *level, const char *text)
{
    (void)level;
    if (strstr(text, "no copy arrived"))
        __atomic_store_n(&told_of_no_copies, 1, __ATOMIC_RELAXED);
}

/* Waits for two whole laps after the one that runs. */
static void wait_for_laps(void)
{
    enum { LAP_MOST = 3, LAPS = 3 };
    int end = __atomic_load_n(&questions, __ATOMIC_RELAXED) + LAPS * LAP_MOST;
    int64_t give_up_ms = sp_clock_ms() + PATIENCE_MS;
    while (__atomic_load_n(&questions, __ATOMIC_RELAXED) <= end && sp_clock_ms() < give_up_ms)
        usleep(5000);
}

/* How far the signature stage is was not known at the start, so fetches are counted from later on.
 * In how many rounds of fetches they are told; 0: never. */
static int rounds_till_told(int unanswered)
{
    enum { MORE = 40, ROUNDS = 5 };
    int told = 0;
    told_of_no_copies = questions = 0;
    refused = unanswered;
    world_create(true);
    start_with(note_no_copies);
    wait_for_laps();
    for (int round = 1, i = 0; round <= ROUNDS && !told; round++) {
        world_commit_offset("t.signature", "t.pages", round * MORE);
        for (; i < round * MORE; i++) {
            char url[64];
            snprintf(url, sizeof url, "https://a.example/%d", i);
            tell(url, 1, NULL);
        }
        CU_ASSERT(world_wait_for(&world.metrics.received, (uint64_t)i));
        wait_for_laps();
        told = __atomic_load_n(&told_of_no_copies, __ATOMIC_RELAXED) ? round : 0;
    }
    CU_ASSERT_EQUAL(refused, 0);
    CU_ASSERT_EQUAL(end(), SP_OK);
    return told;
}

TEST(absent_copies_are_told_though_the_first_question_had_no_reply)
{
    CU_ASSERT_EQUAL(rounds_till_told(1), 1);
}

TEST(absent_copies_are_told_though_the_first_laps_had_no_reply)
{
    CU_ASSERT_EQUAL(rounds_till_told(24), 2);
}
