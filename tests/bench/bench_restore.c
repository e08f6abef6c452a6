/* How fast the databases of a stage are restored from a changelog, as after the loss of its disk:
 *
 *     bench_restore BROKERS TOPIC DIRECTORY THREADS [KEY VALUE]...
 *
 * Each KEY is a property of librdkafka.
 * Prints a line of JSON: records applied, seconds, processor seconds, bytes on the disk, memory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/mem.h"
#include "kafka/states.h"

enum { PROPERTIES_MOST = 16 };

static void on_log(const char *level, const char *text)
{
    fprintf(stderr, "%s: %s\n", level, text);
}

static void on_words(void *arg, const char *level, const char *text)
{
    (void)arg;
    on_log(level, text);
}

static bool on_waiting(void *arg, uint64_t applied, int64_t remaining)
{
    (void)remaining;
    *(uint64_t *)arg = applied;
    return true;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static enum sp_err restore(const struct sp_states_options *options, size_t count,
                           struct sp_fault *fault)
{
    struct sp_task *tasks = sp_calloc(count, sizeof *tasks), **all = sp_calloc(count, sizeof *all);
    struct sp_states *states = sp_states_new(options);
    size_t failed;
    for (size_t i = 0; i < count; i++) {
        all[i] = &tasks[i];
        tasks[i] = (struct sp_task){.partition = (int32_t)i, .input_next = -1};
    }
    int64_t began_us = sp_clock_us();
    enum sp_err err = sp_states_open(states, all, count, &failed, fault);
    double took = (double)(sp_clock_us() - began_us) / 1e6;
    uint64_t bytes = 0;
    for (size_t i = 0; i < count && err == SP_OK; i++) {
        uint64_t disk, memory;
        sp_db_size(tasks[i].db, &disk, &memory);
        bytes += disk;
    }
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    if (err == SP_OK)
        printf("{\"records\": %" PRIu64 ", \"seconds\": %.3f, \"cpu_seconds\": %.2f, "
               "\"disk_bytes\": %" PRIu64 ", \"rss_mb\": %ld}\n",
               *(uint64_t *)options->arg, took,
               seconds_of(used.ru_utime) + seconds_of(used.ru_stime), bytes, used.ru_maxrss / 1024);
    for (size_t i = 0; i < count; i++)
        sp_db_close(tasks[i].db);
    sp_states_free(states);
    sp_free(tasks);
    sp_free(all);
    return err;
}

int main(int argc, char **argv)
{
    if (argc < 5 || argc % 2 == 0 || argc > 5 + 2 * PROPERTIES_MOST)
        return 64;
    struct sp_config_property properties[1 + PROPERTIES_MOST] = {{"bootstrap.servers", argv[1]}};
    size_t property_count = 1;
    for (int i = 5; i < argc; i += 2)
        properties[property_count++] = (struct sp_config_property){argv[i], argv[i + 1]};
    struct sp_kafka_options kafka = {.properties = properties,
                                     .property_count = property_count,
                                     .prefix = "bench_restore.",
                                     .instance = "0",
                                     .log = on_log};
    struct sp_rocksdb_options store;
    struct sp_fault fault = {""};
    rd_kafka_t *watcher = NULL;
    int32_t count = 0;
    uint64_t applied = 0;
    sp_rocksdb_options_default(&store);
    enum sp_err err =
        sp_kafka_open(&kafka, SP_KAFKA_WATCHER, "watch", NULL, NULL, &watcher, &fault);
    if (err == SP_OK)
        err = sp_kafka_partitions(watcher, argv[2], &count);
    store.databases = (uint32_t)count;
    store.gathers = store.background = true; /* as the stages do */
    store.background_threads = (int)strtol(argv[4], NULL, 10);
    store.shared = sp_rocksdb_shared_new(&store);
    struct sp_states_options options = {.kafka = &kafka,
                                        .store = &store,
                                        .fingerprint = "",
                                        .directory = argv[3],
                                        .name = "restored",
                                        .topic = argv[2],
                                        .watcher = watcher,
                                        .waiting = on_waiting,
                                        .say = on_words,
                                        .arg = &applied};
    if (err == SP_OK)
        err = restore(&options, (size_t)count, &fault);
    if (err != SP_OK)
        fprintf(stderr, "bench_restore: %s\n", *fault.text ? fault.text : sp_err_text(err));
    if (watcher)
        rd_kafka_destroy(watcher);
    sp_rocksdb_shared_free(store.shared);
    return err != SP_OK;
}
