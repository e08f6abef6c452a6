/* Chooses the shingles of a star to post: shingles of the pivot with the shortest lists, so that
 * each member has more of them than a similar signature may lack (stars.h, cover). By keys: posts
 * all keys of all members once, with a count of the members that have each key. */
#include <stdlib.h>
#include <string.h>

#include "base/clones.h"
#include "base/mem.h"
#include "base/order.h"
#include "stars/internal.h"

/* ---- bits: the pivot's pattern, and which of its shingles are posted ---- */

static bool is_posted(const uint8_t *posted, uint32_t bytes, uint32_t place)
{
    return place / 8 < bytes && posted[place / 8] >> place % 8 & 1;
}

static size_t bits_bytes(const struct star *c)
{
    return c->bits ? sp_star_pattern_of(c) * sizeof *c->bits + c->posted_bytes : 0;
}

const uint8_t *sp_star_posted_all(struct sp_stars *s, const struct star *c)
{
    uint32_t bytes = (c->kept + 7) / 8;
    sp_grow(&s->posting, &s->posting_cap, bytes + 1);
    memset(s->posting, 0, bytes);
    if (c->bits)
        memcpy(s->posting, sp_star_posted(c), c->posted_bytes);
    return s->posting;
}

/* The bits in s->posting become those of the star. Of unlike texts the smallest shingles are
 * posted, so that most bits would be zeros at the end. */
static void keep_posted(struct sp_stars *s, struct star *c)
{
    uint32_t bytes = (c->kept + 7) / 8, words = sp_star_pattern_of(c);
    size_t before = bits_bytes(c);
    while (bytes > 0 && s->posting[bytes - 1] == 0)
        bytes--;
    if (!c->bits || bytes != c->posted_bytes)
        c->bits = sp_realloc(c->bits, words * sizeof *c->bits + (bytes ? bytes : 1));
    c->posted_bytes = bytes & 0x3fff;
    memcpy(c->bits + words, s->posting, bytes);
    s->stats.bytes += bits_bytes(c) - before;
}

void sp_star_bits_put(struct sp_stars *s, uint32_t star, const uint8_t *posted,
                      const uint64_t *pattern)
{
    struct star *c = &s->stars[star];
    uint32_t bytes = (c->kept + 7) / 8;
    sp_grow(&s->posting, &s->posting_cap, bytes + 1);
    memcpy(s->posting, posted, bytes);
    keep_posted(s, c);
    memcpy(c->bits, pattern, sp_star_pattern_of(c) * sizeof *c->bits);
}

void sp_star_bits_free(struct sp_stars *s, uint32_t star)
{
    struct star *c = &s->stars[star];
    s->stats.bytes -= bits_bytes(c);
    sp_free(c->bits);
    c->bits = NULL;
    c->posted_bytes = 0;
}

/* The probe has often made the pattern. Bounds from it do not hold for a capped signature. */
static void keep_pattern(const struct sp_stars *s, struct star *c, const struct sp_signature *pivot,
                         bool probed)
{
    uint32_t words = sp_star_pattern_of(c);
    if (words && probed && s->parity_known)
        memcpy(c->bits, s->parity, words * sizeof *c->bits);
    else if (words)
        sp_parity_of(pivot, words, c->bits);
}

/* ---- which are posted ---- */

static uint32_t length_of(const struct sp_stars *s, const struct sp_stars_domain *d,
                          uint32_t shingle)
{
    return sp_star_table_get(s->posted, sp_star_domain_key(d, shingle)).count;
}

static uint64_t entry(uint32_t length, uint32_t place)
{
    return (uint64_t)length << 32 | place;
}

/* Posts an entry; one without a list is only noted in s->fresh. */
static inline void post(struct sp_stars *s, uint32_t star, const struct sp_signature *pivot,
                        uint64_t order)
{
    struct star *c = &s->stars[star];
    uint32_t place = (uint32_t)order, shingle = pivot->hashes[place];
    s->posting[place / 8] |= (uint8_t)(1 << place % 8);
    if (shingle > c->reach)
        c->reach = shingle;
    if (order >> 32)
        sp_star_table_add(s->posted, sp_star_domain_key(sp_star_domain_of(s, star), shingle), star);
    else
        s->fresh[s->fresh_count++] = shingle;
}

/* Posts all entries of s->order with lists of the least length from *length on, in order, but not
 * more than `want`; *length becomes that length plus one. Returns their number. */
