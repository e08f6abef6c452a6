/* The order of batches, the threads that make them, how the pipeline ends if reading fails or
 * threads cannot be created, and what the caller is told. The linker replaces pthread_create by a
 * version that counts and fails on request. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "local/pipeline.h"

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *arg), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *arg), void *arg);

static int threads_left = -1; /* -1: no limit */
static uint32_t threads_made;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *arg), void *arg)
{
    if (threads_left == 0)
        return EAGAIN;
    threads_left -= threads_left > 0;
    threads_made++;
    return __real_pthread_create(thread, attributes, run, arg);
}

static void make_line(char name[64])
{
    static const char line[] = "{\"url\":\"http://a.example/\",\"content\":\"one two three\"}\n";
    snprintf(name, 64, "%s", "/tmp/samepage-pipeline-XXXXXX");
    int fd = mkstemp(name);
    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT_EQUAL(write(fd, line, sizeof line - 1), (ssize_t)sizeof line - 1);
    close(fd);
}

/* Reads two files, the second of which is deleted meanwhile; returns the error that ended it. */
static enum sp_err read_what_goes_away(uint32_t workers, const char *const names[2],
                                       struct sp_fault *fault)
{
    struct sp_input_options options;
    struct sp_text_options text;
    struct sp_input *input = NULL;
    struct sp_batch *batch = NULL;
    size_t items = 0;
    sp_input_options_default(&options);
    sp_text_options_default(&text);
    CU_ASSERT_EQUAL_FATAL(sp_input_open(names, 2, &options, &input, fault), SP_OK);
    CU_ASSERT_EQUAL(unlink(names[1]), 0);
    struct sp_pipeline *pipeline = sp_pipeline_start(input, &options, &text, workers);
    enum sp_err err;
    while ((err = sp_pipeline_next(pipeline, &batch, fault)) == SP_OK)
        items += batch->count;
    CU_ASSERT_EQUAL(items, 1);
    sp_pipeline_stop(pipeline);
    sp_input_close(input);
    return err;
}

TEST(why_reading_ended_outlives_the_pipeline)
{
    char first[64], second[64];
    for (uint32_t workers = 0; workers <= 2; workers += 2) {
        struct sp_fault fault = {""};
        make_line(first);
        make_line(second);
        CU_ASSERT_EQUAL(read_what_goes_away(workers, (const char *const[]){first, second}, &fault),
                        SP_IO);
        CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, second));
        CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "cannot be read"));
        unlink(first);
    }
}

/* Of three workers, the caller is one. */
TEST(a_limit_of_threads_is_an_error_of_the_first_batch)
{
    char name[64];
    make_line(name);
    for (int left = 0; left < 2; left++) {
        struct sp_input_options options;
        struct sp_text_options text;
        struct sp_input *input = NULL;
        struct sp_batch *batch = NULL;
        struct sp_fault fault = {""};
        sp_input_options_default(&options);
        sp_text_options_default(&text);
        CU_ASSERT_EQUAL_FATAL(
            sp_input_open((const char *const[]){name}, 1, &options, &input, &fault), SP_OK);
        threads_left = left;
        struct sp_pipeline *pipeline = sp_pipeline_start(input, &options, &text, 3);
        CU_ASSERT_EQUAL(sp_pipeline_next(pipeline, &batch, &fault), SP_IO);
        CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "no thread can be started"));
        CU_ASSERT_EQUAL(sp_pipeline_next(pipeline, &batch, &fault), SP_IO);
        sp_pipeline_stop(pipeline);
        sp_input_close(input);
    }
    threads_left = -1;
    unlink(name);
}

enum { LINES = 2000, CHUNK_BYTES = 256 };

static void make_lines(char name[64])
{
    snprintf(name, 64, "%s", "/tmp/samepage-pipeline-XXXXXX");
    int fd = mkstemp(name);
    CU_ASSERT_FATAL(fd >= 0);
    FILE *file = fdopen(fd, "w");
    for (int i = 0; i < LINES; i++)
        fprintf(file, "{\"url\":\"http://a.example/%d\",\"content\":\"page %d\"}\n", i, i);
    CU_ASSERT_EQUAL(fclose(file), 0);
}

/* Reads the file in many chunks. */
static struct sp_pipeline *start(const char *name, uint32_t workers, struct sp_input **ret_input)
{
    struct sp_input_options options;
    struct sp_text_options text;
    struct sp_fault fault = {""};
    sp_input_options_default(&options);
    sp_text_options_default(&text);
    options.chunk_bytes = CHUNK_BYTES;
    CU_ASSERT_EQUAL_FATAL(sp_input_open(&name, 1, &options, ret_input, &fault), SP_OK);
    return sp_pipeline_start(*ret_input, &options, &text, workers);
}

