/* See room.h. */
#include "base/room.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LINE_BYTES = 4096 + 64, NAME_BYTES = 3 * 4096 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The number in a file; UINT64_MAX: "max", or there is no such file. */
static uint64_t number_in(const char *name)
{
    char text[32] = "";
    FILE *f = fopen(name, "re");
    if (!f)
        return UINT64_MAX;
    const char *line = fgets(text, sizeof text, f);
    fclose(f);
    char *end = text;
    errno = 0;
    unsigned long long n = line && *text != '-' ? strtoull(text, &end, 10) : 0;
    return end == text || errno ? UINT64_MAX : n;
}

/* The least limit of a group and of those above it. `path` is cut. */
static uint64_t limit_of(const char *mount, const char *controller, char *path, const char *file)
{
    uint64_t limit = UINT64_MAX;
    char name[NAME_BYTES];
    for (char *end = path + strlen(path); end; end = strrchr(path, '/')) {
        *end = 0;
        snprintf(name, sizeof name, "%s%s%s/%s", mount, controller, path, file);
        limit = least(limit, number_in(name));
    }
    return limit;
}

/* Of one line of the list of groups: "0::PATH" in version 2, "NUMBER:CONTROLLERS:PATH" in 1. */
static uint64_t limit_of_line(char *line, const char *mount)
{
    line[strcspn(line, "\n")] = 0;
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(++controllers, ':') : NULL;
    if (!path)
        return UINT64_MAX;
    *path++ = 0;
    if (!*controllers)
        return limit_of(mount, "", path, "memory.max");
    return strcmp(controllers, "memory") == 0
               ? limit_of(mount, "/memory", path, "memory.limit_in_bytes")
               : UINT64_MAX;
}

uint64_t sp_room_of_groups(const char *groups, const char *mount)
{
    uint64_t limit = UINT64_MAX;
    char line[LINE_BYTES];
    FILE *f = fopen(groups, "re");
    if (!f)
        return limit;
    while (fgets(line, sizeof line, f))
        limit = least(limit, limit_of_line(line, mount));
    fclose(f);
    return limit;
}

static uint64_t own_limit(int resource)
{
    struct rlimit limit;
    bool limited = getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return limited ? limit.rlim_cur : UINT64_MAX;
}

uint64_t sp_room_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t bytes =
        pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : UINT64_MAX;
    bytes = least(bytes, sp_room_of_groups("/proc/self/cgroup", "/sys/fs/cgroup"));
    return least(bytes, least(own_limit(RLIMIT_AS), own_limit(RLIMIT_DATA)));
}
