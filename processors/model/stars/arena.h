/* Where a star table (table.h) keeps its lists: one arena of 32-bit words, in size classes with
 * free lists. Word 0 of a list is its count, and its class is a function of the count; whoever uses
 * a list fills it. It has room for 2^31 places of 16 bytes. Thread rule: one thread at a time. */
#ifndef SP_STARS_ARENA_H
#define SP_STARS_ARENA_H

#include <stddef.h>
#include <stdint.h>

enum {
    SP_STAR_UNIT_WORDS = 4, /* offsets count units of so many words */
    SP_STAR_CHUNK_WORDS = 1 << 18,
    SP_STAR_CLASSES = 64
};

#define SP_STAR_NO_LIST UINT32_MAX

struct sp_star_arena {
    uint32_t **chunks; /* a list larger than a chunk has several, side by side, reached by the
                        * first */
    uint32_t chunk_count;
    uint32_t chunk_cap;
    uint32_t tail;  /* words used of the last chunk */
    uint32_t room;  /* words of the last chunk: all, or less if it is the first */
    uint64_t limit; /* units */
    uint32_t free_lists[SP_STAR_CLASSES]; /* SP_STAR_NO_LIST: none */
};

void sp_star_arena_init(struct sp_star_arena *a);
void sp_star_arena_done(struct sp_star_arena *a);
/* Sets the room, which chunks of 1 MiB use up. */
void sp_star_arena_limit(struct sp_star_arena *a, uint64_t bytes);
/* Memory in bytes. */
size_t sp_star_arena_bytes(const struct sp_star_arena *a);

/* The words of a list of that class, and the class of a list of so many numbers. */
uint32_t sp_star_class_words(unsigned class);
unsigned sp_star_list_class(uint32_t numbers);
/* The offset of a new list; SP_STAR_NO_LIST: there is no room. Other lists may move in memory. */
uint32_t sp_star_list_new(struct sp_star_arena *a, unsigned class);
void sp_star_list_release(struct sp_star_arena *a, uint32_t offset, unsigned class);

static inline uint32_t *sp_star_list_at(const struct sp_star_arena *a, uint32_t offset)
{
    uint64_t word = (uint64_t)offset * SP_STAR_UNIT_WORDS;
    return a->chunks[word / SP_STAR_CHUNK_WORDS] + word % SP_STAR_CHUNK_WORDS;
}

#endif
