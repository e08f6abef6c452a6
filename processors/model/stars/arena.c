/* See arena.h. */
#include "stars/arena.h"

#include <stdbool.h>

#include "base/huge.h"
#include "base/mem.h"

enum {
    UNIT_WORDS = SP_STAR_UNIT_WORDS,
    CHUNK_WORDS = SP_STAR_CHUNK_WORDS,
    FIRST_WORDS = 1 << 8, /* of the first chunk, which grows */
    WORD_BYTES = sizeof(uint32_t)
};

/* 4, 8, 12, 16, 24, 32, 48 ... words, the count word included. */
uint32_t sp_star_class_words(unsigned class)
{
    if (class < 2)
        return UNIT_WORDS << class;
    return class & 1 ? 16u << ((class - 3) / 2) : 12u << ((class - 2) / 2);
}

unsigned sp_star_list_class(uint32_t numbers)
{
    unsigned class = 0;
    while (sp_star_class_words(class) < numbers + 1)
        class ++;
    return class;
}

void sp_star_arena_init(struct sp_star_arena *a)
{
    *a = (struct sp_star_arena){.limit = 1u << 31};
    for (unsigned i = 0; i < SP_STAR_CLASSES; i++)
        a->free_lists[i] = SP_STAR_NO_LIST;
}

void sp_star_arena_done(struct sp_star_arena *a)
{
    for (uint32_t i = 1; i < a->chunk_count; i++)
        sp_huge_free(a->chunks[i]);
    if (a->chunk_count)
        sp_free(a->chunks[0]);
    sp_free(a->chunks);
}

void sp_star_arena_limit(struct sp_star_arena *a, uint64_t bytes)
{
    a->limit = bytes / ((uint64_t)UNIT_WORDS * WORD_BYTES);
}

size_t sp_star_arena_bytes(const struct sp_star_arena *a)
{
    size_t words = a->chunk_count > 1 ? (size_t)a->chunk_count * CHUNK_WORDS : a->room;
    return words * WORD_BYTES;
}

/* Makes the first chunk larger, if it is the last as well and is not full. */
static bool first_chunk_grow(struct sp_star_arena *a, uint32_t words)
{
    if (a->chunk_count != 1 || a->room >= CHUNK_WORDS || a->tail + words > CHUNK_WORDS)
        return false;
    while (a->room < a->tail + words)
        a->room = a->room < CHUNK_WORDS / 2 ? 2 * a->room : CHUNK_WORDS;
    a->chunks[0] = sp_realloc(a->chunks[0], (size_t)a->room * WORD_BYTES);
    return true;
}

/* Adds chunks for so many words, and returns the first in *ret_first; false: there is no room. */
static bool grow(struct sp_star_arena *a, uint32_t words, uint32_t *ret_first)
{
    uint32_t chunks = (words + CHUNK_WORDS - 1) / CHUNK_WORDS, first = a->chunk_count;
    if ((uint64_t)(first + chunks) * (CHUNK_WORDS / UNIT_WORDS) > a->limit)
        return false;
    sp_grow(&a->chunks, &a->chunk_cap, first + chunks);
    a->room = words < CHUNK_WORDS ? words : CHUNK_WORDS;
    size_t room = chunks > 1 ? (size_t)chunks * CHUNK_WORDS : a->room;
    a->chunks[first] = first ? sp_huge_calloc(room, WORD_BYTES) : sp_alloc(WORD_BYTES * room);
    for (uint32_t i = 1; i < chunks; i++)
        a->chunks[first + i] = NULL;
    a->chunk_count += chunks;
    *ret_first = first;
    return true;
}

uint32_t sp_star_list_new(struct sp_star_arena *a, unsigned class)
{
    if (a->free_lists[class] != SP_STAR_NO_LIST) {
        uint32_t offset = a->free_lists[class];
        a->free_lists[class] = sp_star_list_at(a, offset)[0];
        return offset;
    }
    uint32_t words = sp_star_class_words(class), first;
    if (words > CHUNK_WORDS) {
        if (!grow(a, words, &first))
            return SP_STAR_NO_LIST;
        a->tail = CHUNK_WORDS; /* the next small list starts a chunk */
        return first * (CHUNK_WORDS / UNIT_WORDS);
    }
    if (a->chunk_count == 0 || (a->tail + words > a->room && !first_chunk_grow(a, words))) {
        uint32_t least = words < FIRST_WORDS ? FIRST_WORDS : words;
        if (!grow(a, a->chunk_count == 0 ? least : CHUNK_WORDS, &first))
            return SP_STAR_NO_LIST;
        a->tail = 0;
    }
    uint32_t offset = (a->chunk_count - 1) * (CHUNK_WORDS / UNIT_WORDS) + a->tail / UNIT_WORDS;
    a->tail += words;
    return offset;
}

void sp_star_list_release(struct sp_star_arena *a, uint32_t offset, unsigned class)
{
    sp_star_list_at(a, offset)[0] = a->free_lists[class];
    a->free_lists[class] = offset;
}
