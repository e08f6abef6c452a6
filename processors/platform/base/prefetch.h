/* Hints for the processor's caches, for loops over objects that are scattered over gigabytes of
 * memory: each is fetched while the ones before it are processed. They affect only the speed. */
#ifndef SP_BASE_PREFETCH_H
#define SP_BASE_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

static inline void sp_prefetch(const void *at)
{
    __builtin_prefetch(at);
}

/* All of an object; NULL does no harm. */
static inline void sp_prefetch_bytes(const void *object, size_t bytes)
{
    enum { LINE = 64 };
    for (size_t at = 0; at < bytes; at += LINE)
        __builtin_prefetch((const void *)((uintptr_t)object + at));
}

#endif
