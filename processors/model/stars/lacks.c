/* Finds the kids of a star that can be similar to a probe by the shingles of the pivot that they
 * lack (similarity/lacking.h).
 *
 * If the pages of a site were edited in different places, a page that was edited in two has enough
 * in common with the pivot to resemble any kid, but resembles only kids that were edited in the
 * same places, if there are any. This index names them; otherwise all would be tried one after
 * another. It takes memory, so it is made when as many kids of the star have been tried in vain as
 * there are. The fewer shingles that several kids share are missing in its reference, the fewer
 * kids it finds in vain; so it is made again when it has found many. It changes no result, and it
 * is not stored.
 *
 * To make it reads the signatures of all kids. If these are many, it is made in up to PARTS parts,
 * each after a probe that tried kids in vain, and not used before it is whole. */
#include "similarity/lacking.h"

#include "base/mem.h"
#include "base/order.h"
#include "stars/internal.h"

enum {
    KIDS_AT_ONCE = 1 << 16, /* or more, if these would be more than PARTS parts */
    PARTS = 8,
    /* Kids that were tried in vain for each kid: what kids have in common may have changed. Each
     * time the index is made after twice as many, up to MADE_MOST times. */
    REMADE_AFTER = 16,
    MADE_MOST = 8
};

/* Of an item. The name is here because the caller's would have to be waited for. */
struct lacking_row {
    uint64_t name;
    uint32_t row;
};

struct lacks {
    struct sp_lacking *index; /* NULL: not made yet */
    bool whole;               /* it is made, and all kids are in it */
    uint64_t in_vain;         /* kids that were tried so far, or since the index was made */
    uint32_t made;            /* how often, up to MADE_MOST */
    struct lacking_row *rows; /* by item */
    uint32_t row_cap;
};

static bool is_whole(const struct lacks *l)
{
    return l && l->whole;
}

size_t sp_star_lacks_bytes(const struct kids *kids)
{
    const struct lacks *l = kids->lacks;
    if (!l)
        return 0;
    return sizeof *l + l->row_cap * sizeof *l->rows + (l->index ? sp_lacking_bytes(l->index) : 0);
}

bool sp_star_lacks_has(const struct sp_stars *s, const struct kids *kids, uint32_t row)
{
    const struct lacks *l = kids->lacks;
    uint32_t item = sp_counts_get(&s->lacks, row);
    return item ? l && l->index && l->rows[item - 1].row == row : !is_whole(l);
}

void sp_star_lacks_put(struct sp_stars *s, struct kids *kids, uint32_t row,
                       const struct sp_signature *x)
{
    struct lacks *l = kids->lacks;
    if (!l || !l->index)
        return;
    s->stats.bytes -= sp_star_lacks_bytes(kids);
    uint32_t item = sp_lacking_put(l->index, x, sp_jaccard_apart(s->tau, x));
    sp_grow(&l->rows, &l->row_cap, item + 1);
    l->rows[item] = (struct lacking_row){sp_star_name(s, row), row};
    sp_counts_add(&s->lacks, row, item + 1);
    s->stats.bytes += sp_star_lacks_bytes(kids);
}

void sp_star_lacks_take(struct sp_stars *s, struct kids *kids, uint32_t row)
{
    struct lacks *l = kids->lacks;
    uint32_t item = l && l->index ? sp_counts_get(&s->lacks, row) : 0;
    if (!item)
        return;
    s->stats.bytes -= sp_star_lacks_bytes(kids);
    sp_lacking_take(l->index, item - 1);
    s->stats.bytes += sp_star_lacks_bytes(kids);
    sp_counts_forget(&s->lacks, row);
}

static void forget_row(void *arg, struct kid kid)
{
    struct sp_stars *s = arg;
    if (sp_counts_get(&s->lacks, kid.row)) /* some are not in an index that is not whole */
        sp_counts_forget(&s->lacks, kid.row);
}

static void drop(struct sp_stars *s, struct kids *kids)
{
    struct lacks *l = kids->lacks;
    if (!l->index)
        return;
    sp_star_kids_each(s, kids, forget_row, s);
    s->stats.bytes -= sp_star_lacks_bytes(kids);
    sp_lacking_free(l->index);
    l->index = NULL;
    l->whole = false;
    s->stats.bytes += sp_star_lacks_bytes(kids);
}

void sp_star_lacks_free(struct sp_stars *s, struct kids *kids)
{
    struct lacks *l = kids->lacks;
    if (!l)
        return;
    drop(s, kids);
    s->stats.bytes -= sp_star_lacks_bytes(kids);
    sp_free(l->rows);
    sp_free(l);
    kids->lacks = NULL;
}

