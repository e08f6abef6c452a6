/* See crowds.h. */
#include "cover/crowds.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/order.h"
#include "cover/nth.h"
#include "similarity/intersect.h"

enum {
    LEAST = 64,         /* units of a crowd */
    KEYS = 16,          /* by which a unit finds its leader */
    COMMON = LEAST / 2, /* units that have a key by which leaders are found, at least */
    TRIES = 4,          /* leaders that a unit is compared with */
    TABLE_BITS_MOST = 22,
    ENTRY_BYTES = 24 /* of each difference in an index */
};

struct leader {
    uint32_t unit;
    uint32_t count; /* of its units, itself included */
    uint64_t bytes; /* of their index */
    uint32_t crowd; /* its number, or 0 */
};

/* A key and the first leader that has it, plus 1; 0: free. Of two keys with one place the second is
 * left out. */
struct place {
    uint32_t key;
    uint32_t leader;
};

struct making {
    const struct sp_crowds_options *options;
    uint32_t *scratch;
    size_t scratch_cap;
    uint64_t *keys; /* of one unit, in the low halves: the rarest common ones */
    size_t key_cap;
    struct place *table;
    unsigned shift;
    struct leader *leaders;
    uint32_t leader_count;
    uint32_t leader_cap;
    uint32_t *led_by; /* of each unit: number of its leader plus 1, or 0 */
};

uint32_t sp_crowds_commonness(const uint64_t *ranks, size_t count, uint64_t last)
{
    uint64_t sum = 0, prefix = 0;
    bool common = false;
    for (size_t k = 0; k < count; k++) {
        bool first = ranks[k] <= last;
        sum += first ? ranks[k] >> 32 : 0;
        prefix += first;
        common |= ranks[k] >> 32 >= COMMON;
    }
    return common ? 1 + (uint32_t)(sum / (prefix + 1)) : 0;
}

/* Writes the rarest common keys of the unit to m->keys; returns their number. */
static uint32_t common_keys(struct making *m, size_t unit)
{
    const struct sp_crowds_options *o = m->options;
    const struct sp_unit *u = &o->units[unit];
    uint32_t count = 0;
    sp_grow(&m->scratch, &m->scratch_cap, u->size + 1ull);
    sp_grow(&m->keys, &m->key_cap, u->size + 1ull);
    const uint32_t *keys = sp_unit_keys(u, o->sets, m->scratch);
    sp_common_prefetch(o->common, keys, u->size);
    for (uint32_t k = 0; k < u->size; k++) {
        m->keys[count] = sp_common_rank(o->common, keys[k]);
        count += m->keys[count] >> 32 >= COMMON;
    }
    if (count <= KEYS)
        return count;
    sp_nth(m->keys, count, KEYS);
    return KEYS;
}

static struct place *place_of(const struct making *m, uint32_t key)
{
    return &m->table[sp_hash_place(key, m->shift)];
}

/* Whether the unit differs from the leader in at most half as many shingles as it has. */
static bool follows(struct making *m, size_t unit, struct leader *l)
{
    const struct sp_crowds_options *o = m->options;
    const struct sp_unit *u = &o->units[unit], *v = &o->units[l->unit];
    size_t need = (u->size / 2 + v->size + 1) / 2;
    if (u->block != v->block || need > u->size || need > v->size)
        return false;
    size_t overlap = sp_intersect(o->sets + u->at, u->size, o->sets + v->at, v->size, need);
    if (overlap < need)
        return false;
    l->count++;
    l->bytes += ENTRY_BYTES * (u->size + v->size - 2 * overlap + 4);
    return true;
}

static void take_lead(struct making *m, size_t unit, uint32_t key_count)
{
    sp_grow(&m->leaders, &m->leader_cap, m->leader_count + 1);
    m->leaders[m->leader_count++] = (struct leader){.unit = (uint32_t)unit, .count = 1};
    m->led_by[unit] = m->leader_count;
    for (uint32_t k = 0; k < key_count; k++) {
        struct place *p = place_of(m, (uint32_t)m->keys[k]);
        if (!p->leader)
            *p = (struct place){(uint32_t)m->keys[k], m->leader_count};
    }
}

static void join_leader(struct making *m, size_t unit)
{
    uint32_t count = common_keys(m, unit), tried[TRIES], tries = 0;
    for (uint32_t k = 0; k < count && tries < TRIES; k++) {
        uint32_t key = (uint32_t)m->keys[k];
        const struct place *p = place_of(m, key);
        uint32_t t = 0;
        while (t < tries && tried[t] != p->leader)
            t++;
        if (!p->leader || p->key != key || t < tries)
            continue;
        tried[tries++] = p->leader;
        if (follows(m, unit, &m->leaders[p->leader - 1])) {
            m->led_by[unit] = p->leader;
            return;
        }
    }
    take_lead(m, unit, count);
}

