/* bench_hops BROKER PREFIX INTERVAL_MS T1_SIZE T2_PER_PAGE T2_SIZE BACK_PER_T2 STATUS_PER_BACK
 *            STATUS_SIZE LOG1_PER_T1 LOG1_SIZE LOG2_PER_T2 LOG2_SIZE
 *
 * The lower bound for the three stages on Kafka: three threads that consume and produce in
 * transactions over the topics of `samepage topics create`, and compute nothing.
 *
 *   signature  pages                 -> one message of tier 1 each
 *   group      tier 1, from a page   -> messages of tier 2
 *              tier 1, from tier 2   -> statuses
 *   compare    tier 2                -> messages of tier 1
 *
 * PER: number of messages for each message read (a fraction is spread over several), SIZE: their
 * bytes. Prints "ready" when all partitions are assigned, reads the number of pages from standard
 * input, and prints one JSON object with the time of the last commit once the pages and all
 * messages that follow from them are committed. Any error ends it. */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <librdkafka/rdkafka.h>

enum { TIMEOUT_MS = 60000, KEY_BYTES = 16, MAX_BYTES = 1 << 20, COMMIT_MESSAGES = 20000 };
enum { FROM_PAGE = 'p', FROM_TIER2 = 'r' };
enum { STAGES = 3, TOPICS = 6 };
enum topic { PAGES, TIER1, TIER2, STATUS, LOG1, LOG2 };

static const char *const names[TOPICS] = {"pages",  "tier1",           "tier2",
                                          "status", "tier1-changelog", "tier2-changelog"};

struct output {
    enum topic topic;
    char kind;
    char only; /* only for messages of this kind; 0: for all */
    double per_message;
    size_t size;
    double owed;
};

struct stage {
    const char *name;
    enum topic input;
    struct output outputs[3];
    size_t output_count;
    pthread_t thread;
    rd_kafka_t *consumer;
    rd_kafka_t *producer;
    rd_kafka_topic_t *known[TOPICS]; /* those of its outputs */
    bool open;
    double opened;
    double last; /* when the last message came */
    uint64_t handled;
    uint64_t emitted[TOPICS];
    rd_kafka_topic_partition_list_t *next;
    int32_t round_robin;
};

static const char *broker;
static const char *prefix;
static double interval;
static int32_t partitions[TOPICS];
static char payload[MAX_BYTES];
static bool stop;
static int ready;
static uint64_t committed[TOPICS]; /* messages of a topic handled */
static uint64_t produced[TOPICS];  /* messages of a topic committed */
static double last_commit;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_hops: %s: %s\n", what, why);
    exit(1);
}

static void check(rd_kafka_error_t *error, const char *what)
{
    if (error)
        fail(what, rd_kafka_error_string(error));
}

/* ---- handles, with the settings of the stages ---- */

static rd_kafka_t *open_handle(rd_kafka_type_t type, const char *const settings[])
{
    char error[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    for (; *settings; settings += 2)
        if (rd_kafka_conf_set(conf, settings[0], settings[1], error, sizeof error) !=
            RD_KAFKA_CONF_OK)
            fail(settings[0], error);
    rd_kafka_t *handle = rd_kafka_new(type, conf, error, sizeof error);
    if (!handle)
        fail("open", error);
    return handle;
}

/* As the stages do: a producer looks up a new topic only once a second, and each hop would wait. */
static void introduce_topics(struct stage *s)
{
    const struct rd_kafka_metadata *metadata = NULL;
    char topic[256];
    for (size_t i = 0; i < s->output_count; i++) {
        enum topic to = s->outputs[i].topic;
        snprintf(topic, sizeof topic, "%s%s", prefix, names[to]);
        s->known[to] = rd_kafka_topic_new(s->producer, topic, NULL);
    }
    if (rd_kafka_metadata(s->producer, 0, NULL, &metadata, TIMEOUT_MS) !=
        RD_KAFKA_RESP_ERR_NO_ERROR)
        fail("metadata", "no broker is reachable");
    rd_kafka_metadata_destroy(metadata);
}

static void open_stage(struct stage *s)
{
    char id[256], topic[256];
    snprintf(id, sizeof id, "%s%s", prefix, s->name);
    const char *const consumer[] = {"bootstrap.servers",
                                    broker,
                                    "group.id",
                                    id,
                                    "enable.auto.commit",
                                    "false",
                                    "auto.offset.reset",
                                    "earliest",
                                    "isolation.level",
                                    "read_committed",
                                    "queued.max.messages.kbytes",
                                    "65536",
                                    "queued.min.messages",
                                    "1000000",
                                    "fetch.message.max.bytes",
                                    "1048576",
                                    "fetch.wait.max.ms",
                                    "200",
                                    "message.max.bytes",
                                    "20000000",
                                    NULL};
    const char *const producer[] = {"bootstrap.servers",
                                    broker,
                                    "transactional.id",
                                    id,
                                    "linger.ms",
                                    "1000",
                                    "batch.size",
                                    "1000000",
                                    "queue.buffering.max.messages",
                                    "1000000",
                                    "message.max.bytes",
                                    "20000000",
                                    NULL};
    s->consumer = open_handle(RD_KAFKA_CONSUMER, consumer);
    s->producer = open_handle(RD_KAFKA_PRODUCER, producer);
    rd_kafka_poll_set_consumer(s->consumer);
    check(rd_kafka_init_transactions(s->producer, TIMEOUT_MS), "transactions");
    s->next = rd_kafka_topic_partition_list_new(8);
    snprintf(topic, sizeof topic, "%s%s", prefix, names[s->input]);
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, topic, RD_KAFKA_PARTITION_UA);
    if (rd_kafka_subscribe(s->consumer, topics) != RD_KAFKA_RESP_ERR_NO_ERROR)
        fail("subscribe", topic);
    rd_kafka_topic_partition_list_destroy(topics);
    introduce_topics(s);
}