static uint32_t post_next_length(struct sp_stars *s, uint32_t star,
                                 const struct sp_signature *pivot, uint32_t count, uint32_t want,
                                 uint32_t *length)
{
    uint32_t least = UINT32_MAX, posted = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t one = (uint32_t)(s->order[i] >> 32);
        least = one >= *length && one < least ? one : least;
    }
    for (uint32_t i = 0; i < count && posted < want; i++)
        if (s->order[i] >> 32 == least) {
            post(s, star, pivot, s->order[i]);
            posted++;
        }
    *length = least + 1;
    return posted;
}

/* Posts the `want` entries with the shortest lists among the `count` entries of s->order, which are
 * in order of their places. Nearly all lists are of a few lengths, so that sorting would cost
 * more. */
static void post_shortest(struct sp_stars *s, uint32_t star, const struct sp_signature *pivot,
                          uint32_t count, uint32_t want)
{
    enum { LENGTHS = 4 };
    uint32_t posted = 0, length = 0;
    s->lengths_of = NULL;
    sp_star_posted_all(s, &s->stars[star]);
    s->fresh_count = 0;
    sp_grow(&s->fresh, &s->fresh_cap, count);
    for (unsigned i = 0; i < LENGTHS && want < count && posted < want; i++)
        posted += post_next_length(s, star, pivot, count, want - posted, &length);
    if (want < count && posted < want)
        qsort(s->order, count, sizeof *s->order, sp_by_u64);
    for (; posted < count && posted < want; posted++)
        post(s, star, pivot, s->order[posted]);
    keep_posted(s, &s->stars[star]);
    sp_star_table_add_new(s->posted, s->fresh, sp_star_domain_of(s, star)->salt, s->fresh_count,
                          star);
    sp_star_reach_note(s, star);
}

/* ---- by keys ---- */

/* Counts one member more, or one less, of the star with these keys. */
static void count_keys(struct sp_stars *s, uint32_t star, const uint32_t *keys, uint32_t n,
                       bool more)
{
    for (uint32_t i = 0; i < n; i++) {
        if (sp_is_repeat(keys, i))
            continue;
        uint64_t count_key = (uint64_t)star << 32 | keys[i];
        uint32_t key = sp_star_domain_key(sp_star_domain_of(s, star), keys[i]);
        if (more && sp_counts_add(&s->common, count_key, 1) == 1)
            sp_star_table_add(s->posted, key, star);
        else if (!more && sp_counts_take_one(&s->common, count_key) == 0)
            sp_star_table_remove(s->posted, key, star);
    }
}

void sp_star_cover_keys(struct sp_stars *s, uint32_t star, const uint32_t *keys, uint32_t count)
{
    count_keys(s, star, keys, count, true);
}

static void count_keys_of(struct sp_stars *s, uint32_t star, const struct sp_signature *x,
                          bool more)
{
    uint32_t scratch[SP_SKETCH_MAX], count;
    const uint32_t *keys = sp_candidate_keys(&s->rule, x, scratch, &count);
    count_keys(s, star, keys, count, more);
}

/* ---- by shingles ---- */

/* Keeps the entries of s->order whose lists are empty; returns their number. */
static uint32_t only_unmet(struct sp_stars *s, uint32_t count)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++)
        if (s->order[i] >> 32 == 0)
            s->order[left++] = s->order[i];
    return left;
}

SP_CLONES void sp_star_cover_pivot(struct sp_stars *s, uint32_t star,
                                   const struct sp_signature *pivot)
{
    enum { AT_ONCE = 32 };
    struct sp_stars_domain *d = sp_star_domain_of(s, star);
    bool probed = s->lengths_of == pivot;
    if (s->by_keys) {
        count_keys_of(s, star, pivot, true);
        return;
    }
    uint32_t n = pivot->shingle_count, want = sp_star_bound_missing(s, n) + 1, count = 0, unmet = 0;
    sp_grow(&s->order, &s->order_cap, n);
    s->stars[star].reach = 0;
    s->length_count = probed ? s->length_count : 0;
    for (uint32_t i = 0; i < n && unmet < want; i++) {
        if (i == s->length_count)
            sp_star_look_up(d, pivot->hashes, i + AT_ONCE < n ? i + AT_ONCE : n, false);
        if (sp_is_repeat(pivot->hashes, i))
            continue;
        s->order[count++] = entry(s->lengths[i], i);
        unmet += s->lengths[i] == 0;
    }
    if (unmet == want)
        count = only_unmet(s, count);
    post_shortest(s, star, pivot, count, want);
    keep_pattern(s, &s->stars[star], pivot, probed);
}

