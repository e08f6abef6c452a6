/* The server of /livez, /readyz and /metrics over real sockets: its responses, and that no request
 * harms it. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "kafka/health.h"

/* On the busiest machine, and still before the server closes a connection that has no request. */
enum { SOON_MS = 1000 * SP_HEALTH_TIMEOUT_SECONDS * 4 / 5 };

struct fixture {
    struct sp_worker_metrics metrics;
    struct sp_health *server;
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void start(struct fixture *f)
{
    struct sp_health_options o = {"127.0.0.1:0", "group", &f->metrics};
    struct sp_fault fault = {""};
    *f = (struct fixture){.metrics = {.ready = 1, .last_poll_ms = now_ms()}};
    CU_ASSERT_EQUAL_FATAL(sp_health_start(&o, &f->server, &fault), SP_OK);
}

static int dial(const struct fixture *f)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(sp_health_port(f->server)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = 15};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CU_ASSERT_FATAL(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* Returns false if the server has closed the connection, which it may. */
static bool say(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        data += n, len -= (size_t)n;
    }
    return true;
}

/* Reads to the end and closes; returns the status, 0 if there was no response. */
static int hear(int fd, struct sp_buf *response)
{
    ssize_t n;
    sp_buf_reset(response);
    while ((n = recv(fd, sp_buf_reserve(response, 4096), 4096, 0)) > 0)
        response->len += (size_t)n;
    close(fd);
    sp_buf_put_u8(response, 0);
    return strncmp(response->data, "HTTP/1.", 7) == 0 ? (int)strtol(response->data + 9, NULL, 10)
                                                      : 0;
}

static int ask(const struct fixture *f, const char *request, struct sp_buf *response)
{
    int fd = dial(f);
    say(fd, request, strlen(request));
    return hear(fd, response);
}

static int get(const struct fixture *f, const char *path, struct sp_buf *response)
{
    char request[512];
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
    return ask(f, request, response);
}

/* After anything, the server still responds, and at once. */
static void check_unharmed(const struct fixture *f)
{
    struct sp_buf response = {0};
    int64_t before = now_ms();
    CU_ASSERT_EQUAL(get(f, "/livez", &response), 200);
    CU_ASSERT_EQUAL(get(f, "/metrics", &response), 200);
    CU_ASSERT(now_ms() - before < SOON_MS);
    sp_buf_done(&response);
}

static const char *body_of(const struct sp_buf *response)
{
    const char *end = strstr(response->data, "\r\n\r\n");
    return end ? end + 4 : "";
}

/* ---- responses ---- */

TEST(livez_says_whether_the_worker_has_polled_within_a_minute)
{
    struct fixture f;
    struct sp_buf response = {0};
    start(&f);
    CU_ASSERT_EQUAL(get(&f, "/livez", &response), 200);
    f.metrics.last_poll_ms = now_ms() - 55000;
    CU_ASSERT_EQUAL(get(&f, "/livez", &response), 200);
    f.metrics.last_poll_ms = now_ms() - 60001;
    CU_ASSERT_EQUAL(get(&f, "/livez", &response), 503);
    f.metrics.last_poll_ms = 0; /* it has just started */
    CU_ASSERT_EQUAL(get(&f, "/livez", &response), 200);
    sp_health_stop(f.server);
    sp_buf_done(&response);
}

TEST(readyz_follows_the_worker)
{
    struct fixture f;
    struct sp_buf response = {0};
    start(&f);
    CU_ASSERT_EQUAL(get(&f, "/readyz", &response), 200);
    CU_ASSERT_STRING_EQUAL(body_of(&response), "ready\n");
    f.metrics.ready = 0;
    CU_ASSERT_EQUAL(get(&f, "/readyz", &response), 503);
    CU_ASSERT_EQUAL(get(&f, "/readyz?verbose=1", &response), 503);
    f.metrics.ready = 1;
    f.metrics.disk_full = 1;
    CU_ASSERT_EQUAL(get(&f, "/readyz", &response), 503);
    CU_ASSERT_PTR_NOT_NULL(strstr(body_of(&response), "no room on the disk"));
    sp_health_stop(f.server);
    sp_buf_done(&response);
}

/* Checks that each metric is HELP, TYPE and samples; returns the number of samples, and the value
 * of one. */
static size_t check_metrics(char *text, const char *wanted, char ret_value[64])
{
    size_t count = 0, samples = 1;
    char name[128] = "", other[128], type[16], labels[128], value[64], rest[2];
    char *save = NULL, *line = strtok_r(text, "\n", &save);
    ret_value[0] = 0;
    for (; line; line = strtok_r(NULL, "\n", &save)) {
        if (line[0] == '#') {
            CU_ASSERT(samples > 0);
            samples = 0;
            CU_ASSERT_EQUAL_FATAL(sscanf(line, "# HELP %127s %1s", name, rest), 2);
            line = strtok_r(NULL, "\n", &save);
            CU_ASSERT_EQUAL_FATAL(
                line ? sscanf(line, "# TYPE %127s %15s %1s", other, type, rest) : 0, 2);
            CU_ASSERT_STRING_EQUAL(other, name);
            size_t n = strlen(name);
            bool total = n > 6 && strcmp(name + n - 6, "_total") == 0;
            CU_ASSERT_STRING_EQUAL(type, total ? "counter" : "gauge");
            CU_ASSERT_EQUAL(strncmp(name, "samepage_", 9), 0);
            continue;
        }
        CU_ASSERT_EQUAL_FATAL(
            sscanf(line, "%127[a-z_]{%127[a-z_=\",]} %63[0-9.]%1s", other, labels, value, rest), 3);
        CU_ASSERT_STRING_EQUAL(other, name);
        CU_ASSERT_EQUAL(strncmp(labels, "stage=\"group\"", 13), 0);
        if (strncmp(line + 9, wanted, strlen(wanted)) == 0 && line[9 + strlen(wanted)] == ' ')
            snprintf(ret_value, 64, "%s", value);
        samples++;
        count++;
    }
    CU_ASSERT(samples > 0);
    return count;
}

#define MESSAGES(kind) "messages_total{stage=\"group\",kind=\"" kind "\"}"
#define ABORTS(reason) "aborts_total{stage=\"group\",reason=\"" reason "\"}"
/* A sample of each metric, with the value that the test below sets. */
static const char *const samples_of_all[][2] = {
    {"contain_notes_total{stage=\"group\"}", "27"},
    {"received_total{stage=\"group\"}", "18446744073709551615"},
    {"emitted_total{stage=\"group\"}", "2"},
    {"dead_letters_total{stage=\"group\"}", "3"},
    {"direct_total{stage=\"group\"}", "31"},
    {"lost_total{stage=\"group\"}", "32"},
    {"commits_total{stage=\"group\"}", "4"},
    {"commit_seconds_total{stage=\"group\"}", "5.250001"},
    {ABORTS("rebalance"), "60"},
    {ABORTS("timeout"), "61"},
    {ABORTS("fenced"), "62"},
    {ABORTS("broker"), "63"},
    {ABORTS("unknown_outcome"), "64"},
    {ABORTS("stage"), "65"},
    {ABORTS("registry"), "66"},
    {"restarts_total{stage=\"group\"}", "7"},
    {"changelog_records_total{stage=\"group\"}", "8"},
    {"restore_remaining{stage=\"group\"}", "9"},
    {"standby_wanted{stage=\"group\"}", "30"},
    {"standby_copies{stage=\"group\"}", "28"},
    {"standby_rounds_total{stage=\"group\"}", "67"},
    {"standby_remaining{stage=\"group\"}", "29"},
    {"tasks{stage=\"group\"}", "10"},
    {"paused{stage=\"group\"}", "1"},
    {"disk_full{stage=\"group\"}", "1"},
    {"registry_down{stage=\"group\"}", "1"},
    {"ready{stage=\"group\"}", "0"},
    {"errors_total{stage=\"group\"}", "11"},
    {"discarded_total{stage=\"group\"}", "12"},
    {"put_off_total{stage=\"group\"}", "13"},
    {"bounces_total{stage=\"group\"}", "14"},
    {"rows_to_move{stage=\"group\"}", "15"},
    {"deferred_partitions{stage=\"group\"}", "34"},
    {"waiting_for_map{stage=\"group\"}", "33"},
    {"cut_total{stage=\"group\"}", "26"},
    {"lag{stage=\"group\"}", "16"},
    {"state_bytes{stage=\"group\"}", "17"},
    {"emitted_bytes_total{stage=\"group\"}", "18"},
    {"largest_message_bytes{stage=\"group\"}", "19"},
    {"longest_step_seconds{stage=\"group\"}", "1.500000"},
    {"rows_read_total{stage=\"group\"}", "20"},
    {"bytes_read_total{stage=\"group\"}", "21"},
    {"rows_written_total{stage=\"group\"}", "22"},
    {"bytes_written_total{stage=\"group\"}", "23"},
    {"settled_total{stage=\"group\"}", "24"},
    {"rechecks_total{stage=\"group\"}", "25"},
    {MESSAGES("crawled"), "101"},
    {MESSAGES("applied"), "0"},
    {MESSAGES("match"), "0"},
    {MESSAGES("find_group"), "104"},
    {MESSAGES("assigned"), "0"},
    {MESSAGES("status"), "0"},
    {MESSAGES("move"), "0"},
    {MESSAGES("change"), "0"},
    {MESSAGES("link"), "0"},
    {MESSAGES("union"), "0"},
    {MESSAGES("dissolve"), "0"},
    {MESSAGES("members"), "0"},
    {MESSAGES("wait"), "0"},
    {MESSAGES("erase"), "0"},
    {MESSAGES("put"), "0"},
    {MESSAGES("remove"), "0"},
    {MESSAGES("probe"), "115"},
    {MESSAGES("again"), "0"}};

TEST(metrics_are_prometheus_text_line_by_line)
{
    enum { COUNT = sizeof samples_of_all / sizeof *samples_of_all };
    struct fixture f;
    struct sp_buf response = {0};
    start(&f);
    f.metrics = (struct sp_worker_metrics){.received = UINT64_MAX,
                                           .emitted = 2,
                                           .dead_letters = 3,
                                           .direct = 31,
                                           .lost = 32,
                                           .commits = 4,
                                           .commit_microseconds = 5250001,
                                           .aborts = {60, 61, 62, 63, 64, 65, 66},
                                           .restarts = 7,
                                           .changelog_records = 8,
                                           .restore_remaining = 9,
                                           .standby_wanted = 30,
                                           .standby_copies = 28,
                                           .standby_rounds = 67,
                                           .standby_remaining = 29,
                                           .tasks = 10,
                                           .paused = 1,
                                           .disk_full = 1,
                                           .registry_down = 1,
                                           .errors = 11,
                                           .discarded = 12,
                                           .put_off = 13,
                                           .bounces = 14,
                                           .rows_to_move = 15,
                                           .deferred = 34,
                                           .aside = 33,
                                           .cut = 26,
                                           .contain_notes = 27,
                                           .lag = 16,
                                           .state_bytes = 17,
                                           .emitted_bytes = 18,
                                           .largest_message_bytes = 19,
                                           .longest_step_us = 1500000,
                                           .rows_read = 20,
                                           .bytes_read = 21,
                                           .rows_written = 22,
                                           .bytes_written = 23,
                                           .settled = 24,
                                           .rechecks = 25};
    f.metrics.messages[SP_MSG_CRAWLED] = 101;
    f.metrics.messages[SP_MSG_FIND_GROUP] = 104;
    f.metrics.messages[SP_MSG_PROBE] = 115;
    for (size_t i = 0; i < COUNT; i++) {
        char value[64];
        CU_ASSERT_EQUAL_FATAL(get(&f, "/metrics", &response), 200);
        CU_ASSERT_PTR_NOT_NULL(strstr(response.data, "Content-Type: text/plain; version=0.0.4"));
        CU_ASSERT_EQUAL(response.data[response.len - 2], '\n');
        char *body = response.data + (body_of(&response) - response.data);
        CU_ASSERT_EQUAL(check_metrics(body, samples_of_all[i][0], value), COUNT);
        CU_ASSERT_STRING_EQUAL(value, samples_of_all[i][1]);
    }
    sp_health_stop(f.server);
    sp_buf_done(&response);
}

TEST(other_paths_and_methods_are_refused)
{
    static const char *const none[] = {"/",       "/livez/",       "/livezz",    "/LIVEZ",
                                       "/metric", "/livez/../etc", "//livez",    "/%00",
                                       "/%zz",    "/?/livez",      "/livez%2fx", "/\xff\xfe"};
    static const char *const methods[] = {"POST",  "PUT",   "DELETE", "OPTIONS",
                                          "PATCH", "TRACE", "get",    "ANYTHING"};
    struct fixture f;
    struct sp_buf response = {0};
    char request[256];
    start(&f);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        CU_ASSERT_EQUAL(get(&f, none[i], &response), 404);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        snprintf(request, sizeof request, "%s /metrics HTTP/1.1\r\nHost: x\r\n\r\n", methods[i]);
        CU_ASSERT_EQUAL(ask(&f, request, &response), 405);
        CU_ASSERT_PTR_NOT_NULL(strstr(response.data, "Allow: GET, HEAD"));
    }
    CU_ASSERT_EQUAL(ask(&f, "HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n", &response), 200);
    CU_ASSERT_STRING_EQUAL(body_of(&response), "");
    CU_ASSERT_EQUAL(
        ask(&f, "POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", &response), 405);
    CU_ASSERT_EQUAL(
        ask(&f, "GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", &response), 200);
    sp_health_stop(f.server);
    sp_buf_done(&response);
}