static void count_partitions(rd_kafka_t *handle)
{
    const struct rd_kafka_metadata *metadata = NULL;
    char topic[256];
    if (rd_kafka_metadata(handle, 1, NULL, &metadata, TIMEOUT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
        fail("metadata", "no broker is reachable");
    for (int t = 0; t < TOPICS; t++) {
        snprintf(topic, sizeof topic, "%s%s", prefix, names[t]);
        for (int i = 0; i < metadata->topic_cnt; i++)
            if (strcmp(metadata->topics[i].topic, topic) == 0)
                partitions[t] = metadata->topics[i].partition_cnt;
        if (partitions[t] < 1)
            fail(topic, "there is no such topic");
    }
    rd_kafka_metadata_destroy(metadata);
}

/* ---- one stage ---- */

static void emit(struct stage *s, const struct output *o, const rd_kafka_message_t *m)
{
    char key[KEY_BYTES] = {0};
    size_t size = o->size < 1 ? 1 : o->size > MAX_BYTES ? MAX_BYTES : o->size;
    memcpy(key, &m->offset, sizeof m->offset);
    key[KEY_BYTES - 1] = o->kind;
    s->round_robin++;
    for (;;) {
        rd_kafka_resp_err_t code = rd_kafka_producev(
            s->producer, RD_KAFKA_V_RKT(s->known[o->topic]),
            RD_KAFKA_V_PARTITION(s->round_robin % partitions[o->topic]),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key, sizeof key),
            RD_KAFKA_V_VALUE(payload, size), RD_KAFKA_V_END);
        if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
            break;
        if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL)
            fail(names[o->topic], rd_kafka_err2str(code));
        rd_kafka_poll(s->producer, 50);
    }
    s->emitted[o->topic]++;
}

static void handle(struct stage *s, const rd_kafka_message_t *m)
{
    if (!s->open) {
        check(rd_kafka_begin_transaction(s->producer), "begin");
        s->open = true;
        s->opened = now();
    }
    char kind = m->key_len == KEY_BYTES ? ((const char *)m->key)[KEY_BYTES - 1] : 0;
    for (size_t i = 0; i < s->output_count; i++) {
        struct output *o = &s->outputs[i];
        if (o->only && o->only != kind)
            continue;
        for (o->owed += o->per_message; o->owed >= 1; o->owed--)
            emit(s, o, m);
    }
    const char *topic = rd_kafka_topic_name(m->rkt);
    rd_kafka_topic_partition_t *next =
        rd_kafka_topic_partition_list_find(s->next, topic, m->partition);
    if (!next)
        next = rd_kafka_topic_partition_list_add(s->next, topic, m->partition);
    next->offset = m->offset + 1;
    s->handled++;
    s->last = now();
}

