/* samepage ingest: publishes crawled pages to Kafka. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/url.h"
#include "cli/kafka_options.h"
#include "cli/payloads.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "codec/codec.h"
#include "input/readings.h"
#include "text/text.h"

struct ingest {
    rd_kafka_t *producer;
    char topic[SP_TOPIC_NAME_MAX];
    int32_t partitions;
    size_t queued; /* bytes that the broker has not acknowledged */
    struct sp_wire_format format;
    struct sp_buf url;
    uint64_t pages; /* delivered, or on their way */
    struct sp_readings readings;
    struct sp_payloads *payloads;
    enum sp_err payloads_err;
    struct sp_fault *fault;
    uint64_t revisits;
    uint64_t too_large;
    uint64_t failed;
    rd_kafka_resp_err_t why; /* the first failure */
    uint64_t batch_bytes;    /* what librdkafka sends of a partition in one request, at most: */
                             /* kafka.batch.size */
};

/* Skips the page, because a retry would fail as well, and continues with the rest of the crawl. */
static void leave_out(struct ingest *in, struct sp_view url, size_t bytes)
{
    in->too_large++;
    sp_readings_spoil(&in->readings, "the page is too large for the topic");
    fprintf(stderr,
            "left out, larger than kafka.message.max.bytes or the topic's max.message.bytes: "
            "%zu bytes, %.*s\n",
            bytes, (int)url.len, url.data);
}

static void note_failure(struct ingest *in, rd_kafka_resp_err_t code)
{
    if (in->failed++ == 0)
        in->why = code;
}

/* A broker's limit applies to batches. One of more than the producer's own limit is a single page,
 * which is too large. Pages of another one may all be small. */
static void on_delivery(rd_kafka_t *handle, const rd_kafka_message_t *m, void *arg)
{
    struct ingest *in = arg;
    size_t bytes = m->key_len + m->len;
    (void)handle;
    in->queued -= bytes;
    if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR)
        return;
    in->pages--;
    if (m->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE && bytes > in->batch_bytes)
        leave_out(in, sp_view(m->key, m->key_len), m->len);
    else
        note_failure(in, m->err);
}

/* Returns why the signature stage could not use the record, as a sentence; NULL if it can. */
static const char *unusable(struct ingest *in, const struct sp_input_item *item)
{
    const struct sp_page_record *page = &item->page;
    if (item->err != SP_OK)
        return item->why;
    if (sp_url_canonical(page->url, &in->url) != SP_OK)
        return SP_URL_REFUSED;
    if (!sp_page_record_succeeded(page) || !sp_text_readable(page->content_type))
        return NULL;
    return sp_page_record_lacks_content(page);
}

/* While five requests wait for replies and another batch is full, librdkafka 2.0 polls without a
 * pause, which took a third of the processor time of `ingest`. So no more is queued than these five
 * requests, or a batch for each partition and one more, so that one of them is full. */
static void wait_for_room(struct ingest *in)
{
    enum { REQUESTS = 5, BATCH_BYTES = 1 << 20, WAIT_MS = 50 };
    size_t batches = (size_t)in->partitions + 1;
    while (in->queued >= (batches > REQUESTS ? batches : REQUESTS) * BATCH_BYTES)
        rd_kafka_poll(in->producer, WAIT_MS);
}

/* The caller frees it. */
static struct sp_buf encode(const struct ingest *in, const struct sp_page_record *record)
{
    enum { REST_BYTES = 256 };
    struct sp_buf bytes = {0};
    sp_buf_reserve(&bytes, record->url.len + record->redirect_url.len + record->content_type.len +
                               record->content.len + REST_BYTES);
    sp_page_encode(record, &in->format, &bytes);
    return bytes;
}

/* All fetches of a page go to one partition, so that they stay in order. librdkafka takes over the
 * memory of the message, because copying pages takes longer than all else that is done to them. */
