/* See stand_in.h. One thread, one connection at a time; each connection closes after its
 * response. */
#include "stand_in.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"

/* The body length in the header; 0: no body. */
static size_t announced(const char *head)
{
    for (const char *at = head; (at = strchr(at, '\n')); at++)
        if (strncasecmp(at + 1, "content-length:", 15) == 0)
            return strtoul(at + 16, NULL, 10);
    return 0;
}

static void read_request(int fd, struct sp_buf *request)
{
    for (;;) {
        ssize_t n = recv(fd, sp_buf_reserve(request, 4096), 4095, 0);
        if (n <= 0)
            break;
        request->len += (size_t)n;
        sp_buf_put_u8(request, 0);
        request->len--;
        const char *end = strstr(request->data, "\r\n\r\n");
        if (end && request->len >= (size_t)(end + 4 - request->data) + announced(request->data))
            break;
    }
    sp_buf_put_u8(request, 0);
}

static void respond(int fd, const struct said *said)
{
    char head[160];
    size_t size = said->body_size ? said->body_size : strlen(said->body);
    size_t sent = said->status == HALF ? size / 2 : size;
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 %d Some\r\nContent-Type: application/vnd.schemaregistry.v1+json\r\n"
                     "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                     said->status == HALF ? 200 : said->status, size);
    (void)send(fd, head, (size_t)n, MSG_NOSIGNAL);
    for (size_t at = 0; at < sent;) {
        ssize_t done = send(fd, said->body + at, sent - at, MSG_NOSIGNAL);
        if (done <= 0)
            break;
        at += (size_t)done;
    }
}

static void *serve(void *arg)
{
    struct stand_in *s = arg;
    for (const struct said *said = s->script; said->status != 0; said++) {
        int fd = accept(s->listening, NULL, NULL);
        if (fd < 0)
            break;
        read_request(fd, &s->requests[s->request_count++]);
        if (said->status == SILENCE) {
            s->held = fd;
            continue;
        }
        if (said->status != HANG_UP)
            respond(fd, said);
        shutdown(fd, SHUT_WR);
        close(fd);
    }
    return NULL;
}

void stand_in_start(struct stand_in *s, const struct said *script)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    *s = (struct stand_in){.script = script, .held = -1};
    s->listening = socket(AF_INET, SOCK_STREAM, 0);
    CU_ASSERT_FATAL(s->listening >= 0);
    CU_ASSERT_EQUAL_FATAL(bind(s->listening, (struct sockaddr *)&address, size), 0);
    CU_ASSERT_EQUAL_FATAL(listen(s->listening, 8), 0);
    CU_ASSERT_EQUAL_FATAL(getsockname(s->listening, (struct sockaddr *)&address, &size), 0);
    snprintf(s->url, sizeof s->url, "http://127.0.0.1:%d", ntohs(address.sin_port));
    CU_ASSERT_EQUAL_FATAL(pthread_create(&s->thread, NULL, serve, s), 0);
}

void stand_in_stop(struct stand_in *s)
{
    shutdown(s->listening, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->listening);
    if (s->held >= 0)
        close(s->held);
}

void stand_in_done(struct stand_in *s)
{
    for (size_t i = 0; i < STAND_IN_REQUESTS; i++)
        sp_buf_done(&s->requests[i]);
}
