/* See listen.h. */
#include "base/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Splits "host:port"; false if the text is not of that form. */
static bool split(const char *text, char host[256], char port[8])
{
    const char *colon = strrchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : 0;
    if (!colon || n >= 256 || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
        strlen(colon + 1) > 5 || !colon[1] || strtol(colon + 1, NULL, 10) > 65535)
        return false;
    bool brackets = n >= 2 && text[0] == '[' && text[n - 1] == ']';
    if (!brackets && memchr(text, ':', n))
        return false;
    snprintf(host, 256, "%.*s", (int)(brackets ? n - 2 : n), brackets ? text + 1 : text);
    snprintf(port, 8, "%s", colon + 1);
    return true;
}

static int listening(const struct addrinfo *a)
{
    int one = 1;
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    int kept = errno;
    close(fd);
    errno = kept;
    return -1;
}

enum sp_err sp_listen(const char *address, int *ret_fd, struct sp_fault *fault)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char host[256], port[8];
    if (!split(address, host, port))
        return sp_fault_set(fault, SP_INVALID, "not of the form address:port");
    int code = getaddrinfo(host[0] ? host : NULL, port, &hints, &found), fd = -1;
    if (code != 0)
        return sp_fault_set(fault, SP_INVALID, "%s", gai_strerror(code));
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
        fd = listening(a);
    int kept = errno;
    freeaddrinfo(found);
    if (fd < 0)
        return sp_fault_set(fault, SP_IO, "%s", strerror(kept));
    *ret_fd = fd;
    return SP_OK;
}

uint16_t sp_listen_port(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    char port[8] = "0";
    if (getsockname(fd, (struct sockaddr *)&address, &size) == 0)
        getnameinfo((struct sockaddr *)&address, size, NULL, 0, port, sizeof port, NI_NUMERICSERV);
    return (uint16_t)strtoul(port, NULL, 10);
}

bool sp_listen_loopback(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return false;
    if (address.ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address;
        return ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address;
    return address.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}
