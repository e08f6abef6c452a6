/* bench_messages [ROUNDS]
 *
 * The cost of a hop between two stages without Kafka: encodes, decodes and frees a few hundred
 * random messages of each kind, ROUNDS times (default 20). Prints one JSON object a kind: bytes a
 * message, a hash of all bytes (which changes only with the wire format), nanoseconds of processor
 * time a hop. For exact figures count instructions:
 *
 *   valgrind --tool=callgrind --toggle-collect=hop build/release/tests/bench/bench_messages */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "samples.h"

enum { MESSAGES = 500, ROUNDS = 20 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Not inlined, so that callgrind sees it by name. */
__attribute__((noinline)) static void hop(const struct sp_message *m, struct sp_buf *bytes)
{
    struct sp_message *back = NULL;
    sp_buf_reset(bytes);
    sp_message_encode(m, bytes);
    if (sp_message_decode(sp_buf_view(bytes), &back) != SP_OK)
        abort();
    sp_message_free(back);
}

static void measure(enum sp_message_kind kind, long rounds)
{
    struct sp_message *messages[MESSAGES];
    struct sp_buf bytes = {0}, all = {0};
    for (uint64_t i = 0; i < MESSAGES; i++) {
        struct sample s = {i << 8 | kind};
        messages[i] = sample_message(&s, kind);
        sp_message_encode(messages[i], &all);
    }
    double start = seconds();
    for (long round = 0; round < rounds; round++)
        for (int i = 0; i < MESSAGES; i++)
            hop(messages[i], &bytes);
    double took = seconds() - start;
    printf("{\"kind\": \"%s\", \"bytes\": %.1f, \"hash\": \"%016" PRIx64 "\", \"ns\": %.0f}\n",
           sp_message_name(kind), (double)all.len / MESSAGES, sp_hash64(all.data, all.len),
           took * 1e9 / ((double)rounds * MESSAGES));
    for (int i = 0; i < MESSAGES; i++)
        sp_message_free(messages[i]);
    sp_buf_done(&bytes);
    sp_buf_done(&all);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : ROUNDS;
    for (int kind = SP_MSG_CRAWLED; kind < SP_MSG_KINDS; kind++)
        measure((enum sp_message_kind)kind, rounds);
    sp_message_thread_done();
    return 0;
}
