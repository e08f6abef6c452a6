/* See huge.h. An arena of jemalloc whose memory comes from `extent_alloc`. */
#include "base/huge.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include <jemalloc/jemalloc.h>

#include "base/mem.h"

/* Weak, because a library of ours may be part of a process with another allocator. */
#pragma weak mallctl
#pragma weak mallocx
#pragma weak dallocx

enum { NO_ARENA = 0 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int arena_flags = NO_ARENA;

/* A thread keeps freed blocks of up to 32 KiB for its next calls, as jemalloc does for malloc.
 * Without such a cache each call takes locks, which was a twentieth of the time of a run with many
 * unlike texts. */
static pthread_key_t cache_key;
static _Thread_local int cache_flags; /* 0: no cache yet */

void *sp_huge_map(size_t bytes, size_t alignment)
{
    size_t aligned = alignment > SP_HUGE_PAGE ? alignment : SP_HUGE_PAGE;
    if (bytes > SIZE_MAX - aligned)
        return NULL;
    char *mapped = mmap(NULL, bytes + aligned, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        return NULL;
    size_t before = (aligned - (uintptr_t)mapped % aligned) % aligned;
    if (before)
        munmap(mapped, before);
    munmap(mapped + before + bytes, aligned - before);
    madvise(mapped + before, bytes, MADV_HUGEPAGE);
    return mapped + before;
}

/* jemalloc keeps the memory that it got (retain), and asks for larger extents each time. */
static void *extent_alloc(extent_hooks_t *hooks, void *wanted, size_t bytes, size_t alignment,
                          bool *zero, bool *commit, unsigned arena)
{
    (void)hooks, (void)arena;
    void *extent = wanted ? NULL : sp_huge_map(bytes, alignment);
    if (extent)
        *zero = *commit = true;
    return extent;
}

/* The arena splits and merges extents; without a hook to release them, it keeps their memory. */
static bool extent_split(extent_hooks_t *hooks, void *p, size_t bytes, size_t a, size_t b,
                         bool committed, unsigned arena)
{
    (void)hooks, (void)p, (void)bytes, (void)a, (void)b, (void)committed, (void)arena;
    return false;
}

static bool extent_merge(extent_hooks_t *hooks, void *a, size_t a_bytes, void *b, size_t b_bytes,
                         bool committed, unsigned arena)
{
    (void)hooks, (void)a, (void)a_bytes, (void)b, (void)b_bytes, (void)committed, (void)arena;
    return false;
}

/* At the end of the thread. */
static void drop_cache(void *cache)
{
    unsigned number = (unsigned)((uintptr_t)cache - 1);
    cache_flags = MALLOCX_TCACHE_NONE;
    mallctl("tcache.destroy", NULL, NULL, &number, sizeof number);
}

static int make_cache(void)
{
    unsigned number;
    size_t bytes = sizeof number;
    if (mallctl("tcache.create", &number, &bytes, NULL, 0) != 0)
        return MALLOCX_TCACHE_NONE;
    if (pthread_setspecific(cache_key, (void *)((uintptr_t)number + 1)) == 0)
        return MALLOCX_TCACHE(number);
    mallctl("tcache.destroy", NULL, NULL, &number, sizeof number);
    return MALLOCX_TCACHE_NONE;
}

static int cache_of_thread(void)
{
    if (!cache_flags)
        cache_flags = make_cache();
    return cache_flags;
}

static void make_arena(void)
{
    static extent_hooks_t hooks = {
        .alloc = extent_alloc, .split = extent_split, .merge = extent_merge};
    extent_hooks_t *of_arena = &hooks;
    unsigned arena;
    size_t bytes = sizeof arena;
    if (mallctl && mallocx && dallocx && pthread_key_create(&cache_key, drop_cache) == 0 &&
        mallctl("arenas.create", &arena, &bytes, &of_arena, sizeof of_arena) == 0)
        arena_flags = MALLOCX_ARENA(arena);
}

void *sp_huge_calloc(size_t count, size_t bytes)
{
    pthread_once(&once, make_arena);
    void *p = NULL;
    if (arena_flags != NO_ARENA && count && bytes && count <= SIZE_MAX / bytes)
        p = mallocx(count * bytes, arena_flags | cache_of_thread() | MALLOCX_ZERO);
    return p ? p : sp_calloc(count, bytes);
}

void sp_huge_free(void *p)
{
    if (arena_flags != NO_ARENA && p)
        dallocx(p, cache_of_thread());
    else
        sp_free(p);
}

/* ---- threads ---- */

static pthread_once_t threads_once = PTHREAD_ONCE_INIT;
static extent_hooks_t *usual;
static unsigned threads_arena;
static bool has_threads_arena;

static void *advised_alloc(extent_hooks_t *hooks, void *wanted, size_t bytes, size_t alignment,
                           bool *zero, bool *commit, unsigned arena)
{
    (void)hooks;
    void *p = usual->alloc(usual, wanted, bytes, alignment, zero, commit, arena);
    if (p)
        sp_huge_advise(p, bytes);
    return p;
}

/* Unlike the other arena, it returns memory that is no longer used, as jemalloc's own arenas do. */
static void make_threads_arena(void)
{
    static extent_hooks_t hooks;
    extent_hooks_t *of_arena = &hooks;
    size_t bytes = sizeof usual, number_bytes = sizeof threads_arena;
    if (!mallctl || mallctl("arena.0.extent_hooks", &usual, &bytes, NULL, 0) != 0)
        return;
    hooks = *usual;
    hooks.alloc = advised_alloc;
    has_threads_arena =
        mallctl("arenas.create", &threads_arena, &number_bytes, &of_arena, sizeof of_arena) == 0;
}

void sp_huge_thread(void)
{
    pthread_once(&threads_once, make_threads_arena);
    if (has_threads_arena)
        mallctl("thread.arena", NULL, NULL, &threads_arena, sizeof threads_arena);
}

void sp_huge_advise(void *p, size_t bytes)
{
    size_t before = (SP_HUGE_PAGE - (uintptr_t)p % SP_HUGE_PAGE) % SP_HUGE_PAGE;
    if (bytes >= before + SP_HUGE_PAGE)
        madvise((char *)p + before, (bytes - before) / SP_HUGE_PAGE * SP_HUGE_PAGE, MADV_HUGEPAGE);
}