/* ---- harm ---- */

/* Sends the request followed by `size` bytes. The response may be lost if the server closes while
 * bytes are still being sent. */
static void check_large(const char *request, size_t size, int status, int other)
{
    struct fixture f;
    struct sp_buf response = {0};
    char *body = sp_alloc(size);
    memset(body, 'x', size);
    start(&f);
    int fd = dial(&f);
    CU_ASSERT(say(fd, request, strlen(request)));
    say(fd, body, size);
    int got = hear(fd, &response);
    if (got != 0 && got != status && got != other)
        printf("%s: %d\n", request, got);
    CU_ASSERT(got == 0 || got == status || got == other);
    check_unharmed(&f);
    sp_health_stop(f.server);
    sp_free(body);
    sp_buf_done(&response);
}

TEST(large_bodies_do_no_harm)
{
    check_large("POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n", 10000000,
                413, 413);
    check_large("GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n", 10000000, 413,
                413);
    check_large("POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
                100000, 413, 400);
    check_large("POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 1000, 413, 400);
    check_large("POST /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n",
                10000000, 413, 400);
    check_large("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n", 60000, 404, 404);
}

/* A client that has not sent everything when the server closes may lose the response. */
TEST(a_small_body_is_read_before_the_response)
{
    static const char head[] = "POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n";
    struct fixture f;
    struct sp_buf response = {0};
    char byte;
    start(&f);
    int fd = dial(&f);
    CU_ASSERT(say(fd, head, sizeof head - 1));
    usleep(200000);
    CU_ASSERT_EQUAL(recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK), -1);
    CU_ASSERT(say(fd, "abc", 3));
    CU_ASSERT_EQUAL(hear(fd, &response), 405);
    sp_health_stop(f.server);
    sp_buf_done(&response);
}

