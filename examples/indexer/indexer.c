/* An indexer as a user of samepage might write it, with SQLite's full-text search.
 *
 *     indexer run --broker ADDRESS [--prefix PREFIX] --index FILE [--pages N] [--idle SECONDS]
 *     indexer query --index FILE [--most N] WORD...
 *
 * `run` reads two topics. Pages go into the index as they are crawled: nothing waits for samepage.
 * Statuses come later, over samepage/status.h, and remove losers from the results. At the end (N
 * pages, nothing new for SECONDS, or SIGTERM) it prints how long pages took from crawl, the
 * timestamp of their message, to searchable, the end of their transaction. With and without
 * samepage running these numbers should be the same. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <samepage/index.h>
#include <samepage/page.h>
#include <samepage/status.h>

#include "index.h"

/* The broker knows only after this time that an indexer was killed, and until then the next one
 * gets nothing: it must be well below the --idle of the next one. librdkafka's 45 seconds are not.
 */
#define SESSION_MS "10000"

enum { BATCH = 200, WAIT_MS = 5, COMMIT_MS = 1000, TYPE_BYTES = 256 };

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t); /* as the brokers' timestamps */
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct options {
    const char *broker;
    const char *prefix;
    const char *file;
    long pages; /* 0: no end */
    long idle;  /* seconds; 0: no end */
    long most;  /* results of a query */
};

struct indexer {
    struct index *index;
    rd_kafka_t *pages;
    struct samepage_status_client *statuses;
    struct samepage_reader *reader;
    char url[SAMEPAGE_URL_BYTES];
    size_t url_len;
    int64_t *latencies; /* milliseconds */
    size_t latency_count;
    size_t latency_room;
    int64_t crawled[BATCH]; /* when the pages of this transaction were */
    size_t batch;
    uint64_t page_count;
    uint64_t status_count;
    uint64_t bad_count;
    int64_t last_new;
    int64_t last_commit;
    bool uncommitted;
    bool failed; /* the client of the statuses */
};

static bool begin(struct indexer *x)
{
    x->uncommitted = x->uncommitted || index_begin(x->index);
    return x->uncommitted;
}

/* ---- pages */

static rd_kafka_t *open_pages(const struct options *o, char *error, size_t size)
{
    char topic[256], group[256];
    snprintf(topic, sizeof topic, "%spages", o->prefix);
    snprintf(group, sizeof group, "%sindexer", o->prefix);
    const char *const settings[] = {
        "bootstrap.servers",          o->broker,  "group.id",           group,
        "session.timeout.ms",         SESSION_MS, "enable.auto.commit", "false",
        "auto.offset.reset",          "earliest", "fetch.wait.max.ms",  "20",
        "queued.max.messages.kbytes", "16384"};
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i += 2)
        if (rd_kafka_conf_set(conf, settings[i], settings[i + 1], error, size) !=
            RD_KAFKA_CONF_OK) {
            rd_kafka_conf_destroy(conf);
            return NULL;
        }
    rd_kafka_t *consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, size);
    if (!consumer) {
        rd_kafka_conf_destroy(conf);
        return NULL;
    }
    rd_kafka_poll_set_consumer(consumer);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, RD_KAFKA_PARTITION_UA);
    rd_kafka_subscribe(consumer, list);
    rd_kafka_topic_partition_list_destroy(list);
    return consumer;
}

/* Two spellings of one address are one page. */
static bool name_page(struct indexer *x, const char *url, size_t bytes)
{
    x->url_len = samepage_url_canonical(url, bytes, x->url, sizeof x->url);
    return x->url_len > 0;
}

/* The content type as samepage_extract takes it: what the message says of the charset comes first.
 */
static void type_of(const struct samepage_page *page, char type[TYPE_BYTES])
{
    size_t bytes = page->content_type_bytes < TYPE_BYTES / 2 ? page->content_type_bytes : 0;
    const char *end = bytes ? memchr(page->content_type, ';', bytes) : NULL;
    if (page->content_is_utf8 && end)
        bytes = (size_t)(end - page->content_type);
    snprintf(type, TYPE_BYTES, "%.*s%s", (int)bytes, bytes ? page->content_type : "",
             page->content_is_utf8 ? "; charset=utf-8" : "");
}

enum effect { NONE, TAKEN_OUT, REPLACED };

/* What a fetch does to the text of its page, as schemas/page.avsc says: the text is still valid
 * after a 304, or if the server failed. */
