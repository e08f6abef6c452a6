/* `samepage status` with a broker that stops sending: it ends with a message instead of waiting
 * without end. The clock and the broker's silence are ours. */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "harness.h"

enum { POLL_MS = 200, SILENCE_MS = 60000 };

static bool silent;
static int64_t later_ms;
static int polls; /* in the silence */

rd_kafka_message_t *__real_rd_kafka_consumer_poll(rd_kafka_t *handle, int timeout_ms);
rd_kafka_message_t *__wrap_rd_kafka_consumer_poll(rd_kafka_t *handle, int timeout_ms);

rd_kafka_message_t *__wrap_rd_kafka_consumer_poll(rd_kafka_t *handle, int timeout_ms)
{
    if (!silent)
        return __real_rd_kafka_consumer_poll(handle, timeout_ms);
    polls++;
    later_ms += timeout_ms;
    return NULL;
}

int64_t __wrap_sp_clock_ms(void);

int64_t __wrap_sp_clock_ms(void)
{
    return later_ms;
}

static struct {
    rd_kafka_t *producer;
    char address[256];
} broker;

static void begin(void)
{
    char why[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "test.mock.num.brokers", "1", why, sizeof why);
    broker.producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    CU_ASSERT_PTR_NOT_NULL_FATAL(broker.producer);
    rd_kafka_mock_cluster_t *cluster = rd_kafka_handle_mock_cluster(broker.producer);
    rd_kafka_mock_topic_create(cluster, "t.status", 1, 1);
    snprintf(broker.address, sizeof broker.address, "kafka.bootstrap.servers=%s",
             rd_kafka_mock_cluster_bootstraps(cluster));
    rd_kafka_resp_err_t err =
        rd_kafka_producev(broker.producer, RD_KAFKA_V_TOPIC("t.status"), RD_KAFKA_V_PARTITION(0),
                          RD_KAFKA_V_KEY("k", 1), RD_KAFKA_V_VALUE("junk", 4), RD_KAFKA_V_END);
    CU_ASSERT_EQUAL(err, RD_KAFKA_RESP_ERR_NO_ERROR);
    CU_ASSERT_EQUAL(rd_kafka_flush(broker.producer, SILENCE_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
}

/* The exit code of `samepage status WHAT`; what it printed in `ret_said`. */
static int status_of(const char *what, char ret_said[4096])
{
    const char *const argv[] = {"status", "--set", broker.address, "--set", "topics.prefix=t.",
                                what,     NULL};
    FILE *caught = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(caught);
    fflush(stdout);
    int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    dup2(fileno(caught), STDOUT_FILENO);
    dup2(fileno(caught), STDERR_FILENO);
    polls = 0;
    int code = sp_command_status.run(&sp_command_status, 6, (char **)(uintptr_t)argv);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(out);
    close(err);
    rewind(caught);
    ret_said[fread(ret_said, 1, 4095, caught)] = '\0';
    fclose(caught);
    return code;
}

TEST(a_broker_that_sends_nothing_for_a_minute_ends_status_with_a_message)
{
    char said[4096];
    static const char *const asked[] = {"--all", "http://a.example/"};
    begin();
    silent = true;
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(status_of(asked[i], said), SP_EXIT_FAILED);
        CU_ASSERT_EQUAL(polls, SILENCE_MS / POLL_MS);
        CU_ASSERT_PTR_NOT_NULL(strstr(said, "t.status: its end cannot be read: nothing came for 60 "
                                            "seconds. The broker does not reply, or a transaction "
                                            "is still open; try again"));
    }
    silent = false;
    CU_ASSERT_EQUAL(status_of(asked[0], said), SP_EXIT_DONE);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "t.status: events that cannot be read, and were passed "
                                        "over: 1; the first: partition 0, offset 0"));
    CU_ASSERT_EQUAL(status_of(asked[1], said), SP_EXIT_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(said, "no status is known"));
    rd_kafka_destroy(broker.producer);
}