TEST(an_announced_large_body_is_refused_before_it_is_sent)
{
    struct fixture f;
    struct sp_buf response = {0};
    start(&f);
    CU_ASSERT_EQUAL(
        ask(&f, "POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n", &response),
        413);
    CU_ASSERT_EQUAL(
        ask(&f, "POST /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", &response),
        413);
    sp_health_stop(f.server);
    sp_buf_done(&response);
}

TEST(large_headers_and_paths_do_no_harm)
{
    check_large("GET /livez HTTP/1.1\r\nHost: x\r\nX-Large: ", 1 << 20, 431, 413);
    check_large("GET /", 1 << 20, 414, 431);
    check_large("", 1 << 20, 400, 414);
    struct fixture f;
    struct sp_buf many = {0}, response = {0};
    sp_buf_put_str(&many, "GET /livez HTTP/1.1\r\nHost: x\r\n");
    for (int i = 0; i < 100000; i++)
        sp_buf_put_str(&many, "A: b\r\n");
    start(&f);
    int fd = dial(&f);
    say(fd, many.data, many.len);
    int status = hear(fd, &response);
    CU_ASSERT(status == 0 || status == 431 || status == 413);
    check_unharmed(&f);
    sp_health_stop(f.server);
    sp_buf_done(&many);
    sp_buf_done(&response);
}

