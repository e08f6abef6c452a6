/* samepage status: the status of a URL, or the stream of status events. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/url.h"
#include "cli/kafka_options.h"
#include "client/ends.h"
#include "client/event.h"
#include "codec/lines.h"
#include "input/input.h"

enum { POLL_MS = 200, TIMEOUT_MS = 15000 };
/* Longer than a dead stage leaves a transaction open, behind which nothing may be read. */
enum { SILENCE_MS = 60000 };

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

struct lookup {
    rd_kafka_t *reader;
    rd_kafka_t *watcher;
    char topic[SP_TOPIC_NAME_MAX];
    int32_t partitions;
    int64_t heard_ms;   /* when the last message came */
    bool forbidden;     /* to read the topic */
    int64_t unreadable; /* how many events could not be read */
    char first_unreadable[128];
    struct sp_buf text;
    struct sp_buf line;
};

static void note_unreadable(struct lookup *l, const rd_kafka_message_t *m, enum sp_err err)
{
    if (l->unreadable++ == 0)
        snprintf(l->first_unreadable, sizeof l->first_unreadable, "partition %d, offset %lld: %s",
                 (int)m->partition, (long long)m->offset, sp_err_text(err));
}

static void say_unreadable(const struct lookup *l)
{
    if (l->unreadable)
        fprintf(
            stderr,
            "samepage: %s: events that cannot be read, and were passed over: %lld; the first: %s\n",
            l->topic, (long long)l->unreadable, l->first_unreadable);
}

static bool read_event(struct lookup *l, const rd_kafka_message_t *m)
{
    struct sp_status_event event;
    sp_buf_reset(&l->line);
    struct sp_view value = sp_view(m->payload, m->len);
    struct sp_wire_format format = sp_wire_format_seen(value);
    enum sp_err err = sp_status_decode(value, &format, &l->text, &event);
    if (err != SP_OK) {
        note_unreadable(l, m, err);
        return false;
    }
    sp_lines_put_status(&l->line, &event);
    return true;
}

static void begin(struct lookup *l, rd_kafka_topic_partition_list_t *list)
{
    l->heard_ms = sp_clock_ms();
    rd_kafka_assign(l->reader, list);
    rd_kafka_topic_partition_list_destroy(list);
}

/* Whether to go on without the end. A broker that is gone sends nothing, and messages behind a
 * transaction that is still open may not be read; where a right is missing, waiting does not help.
 */
static bool waits(struct lookup *l, const rd_kafka_message_t *m)
{
    if (m && (m->err == RD_KAFKA_RESP_ERR_NO_ERROR || m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF))
        l->heard_ms = sp_clock_ms();
    l->forbidden |= m && sp_kafka_is_forbidden(m->err);
    return !stop && !l->forbidden && sp_clock_ms() - l->heard_ms < SILENCE_MS;
}

static int not_read(const struct lookup *l)
{
    if (stop)
        return sp_cli_failed("%s: interrupted before its end", l->topic);
    if (l->forbidden)
        return sp_cli_failed("%s: %s", l->topic, SP_KAFKA_FORBIDDEN);
    return sp_cli_failed("%s: its end cannot be read: nothing came for %d seconds. The broker does "
                         "not reply, or a transaction is still open; try again",
                         l->topic, SILENCE_MS / 1000);
}

/* Reads the partition to its end and keeps the page's last event in l->line; false if there is
 * none, or if it was deleted. *ret_ended: the end was reached. */
static bool find_last(struct lookup *l, struct sp_view key, int32_t partition, int64_t high,
                      bool *ret_ended)
{
    bool found = false, more = true;
    int64_t next = 0;
    while (next < high && more) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(l->reader, POLL_MS);
        more = waits(l, m);
        if (!m)
            continue;
        if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            if (m->partition == partition && sp_view_eq(sp_view(m->key, m->key_len), key))
                found = m->payload && (read_event(l, m) || found);
            next = m->offset + 1;
        } else if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            next = m->offset > next ? m->offset : next;
            if (m->offset >= high)
                next = high;
        }
        rd_kafka_message_destroy(m);
    }
    *ret_ended = next >= high;
    return found;
}

/* Leaves the key of its page in l->text. */
static bool find_page(struct lookup *l, const char *name, struct sp_id *ret_page)
{
    struct sp_buf url = {0};
    sp_input_put_named(&url, sp_view_str(name));
    bool usable = sp_url_page(sp_buf_view(&url), &l->text, ret_page) == SP_OK;
    sp_buf_done(&url);
    return usable;
}

