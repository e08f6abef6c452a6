/* Indexes the kids of a star by their shingles that the pivot does not have, so that a probe finds
 * the kids with which it shares some. A shingle that many kids have is only counted, and assumed to
 * be in all of them. A large star is indexed, and a small one whose kids are often tried in vain;
 * after a restart only large ones are, which changes no result. */
#include <string.h>

#include "base/mem.h"
#include "similarity/intersect.h"
#include "stars/internal.h"

uint32_t sp_star_kid_beside(const struct sp_signature *child, const struct sp_signature *pivot,
                            uint32_t *ret_hashes)
{
    return (uint32_t)sp_difference(child->hashes, child->shingle_count, pivot->hashes,
                                   pivot->shingle_count, ret_hashes);
}

static uint32_t beside_key(uint32_t pivot, uint32_t shingle)
{
    return (uint32_t)sp_mix64((uint64_t)pivot << 32 | shingle);
}

/* s->common counts the kids that have a common shingle; or one of several with equal keys, because
 * their lists are one list. */
static uint64_t common_key(uint32_t pivot, uint32_t shingle)
{
    return (uint64_t)pivot << 32 | beside_key(pivot, shingle);
}

static uint32_t listed_by(const struct sp_stars *s, const struct sp_star_list *list, uint32_t star)
{
    const uint32_t *rows = sp_star_numbers(list);
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->count; i++)
        count += s->rows[rows[i]].star == star;
    return count;
}

/* Takes the star's kids out of the list of the shingle and counts them instead. */
static void make_common(struct sp_stars *s, uint32_t pivot, uint32_t shingle)
{
    uint32_t key = beside_key(pivot, shingle), star = s->rows[pivot].star, count = 0;
    struct sp_star_list list = sp_star_table_get(s->beside, key);
    const uint32_t *rows = sp_star_numbers(&list);
    sp_grow(&s->gathered, &s->gathered_cap, list.count);
    for (uint32_t i = 0; i < list.count; i++)
        if (s->rows[rows[i]].star == star)
            s->gathered[count++] = rows[i];
    sp_counts_add(&s->common, common_key(pivot, shingle), count);
    for (uint32_t i = 0; i < count; i++)
        sp_star_table_remove(s->beside, key, s->gathered[i]);
}

/* Fills s->keys with the keys of these shingles, and prefetches their lists: they are scattered in
 * memory, and each would have to be waited for in turn. */
static void make_keys(struct sp_stars *s, uint32_t pivot, const uint32_t *hashes, uint32_t count)
{
    sp_grow(&s->keys, &s->keys_cap, count);
    for (uint32_t i = 0; i < count; i++)
        s->keys[i] = beside_key(pivot, hashes[i]);
    sp_star_table_prefetch(s->beside, s->keys, 0, count);
}

void sp_star_kid_beside_put(struct sp_stars *s, uint32_t pivot, uint32_t row,
                            const uint32_t *hashes, uint32_t count)
{
    make_keys(s, pivot, hashes, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t key = s->keys[i];
        if (sp_counts_get(&s->common, common_key(pivot, hashes[i]))) {
            sp_counts_add(&s->common, common_key(pivot, hashes[i]), 1);
            continue;
        }
        sp_star_table_add(s->beside, key, row);
        struct sp_star_list list = sp_star_table_get(s->beside, key);
        if (list.count >= BESIDE_MOST && listed_by(s, &list, s->rows[pivot].star) >= BESIDE_MOST)
            make_common(s, pivot, hashes[i]);
    }
}

void sp_star_kid_beside_take(struct sp_stars *s, uint32_t pivot, uint32_t row,
                             const uint32_t *hashes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (sp_counts_get(&s->common, common_key(pivot, hashes[i])))
            sp_counts_take_one(&s->common, common_key(pivot, hashes[i]));
        else
            sp_star_table_remove(s->beside, beside_key(pivot, hashes[i]), row);
}

uint32_t sp_star_beside_of(struct sp_stars *s, const struct sp_signature *child,
                           const struct sp_signature *pivot)
{
    sp_grow(&s->hashes, &s->hashes_cap, child->shingle_count);
    return sp_star_kid_beside(child, pivot, s->hashes);
}

struct indexing {
    struct sp_stars *stars;
    const struct sp_signature *pivot;
    uint32_t pivot_row;
};

static void index_kid(void *arg, struct kid kid)
{
    struct indexing *i = arg;
    const struct sp_signature *child;
    if (!sp_star_signature_of(i->stars, kid.row, &child))
        return;
    uint32_t count = sp_star_beside_of(i->stars, child, i->pivot);
    sp_star_kid_beside_put(i->stars, i->pivot_row, kid.row, i->stars->hashes, count);
}

void sp_star_index_all(struct sp_stars *s, uint32_t star, const struct sp_signature *pivot)
{
    struct indexing i = {s, pivot, s->stars[star].pivot};
    s->stars[star].kids->indexed = true;
    sp_star_kids_each(s, s->stars[star].kids, index_kid, &i);
}

struct gathering {
    struct sp_stars *stars;
    uint32_t star;
    uint32_t count; /* of the star's kids among the rows so far; s->gathered has them */
};

static void gather(void *arg, const uint32_t *rows, uint32_t count)
{
    struct gathering *g = arg;
    struct sp_stars *s = g->stars;
    sp_grow(&s->gathered, &s->gathered_cap, g->count + count);
    s->stats.scanned += count;
    for (uint32_t k = 0; k < count; k++) {
        struct row *r = &s->rows[rows[k]];
        if (r->star == g->star && r->gathered++ == 0)
            s->gathered[g->count++] = rows[k];
    }
}

/* Moves the shingles that are not common to the front of s->hashes; returns how many these are. */
static uint32_t keep_rare(struct sp_stars *s, uint32_t pivot, uint32_t count)
{
    uint32_t rare = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!sp_counts_get(&s->common, common_key(pivot, s->hashes[i])))
            s->hashes[rare++] = s->hashes[i];
    return rare;
}

/* Writes the keys of the first `rare` of s->hashes to s->keys, those first that the star's index of
 * lacking kids does not know; returns how many of those there are. */
static uint32_t keys_of_rare(struct sp_stars *s, uint32_t star, uint32_t rare)
{
    const struct kids *kids = s->stars[star].kids;
    uint32_t unknown = 0, known = rare;
    sp_grow(&s->keys, &s->keys_cap, rare);
    for (uint32_t i = 0; i < rare; i++) {
        bool knows = sp_star_lacks_knows(kids, s->hashes[i]);
        s->keys[knows ? --known : unknown++] = beside_key(s->stars[star].pivot, s->hashes[i]);
    }
    return unknown;
}

struct beside sp_star_gather_beside(struct sp_stars *s, uint32_t star, const struct sp_signature *x,
                                    const struct sp_signature *pivot)
{
    uint32_t count = sp_star_beside_of(s, x, pivot);
    struct beside b = {.rare = keep_rare(s, s->stars[star].pivot, count)};
    uint32_t unknown = keys_of_rare(s, star, b.rare);
    struct gathering g = {s, star, 0};
    sp_star_table_get_all(s->beside, s->keys, 0, unknown, NULL, gather, &g);
    b.unknown = g.count;
    if (unknown < b.rare)
        sp_star_table_get_all(s->beside, s->keys + unknown, 0, b.rare - unknown, NULL, gather, &g);
    b.gathered = g.count;
    b.common = count - b.rare;
    return b;
}
