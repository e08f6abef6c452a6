/* See tight.h. The size of an array says how it is allocated. */
#include "base/tight.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "base/huge.h"
#include "base/mem.h"

#ifdef SP_SANITIZED
#define COPIED true
#else
#define COPIED false
#endif

enum { MAPPED_FROM = 128 << 10 };

/* The size of the mapping of an array of so many bytes; 0: it has none. */
static size_t mapped(size_t bytes)
{
    size_t unit = bytes < SP_HUGE_PAGE ? MAPPED_FROM : SP_HUGE_PAGE;
    if (COPIED || bytes < MAPPED_FROM)
        return 0;
    return (bytes + unit - 1) / unit * unit;
}

/* Whole huge pages move as such, because the new place is as aligned as the old one. */
static void *moved(void *array, size_t before, size_t after)
{
    void *place = sp_huge_map(after, SP_HUGE_PAGE);
    if (place)
        place = mremap(array, before, after, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    return place == MAP_FAILED ? NULL : place;
}

static void *resized(void *array, size_t before, size_t after)
{
    if (before == after || mremap(array, before, after, 0) != MAP_FAILED)
        return array;
    return moved(array, before, after);
}

void *sp_tight_grown(void *array, uint32_t *cap, size_t need, size_t bytes)
{
    size_t old = *cap * bytes, before = mapped(old);
    *cap = (uint32_t)sp_grown_capacity(*cap, *cap / 8, need, bytes, UINT32_MAX - 1);
    size_t after = mapped(*cap * bytes);
    if (!after)
        return sp_realloc(array, *cap * bytes);
    void *larger = before ? resized(array, before, after) : sp_huge_map(after, SP_HUGE_PAGE);
    if (!larger)
        sp_mem_out(after);
    if (larger && old && !before) {
        memcpy(larger, array, old);
        sp_free(array);
    }
    return larger;
}

void sp_tight_freed(void *array, uint32_t cap, size_t bytes)
{
    size_t size = mapped(cap * bytes);
    if (size)
        munmap(array, size);
    else
        sp_free(array);
}
