/* Memory in huge pages; without jemalloc, as under a sanitizer, it is ordinary memory. */
#include "base/huge.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jemalloc/jemalloc.h>

#include "base/hash.h"
#include "base/mem.h"
#include "harness.h"

#pragma weak mallctl

enum { BLOCKS = 2000, MOST_BYTES = 20000 };

static size_t bytes_of(uint64_t seed)
{
    return 1 + sp_mix64(seed) % MOST_BYTES;
}

static size_t set_bytes(const unsigned char *block, size_t bytes)
{
    size_t set = 0;
    for (size_t i = 0; i < bytes; i++)
        set += block[i] != 0;
    return set;
}

TEST(memory_is_zero_also_where_it_was_used_before)
{
    unsigned char *blocks[BLOCKS] = {0};
    size_t set = 0;
    for (uint64_t step = 1; step <= 5 * BLOCKS; step++) {
        size_t at = sp_mix64(step) % BLOCKS, bytes = bytes_of(step);
        sp_huge_free(blocks[at]);
        blocks[at] = sp_huge_calloc(bytes, 1);
        set += set_bytes(blocks[at], bytes);
        memset(blocks[at], 0xff, bytes);
    }
    CU_ASSERT_EQUAL(set, 0);
    for (size_t i = 0; i < BLOCKS; i++)
        sp_huge_free(blocks[i]);
}

static void *use_blocks(void *arg)
{
    unsigned char **blocks = arg;
    size_t set = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t bytes = bytes_of(i);
        sp_huge_free(blocks[i]);
        blocks[i] = sp_huge_calloc(bytes, 1);
        set += set_bytes(blocks[i], bytes);
        memset(blocks[i], (int)(i % 255 + 1), bytes);
    }
    return set ? arg : NULL;
}

/* Each thread keeps some of the blocks that it frees, and returns them when it ends. */
TEST(threads_free_what_others_have_allocated)
{
    enum { THREADS = 5 };
    unsigned char *blocks[BLOCKS] = {0};
    size_t wrong = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_t thread;
        void *result;
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, use_blocks, blocks), 0);
        CU_ASSERT_EQUAL_FATAL(pthread_join(thread, &result), 0);
        CU_ASSERT_PTR_NULL(result);
        for (size_t at = 0; at < BLOCKS; at++)
            for (size_t k = 0; k < bytes_of(at); k++)
                wrong += blocks[at][k] != at % 255 + 1;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    for (size_t i = 0; i < BLOCKS; i++)
        sp_huge_free(blocks[i]);
}

TEST(a_block_is_as_large_as_asked)
{
    enum { BYTES = 64 << 20 };
    unsigned char *large = sp_huge_calloc(BYTES / 8, 8);
    large[0] = large[BYTES - 1] = 1;
    CU_ASSERT_EQUAL(set_bytes(large, BYTES), 2);
    sp_huge_free(large);
    sp_huge_free(sp_huge_calloc(0, 8)); /* a size of zero */
}

TEST(memory_of_any_kind_keeps_its_content_when_huge_pages_are_asked_for)
{
    enum { BYTES = 7 << 20, PIECE = 65537 };
    unsigned char *block = sp_alloc(BYTES);
    size_t wrong = 0;
    for (size_t i = 0; i < BYTES; i++)
        block[i] = (unsigned char)sp_mix64(i / 64);
    for (size_t at = 0; at < BYTES; at += PIECE)
        sp_huge_advise(block + at, BYTES - at);
    sp_huge_advise(block, 0);
    sp_huge_advise(block + 1, 1);
    for (size_t i = 0; i < BYTES; i++)
        wrong += block[i] != (unsigned char)sp_mix64(i / 64);
    CU_ASSERT_EQUAL(wrong, 0);
    sp_free(block);
}

/* Whether the system was asked for huge pages at this address. */
static bool is_advised(const void *p)
{
    char line[512];
    bool here = false, advised = false;
    FILE *maps = fopen("/proc/self/smaps", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(maps);
    while (fgets(line, sizeof line, maps)) {
        char *at = line;
        uintptr_t from = strtoull(line, &at, 16);
        if (*at == '-')
            here = (uintptr_t)p >= from && (uintptr_t)p < strtoull(at + 1, NULL, 16);
        else if (here && strncmp(line, "VmFlags:", 8) == 0)
            advised = strstr(line, " hg") != NULL;
    }
    fclose(maps);
    return advised;
}

enum { LARGE_BYTES = 8 << 20 };

static void *allocate(void *arg)
{
    if (arg)
        sp_huge_thread();
    return sp_alloc(LARGE_BYTES);
}

TEST(a_thread_allocates_in_huge_pages_once_it_has_asked_for_it)
{
    int asks;
    bool can = mallctl && access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0;
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        void *block;
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, allocate, i % 2 ? &asks : NULL), 0);
        CU_ASSERT_EQUAL_FATAL(pthread_join(thread, &block), 0);
        memset(block, 1, LARGE_BYTES);
        CU_ASSERT_EQUAL(is_advised((char *)block + LARGE_BYTES / 2), can && i % 2);
        sp_free(block);
    }
}