TEST(half_a_request_does_no_harm)
{
    static const char request[] = "POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc";
    struct fixture f;
    start(&f);
    for (size_t n = 0; n < sizeof request; n++) {
        struct linger at_once = {.l_onoff = 1};
        int fd = dial(&f);
        say(fd, request, n);
        if (n % 2) /* a reset instead of a close */
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(fd);
    }
    check_unharmed(&f);
    sp_health_stop(f.server);
}

TEST(garbage_does_no_harm)
{
    struct fixture f;
    struct sp_buf response = {0};
    uint64_t seed = 7;
    start(&f);
    for (int round = 0; round < 200; round++) {
        char bytes[600];
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            bytes[i] = (char)(seed >> 56);
        }
        if (round % 4 == 0)
            memcpy(bytes, "GET /livez HTTP/1.1\r\n", 21);
        int fd = dial(&f);
        say(fd, bytes, 1 + seed % sizeof bytes);
        say(fd, "\r\n\r\n", 4);
        shutdown(fd, SHUT_WR);
        int status = hear(fd, &response);
        CU_ASSERT(status == 0 || status == 200 || status >= 400);
    }
    check_unharmed(&f);
    sp_health_stop(f.server);
    sp_buf_done(&response);
}

TEST(idle_connections_without_end_do_not_keep_a_probe_out)
{
    enum { COUNT = 200 };
    struct fixture f;
    int fds[COUNT];
    start(&f);
    for (int i = 0; i < COUNT; i++) {
        fds[i] = dial(&f);
        say(fds[i], "GET /livez HTTP/1.1\r\n", (size_t)i % 20);
    }
    check_unharmed(&f);
    for (int i = 0; i < COUNT; i++)
        close(fds[i]);
    check_unharmed(&f);
    sp_health_stop(f.server);
}

