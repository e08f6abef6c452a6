/* Memory for large tables that are read at random, in pages of 2 MiB. The processor's cache of
 * address translations (TLB) covers about 8 MB in pages of 4 KiB, but gigabytes in pages of 2 MiB.
 * In small pages most look-ups miss it, and wait for the translation as well as for the data.
 *
 * The system gives such pages if /sys/kernel/mm/transparent_hugepage/enabled is "madvise" or
 * "always"; otherwise pages are small. Freed memory is reused by later calls and not returned to
 * the system. In a process without jemalloc, or if jemalloc cannot make an arena, the memory is
 * that of sp_calloc. Thread rule: any thread. */
#ifndef SP_BASE_HUGE_H
#define SP_BASE_HUGE_H

#include <stddef.h>

enum { SP_HUGE_PAGE = 2 << 20 };

/* Zeroed memory for `count` elements of `bytes` each; never NULL (lack of memory ends the process).
 * Free it with sp_huge_free only. */
void *sp_huge_calloc(size_t count, size_t bytes);
/* NULL is allowed. */
void sp_huge_free(void *p);
/* A new mapping, zeroed and aligned to whole pages at least; munmap ends it. NULL: there is none.
 */
void *sp_huge_map(size_t bytes, size_t alignment);
/* Asks the system to use large pages for memory that was allocated in any other way: for the part
 * of it that consists of whole, aligned pages. How the memory is freed does not change. */
void sp_huge_advise(void *p, size_t bytes);
/* From now on, malloc takes memory for the calling thread from an arena in large pages, which all
 * such threads share. For threads that need much memory for a short time: each page of 4 KiB that
 * is used for the first time costs a page fault. Unused memory is returned to the system, as by
 * any arena of jemalloc's. */
void sp_huge_thread(void);

#endif