static void commit(struct stage *s)
{
    rd_kafka_consumer_group_metadata_t *group = rd_kafka_consumer_group_metadata(s->consumer);
    check(rd_kafka_send_offsets_to_transaction(s->producer, s->next, group, TIMEOUT_MS), "offsets");
    check(rd_kafka_commit_transaction(s->producer, TIMEOUT_MS), "commit");
    rd_kafka_consumer_group_metadata_destroy(group);
    s->open = false;
    pthread_mutex_lock(&lock);
    committed[s->input] += s->handled;
    for (int t = 0; t < TOPICS; t++)
        produced[t] += s->emitted[t];
    last_commit = now();
    pthread_mutex_unlock(&lock);
    s->handled = 0;
    memset(s->emitted, 0, sizeof s->emitted);
}

static bool is_assigned(struct stage *s)
{
    rd_kafka_topic_partition_list_t *mine = NULL;
    if (rd_kafka_assignment(s->consumer, &mine) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return false;
    bool assigned = mine->cnt == partitions[s->input];
    rd_kafka_topic_partition_list_destroy(mine);
    return assigned;
}

/* As the stages: after an interval, or a tenth of it without a message. */
static bool is_due(const struct stage *s)
{
    double t = now();
    return s->open && (t - s->opened >= interval || t - s->last >= interval / 10 ||
                       s->handled >= COMMIT_MESSAGES);
}

static void *run_stage(void *arg)
{
    struct stage *s = arg;
    bool assigned = false;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(s->consumer, s->open ? 10 : 20);
        if (m && m->err == RD_KAFKA_RESP_ERR_NO_ERROR)
            handle(s, m);
        if (m)
            rd_kafka_message_destroy(m);
        rd_kafka_poll(s->producer, 0);
        if (is_due(s))
            commit(s);
        if (!assigned && is_assigned(s)) {
            assigned = true;
            __atomic_add_fetch(&ready, 1, __ATOMIC_RELAXED);
        }
    }
    rd_kafka_consumer_close(s->consumer);
    rd_kafka_destroy(s->consumer);
    rd_kafka_topic_partition_list_destroy(s->next);
    for (int t = 0; t < TOPICS; t++)
        if (s->known[t])
            rd_kafka_topic_destroy(s->known[t]);
    rd_kafka_destroy(s->producer);
    return NULL;
}

static bool is_done(uint64_t pages)
{
    pthread_mutex_lock(&lock);
    bool done = committed[PAGES] >= pages && committed[TIER1] == produced[TIER1] &&
                committed[TIER2] == produced[TIER2];
    pthread_mutex_unlock(&lock);
    return done;
}

int main(int argc, char **argv)
{
    double n[10];
    uint64_t pages = 0;
    if (argc != 14)
        fail("usage", "see the beginning of bench_hops.c");
    broker = argv[1];
    prefix = argv[2];
    interval = strtod(argv[3], NULL) / 1000;
    for (int i = 0; i < 10; i++)
        n[i] = strtod(argv[i + 4], NULL);
    struct stage stages[STAGES] = {
        {.name = "signature",
         .input = PAGES,
         .outputs = {{TIER1, FROM_PAGE, 0, 1, (size_t)n[0], 0}},
         .output_count = 1},
        {.name = "group",
         .input = TIER1,
         .outputs = {{TIER2, FROM_PAGE, FROM_PAGE, n[1], (size_t)n[2], 0},
                     {STATUS, FROM_PAGE, FROM_TIER2, n[4], (size_t)n[5], 0},
                     {LOG1, FROM_PAGE, 0, n[6], (size_t)n[7], 0}},
         .output_count = 3},
        {.name = "compare",
         .input = TIER2,
         .outputs = {{TIER1, FROM_TIER2, 0, n[3], (size_t)n[0], 0},
                     {LOG2, FROM_PAGE, 0, n[8], (size_t)n[9], 0}},
         .output_count = 2},
    };
    for (int i = 0; i < STAGES; i++)
        open_stage(&stages[i]);
    count_partitions(stages[0].producer);
    for (int i = 0; i < STAGES; i++)
        pthread_create(&stages[i].thread, NULL, run_stage, &stages[i]);
    while (__atomic_load_n(&ready, __ATOMIC_RELAXED) < STAGES)
        usleep(10000);
    printf("ready\n");
    fflush(stdout);
    if (scanf("%" SCNu64, &pages) != 1)
        fail("standard input", "no number of pages");
    while (!is_done(pages))
        usleep(10000);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < STAGES; i++)
        pthread_join(stages[i].thread, NULL);
    printf("{\"end\": %.3f, \"tier1\": %" PRIu64 ", \"tier2\": %" PRIu64 ", \"status\": %" PRIu64
           "}\n",
           last_commit, produced[TIER1], produced[TIER2], produced[STATUS]);
    return 0;
}
