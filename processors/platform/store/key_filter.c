/* See key_filter.h. Layers of words; a key sets up to four bits of one word of the last layer. */
#include "store/key_filter.h"

#include "base/assert.h"
#include "base/huge.h"
#include "base/prefetch.h"

/* With four keys a word, a full layer has one in 200 of the keys that were not added to it; with
 * eight it would have one in 40, and RocksDB would be asked for a tenth of the new keys when there
 * are five layers. The first layer, two huge pages, has room for the rows of 400,000 pages. A
 * look-up of a new key waits for the memory of each layer, so each of the next two has four times
 * as much as the one before. */
enum { FIRST_WORDS = 1 << 19, KEYS_A_WORD = 4 };

static const uint32_t words_of_layers[SP_KEY_FILTER_LAYERS] = {
    FIRST_WORDS, FIRST_WORDS << 2, FIRST_WORDS << 4, FIRST_WORDS << 5, FIRST_WORDS << 6};

_Static_assert(sizeof(uint64_t) * FIRST_WORDS * (1 + 4 + 16 + 32 + 64) <= SP_KEY_FILTER_BYTES,
               "the layers are larger than the header says");

static size_t words_of(size_t layer)
{
    return words_of_layers[layer];
}

void sp_key_filter_done(struct sp_key_filter *k)
{
    for (size_t i = 0; i < k->count; i++)
        sp_huge_free(k->layers[i]);
    *k = (struct sp_key_filter){0};
}

void sp_key_filter_begin(struct sp_key_filter *k, size_t layers)
{
    SP_ASSERT(layers <= SP_KEY_FILTER_LAYERS);
    sp_key_filter_done(k);
    k->most = layers;
    k->complete = true;
}

static void add_layer(struct sp_key_filter *k)
{
    if (k->count == k->most) {
        sp_key_filter_done(k);
        return;
    }
    size_t words = words_of(k->count);
    k->layers[k->count++] = sp_huge_calloc(words, sizeof(uint64_t));
    k->room = words * KEYS_A_WORD;
}

static void prefetch(const struct sp_key_filter *k, size_t layer, uint64_t hash)
{
    sp_prefetch(&k->layers[layer][hash & (words_of(layer) - 1)]);
}

void sp_key_filter_prefetch(const struct sp_key_filter *k, uint64_t hash)
{
    if (k->count)
        prefetch(k, k->count - 1, hash);
}

void sp_key_filter_prefetch_all(const struct sp_key_filter *k, uint64_t hash)
{
    for (size_t i = 0; i < k->count; i++)
        prefetch(k, i, hash);
}

/* A row that is written at every commit takes the room of one key in each layer. */
void sp_key_filter_add(struct sp_key_filter *k, uint64_t hash)
{
    if (k->complete && k->room == 0)
        add_layer(k);
    if (!k->complete)
        return;
    SP_ASSERT(k->count > 0);
    size_t last = k->count - 1;
    uint64_t *word = &k->layers[last][hash & (words_of(last) - 1)], bits = sp_key_filter_bits(hash);
    k->room -= (*word & bits) != bits;
    *word |= bits;
}

bool sp_key_filter_may_have(const struct sp_key_filter *k, uint64_t hash)
{
    if (!k->complete)
        return true;
    uint64_t bits = sp_key_filter_bits(hash);
    for (size_t i = 0; i < k->count; i++)
        if ((k->layers[i][hash & (words_of(i) - 1)] & bits) == bits)
            return true;
    return false;
}
