/* Memory of large tables that are read at random. The processor translates an address with a table
 * of its own that covers 8 MB of pages of 4 KiB, and gigabytes of pages of 2 MiB: a look-up in
 * small pages waits twice, for the address and for the line of memory.
 *
 * In the program, memory from here lies in pages of 2 MiB where the system has them ("madvise" or
 * "always" in /sys/kernel/mm/transparent_hugepage/enabled), and stays with the process once freed.
 * In a process without jemalloc, or whose jemalloc takes no arenas, it is sp_calloc's. Thread rule:
 * any thread. */
#ifndef SP_BASE_HUGE_H
#define SP_BASE_HUGE_H

#include <stddef.h>

/* Zeroed; never NULL. Freed with sp_huge_free alone. */
void *sp_huge_calloc(size_t count, size_t bytes);
/* NULL is allowed. */
void sp_huge_free(void *p);
/* Asks the system for such pages in memory of any other kind, where whole ones lie in it. It stays
 * as it is otherwise, and need not be told when it is freed. */
void sp_huge_advise(void *p, size_t bytes);

#endif