static int look_up(struct lookup *l, const char *url)
{
    int64_t low = 0, high = 0;
    struct sp_id page;
    if (!find_page(l, url, &page))
        return sp_cli_failed("%s: neither a usable URL nor an id", url);
    int32_t partition = (int32_t)(page.lo % (uint64_t)l->partitions);
    rd_kafka_resp_err_t code =
        sp_kafka_watermarks(l->watcher, l->topic, partition, &low, &high, TIMEOUT_MS);
    l->forbidden |= sp_kafka_is_forbidden(code);
    if (l->forbidden)
        return not_read(l);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        struct sp_fault fault;
        sp_kafka_no_reply(l->watcher, &fault);
        return sp_cli_failed("%s", fault.text);
    }
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, l->topic, partition)->offset = low;
    begin(l, list);
    bool ended = true;
    struct sp_buf key = {0};
    sp_buf_put_view(&key, sp_buf_view(&l->text)); /* reading overwrites l->text */
    bool found = low < high && find_last(l, sp_buf_view(&key), partition, high, &ended);
    sp_buf_done(&key);
    rd_kafka_assign(l->reader, NULL);
    if (!ended)
        return not_read(l);
    if (!found)
        return sp_cli_failed("%s: no status is known", url);
    fwrite(l->line.data, 1, l->line.len, stdout);
    return SP_EXIT_DONE;
}

/* The last event of every page as a line, in order of keys, which are canonical URLs. */
struct known {
    struct sp_id url; /* key of the map: first */
    char *name;
    struct sp_buf line; /* empty: it was deleted */
};

static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct known *const *)a)->name, (*(struct known *const *)b)->name);
}

static void keep(struct lookup *l, struct sp_map *map, const rd_kafka_message_t *m)
{
    struct sp_id id = sp_hash128(m->key, m->key_len);
    struct known *k = sp_map_get(map, id);
    if (!m->payload && k)
        sp_buf_reset(&k->line);
    if (!m->payload || !read_event(l, m))
        return;
    if (!k) {
        k = sp_calloc(1, sizeof *k);
        k->url = id;
        k->name = sp_view_dup(sp_view(m->key, m->key_len));
        sp_map_add(map, k);
    }
    sp_buf_reset(&k->line);
    sp_buf_put_view(&k->line, sp_buf_view(&l->line));
}

static void print_all(struct sp_map *map, bool whole)
{
    struct known **sorted = sp_alloc((map->count + 1) * sizeof *sorted);
    size_t count = 0;
    uint64_t cursor = 0;
    for (struct known *k; (k = sp_map_next(map, &cursor));)
        sorted[count++] = k;
    qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t i = 0; i < count; i++) {
        if (whole)
            fwrite(sorted[i]->line.data, 1, sorted[i]->line.len, stdout);
        sp_buf_done(&sorted[i]->line);
        sp_free(sorted[i]->name);
        sp_free(sorted[i]);
    }
    sp_free(sorted);
}

static int list_all(struct lookup *l)
{
    struct sp_map map = {0};
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(l->partitions);
    for (int32_t p = 0; p < l->partitions; p++)
        rd_kafka_topic_partition_list_add(list, l->topic, p)->offset = RD_KAFKA_OFFSET_BEGINNING;
    begin(l, list);
    /* A partition ends again after each message that arrives meanwhile. */
    bool *at_end = sp_calloc((size_t)l->partitions + 1, sizeof *at_end);
    int32_t ended = 0;
    for (bool more = true; ended < l->partitions && more;) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(l->reader, POLL_MS);
        more = waits(l, m);
        if (!m)
            continue;
        if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            keep(l, &map, m);
        } else if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            ended += !at_end[m->partition];
            at_end[m->partition] = true;
        }
        rd_kafka_message_destroy(m);
    }
    sp_free(at_end);
    print_all(&map, ended == l->partitions);
    sp_map_done(&map);
    return ended == l->partitions ? SP_EXIT_DONE : not_read(l);
}

/* ---- --follow, which uses the public client ---- */

static struct samepage_status_client *open_client(const struct sp_kafka_options *kafka,
                                                  const char *topic, char *error, size_t size)
{
    const char **properties = sp_cli_client_properties(kafka, true);
    sp_client_log_to(sp_kafka_log);
    struct samepage_status_client *client =
        samepage_status_open(properties, topic, NULL, error, size);
    sp_free(properties);
    return client;
}

static void put_line(struct sp_buf *line, const struct samepage_status_event *event)
{
    struct sp_status_event e;
    sp_client_event(event, &e); /* the client has formatted the group's id */
    sp_buf_reset(line);
    sp_lines_put_status(line, &e);
}