/* What several kids have in common: the pivot differs from that in its own way. It is judged by the
 * first kids. NULL: the pivot's shingles. */
static struct sp_signature *centre_of(struct sp_stars *s, const struct kids *kids,
                                      const struct sp_signature *pivot)
{
    enum { JUDGED = 256 };
    uint32_t rows[JUDGED];
    uint32_t count = sp_star_kids_first(s, kids, (1 << KID_KINDS) - 1, JUDGED, rows);
    struct sp_lacking *judged = sp_lacking_new(pivot, true);
    const struct sp_signature *x;
    for (uint32_t i = 0; i < count && sp_star_signature_of(s, rows[i], &x); i++)
        sp_lacking_put(judged, x, sp_jaccard_apart(s->tau, x));
    struct sp_signature *centre = sp_lacking_centre(judged);
    sp_lacking_free(judged);
    return centre;
}

struct making {
    struct sp_stars *stars;
    struct kids *kids;
    uint32_t left; /* kids that may be put in */
    bool more;     /* others are not in the index yet */
};

static void put_kid(void *arg, struct kid kid)
{
    struct making *m = arg;
    const struct sp_signature *x;
    if (sp_counts_get(&m->stars->lacks, kid.row))
        return;
    if (!m->left || !sp_star_signature_of(m->stars, kid.row, &x)) {
        m->more = true;
        return;
    }
    m->left--;
    sp_star_lacks_put(m->stars, m->kids, kid.row, x);
}

/* False: an error. */
static bool make_part(struct sp_stars *s, struct kids *kids)
{
    uint32_t at_once = s->lacks_at_once ? s->lacks_at_once : KIDS_AT_ONCE;
    uint32_t part = sp_star_kids_count(kids) / PARTS + 1;
    struct making m = {s, kids, part > at_once ? part : at_once, false};
    sp_star_kids_each(s, kids, put_kid, &m);
    kids->lacks->whole = !m.more;
    return s->err == SP_OK;
}

static bool make(struct sp_stars *s, struct kids *kids, const struct sp_signature *pivot)
{
    struct sp_signature *centre = centre_of(s, kids, pivot);
    drop(s, kids);
    kids->lacks->in_vain = 0;
    kids->lacks->made = sp_min_u32(kids->lacks->made + 1, MADE_MOST);
    s->stats.bytes -= sp_star_lacks_bytes(kids);
    kids->lacks->index = sp_lacking_new(centre ? centre : pivot, false);
    s->stats.bytes += sp_star_lacks_bytes(kids);
    sp_signature_unref(centre);
    return make_part(s, kids);
}

bool sp_star_lacks_note(struct sp_stars *s, struct kids *kids, const struct sp_signature *pivot,
                        uint32_t in_vain)
{
    uint32_t count = sp_star_kids_count(kids);
    if (!kids->lacks) {
        kids->lacks = sp_calloc(1, sizeof *kids->lacks);
        s->stats.bytes += sp_star_lacks_bytes(kids);
    }
    struct lacks *l = kids->lacks;
    if (l->index && !l->whole)
        return make_part(s, kids);
    l->in_vain += in_vain;
    uint64_t enough = l->index ? (uint64_t)REMADE_AFTER * count << l->made : count;
    return l->in_vain < enough || make(s, kids, pivot);
}

bool sp_star_lacks_knows(const struct kids *kids, uint32_t shingle)
{
    return is_whole(kids->lacks) && sp_lacking_refers(kids->lacks->index, shingle);
}

struct lacking sp_star_lacks_find(struct sp_stars *s, const struct kids *kids,
                                  const struct sp_signature *x, uint32_t rare)
{
    const struct lacks *l = kids->lacks;
    if (!is_whole(l))
        return (struct lacking){0};
    struct sp_lacking_found found =
        sp_lacking_find_knowing(l->index, x, sp_jaccard_apart(s->tau, x), s->hashes, rare);
    s->stats.scanned += found.count;
    return (struct lacking){l, found.items, found.count};
}

uint32_t sp_star_lacking_row(const struct lacking *found, uint32_t i, uint64_t *ret_name)
{
    const struct lacking_row *r = &found->of->rows[found->items[i]];
    *ret_name = r->name;
    return r->row;
}

bool sp_star_is_lacking(const struct sp_stars *s, const struct lacking *found, uint32_t row)
{
    uint32_t item = sp_counts_get(&s->lacks, row);
    return item && sp_lacking_is_found(found->of->index, item - 1);
}
