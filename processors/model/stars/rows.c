/* Stores and restores rows. Restoring a star reads no signature. */
#include <endian.h>
#include <string.h>

#include "base/mem.h"
#include "stars/bits.h"
#include "stars/internal.h"

static uint32_t keys_of(struct sp_stars *s, const struct sp_signature *x)
{
    uint32_t scratch[SP_SKETCH_MAX], count;
    const uint32_t *keys = sp_candidate_keys(&s->rule, x, scratch, &count);
    sp_grow(&s->hashes, &s->hashes_cap, count + 1);
    memcpy(s->hashes, keys, count * sizeof *keys);
    return count;
}

/* The next bits of a star's posted shingles, of which there are so many bytes. */
static uint64_t bits_at(const uint8_t *posted, uint32_t bytes)
{
    uint64_t bits = 0;
    if (bytes >= sizeof bits)
        memcpy(&bits, posted, sizeof bits);
    else
        memcpy(&bits, posted, bytes);
    return le64toh(bits);
}

/* One shingle in five is posted, so this goes from bit to bit. */
static uint32_t posted_of(struct sp_stars *s, const struct star *c, const struct sp_signature *x)
{
    const uint8_t *posted = c->bits ? sp_star_posted(c) : NULL;
    uint32_t count = 0, bytes = posted ? c->posted_bytes : 0;
    sp_grow(&s->hashes, &s->hashes_cap, x->shingle_count + 1);
    for (uint32_t at = 0; at < bytes; at += sizeof(uint64_t))
        for (uint64_t bits = bits_at(posted + at, bytes - at); bits; bits &= bits - 1)
            s->hashes[count++] = x->hashes[8 * at + (uint32_t)__builtin_ctzll(bits)];
    return count;
}

/* The star's pattern; that of a capped pivot is only stored. */
static const uint64_t *parity_of(struct sp_stars *s, const struct star *c,
                                 const struct sp_signature *pivot)
{
    if (!c->capped)
        return c->bits;
    sp_parity_of(pivot, sp_parity_words(c->kept, PARITY_BITS), s->parity);
    s->parity_known = false;
    return s->parity;
}

enum sp_err sp_stars_row_get(struct sp_stars_domain *d, uint32_t row, struct sp_star_row *ret_row)
{
    struct sp_stars *s = d->stars;
    const struct sp_signature *x, *pivot;
    SP_ASSERT(row < s->row_cap && s->rows[row].star != NONE);
    const struct star *c = &s->stars[s->rows[row].star];
    if (!sp_star_signature_of(s, row, &x))
        return s->err;
    struct sp_star_row r = {
        .kept = x->shingle_count, .total = x->shingle_total, .other = NONE, .adopter = NONE};
    if (c->pivot == row) {
        r.role = c->headless ? SP_STAR_GHOST : SP_STAR_PIVOT;
        r.other = c->headless || c->draining ? c->kids->owing->heir : NONE;
        r.indexed = sp_star_kids_large(c->kids);
        r.centred = c->kids ? c->kids->centred : 0;
        r.passed = c->draining ? c->kids->owing->passed : 0;
        r.posted = c->bits ? sp_star_posted_all(s, c) : NULL;
        r.parity = c->bits ? parity_of(s, c, x) : NULL;
        r.hash_count = s->by_keys ? keys_of(s, x) : posted_of(s, c, x);
    } else {
        static const enum sp_star_role roles[] = {
            [CHILD] = SP_STAR_CHILD, [ADOPTED] = SP_STAR_ADOPTED, [FRINGE] = SP_STAR_FRINGE};
        struct kid kid = sp_star_kid_at(s, row);
        r.role = kid.kind == FRINGE && kid.adopter == ORPHAN ? SP_STAR_ORPHAN : roles[kid.kind];
        r.adopter = kid.kind == ADOPTED ? kid.adopter : NONE;
        r.other = c->pivot;
        r.overlap = kid.overlap;
        r.kept = s->by_bits ? kid.kept : r.kept;
        if (s->by_keys)
            r.hash_count = keys_of(s, x);
        else if (!sp_star_kids_large(c->kids))
            r.hash_count = 0;
        else if (sp_star_signature_of(s, c->pivot, &pivot))
            r.hash_count = sp_star_beside_of(s, x, pivot);
        else
            return s->err;
    }
    r.hashes = s->hashes;
    *ret_row = r;
    return SP_OK;
}

uint32_t sp_stars_parity_words(uint32_t kept)
{
    return sp_parity_words(kept, PARITY_BITS);
}

/* ---- restoring ---- */

static bool is_ascending(const struct sp_star_row *in)
{
    for (uint32_t i = 1; i < in->hash_count; i++)
        if (in->hashes[i] < in->hashes[i - 1])
            return false;
    return true;
}

