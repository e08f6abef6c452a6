/* Linear probing with backward-shift deletion (Knuth 6.4 R). */
#include "base/counts.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/prefetch.h"

void sp_counts_done(struct sp_counts *c)
{
    sp_free(c->items);
    *c = (struct sp_counts){0};
}

static size_t home(const struct sp_counts *c, uint64_t key)
{
    return sp_mix64(key) & (c->cap - 1);
}

/* The place of the key, or the free place for it. */
static size_t find(const struct sp_counts *c, uint64_t key)
{
    size_t at = home(c, key);
    while (c->items[at].count && c->items[at].key != key)
        at = (at + 1) & (c->cap - 1);
    return at;
}

uint32_t sp_counts_get(const struct sp_counts *c, uint64_t key)
{
    return c->cap ? c->items[find(c, key)].count : 0;
}

void sp_counts_prefetch(const struct sp_counts *c, uint64_t key)
{
    if (c->cap)
        sp_prefetch(&c->items[home(c, key)]);
}

static void make_room(struct sp_counts *c)
{
    struct sp_counts old = *c;
    if (4 * (c->used + 1) <= 3 * c->cap)
        return;
    c->cap = c->cap ? 2 * c->cap : 64;
    c->items = sp_calloc(c->cap, sizeof *c->items);
    for (size_t i = 0; i < old.cap; i++)
        if (old.items[i].count)
            c->items[find(c, old.items[i].key)] = old.items[i];
    sp_free(old.items);
}

uint32_t sp_counts_add(struct sp_counts *c, uint64_t key, uint32_t more)
{
    make_room(c);
    struct sp_count *at = &c->items[find(c, key)];
    c->used += at->count == 0 && more > 0;
    at->key = key;
    at->count += more;
    return at->count;
}

static void end(struct sp_counts *c, size_t hole)
{
    size_t mask = c->cap - 1;
    c->items[hole].count = 0;
    c->used--;
    for (size_t at = (hole + 1) & mask; c->items[at].count; at = (at + 1) & mask)
        if (((at - home(c, c->items[at].key)) & mask) >= ((at - hole) & mask)) {
            c->items[hole] = c->items[at];
            c->items[at].count = 0;
            hole = at;
        }
}

uint32_t sp_counts_take_one(struct sp_counts *c, uint64_t key)
{
    size_t at = find(c, key);
    SP_ASSERT(c->items[at].count);
    if (c->items[at].count == 1) {
        end(c, at);
        return 0;
    }
    return --c->items[at].count;
}

void sp_counts_forget(struct sp_counts *c, uint64_t key)
{
    size_t at = find(c, key);
    SP_ASSERT(c->items[at].count);
    end(c, at);
}