static enum effect effect_of(const struct samepage_page *page, const char *type)
{
    int status = page->http_status;
    bool redirects = status / 100 == 3 && status != 304 && page->redirect_url_bytes > 0;
    if (redirects || status == 404 || status == 410)
        return TAKEN_OUT;
    return status / 100 == 2 && status != 206 && samepage_readable(type) ? REPLACED : NONE;
}

static bool add_page(struct indexer *x, const rd_kafka_message_t *m)
{
    struct samepage_page page;
    char type[TYPE_BYTES];
    const char *body = "";
    size_t body_len = 0;
    if (!m->payload) /* the page was erased */
        return !name_page(x, m->key, m->key_len) || index_forget_text(x->index, x->url, x->url_len);
    if (samepage_page_decode(m->payload, m->len, &page) != 0 ||
        !name_page(x, page.url, page.url_bytes)) {
        x->bad_count++;
        return true;
    }
    type_of(&page, type);
    enum effect effect = effect_of(&page, type);
    if (effect == REPLACED)
        body = samepage_extract(x->reader, page.content, page.content_bytes, type, &body_len);
    x->crawled[x->batch++] = rd_kafka_message_timestamp(m, NULL);
    x->page_count++;
    return index_take_fetch(x->index, x->url, x->url_len, page.fetch_time_ms,
                            effect == NONE ? NULL : body, body_len);
}

/* What there is, up to a full batch; waits for the first. False: the index failed. */
static bool add_pages(struct indexer *x)
{
    rd_kafka_message_t *m;
    while (x->batch < BATCH && (m = rd_kafka_consumer_poll(x->pages, x->batch ? 0 : WAIT_MS))) {
        bool good = true;
        if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR)
            good = begin(x) && add_page(x, m);
        else
            fprintf(stderr, "indexer: %s\n", rd_kafka_message_errstr(m));
        rd_kafka_message_destroy(m);
        if (!good)
            return false;
    }
    return true;
}

/* ---- statuses */

static bool apply_statuses(struct indexer *x)
{
    struct samepage_status_event event;
    for (int i = 0; i < BATCH; i++) {
        int got = samepage_status_next(x->statuses, 0, &event);
        if (got < 0 || got == SAMEPAGE_REMADE)
            fprintf(stderr, "indexer: %s\n", samepage_status_error(x->statuses));
        if (got == SAMEPAGE_FATAL)
            stop = x->failed = true;
        if (got == SAMEPAGE_REMADE) {
            if (!begin(x) || !index_forget_statuses(x->index))
                return false;
            continue;
        }
        const char *erased = samepage_status_erased(x->statuses);
        if (got != SAMEPAGE_EVENT && !erased)
            break;
        const char *url = erased ? erased : event.url;
        if (!name_page(x, url, strlen(url)))
            continue;
        if (!begin(x) || !(erased ? index_forget_status(x->index, x->url, x->url_len)
                                  : index_put_status(x->index, x->url, x->url_len, &event)))
            return false;
        x->status_count += !erased;
        x->last_new = now_ms();
    }
    return true;
}

/* ---- both */

/* From here on the batch can be found. */
static bool publish(struct indexer *x)
{
    if (!x->uncommitted)
        return true;
    if (!index_commit(x->index))
        return false;
    x->uncommitted = false;
    int64_t now = now_ms();
    if (x->latency_count + x->batch > x->latency_room) {
        size_t room = 2 * x->latency_room + BATCH;
        int64_t *more = realloc(x->latencies, room * sizeof *more);
        if (!more)
            return false;
        x->latencies = more;
        x->latency_room = room;
    }
    for (size_t i = 0; i < x->batch; i++)
        x->latencies[x->latency_count++] = now - x->crawled[i];
    if (x->batch)
        x->last_new = now;
    x->batch = 0;
    return true;
}

/* Behind what the index holds, never before it. */
static void commit_offsets(struct indexer *x)
{
    char error[512];
    x->last_commit = now_ms();
    rd_kafka_commit(x->pages, NULL, 1);
    int result = samepage_status_commit(x->statuses, error, sizeof error);
    if (result < 0)
        fprintf(stderr, "indexer: %s\n", error);
}