static int follow(struct lookup *l, struct samepage_status_client *client)
{
    struct samepage_status_event event;
    bool written = fflush(stdout) == 0; /* what was asked for; the next event may take hours */
    while (!stop && written) {
        int got = samepage_status_next(client, POLL_MS, &event);
        if (got == SAMEPAGE_FATAL)
            return sp_cli_failed("%s", samepage_status_error(client));
        if (got < 0 || got == SAMEPAGE_REMADE)
            fprintf(stderr, "samepage: %s\n", samepage_status_error(client));
        if (got != SAMEPAGE_EVENT)
            continue;
        put_line(&l->line, &event);
        fwrite(l->line.data, 1, l->line.len, stdout);
        written = fflush(stdout) == 0;
    }
    return SP_EXIT_DONE; /* the end of the program says that standard output cannot be written */
}

struct asked {
    bool all;
    bool follow;
};

static int ask(const struct sp_config *config, char **urls, int count, const struct asked *asked)
{
    struct lookup l = {.partitions = 0};
    struct sp_kafka_options kafka;
    struct samepage_status_client *client = NULL;
    struct sp_fault fault;
    char error[512] = "";
    int code = SP_EXIT_DONE;
    sp_cli_kafka_options(config, &kafka);
    sp_topic_name(&kafka, SP_TOPIC_STATUS, l.topic);
    if (sp_kafka_open(&kafka, SP_KAFKA_READER, "status", NULL, NULL, &l.reader, &fault) != SP_OK ||
        sp_kafka_open(&kafka, SP_KAFKA_WATCHER, "status", NULL, NULL, &l.watcher, &fault) != SP_OK)
        code = sp_cli_failed("%s", fault.text);
    else if (sp_kafka_reach(&kafka, l.watcher, &fault) != SP_OK ||
             sp_kafka_find_topic(l.watcher, l.topic, &l.partitions, &fault) != SP_OK)
        code = sp_cli_failed("%s", fault.text);
    /* Opened before the list is read, so that no event between the two is missed. */
    else if (asked->follow && !(client = open_client(&kafka, l.topic, error, sizeof error)))
        code = sp_cli_failed("%s", error);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    for (int i = 0; i < count && (code == SP_EXIT_DONE || i > 0); i++) {
        int one = look_up(&l, urls[i]);
        code = one != SP_EXIT_DONE ? one : code;
    }
    if (asked->all && code == SP_EXIT_DONE)
        code = list_all(&l);
    say_unreadable(&l);
    if (asked->follow && code == SP_EXIT_DONE)
        code = follow(&l, client);
    samepage_status_close(client);
    sp_kafka_close(l.reader);
    sp_kafka_close(l.watcher);
    sp_buf_done(&l.text);
    sp_buf_done(&l.line);
    return code;
}

static bool own_option(void *arg, int option)
{
    struct asked *asked = arg;
    asked->all |= option == 'a';
    asked->follow |= option == 'f';
    return option == 'a' || option == 'f';
}

static int run(const struct sp_command *command, int argc, char **argv)
{
    static const struct option table[] = {{"all", no_argument, NULL, 'a'},
                                          {"follow", no_argument, NULL, 'f'},
                                          SP_COMMON_OPTIONS,
                                          SP_SETTING_OPTIONS,
                                          {0}};
    struct sp_config config;
    struct asked asked = {0};
    int code = sp_cli_kafka_parse(
        command, argc, argv,
        &(struct sp_cli_options){.table = table, .own = own_option, .arg = &asked}, &config);
    if (code < 0 && optind == argc && !asked.follow && !asked.all)
        code = sp_cli_usage(command, "name URLs, or give --all or --follow");
    if (code < 0)
        code = ask(&config, argv + optind, argc - optind, &asked);
    sp_config_done(&config);
    return code;
}

const struct sp_command sp_command_status = {
    "status", "the status of a URL, or the stream of status events",
    "NAME\n"
    "  samepage status - the status of a URL, or the stream of status events\n\n"
    "SYNOPSIS\n"
    "  samepage status [--all] [--follow] [--config FILE] [--set KEY=VALUE]... [URL]...\n\n"
    "DESCRIPTION\n"
    "  Prints the latest status event of each URL, as `samepage run` writes them, read from the\n"
    "  status topic. A URL without one is an error. An id that is not a URL means the document\n"
    "  doc:ID.\n\n"
    "OPTIONS\n"
    "  --all               the latest event of every URL, up to the current end of the topic\n"
    "  --follow            then print new events as they arrive, until interrupted\n"
    "  --config FILE       read settings from FILE\n"
    "  --set KEY=VALUE     change one setting; may be repeated\n"
    "  --help-settings     all settings, with their defaults\n"
    "  --help              this text\n\n" SP_ENVIRONMENT_HELP "\nEXIT STATUS\n"
    "  0 done; 1 failed, or a URL has no event; 2 wrong usage\n",
    run};
