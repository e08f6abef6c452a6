/* Allocation. samepage allocates from the heap only through these, so that tests can
 * make the Nth allocation fail (sp_mem_fail_after) and so that running out of
 * memory has one answer: a message and abort(). State is safe: it is what the last
 * barrier committed.
 *
 * Thread rule: any thread; sp_mem_fail_after is for single-threaded tests. */
#ifndef SP_BASE_MEM_H
#define SP_BASE_MEM_H

#include <stddef.h>

/* Never return NULL. Memory of sp_alloc is not zeroed, of sp_calloc it is. */
void *sp_alloc(size_t bytes);
void *sp_calloc(size_t count, size_t bytes);
void *sp_realloc(void *old, size_t bytes);
void *sp_memdup(const void *data, size_t bytes);
/* A copy of a text, NUL included; NULL for NULL. */
char *sp_strdup(const char *text);
void sp_free(void *p);

/* Tests: calls_left more calls succeed, then all fail; -1 turns it off. The program takes the
 * number from SAMEPAGE_TEST_FAIL_ALLOCATION. */
void sp_mem_fail_after(long calls_left);

#endif