TEST(two_hundred_requests_at_once_all_get_responses)
{
    enum { COUNT = 200 };
    struct fixture f;
    struct sp_buf response = {0};
    int fds[COUNT], answered = 0;
    start(&f);
    for (int i = 0; i < COUNT; i++) {
        fds[i] = dial(&f);
        say(fds[i], "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 34);
    }
    for (int i = 0; i < COUNT; i++)
        answered += hear(fds[i], &response) == 200;
    CU_ASSERT(answered > COUNT - 20); /* a burst may drop the oldest connections */
    check_unharmed(&f);
    sp_health_stop(f.server);
    sp_buf_done(&response);
}

TEST(an_open_connection_does_not_hold_up_the_end)
{
    struct fixture f;
    start(&f);
    int fd = dial(&f);
    say(fd, "GET /li", 7);
    int64_t before = now_ms();
    sp_health_stop(f.server);
    CU_ASSERT(now_ms() - before < SOON_MS);
    close(fd);
    sp_health_stop(NULL);
}

/* ---- where it listens ---- */

static void check_refused(const char *at, enum sp_err expected)
{
    struct sp_worker_metrics metrics = {0};
    struct sp_health_options o = {at, "group", &metrics};
    struct sp_health *server = NULL;
    struct sp_fault fault = {""};
    enum sp_err err = sp_health_start(&o, &server, &fault);
    if (err != expected)
        printf("%s: %s\n", at, fault.text);
    CU_ASSERT_EQUAL(err, expected);
    CU_ASSERT_PTR_NULL(server);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "http.listen: \""));
    sp_health_stop(server);
}

TEST(addresses_that_are_none_are_refused_with_the_setting_named)
{
    static const char *const none[] = {"8080",         "127.0.0.1",     "127.0.0.1:",   ":",
                                       "a:b",          "1.2.3.4:99999", "127.0.0.1:-1", "::1:80",
                                       "127.0.0.1: 1", "127.0.0.1:+1",  "[127.0.0.1:1"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        check_refused(none[i], SP_INVALID);
    check_refused("192.0.2.1:8080", SP_IO); /* reserved: never a local address */
}

TEST(a_port_in_use_is_refused_and_free_again_after_the_end)
{
    struct fixture f;
    char at[64];
    start(&f);
    snprintf(at, sizeof at, "127.0.0.1:%u", (unsigned)sp_health_port(f.server));
    check_refused(at, SP_IO);
    check_unharmed(&f);
    sp_health_stop(f.server);
    struct sp_health_options o = {at, "group", &f.metrics};
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL_FATAL(sp_health_start(&o, &f.server, &fault), SP_OK);
    check_unharmed(&f);
    sp_health_stop(f.server);
}
