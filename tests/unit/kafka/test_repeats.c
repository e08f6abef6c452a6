/* Which lines of librdkafka are left out, because an equal one was just logged. */
#include "harness.h"
#include "kafka/repeats.h"

#include <stdint.h>
#include <stdio.h>

int64_t __wrap_sp_clock_ms(void);

static int64_t now_ms = 1000;

int64_t __wrap_sp_clock_ms(void)
{
    return now_ms;
}

#define REFUSED "[thrd:a:1]: Connect to a:1 failed: Connection refused"

TEST(what_another_handle_says_as_well_is_left_out_for_a_minute)
{
    CU_ASSERT(!sp_repeats("FAIL", REFUSED " (after 0ms in state CONNECT)"));
    CU_ASSERT(sp_repeats("FAIL", REFUSED " (after 3ms in state CONNECT, 1 identical error(s))"));
    CU_ASSERT(!sp_repeats("FAIL", "[thrd:b:1]: Connect to b:1 failed: Connection refused"));
    CU_ASSERT(!sp_repeats("ERROR", REFUSED));
    now_ms += SP_REPEATS_MS - 1;
    CU_ASSERT(sp_repeats("FAIL", REFUSED));
    now_ms += 1;
    CU_ASSERT(!sp_repeats("FAIL", REFUSED));
    CU_ASSERT(sp_repeats("FAIL", REFUSED));
}

TEST(the_latest_of_many_lines_are_remembered)
{
    enum { LINES = 1000 };
    char line[32];
    for (int i = 0; i < LINES; i++) {
        now_ms++;
        snprintf(line, sizeof line, "line %d", i);
        CU_ASSERT(!sp_repeats("FAIL", line));
    }
    CU_ASSERT(sp_repeats("FAIL", line));
    CU_ASSERT(sp_repeats("FAIL", "line 990"));
}