/* The child's shingles that the pivot has, each once, in ascending order. */
struct shared {
    const struct sp_signature *pivot;
    const struct sp_signature *child;
    uint32_t next;       /* in the child */
    uint32_t next_pivot; /* in the pivot */
};

/* False: there are no more. *ret_at: its place in the pivot. */
static inline __attribute__((always_inline)) bool next_shared(struct shared *m, uint32_t *ret_at)
{
    const uint32_t *x = m->child->hashes, *y = m->pivot->hashes;
    uint32_t n = m->child->shingle_count, i = m->next, k = m->next_pivot;
    while (i < n && k < m->pivot->shingle_count && (x[i] != y[k] || sp_is_repeat(x, i))) {
        bool first = x[i] <= y[k];
        i += first;
        k += !first;
    }
    *ret_at = k;
    m->next = i + 1;
    m->next_pivot = k + 1;
    return i < n && k < m->pivot->shingle_count;
}

bool sp_star_cover_possible(const struct sp_stars *s, const struct sp_signature *pivot,
                            const struct sp_signature *child)
{
    struct shared shared = {pivot, child, 0, 0};
    uint32_t missing = sp_star_bound_missing(s, child->shingle_count), count = 0, at;
    while (!s->by_keys && count <= missing && next_shared(&shared, &at))
        count++;
    return s->by_keys || count > missing;
}

/* How many of the child's shingles are posted, or `enough`. */
static uint32_t count_posted(const struct star *c, const struct sp_signature *pivot,
                             const struct sp_signature *child, uint32_t enough)
{
    struct shared shared = {pivot, child, 0, 0};
    const uint8_t *posted = sp_star_posted(c);
    uint32_t count = 0, bytes = c->posted_bytes, at;
    while (count < enough && next_shared(&shared, &at))
        count += is_posted(posted, bytes, at);
    return count;
}

/* The same for a probe that is being placed, from its hits. False: they are not known. */
static bool hits_of(const struct sp_stars *s, uint32_t star, const struct sp_signature *x,
                    uint32_t *ret_hits)
{
    uint32_t i = 0, looked_up = s->length_count;
    if (s->lengths_of != x)
        return false;
    if (looked_up < x->shingle_count && x->hashes[looked_up] <= s->stars[star].reach)
        return false;
    while (i < s->found_count && s->found[i].star != star)
        i++;
    if (i == s->found_count || s->found[i].hits == UINT16_MAX)
        return false;
    *ret_hits = s->found[i].hits;
    return true;
}

bool sp_star_cover_is_common(const struct sp_stars *s, uint32_t star,
                             const struct sp_signature *pivot, const struct sp_signature *child)
{
    const struct star *c = &s->stars[star];
    const struct sp_stars_domain *d = sp_star_domain_of(s, star);
    struct shared shared = {pivot, child, 0, 0};
    uint32_t want = sp_star_bound_missing(s, child->shingle_count) + 1, count = 0, at;
    if (s->by_keys || !d->posted)
        return false;
    const uint8_t *posted = sp_star_posted(c);
    while (count < want && next_shared(&shared, &at))
        count += is_posted(posted, c->posted_bytes, at) ||
                 length_of(s, d, pivot->hashes[at]) < COMMON_FROM;
    return count < want;
}

bool sp_star_cover_alone_is_common(const struct sp_stars *s, const struct sp_signature *pivot)
{
    uint32_t want = sp_star_bound_missing(s, pivot->shingle_count) + 1, count = 0;
    for (uint32_t i = 0; i < pivot->shingle_count && count < want; i++)
        count += !sp_is_repeat(pivot->hashes, i) &&
                 (i >= s->length_count || s->lengths[i] < COMMON_FROM);
    return count < want;
}

/* Puts the entries of the child's shingles that the pivot has and that are not posted into
 * s->order: all of them, or `want` whose lists are empty, which are then the shortest. */
