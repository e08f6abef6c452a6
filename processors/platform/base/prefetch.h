/* Prefetching for loops over objects that are scattered over gigabytes of memory: the processor
 * fetches an object while the loop works on the objects before it. It affects only the speed, and
 * any address is allowed, NULL included. */
#ifndef SP_BASE_PREFETCH_H
#define SP_BASE_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

/* The empty instruction has an effect as far as the compiler knows. Without it GCC takes a function
 * that only prefetches for one without effects, and removes its calls. */
static inline void sp_prefetch(const void *at)
{
    __builtin_prefetch(at);
    __asm__ volatile("" : : "r"(at));
}

/* Every cache line of an object of that many bytes. */
static inline void sp_prefetch_bytes(const void *object, size_t bytes)
{
    enum { LINE = 64 };
    for (size_t at = 0; at < bytes; at += LINE)
        sp_prefetch((const void *)((uintptr_t)object + at));
}

#endif
