/* Allocation that ends the process when it fails, and that tests can make fail: see mem.h. */
#include "base/mem.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

static long calls_left = -1;
static void (*end_when_out)(void) = abort;

void sp_mem_out_ends(void (*end)(void))
{
    end_when_out = end;
}

void sp_mem_out(size_t bytes)
{
    char asked[64] = "";
    if (bytes)
        snprintf(asked, sizeof asked, " asking for %zu bytes", bytes);
    fprintf(stderr,
            "samepage: out of memory%s; lower cache.bytes or give the process more memory. The "
            "state is as the last barrier left it: run again.\n",
            asked);
    end_when_out();
}

/* Whether sp_mem_fail_after wants this call to fail. */
static bool fails(void)
{
    if (calls_left <= 0)
        return calls_left == 0;
    calls_left--;
    return false;
}

static void *checked(void *p, size_t bytes)
{
    if (!p && bytes)
        sp_mem_out(bytes);
    return p;
}

void *sp_alloc(size_t bytes)
{
    return checked(fails() ? NULL : malloc(bytes), bytes);
}

void *sp_calloc(size_t count, size_t bytes)
{
    size_t all = 0;
    bool wraps = __builtin_mul_overflow(count, bytes, &all);
    return checked(fails() || wraps ? NULL : calloc(count, bytes), wraps ? SIZE_MAX : all);
}

void *sp_realloc(void *old, size_t bytes)
{
    return checked(fails() ? NULL : realloc(old, bytes), bytes);
}

size_t sp_grown_capacity(size_t cap, size_t more, size_t need, size_t bytes, size_t most)
{
    if (most > PTRDIFF_MAX / bytes)
        most = PTRDIFF_MAX / bytes;
    if (need > most) {
        fprintf(stderr,
                "samepage: out of memory: %zu entries of %zu bytes are more than a list can hold. "
                "The state is as the last barrier left it.\n",
                need, bytes);
        end_when_out();
    }
    size_t larger = cap > most || more > most - cap ? most : cap + more;
    return need > larger ? need : larger;
}

void *sp_grow_u32(void *array, uint32_t *cap, size_t need, size_t bytes)
{
    if (need <= *cap)
        return array;
    *cap = (uint32_t)sp_grown_capacity(*cap, *cap, need, bytes, UINT32_MAX - 1);
    return sp_realloc(array, *cap * bytes);
}

void *sp_grow_size(void *array, size_t *cap, size_t need, size_t bytes)
{
    if (need <= *cap)
        return array;
    *cap = sp_grown_capacity(*cap, *cap, need, bytes, PTRDIFF_MAX);
    return sp_realloc(array, *cap * bytes);
}

void *sp_memdup(const void *data, size_t bytes)
{
    void *p = sp_alloc(bytes ? bytes : 1);
    if (bytes)
        memcpy(p, data, bytes);
    return p;
}

char *sp_strdup(const char *text)
{
    return text ? sp_memdup(text, strlen(text) + 1) : NULL;
}

void sp_free(void *p)
{
    free(p);
}

void sp_mem_fail_after(long calls)
{
    calls_left = calls;
}

void sp_assert_failed(const char *what, const char *file, int line)
{
    fprintf(stderr, "samepage: internal error: %s does not hold (%s:%d). Please report it.\n", what,
            file, line);
    abort();
}