static bool work(struct indexer *x, const struct options *o)
{
    x->last_new = x->last_commit = now_ms();
    while (!stop) {
        /* Pages first, and in a transaction of their own: they do not wait for statuses. */
        if (!add_pages(x) || !publish(x) || !apply_statuses(x) || !publish(x))
            return false;
        int64_t now = now_ms();
        if (now - x->last_commit >= COMMIT_MS)
            commit_offsets(x);
        if ((o->idle && now - x->last_new >= 1000 * o->idle) ||
            (o->pages && x->page_count >= (uint64_t)o->pages))
            stop = 1;
    }
    commit_offsets(x);
    return true;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void report(struct indexer *x)
{
    size_t n = x->latency_count;
    int64_t *sorted = x->latencies;
    printf("%" PRIu64 " pages indexed, %" PRIu64 " statuses applied, %" PRIu64
           " records that are no page\n",
           x->page_count, x->status_count, x->bad_count);
    if (n == 0)
        return;
    qsort(sorted, n, sizeof *sorted, by_size);
    printf("crawl to searchable: p50 %" PRId64 " ms, p99 %" PRId64 " ms\n", sorted[(n - 1) / 2],
           sorted[(n - 1) * 99 / 100]);
}

static int run(const struct options *o)
{
    struct indexer x = {.page_count = 0};
    char error[512] = "", topic[256], group[256];
    const char *properties[] = {"bootstrap.servers", o->broker, "session.timeout.ms", SESSION_MS,
                                NULL};
    bool good = false;
    snprintf(topic, sizeof topic, "%sstatus", o->prefix);
    snprintf(group, sizeof group, "%sindexer-statuses", o->prefix);
    if ((x.reader = samepage_reader_new(NULL, error, sizeof error)) &&
        (x.index = index_open(o->file, true, error, sizeof error)) &&
        (x.statuses = samepage_status_open(properties, topic, group, error, sizeof error)) &&
        (x.pages = open_pages(o, error, sizeof error))) {
        good = work(&x, o);
        if (!good)
            snprintf(error, sizeof error, "%s: %s", o->file, index_error(x.index));
        report(&x);
    }
    if (!good)
        fprintf(stderr, "indexer: %s\n", error);
    if (x.pages) {
        rd_kafka_consumer_close(x.pages);
        rd_kafka_destroy(x.pages);
    }
    samepage_status_close(x.statuses);
    index_close(x.index);
    samepage_reader_free(x.reader);
    free(x.latencies);
    return good && !x.failed ? 0 : 1;
}

/* ---- queries and the command line */

static void print_page(void *arg, const char *url, const char *contained_in)
{
    (void)arg;
    printf("%s\n", url);
    if (contained_in)
        printf("    this page is part of %s\n", contained_in);
}

static int query(const struct options *o, char **words, int count)
{
    char error[512];
    struct index *index = index_open(o->file, false, error, sizeof error);
    if (!index) {
        fprintf(stderr, "indexer: %s\n", error);
        return 1;
    }
    bool good = index_query(index, (const char *const *)words, (size_t)count, (int)o->most,
                            print_page, NULL);
    if (!good)
        fprintf(stderr, "indexer: %s\n", index_error(index));
    index_close(index);
    return good ? 0 : 1;
}

static int usage(void)
{
    fprintf(stderr, "usage: indexer run --broker ADDRESS [--prefix PREFIX] --index FILE"
                    " [--pages N] [--idle SECONDS]\n"
                    "       indexer query --index FILE [--most N] WORD...\n");
    return 2;
}

static bool number(const char *text, long *ret)
{
    char *end;
    errno = 0;
    *ret = strtol(text, &end, 10);
    return errno == 0 && end != text && *end == 0 && *ret > 0;
}

int main(int argc, char **argv)
{
    static const struct option table[] = {{"broker", required_argument, NULL, 'b'},
                                          {"prefix", required_argument, NULL, 'x'},
                                          {"index", required_argument, NULL, 'i'},
                                          {"pages", required_argument, NULL, 'p'},
                                          {"idle", required_argument, NULL, 's'},
                                          {"most", required_argument, NULL, 'm'},
                                          {NULL, 0, NULL, 0}};
    struct options o = {.prefix = "samepage.", .most = 10};
    bool good = true;
    for (int c; (c = getopt_long(argc, argv, "", table, NULL)) != -1;)
        switch (c) {
        case 'b':
            o.broker = optarg;
            break;
        case 'x':
            o.prefix = optarg;
            break;
        case 'i':
            o.file = optarg;
            break;
        case 'p':
            good = good && number(optarg, &o.pages);
            break;
        case 's':
            good = good && number(optarg, &o.idle);
            break;
        case 'm':
            good = good && number(optarg, &o.most);
            break;
        default:
            good = false;
        }
    if (!good || optind == argc || !o.file)
        return usage();
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    if (strcmp(argv[optind], "run") == 0 && optind + 1 == argc && o.broker)
        return run(&o);
    if (strcmp(argv[optind], "query") == 0 && optind + 1 < argc)
        return query(&o, argv + optind + 1, argc - optind - 1);
    return usage();
}