static void publish_page(struct ingest *in, const struct sp_page_record *record)
{
    struct sp_id page = sp_hash128(in->url.data, in->url.len);
    int32_t partition = (int32_t)(page.lo % (uint64_t)in->partitions);
    struct sp_buf bytes = encode(in, record);
    rd_kafka_resp_err_t code;
    wait_for_room(in);
    while ((code = rd_kafka_producev(
                in->producer, RD_KAFKA_V_TOPIC(in->topic), RD_KAFKA_V_PARTITION(partition),
                RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_FREE), RD_KAFKA_V_KEY(in->url.data, in->url.len),
                RD_KAFKA_V_VALUE(bytes.data, bytes.len), RD_KAFKA_V_END)) ==
           RD_KAFKA_RESP_ERR__QUEUE_FULL)
        rd_kafka_poll(in->producer, 50);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        in->pages++;
        in->queued += in->url.len + bytes.len;
        return;
    }
    if (code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
        leave_out(in, sp_buf_view(&in->url), bytes.len);
    else
        note_failure(in, code);
    sp_buf_done(&bytes);
}

static void on_item(void *arg, const struct sp_input_item *item)
{
    struct ingest *in = arg;
    sp_buf_reset(&in->url);
    const char *why = unusable(in, item);
    sp_readings_add(&in->readings, item->records, why);
    if (why || in->failed)
        return;
    struct sp_page_record record = item->page;
    if (in->payloads_err == SP_OK)
        in->payloads_err = sp_payloads_use(in->payloads, &record, in->fault);
    if (record.as_elsewhere) {
        in->revisits++;
        return;
    }
    publish_page(in, &record);
}

static enum sp_err publish(struct ingest *in, const struct sp_input_options *options,
                           const char *const *files, size_t count, struct sp_progress *progress,
                           struct sp_fault *fault)
{
    struct sp_input *input = NULL;
    struct sp_chunk *chunk = NULL;
    struct sp_parser *parser = sp_parser_new(options);
    enum sp_err err = sp_input_open(files, count, options, &input, fault);
    /* What could not be delivered has to be sent again, after what is read now: no more is read. */
    while (err == SP_OK && !in->failed &&
           (err = sp_input_next_chunk(input, &chunk, fault)) == SP_OK) {
        sp_chunk_parse(parser, chunk, on_item, in);
        sp_chunk_free(chunk);
        if (in->payloads_err != SP_OK) {
            err = in->payloads_err;
            break;
        }
        rd_kafka_poll(in->producer, 0);
        sp_progress_show(progress, in->pages, sp_input_read_bytes(input),
                         sp_input_total_bytes(input), 0);
    }
    sp_input_close(input);
    if (err == SP_END)
        sp_readings_end_inputs(&in->readings, files, count, in->readings.records);
    sp_parser_free(parser);
    return err == SP_END ? SP_OK : err;
}

static void say(const struct ingest *in)
{
    fprintf(stderr, "%s pages published, %s records could not be read, %s were too large\n",
            sp_thousands(in->pages).text, sp_thousands(in->readings.bad - in->too_large).text,
            sp_thousands(in->too_large).text);
    if (in->revisits)
        fprintf(stderr,
                "%s revisits of other pages' contents were left out, because these were not read\n",
                sp_thousands(in->revisits).text);
    if (sp_payloads_forgone(in->payloads))
        fprintf(stderr,
                "%s contents were not remembered for revisits of them, for lack of memory; "
                "--payloads DIR remembers all\n",
                sp_thousands(sp_payloads_forgone(in->payloads)).text);
}