/* Frees the messages, which are the receiver's. */
static void take_messages(struct sp_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        sp_message_free(batch->items[i].message);
        batch->items[i].message = NULL;
    }
}

/* Reads the file in many chunks, with a caller that is slow every `rest` batches so that the ring
 * fills up; returns the number of items, which come in order. */
static uint64_t count_in_order(const char *name, uint32_t workers, unsigned rest)
{
    struct sp_input *input = NULL;
    struct sp_batch *batch = NULL;
    struct sp_fault fault = {""};
    uint64_t items = 0, batches = 0;
    struct sp_pipeline *pipeline = start(name, workers, &input);
    while (sp_pipeline_next(pipeline, &batch, &fault) == SP_OK) {
        for (size_t i = 0; i < batch->count; i++, items++)
            CU_ASSERT_EQUAL(batch->items[i].number, items);
        take_messages(batch);
        if (rest && ++batches % rest == 0)
            usleep(1000);
    }
    CU_ASSERT(sp_pipeline_next(pipeline, &batch, &fault) == SP_END);
    sp_pipeline_stop(pipeline);
    sp_input_close(input);
    return items;
}

TEST(batches_come_in_order_for_any_number_of_workers)
{
    char name[64];
    make_lines(name);
    for (uint32_t workers = 0; workers <= 5; workers++) {
        CU_ASSERT_EQUAL(count_in_order(name, workers, 0), LINES);
        CU_ASSERT_EQUAL(count_in_order(name, workers, 10), LINES);
    }
    unlink(name);
}

/* While the caller has the first batch, there is room for all others that it asks for. */
static void wait_for_batch(struct sp_pipeline *pipeline, uint64_t number)
{
    enum { PATIENCE_MS = 10000 };
    for (int ms = 0; ms < PATIENCE_MS && !sp_pipeline_batch(pipeline, number); ms++)
        usleep(1000);
}

/* A batch that is seen before it is handed out is the one that is handed out then. */
TEST(batches_are_seen_before_they_are_handed_out)
{
    enum { BEFORE = 8 };
    char name[64];
    make_lines(name);
    for (uint32_t workers = 0; workers <= 3; workers++) {
        struct sp_input *input = NULL;
        struct sp_batch *batch = NULL;
        struct sp_fault fault = {""};
        const struct sp_batch *seen[BEFORE] = {NULL};
        uint64_t early = 0, number = 0;
        struct sp_pipeline *pipeline = start(name, workers, &input);
        for (; sp_pipeline_next(pipeline, &batch, &fault) == SP_OK; number++) {
            CU_ASSERT_PTR_EQUAL(sp_pipeline_batch(pipeline, number), batch);
            CU_ASSERT(!seen[number % BEFORE] || seen[number % BEFORE] == batch);
            if (workers > 1 && number == 0)
                wait_for_batch(pipeline, BEFORE - 1);
            usleep(number % 16 ? 0 : 1000);
            for (uint64_t next = number + 1; next < number + BEFORE; next++)
                seen[next % BEFORE] = sp_pipeline_batch(pipeline, next);
            early += seen[(number + 1) % BEFORE] != NULL;
            take_messages(batch);
        }
        CU_ASSERT_PTR_NULL(sp_pipeline_batch(pipeline, number));
        CU_ASSERT(workers > 1 ? early > 0 : early == 0);
        sp_pipeline_stop(pipeline);
        sp_input_close(input);
    }
    unlink(name);
}

/* As many threads as workers are busy: one more would only take turns with them. */
TEST(the_caller_is_one_of_the_workers)
{
    char name[64];
    make_lines(name);
    for (uint32_t workers = 0; workers <= 4; workers++) {
        threads_made = 0;
        CU_ASSERT_EQUAL(count_in_order(name, workers, 0), LINES);
        CU_ASSERT_EQUAL(threads_made, workers > 1 ? workers - 1 : 0);
    }
    unlink(name);
}

/* Workers that wait for room are woken and end. */
TEST(a_pipeline_is_stopped_in_the_middle)
{
    char name[64];
    make_lines(name);
    for (uint32_t workers = 0; workers <= 4; workers++) {
        struct sp_input *input = NULL;
        struct sp_batch *batch = NULL;
        struct sp_fault fault = {""};
        struct sp_pipeline *pipeline = start(name, workers, &input);
        CU_ASSERT_EQUAL(sp_pipeline_next(pipeline, &batch, &fault), SP_OK);
        usleep(1000); /* the others fill the ring */
        sp_pipeline_stop(pipeline);
        sp_input_close(input);
    }
    unlink(name);
}