static uint32_t bits_of(const struct sp_star_row *in)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; in->posted && i < (in->kept + 7) / 8; i++)
        bits += (uint32_t)__builtin_popcount(in->posted[i]);
    return bits;
}

/* Adds the star to the lists of these shingles. The lists are scattered over memory: without
 * prefetching, this was half of the time in which a large index is restored. */
static void put_posted(struct sp_stars_domain *d, const uint32_t *hashes, uint32_t count,
                       uint32_t star)
{
    enum { AT_ONCE = 64 };
    struct sp_star_table *posted = d->stars->posted;
    for (uint32_t from = 0; from < count; from += AT_ONCE) {
        uint32_t n = count - from < AT_ONCE ? count - from : AT_ONCE;
        sp_star_table_prefetch(posted, hashes + from, d->salt, n);
        for (uint32_t i = from; i < from + n; i++)
            sp_star_table_add(posted, sp_star_domain_key(d, hashes[i]), star);
    }
}

static void put_pivot(struct sp_stars_domain *d, uint32_t row, const struct sp_star_row *in)
{
    struct sp_stars *s = d->stars;
    uint32_t star = sp_star_make(d, row, in->kept, in->total);
    if (in->posted) {
        sp_star_bits_put(s, star, in->posted, in->parity);
        put_posted(d, in->hashes, in->hash_count, star);
        s->stars[star].reach = in->hash_count ? in->hashes[in->hash_count - 1] : 0;
        sp_star_reach_note(s, star);
    }
    if (s->by_keys && d->posted)
        sp_star_cover_keys(s, star, in->hashes, in->hash_count);
    if (in->indexed)
        sp_star_kids_make(s, star)->indexed = true;
    if (in->centred)
        sp_star_kids_make(s, star)->centred = in->centred;
    if (in->role == SP_STAR_GHOST || in->other != NONE) {
        struct owing *o = sp_star_owing_make(s, star);
        o->heir = in->other;
        o->passed = in->passed;
    }
    s->stars[star].headless = in->role == SP_STAR_GHOST;
}

static bool put_kid(struct sp_stars *s, uint32_t row, const struct sp_star_row *in)
{
    if (in->other >= s->row_cap || s->rows[in->other].star == NONE || in->overlap > in->kept)
        return false;
    uint32_t star = s->rows[in->other].star;
    if (s->stars[star].pivot != in->other)
        return false;
    struct kid kid = {row, in->kept, in->overlap, FRINGE, NONE};
    if (in->role == SP_STAR_CHILD)
        kid.kind = CHILD;
    else if (in->role == SP_STAR_ADOPTED)
        kid.kind = ADOPTED, kid.adopter = in->adopter;
    else if (in->role == SP_STAR_ORPHAN)
        kid.adopter = ORPHAN;
    sp_star_kid_put(s, star, kid, in->total);
    if (s->by_keys && sp_star_domain_of(s, star)->posted)
        sp_star_cover_keys(s, star, in->hashes, in->hash_count);
    else if (s->stars[star].kids->indexed)
        sp_star_kid_beside_put(s, in->other, row, in->hashes, in->hash_count);
    return true;
}

enum sp_err sp_stars_row_put(struct sp_stars_domain *d, uint32_t row, const struct sp_star_row *in)
{
    struct sp_stars *s = d->stars;
    bool bits = d->posted && !s->by_keys && sp_star_role_is_pivot(in->role);
    bool sized = sp_star_role_is_pivot(in->role) || !s->by_bits;
    if (row >= SP_STARS_ROWS || sp_star_row_at(s, row)->star != NONE ||
        (sized ? in->kept > in->total : !sp_star_bits_valid(s, in->kept, in->overlap)) ||
        in->kept > SP_MAX_SHINGLES_LIMIT || !is_ascending(in) || bits != (in->posted != NULL) ||
        bits != (in->parity != NULL) || (bits && bits_of(in) != in->hash_count))
        return SP_CORRUPT;
    if (sp_star_role_is_pivot(in->role))
        put_pivot(d, row, in);
    else if (!put_kid(s, row, in))
        return SP_CORRUPT;
    if (in->role != SP_STAR_GHOST) {
        d->rows++;
        s->stats.rows++;
    }
    return sp_star_outcome(s);
}

void sp_stars_settle(struct sp_stars *s)
{
    for (uint32_t i = 0; i < s->star_count; i++) {
        struct star *c = &s->stars[i];
        if (!c->domain || !c->kids)
            continue;
        if (c->headless) {
            c->headless = false;
            sp_star_lose_pivot(s, i);
        } else if (c->kids->owes) {
            sp_star_drain(s, i, c->kids->owing->heir);
        }
    }
}