static enum sp_err deliver_rest(struct ingest *in, struct sp_fault *fault)
{
    enum { FLUSH_MS = 120000 };
    rd_kafka_resp_err_t code =
        in->failed ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_flush(in->producer, FLUSH_MS);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR && !in->failed)
        return SP_OK;
    code = in->failed ? in->why : code;
    if (code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
        return sp_fault_set(
            fault, SP_INVALID,
            "%s: a batch of pages was refused: the topic's max.message.bytes is less than the "
            "batches of `ingest`, which have up to %" PRIu64 " bytes. Raise it (`samepage topics "
            "check` says to what) or set kafka.batch.size to less than it. Then run the same "
            "command again; pages that were delivered are known then, and do no harm",
            in->topic, in->batch_bytes);
    return sp_fault_set(
        fault, SP_IO,
        "%s: not all pages could be delivered (%s): %s. Then run the same command again; pages "
        "that were delivered are known then, and do no harm",
        in->topic, rd_kafka_err2str(code),
        sp_kafka_is_forbidden(code) ? SP_KAFKA_FORBIDDEN : SP_KAFKA_UNDELIVERED);
}

/* Finds the format of pages: with a registry, the schema id that the registry has. */
static enum sp_err find_format(const struct sp_config *config, const struct sp_kafka_options *kafka,
                               struct sp_wire_format *format, struct sp_fault *fault)
{
    struct sp_schemas *schemas;
    uint32_t id = 0;
    enum sp_err err = sp_cli_schemas(config, kafka, &schemas, fault);
    if (err != SP_OK || !schemas)
        return err;
    err = sp_schemas_id(schemas, SP_TOPIC_PAGES, &id, fault);
    sp_schemas_free(schemas);
    if (err == SP_OK)
        *format = sp_wire_format_of_id(id);
    return err;
}

/* The options of the command itself. */
struct arguments {
    const char *payloads;
    uint64_t wait_s; /* for a broker */
    bool wrong;      /* --wait is no number */
};

/* Finds the topic. Waits for brokers that are being restarted; such a broker replies before it has
 * heard of its topics, so then the topic is waited for as well. */
static enum sp_err find_topic(struct ingest *in, const struct sp_kafka_options *kafka,
                              const struct arguments *a, struct sp_fault *fault)
{
    enum { PAUSE_MS = 500 };
    int64_t end_ms = sp_clock_ms() + (int64_t)a->wait_s * 1000;
    enum sp_err err = sp_kafka_reach(kafka, in->producer, fault);
    bool waits = err == SP_BUSY && sp_clock_ms() < end_ms;
    if (waits) {
        fprintf(stderr, "samepage: %s; waits for a broker, %llu s in all (--wait)\n", fault->text,
                (unsigned long long)a->wait_s);
        err = sp_kafka_await(kafka, in->producer, end_ms - sp_clock_ms(), fault);
    }
    if (err == SP_OK)
        err = sp_kafka_find_topic(in->producer, in->topic, &in->partitions, fault);
    while (waits && (err == SP_BUSY || err == SP_NOT_FOUND) && sp_clock_ms() < end_ms) {
        usleep(1000 * PAUSE_MS);
        err = sp_kafka_find_topic(in->producer, in->topic, &in->partitions, fault);
    }
    return err;
}

