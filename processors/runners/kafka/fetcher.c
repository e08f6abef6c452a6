/* See fetcher.h. The request and the response: https://kafka.apache.org/protocol, Fetch, version 4.
 */
#include "kafka/fetcher.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/huge.h"
#include "base/mem.h"

enum { API_FETCH = 1, VERSION = 4, READ_COMMITTED = 1, NO_REPLICA = -1, LEAST_BYTES = 1 };
enum { TIMEOUT_MS = 10000, WAIT_MS_MOST = 1000, NAME_MAX_BYTES = 256 };
/* The broker returns a batch that is larger than what was asked for, if it is the first. */
enum { RESPONSE_MOST = 128 << 20, ABORTED_MOST = 1000, HEAD_BYTES = 64 << 10 };

struct sp_fetcher {
    int fd;
    char client[NAME_MAX_BYTES];
    char topic[NAME_MAX_BYTES];
    int32_t partition;
    int32_t most_bytes;
    int32_t wait_ms;
    int32_t asked; /* the number of the last request */
    int64_t offset;
    struct sp_buf request;
    char *bytes;
    size_t cap;
    struct sp_aborted aborted[ABORTED_MOST];
};

/* ---- settings ---- */

static bool get(rd_kafka_t *consumer, const char *key, char *ret_value, size_t size)
{
    return rd_kafka_conf_get(rd_kafka_conf(consumer), key, ret_value, &size) == RD_KAFKA_CONF_OK;
}

static bool is(rd_kafka_t *consumer, const char *key, const char *wanted)
{
    char value[NAME_MAX_BYTES] = "";
    return get(consumer, key, value, sizeof value) && strcmp(value, wanted) == 0;
}

static int32_t number(rd_kafka_t *consumer, const char *key, int32_t otherwise)
{
    char value[NAME_MAX_BYTES] = "";
    long n = get(consumer, key, value, sizeof value) ? strtol(value, NULL, 10) : 0;
    return n > 0 && n < INT32_MAX ? (int32_t)n : otherwise;
}

bool sp_fetcher_may(rd_kafka_t *consumer)
{
    return is(consumer, "security.protocol", "plaintext") && is(consumer, "check.crcs", "false");
}

/* ---- the connection ---- */

static int connect_to(const struct addrinfo *a)
{
    const struct timeval most = {.tv_sec = TIMEOUT_MS / 1000};
    const int one = 1;
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most); /* also of connect */
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
        return fd;
    close(fd);
    return -1;
}

static int reach(const char *host, int port)
{
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char text[16];
    int fd = -1;
    snprintf(text, sizeof text, "%d", port);
    if (getaddrinfo(host, text, &hints, &found) != 0)
        return -1;
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
        fd = connect_to(a);
    freeaddrinfo(found);
    return fd;
}

/* The broker that leads the partition; -1: it is not known. */
static int32_t leader_of(const struct rd_kafka_metadata *m, int32_t partition)
{
    if (m->topic_cnt != 1)
        return -1;
    const struct rd_kafka_metadata_topic *t = &m->topics[0];
    for (int i = 0; i < t->partition_cnt; i++)
        if (t->partitions[i].id == partition)
            return t->partitions[i].leader;
    return -1;
}

static int reach_leader(rd_kafka_t *known, const char *topic, int32_t partition)
{
    const struct rd_kafka_metadata *m = NULL;
    rd_kafka_topic_t *t = rd_kafka_topic_new(known, topic, NULL);
    int fd = -1;
    if (t && rd_kafka_metadata(known, 0, t, &m, TIMEOUT_MS) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        int32_t leader = leader_of(m, partition);
        for (int i = 0; leader >= 0 && i < m->broker_cnt && fd < 0; i++)
            if (m->brokers[i].id == leader)
                fd = reach(m->brokers[i].host, m->brokers[i].port);
        rd_kafka_metadata_destroy(m);
    }
    if (t)
        rd_kafka_topic_destroy(t);
    return fd;
}

struct sp_fetcher *sp_fetcher_open(rd_kafka_t *known, rd_kafka_t *consumer, const char *topic,
                                   int32_t partition)
{
    enum { MOST_KBYTES = 16 << 10, LARGEST_KBYTES = 64 << 10, WAIT_MS = 20 };
    int fd = sp_fetcher_may(consumer) ? reach_leader(known, topic, partition) : -1;
    if (fd < 0)
        return NULL;
    struct sp_fetcher *f = sp_calloc(1, sizeof *f);
    f->fd = fd;
    f->partition = partition;
    int32_t kbytes = number(consumer, "queued.max.messages.kbytes", MOST_KBYTES);
    f->most_bytes = 1024 * (kbytes < LARGEST_KBYTES ? kbytes : LARGEST_KBYTES);
    f->wait_ms = number(consumer, "fetch.wait.max.ms", WAIT_MS);
    f->wait_ms = f->wait_ms < WAIT_MS_MOST ? f->wait_ms : WAIT_MS_MOST;
    snprintf(f->topic, sizeof f->topic, "%s", topic);
    get(consumer, "client.id", f->client, sizeof f->client);
    return f;
}

