/* The keys that may be in a database that was empty when it was opened: a blocked Bloom filter in
 * memory (Putze, Sanders, Singler 2007), which grows by layers (Almeida et al. 2007). Most look-ups
 * are for pages and contents that were never seen, and RocksDB asks the filter of each of its files
 * for such a key; this is one, or a few. Private to this folder. Thread rule: one thread at a time.
 *
 * Cost: two bytes a key, up to eight when a layer has just begun, and two more when the key is
 * added again much later, up to SP_KEY_FILTER_BYTES; then the filter is dropped. */
#ifndef SP_STORE_KEY_FILTER_H
#define SP_STORE_KEY_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SP_KEY_FILTER_BYTES = 512 << 20, SP_KEY_FILTER_LAYERS = 5 };

/* Keys are given by their hashes (sp_hash64), because a look-up needs the same hash elsewhere.
 * Initialise with zeros: no filter, every key may be there. */
struct sp_key_filter {
    uint64_t
        *layers[SP_KEY_FILTER_LAYERS]; /* each is twice or four times as large as the one before */
    size_t count;                      /* of layers */
    size_t most;                       /* layers */
    size_t room;                       /* keys that may still be added to the last layer */
    bool complete;                     /* there is a filter: it has every key */
};

/* The bits that a key sets in its word: up to four. */
static inline uint64_t sp_key_filter_bits(uint64_t hash)
{
    enum { BITS = 4, WORD_BITS = 6 };
    uint64_t bits = 0;
    for (int i = 0; i < BITS; i++)
        bits |= 1ull << (hash >> (64 - WORD_BITS * (i + 1)) & 63);
    return bits;
}

/* Begins a filter of at most so many layers, up to SP_KEY_FILTER_LAYERS: there is no key yet. */
void sp_key_filter_begin(struct sp_key_filter *k, size_t layers);
/* Drops the filter. */
void sp_key_filter_done(struct sp_key_filter *k);
void sp_key_filter_add(struct sp_key_filter *k, uint64_t hash);
/* Fetches what an add of the key changes, unless a new layer begins before. */
void sp_key_filter_prefetch(const struct sp_key_filter *k, uint64_t hash);
/* Fetches what a look-up of the key reads. */
void sp_key_filter_prefetch_all(const struct sp_key_filter *k, uint64_t hash);
/* False: the key was never added, and there is a filter. Without this, one key in some fifty that
 * were never added may be there. */
bool sp_key_filter_may_have(const struct sp_key_filter *k, uint64_t hash);

#endif
