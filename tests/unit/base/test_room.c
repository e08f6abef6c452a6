/* The memory that the process may use. */
#include "base/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

enum { NAME_BYTES = 512 };

static char top[] = "/tmp/samepage-room-XXXXXX";

static const char *in_top(const char *name)
{
    static char text[NAME_BYTES];
    snprintf(text, sizeof text, "%s/%s", top, name);
    return text;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(in_top(name), "we");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
}

static void begin(void)
{
    static const char *const directories[] = {"a", "a/b", "memory", "memory/a"};
    snprintf(top, sizeof top, "/tmp/samepage-room-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        CU_ASSERT_EQUAL(mkdir(in_top(directories[i]), 0700), 0);
}

static void end(void)
{
    static const char *const names[] = {"groups",
                                        "memory.max",
                                        "a/memory.max",
                                        "a/b/memory.max",
                                        "memory/memory.limit_in_bytes",
                                        "memory/a/memory.limit_in_bytes",
                                        "a/b",
                                        "a",
                                        "memory/a",
                                        "memory",
                                        ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        remove(in_top(names[i]));
}

static uint64_t room(void)
{
    char groups[NAME_BYTES];
    snprintf(groups, sizeof groups, "%s/groups", top);
    return sp_room_of_groups(groups, top);
}

TEST(the_least_limit_of_a_group_and_of_those_above_it_counts)
{
    begin();
    CU_ASSERT_EQUAL(room(), UINT64_MAX);
    put("groups", "0::/a/b\n");
    CU_ASSERT_EQUAL(room(), UINT64_MAX);
    put("a/b/memory.max", "max\n");
    CU_ASSERT_EQUAL(room(), UINT64_MAX);
    put("a/memory.max", "3000000000\n");
    CU_ASSERT_EQUAL(room(), 3000000000);
    put("a/b/memory.max", "2000000000\n");
    CU_ASSERT_EQUAL(room(), 2000000000);
    put("memory.max", "1000000000\n"); /* a container sees its own group as the root */
    CU_ASSERT_EQUAL(room(), 1000000000);
    put("groups", "0::/\n");
    CU_ASSERT_EQUAL(room(), 1000000000);
    end();
}

TEST(control_groups_of_version_1_have_limits)
{
    begin();
    put("groups", "7:cpu,cpuacct:/a\n4:memory:/a\n0::/\n");
    put("memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("memory/a/memory.limit_in_bytes", "536870912\n");
    CU_ASSERT_EQUAL(room(), 536870912);
    put("groups", "4:memory:/of/another/name/space\n");
    CU_ASSERT_EQUAL(room(), 9223372036854771712ull);
    end();
}

TEST(files_that_say_nothing_set_no_limit)
{
    static const char *const texts[] = {"", "\n", "-1\n", "none\n", "99999999999999999999\n"};
    begin();
    put("groups", "no colon\n:\n::\n0::/\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put("memory.max", texts[i]);
        CU_ASSERT_EQUAL(room(), UINT64_MAX);
    }
    end();
}

TEST(limits_of_the_process_count)
{
    struct rlimit before, lower;
    uint64_t all = sp_room_bytes();
    CU_ASSERT(all > 0 &&
              all <= (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
    CU_ASSERT_EQUAL(getrlimit(RLIMIT_DATA, &before), 0);
    lower = (struct rlimit){all / 2, before.rlim_max};
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_DATA, &lower), 0);
    CU_ASSERT_EQUAL(sp_room_bytes(), all / 2);
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_DATA, &before), 0);
}