static uint32_t order_unposted(struct sp_stars *s, uint32_t star, const struct sp_signature *pivot,
                               const struct sp_signature *child, uint32_t want)
{
    struct shared shared = {pivot, child, 0, 0};
    const struct star *c = &s->stars[star];
    const uint8_t *posted = sp_star_posted(c);
    uint32_t count = 0, unmet = 0, at;
    sp_grow(&s->order, &s->order_cap, child->shingle_count);
    while (unmet < want && next_shared(&shared, &at)) {
        if (is_posted(posted, c->posted_bytes, at))
            continue;
        uint32_t length = s->lengths_of == child && shared.next <= s->length_count
                              ? s->lengths[shared.next - 1]
                              : length_of(s, sp_star_domain_of(s, star), pivot->hashes[at]);
        s->order[count++] = entry(length, at);
        unmet += length == 0;
    }
    return unmet == want ? only_unmet(s, count) : count;
}

SP_CLONES bool sp_star_cover_child(struct sp_stars *s, uint32_t star,
                                   const struct sp_signature *pivot,
                                   const struct sp_signature *child)
{
    const struct star *c = &s->stars[star];
    if (!sp_star_domain_of(s, star)->posted)
        return false;
    if (s->by_keys) {
        count_keys_of(s, star, child, true);
        return false;
    }
    uint32_t want = sp_star_bound_missing(s, child->shingle_count) + 1;
    uint32_t posted;
    if (!hits_of(s, star, child, &posted))
        posted = count_posted(c, pivot, child, want);
    if (posted >= want)
        return false;
    uint32_t count = order_unposted(s, star, pivot, child, want - posted);
    post_shortest(s, star, pivot, count, want - posted);
    return true;
}

void sp_star_uncover_child(struct sp_stars *s, uint32_t star, const struct sp_signature *child)
{
    if (s->by_keys && sp_star_domain_of(s, star)->posted)
        count_keys_of(s, star, child, false);
}

void sp_star_uncover_star(struct sp_stars *s, uint32_t star, const struct sp_signature *pivot)
{
    const struct star *c = &s->stars[star];
    const struct sp_stars_domain *d = sp_star_domain_of(s, star);
    if (!d->posted)
        return;
    if (s->by_keys) {
        count_keys_of(s, star, pivot, false);
        return;
    }
    const uint8_t *posted = sp_star_posted(c);
    uint32_t count = 0;
    sp_grow(&s->hashes, &s->hashes_cap, pivot->shingle_count);
    for (uint32_t i = 0; i < pivot->shingle_count; i++)
        if (is_posted(posted, c->posted_bytes, i))
            s->hashes[count++] = pivot->hashes[i];
    sp_star_table_prefetch(s->posted, s->hashes, d->salt, count);
    s->lengths_of = NULL;
    for (uint32_t i = 0; i < count; i++)
        sp_star_table_remove(s->posted, sp_star_domain_key(d, s->hashes[i]), star);
    sp_star_bits_free(s, star);
}

struct posting {
    struct sp_stars *stars;
    const struct sp_signature *pivot;
    uint32_t star;
};

static void post_kid(void *arg, struct kid kid)
{
    struct posting *p = arg;
    const struct sp_signature *child;
    if (!sp_star_signature_of(p->stars, kid.row, &child))
        return;
    sp_star_cover_child(p->stars, p->star, p->pivot, child);
    sp_star_row_changed(p->stars, kid.row);
}

static bool post_star(struct sp_stars *s, uint32_t star)
{
    struct posting p = {s, NULL, star};
    if (!sp_star_signature_of(s, s->stars[star].pivot, &p.pivot))
        return false;
    sp_star_cover_pivot(s, star, p.pivot);
    sp_star_row_changed(s, s->stars[star].pivot);
    sp_star_kids_each(s, s->stars[star].kids, post_kid, &p);
    return s->err == SP_OK;
}

bool sp_star_domain_post(struct sp_stars_domain *d)
{
    struct sp_stars *s = d->stars;
    d->posted = true;
    for (uint32_t i = 0; i < d->all_count; i++)
        if (!post_star(s, d->all[i]))
            return false;
    struct sp_shelf_place place = sp_shelf_first(&d->owing);
    for (uint32_t star; (star = sp_star_next_listed(&d->owing, &place)) != NONE;)
        if (!post_star(s, star))
            return false;
    sp_free(d->all);
    d->all = NULL;
    d->all_count = d->all_cap = 0;
    return true;
}