static int ingest(const struct sp_config *config, const struct arguments *a,
                  const char *const *files, size_t count)
{
    struct ingest in = {.format = sp_wire_format_of_id((uint32_t)config->topics_pages_schema_id)};
    struct sp_kafka_options kafka;
    struct sp_input_options input;
    struct sp_progress progress;
    struct sp_fault fault;
    sp_cli_kafka_options(config, &kafka);
    sp_topic_name(&kafka, SP_TOPIC_PAGES, in.topic);
    sp_settings_input(config, &input);
    in.fault = &fault;
    if (sp_payloads_open(a->payloads, &in.payloads, &fault) != SP_OK)
        return sp_cli_failed("%s", fault.text);
    if (sp_kafka_open_producer(&kafka, on_delivery, &in, &in.producer, &fault) != SP_OK) {
        sp_payloads_close(in.payloads, &(struct sp_fault){0});
        return sp_cli_failed("%s", fault.text);
    }
    in.batch_bytes = sp_kafka_number(in.producer, "batch.size");
    enum sp_err err = find_format(config, &kafka, &in.format, &fault);
    if (err == SP_OK)
        err = find_topic(&in, &kafka, a, &fault);
    sp_progress_start(&progress, NULL);
    if (err == SP_OK)
        err = publish(&in, &input, files, count, &progress, &fault);
    if (err == SP_OK)
        err = deliver_rest(&in, &fault);
    sp_progress_end(&progress);
    sp_kafka_close(in.producer);
    sp_buf_done(&in.url);
    if (err == SP_OK)
        say(&in);
    struct sp_fault closing;
    enum sp_err closed = sp_payloads_close(in.payloads, &closing);
    if (err != SP_OK || closed != SP_OK)
        return sp_cli_failed("%s", err != SP_OK ? fault.text : closing.text);
    sp_cli_reasons(&in.readings, "");
    int code = sp_cli_verdict(config, &in.readings);
    sp_readings_done(&in.readings);
    return code;
}

static bool take_own(void *arg, int c)
{
    enum { WAIT_MOST_S = 1000000000 };
    struct arguments *a = arg;
    if (c == 'p')
        a->payloads = optarg;
    if (c == 'w')
        a->wrong |= !sp_cli_number(optarg, &a->wait_s) || a->wait_s > WAIT_MOST_S;
    return c == 'p' || c == 'w';
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    struct arguments a = {.wait_s = 60};
    static const struct option table[] = {{"payloads", required_argument, NULL, 'p'},
                                          {"wait", required_argument, NULL, 'w'},
                                          SP_COMMON_OPTIONS,
                                          SP_FIELD_OPTIONS,
                                          SP_SETTING_OPTIONS,
                                          {0}};
    struct sp_config config;
    int code = sp_cli_kafka_parse(
        command, argc, argv, &(struct sp_cli_options){.table = table, .own = take_own, .arg = &a},
        &config);
    size_t count;
    const char *const *files = sp_cli_inputs(argv + optind, argc - optind, &count);
    if (code < 0 && a.wrong)
        code = sp_cli_usage(command, "--wait is a number of seconds");
    if (code < 0 && optind == argc)
        code = sp_cli_usage(command, "no input: name files, or - for standard input");
    if (code < 0)
        code = ingest(&config, &a, files, count);
    sp_config_done(&config);
    return code;
}

const struct sp_command sp_command_ingest = {
    "ingest", "publishes crawled pages to Kafka",
    "NAME\n"
    "  samepage ingest - publishes crawled pages to Kafka\n\n"
    "SYNOPSIS\n"
    "  samepage ingest [--config FILE] [--set KEY=VALUE]... [--payloads DIR] [--wait SECONDS]\n"
    "                  INPUT...\n\n"
    "DESCRIPTION\n"
    "  Reads pages (formats as for `samepage run`) and publishes each as Avro (schemas/page.avsc) to\n"
    "  the topic of pages, all fetches of a page to one partition. A page that is too large for the\n"
    "  topic is named and left out. A WARC revisit becomes a fetch of the content that was read before\n"
    "  under its payload digest. If no such content was read, it becomes a 304 that names the earlier\n"
    "  fetch; if that was a fetch of another page, the revisit is left out and counted.\n\n"
    "OPTIONS\n"
    "  --payloads DIR      remember the contents of WARC records by their digests in DIR, for revisits\n"
    "                      now and next time; without it 256 MiB are remembered, in memory\n" SP_FIELD_HELP
    "  --wait SECONDS      how long to wait for a broker that is not reachable at the start; default: 60\n"
    "  --config FILE       read settings from FILE\n"
    "  --set KEY=VALUE     change one setting; may be repeated\n"
    "  --help-settings     all settings, with their defaults\n"
    "  --help              this text\n\n" SP_ENVIRONMENT_HELP "\n" SP_READING_EXIT_HELP,
    run};