/* Finds a leader for each unit that has a common key. */
static void find_leaders(struct making *m)
{
    const struct sp_crowds_options *o = m->options;
    uint64_t *order = sp_alloc((o->count + 1) * sizeof *order); /* the most common first */
    size_t count = 0;
    for (size_t i = 0; i < o->count; i++)
        if (o->commonness[i] > 0)
            order[count++] = (uint64_t)(UINT32_MAX - o->commonness[i]) << 32 | i;
    if (count >= LEAST) {
        unsigned bits = 8;
        while (bits < TABLE_BITS_MOST && (1ull << bits) < 4 * count)
            bits++;
        m->shift = 32 - bits;
        m->table = sp_calloc((size_t)1 << bits, sizeof *m->table);
        qsort(order, count, sizeof *order, sp_by_u64);
        for (size_t i = 0; i < count; i++)
            join_leader(m, (uint32_t)order[i]);
    }
    sp_free(order);
}

static void number_crowds(struct making *m, struct sp_crowds *c)
{
    uint64_t bytes = 0;
    for (uint32_t l = 0; l < m->leader_count; l++) {
        struct leader *leader = &m->leaders[l];
        if (leader->count < LEAST || bytes + leader->bytes > m->options->memory_bytes)
            continue;
        bytes += leader->bytes;
        leader->crowd = ++c->count;
    }
    c->items = sp_calloc(c->count + 1ull, sizeof *c->items);
    for (uint32_t l = 0; l < m->leader_count; l++)
        if (m->leaders[l].crowd)
            c->items[m->leaders[l].crowd].units =
                sp_alloc(m->leaders[l].count * sizeof *c->items->units);
    for (size_t i = 0; i < m->options->count; i++) {
        uint32_t crowd = m->leaders && m->led_by[i] ? m->leaders[m->led_by[i] - 1].crowd : 0;
        c->of[i] = crowd;
        if (crowd) {
            c->members[i] = c->items[crowd].count;
            c->items[crowd].units[c->items[crowd].count++] = (uint32_t)i;
        }
    }
}

static struct sp_differing_set set_of(const struct sp_crowds_options *o, uint32_t unit)
{
    return (struct sp_differing_set){o->sets + o->units[unit].at, o->units[unit].size};
}

/* Returns whether the crowd is indexed. */
static bool index_crowd(const struct making *m, struct sp_cover_crowd *c, uint32_t leader)
{
    struct sp_differing_set *sets = sp_alloc(c->count * sizeof *sets);
    struct sp_differing_set reference = set_of(m->options, leader);
    for (uint32_t i = 0; i < c->count; i++)
        sets[i] = set_of(m->options, c->units[i]);
    enum sp_err err = sp_differing_new(m->options->most, &reference, sets, c->count, &c->index);
    for (uint32_t i = 0; err == SP_OK && i < c->count; i++)
        sp_differing_add(c->index, i);
    sp_free(sets);
    return err == SP_OK;
}

void sp_crowds_make(const struct sp_crowds_options *options, struct sp_crowds *ret_crowds)
{
    struct making m = {.options = options};
    struct sp_crowds c = {.of = sp_calloc(options->count + 1, sizeof *c.of),
                          .members = sp_alloc((options->count + 1) * sizeof *c.members)};
    m.led_by = sp_calloc(options->count + 1, sizeof *m.led_by);
    find_leaders(&m);
    number_crowds(&m, &c);
    for (uint32_t l = 0; l < m.leader_count; l++) {
        struct sp_cover_crowd *crowd = &c.items[m.leaders[l].crowd];
        if (m.leaders[l].crowd && !index_crowd(&m, crowd, m.leaders[l].unit))
            for (uint32_t i = 0; i < crowd->count; i++)
                c.of[crowd->units[i]] = 0;
    }
    sp_free(m.scratch);
    sp_free(m.keys);
    sp_free(m.table);
    sp_free(m.leaders);
    sp_free(m.led_by);
    *ret_crowds = c;
}

void sp_crowds_done(struct sp_crowds *c)
{
    for (uint32_t i = 1; c->items && i <= c->count; i++) {
        sp_free(c->items[i].units);
        sp_differing_free(c->items[i].index);
    }
    sp_free(c->items);
    sp_free(c->of);
    sp_free(c->members);
    *c = (struct sp_crowds){0};
}
