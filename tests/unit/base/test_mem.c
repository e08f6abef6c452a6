/* Growing arrays: enough room, few moves, and an abort with a message if the size overflows. */
#include "base/mem.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

struct pair {
    uint64_t left, right;
};

TEST(an_array_has_room_for_what_was_asked)
{
    struct pair *pairs = NULL;
    uint32_t cap = 0, none = 0;
    sp_grow(&pairs, &cap, none);
    CU_ASSERT_PTR_NULL(pairs);
    sp_grow(&pairs, &cap, 5);
    CU_ASSERT_EQUAL(cap, 5);
    pairs[4] = (struct pair){4, 44};
    struct pair *before = pairs;
    sp_grow(&pairs, &cap, 5); /* enough room: nothing moves */
    CU_ASSERT_PTR_EQUAL(pairs, before);
    sp_grow(&pairs, &cap, 6);
    CU_ASSERT_EQUAL(cap, 10);
    sp_grow(&pairs, &cap, 1000);
    CU_ASSERT_EQUAL(cap, 1000);
    CU_ASSERT_EQUAL(pairs[4].right, 44);
    pairs[999] = pairs[4];
    sp_free(pairs);
}

/* How often the array moved, and how many elements were copied, while n were added. */
static void fill(size_t n, size_t *ret_moves, size_t *ret_copied)
{
    size_t *numbers = NULL, cap = 0;
    *ret_moves = *ret_copied = 0;
    for (size_t count = 0; count < n; count++) {
        size_t before = cap;
        sp_grow(&numbers, &cap, count + 1);
        if (cap != before) {
            ++*ret_moves;
            *ret_copied += count;
        }
        numbers[count] = count;
    }
    for (size_t i = 0; i < n; i++)
        CU_ASSERT_EQUAL_FATAL(numbers[i], i);
    sp_free(numbers);
}

TEST(adding_one_by_one_copies_less_than_twice_as_many)
{
    size_t moves, copied, moves_of_4n, copied_of_4n;
    fill(3000, &moves, &copied);
    fill(12000, &moves_of_4n, &copied_of_4n);
    CU_ASSERT_TRUE(copied < 2 * 3000);
    CU_ASSERT_TRUE(copied_of_4n < 2 * 12000);
    CU_ASSERT_EQUAL(moves_of_4n, moves + 2);
}

/* What the child wrote to stderr before it ended; returns its status. */
static int words_of(void (*run)(void), char *ret_text, size_t size)
{
    int ends[2], status = 0;
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        run();
        _exit(0);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], ret_text, size - 1);
    close(ends[0]);
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    ret_text[n > 0 ? n : 0] = 0;
    return status;
}

/* The same if it ended by SIGABRT, else "". */
static void last_words(void (*run)(void), char *ret_text, size_t size)
{
    int status = words_of(run, ret_text, size);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
        ret_text[0] = 0;
}

static void more_bytes_than_there_are(void)
{
    struct pair *pairs = NULL;
    size_t cap = 0;
    sp_grow(&pairs, &cap, SIZE_MAX / sizeof *pairs + 2); /* wraps to 16 bytes */
}

static void more_than_a_count_can_hold(void)
{
    char *bytes = NULL;
    uint32_t cap = 0;
    sp_grow(&bytes, &cap, UINT32_MAX);
}

static void zeroed_bytes_that_wrap_to_none(void)
{
    volatile size_t count = SIZE_MAX / 2 + 1;
    sp_free(sp_calloc(count, 2));
}

static void no_memory(void)
{
    struct pair *pairs = NULL;
    uint32_t cap = 0;
    sp_mem_fail_after(1);
    sp_grow(&pairs, &cap, 1);
    sp_grow(&pairs, &cap, 2);
}

TEST(a_size_that_no_array_can_have_ends_with_a_message)
{
    char text[512];
    last_words(more_bytes_than_there_are, text, sizeof text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "entries of 16 bytes are more than a list can hold"));
    last_words(more_than_a_count_can_hold, text, sizeof text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "4294967295 entries of 1 bytes"));
    last_words(zeroed_bytes_that_wrap_to_none, text, sizeof text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "out of memory asking for 18446744073709551615 bytes"));
    last_words(no_memory, text, sizeof text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "out of memory asking for 32 bytes"));
}

static void exit_at_once(void)
{
    _exit(1);
}

static void no_memory_in_a_program(void)
{
    sp_mem_out_ends(exit_at_once);
    no_memory();
}

static void no_memory_for_a_library(void)
{
    sp_mem_out_ends(exit_at_once);
    sp_mem_out(0);
}

TEST(a_program_without_memory_exits_with_a_message)
{
    char text[512];
    int status = words_of(no_memory_in_a_program, text, sizeof text);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "out of memory asking for 32 bytes; lower cache.bytes"));
    status = words_of(no_memory_for_a_library, text, sizeof text);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "out of memory; lower cache.bytes"));
}

/* Three of at most four elements: doubling would exceed the limit. */
static void one_more_near_the_end(void)
{
    uint32_t cap = 3;
    sp_mem_fail_after(0);
    sp_grow_u32(NULL, &cap, 4, PTRDIFF_MAX / 4);
}

TEST(an_array_near_its_largest_size_takes_what_is_left)
{
    char text[512], wanted[64];
    last_words(one_more_near_the_end, text, sizeof text);
    snprintf(wanted, sizeof wanted, "asking for %zu bytes", (size_t)PTRDIFF_MAX / 4 * 4);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, wanted));
}
