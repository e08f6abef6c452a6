/* Counts of 64-bit keys; a key with count 0 takes no space. Thread rule: one thread at a time. */
#ifndef SP_BASE_COUNTS_H
#define SP_BASE_COUNTS_H

#include <stddef.h>
#include <stdint.h>

struct sp_count {
    uint64_t key;
    uint32_t count; /* 0: free */
};

/* Initialise with zeros. */
struct sp_counts {
    struct sp_count *items;
    size_t cap; /* 0 or a power of two */
    size_t used;
};

void sp_counts_done(struct sp_counts *c);
uint32_t sp_counts_get(const struct sp_counts *c, uint64_t key);
/* Prefetches into the processor's caches what a look-up of the key reads. */
void sp_counts_prefetch(const struct sp_counts *c, uint64_t key);
/* Returns the new count. */
uint32_t sp_counts_add(struct sp_counts *c, uint64_t key, uint32_t more);
/* Subtracts one and returns the new count; the key's count must not be 0. */
uint32_t sp_counts_take_one(struct sp_counts *c, uint64_t key);
/* Removes the key, whose count must not be 0. */
void sp_counts_forget(struct sp_counts *c, uint64_t key);

#endif