void sp_fetcher_close(struct sp_fetcher *f)
{
    if (!f)
        return;
    close(f->fd);
    sp_buf_done(&f->request);
    sp_free(f->bytes);
    sp_free(f);
}

/* ---- the request ---- */

static void put_text(struct sp_buf *r, const char *text)
{
    size_t len = strlen(text);
    sp_buf_put_big_endian(r, len, sizeof(uint16_t));
    sp_buf_put(r, text, len);
}

static void put_i32(struct sp_buf *r, int32_t x)
{
    sp_buf_put_big_endian(r, (uint32_t)x, sizeof x);
}

static bool send_all(int fd, const char *bytes, size_t len)
{
    for (ssize_t n; len > 0; bytes += n, len -= (size_t)n) {
        n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            n = 0;
        else if (n <= 0)
            return false;
    }
    return true;
}

bool sp_fetcher_ask(struct sp_fetcher *f, int64_t offset)
{
    struct sp_buf *r = &f->request;
    sp_buf_reset(r);
    put_i32(r, 0); /* the length of the rest */
    sp_buf_put_big_endian(r, API_FETCH, sizeof(uint16_t));
    sp_buf_put_big_endian(r, VERSION, sizeof(uint16_t));
    put_i32(r, ++f->asked);
    put_text(r, f->client);
    put_i32(r, NO_REPLICA);
    put_i32(r, f->wait_ms);
    put_i32(r, LEAST_BYTES);
    put_i32(r, f->most_bytes); /* in all */
    sp_buf_put_u8(r, READ_COMMITTED);
    put_i32(r, 1); /* topic */
    put_text(r, f->topic);
    put_i32(r, 1); /* partition */
    put_i32(r, f->partition);
    sp_buf_put_big_endian(r, (uint64_t)offset, sizeof offset);
    put_i32(r, f->most_bytes); /* of this partition */
    sp_put_big_endian(r->data, r->len - sizeof(uint32_t), sizeof(uint32_t));
    f->offset = offset;
    return send_all(f->fd, r->data, r->len);
}

/* ---- the response ---- */

static bool receive(int fd, char *bytes, size_t len)
{
    for (ssize_t n; len > 0; bytes += n, len -= (size_t)n) {
        n = recv(fd, bytes, len, MSG_WAITALL);
        if (n < 0 && errno == EINTR)
            n = 0;
        else if (n <= 0)
            return false;
    }
    return true;
}

static int16_t read_i16(struct sp_reader *r)
{
    return (int16_t)sp_read_big_endian(r, sizeof(int16_t));
}

static int32_t read_i32(struct sp_reader *r)
{
    return (int32_t)sp_read_big_endian(r, sizeof(int32_t));
}

static int64_t read_i64(struct sp_reader *r)
{
    return (int64_t)sp_read_big_endian(r, sizeof(int64_t));
}

static bool read_aborted(struct sp_fetcher *f, struct sp_reader *r, int32_t count)
{
    if (count > ABORTED_MOST)
        return false;
    for (int32_t i = 0; i < count; i++) {
        int64_t producer = read_i64(r);
        f->aborted[i] = (struct sp_aborted){producer, read_i64(r), false};
    }
    return !r->failed;
}

static bool decode(struct sp_fetcher *f, struct sp_view response, struct sp_batches *ret_batches)
{
    struct sp_reader r = sp_reader(response);
    int32_t number = read_i32(&r);
    read_i32(&r); /* how long the broker waits because of a quota */
    int32_t topics = read_i32(&r);
    struct sp_view topic = sp_read_bytes(&r, (uint64_t)read_i16(&r));
    int32_t partitions = read_i32(&r), partition = read_i32(&r);
    int16_t code = read_i16(&r);
    read_i64(&r); /* the high watermark */
    read_i64(&r); /* the last stable offset */
    int32_t aborted = read_i32(&r);
    if (r.failed || number != f->asked || topics != 1 || partitions != 1 || code != 0 ||
        partition != f->partition || !sp_view_eq(topic, sp_view_str(f->topic)) ||
        !read_aborted(f, &r, aborted))
        return false;
    int32_t len = read_i32(&r);
    struct sp_view batches = sp_read_bytes(&r, len > 0 ? (uint64_t)len : 0);
    if (r.failed)
        return false;
    *ret_batches = sp_batches(batches, f->aborted, aborted > 0 ? (size_t)aborted : 0, f->offset);
    return true;
}

/* Most responses are as large as they may be. */
static void make_room(struct sp_fetcher *f, size_t len)
{
    size_t most = (size_t)f->most_bytes + HEAD_BYTES;
    if (f->cap >= len)
        return;
    sp_free(f->bytes);
    f->cap = len > most / 2 && len < most ? most : len;
    f->bytes = sp_alloc(f->cap);
    sp_huge_advise(f->bytes, f->cap);
}

bool sp_fetcher_take(struct sp_fetcher *f, struct sp_batches *ret_batches)
{
    char head[sizeof(uint32_t)];
    if (!receive(f->fd, head, sizeof head))
        return false;
    uint32_t len = (uint32_t)sp_get_big_endian(head, sizeof head);
    if (len > RESPONSE_MOST)
        return false;
    make_room(f, len);
    return receive(f->fd, f->bytes, len) && decode(f, sp_view(f->bytes, len), ret_batches);
}
