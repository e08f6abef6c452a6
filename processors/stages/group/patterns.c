/* Bit patterns of the shingles of hubs (similarity/parity.h): they rule out nearly all pairs that
 * are not similar, without the signatures. Winners keep theirs.
 *
 * A group may have hundreds of thousands of winners. When it has been read, the first hub that must
 * be held against all of them needs all patterns, and the signatures from which they are made are
 * scattered in the store. So the row of a member that wins has its folded pattern. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "group/large.h"
#include "group/stored.h"
#include "similarity/parity.h"

struct sp_pattern {
    double most; /* bits: two patterns that differ in more than both allow are not similar */
    uint32_t words;
    uint64_t brief[SP_PARITY_BRIEF];
    uint64_t bits[];
};

static double most_of(const struct sp_similarity_options *o, const struct sp_signature *s)
{
    return sp_method_info(o->method)->jaccard ? sp_jaccard_apart(o->threshold, s)
                                              : (double)INFINITY;
}

static struct sp_pattern *pattern_of(const struct sp_similarity_options *o,
                                     const struct sp_signature *s)
{
    enum { BITS_EACH = 4 };
    uint32_t words = sp_parity_words(s->shingle_count, BITS_EACH);
    words = words < SP_PARITY_WIDE ? SP_PARITY_WIDE : words;
    struct sp_pattern *p = sp_alloc(sizeof *p + words * sizeof *p->bits);
    *p = (struct sp_pattern){.most = most_of(o, s), .words = words};
    sp_parity_of(s, words, p->bits);
    sp_parity_brief(p->bits, words, p->brief);
    return p;
}

void sp_pattern_forget(struct sp_hub *h)
{
    sp_free(h->pattern);
    h->pattern = NULL;
}

static bool make(struct sp_large *l, struct sp_hub *h)
{
    const struct sp_signature *s = sp_hub_signature(l->stage, h);
    if (s)
        h->pattern = pattern_of(&l->stage->options.similarity, s);
    return s;
}

bool sp_pattern_fold(struct sp_large *l, struct sp_hub *h, struct sp_parity_wide *ret_wide)
{
    if (!h->pattern && !make(l, h))
        return false;
    sp_parity_widen(h->pattern->bits, h->pattern->words, ret_wide->words);
    ret_wide->most = h->pattern->most;
    return true;
}

bool sp_pattern_rules_out(struct sp_large *l, struct sp_hub *h, struct sp_hub *w)
{
    if ((!h->pattern && !make(l, h)) || (!w->pattern && !make(l, w)))
        return false;
    const struct sp_pattern *a = h->pattern, *b = w->pattern;
    double most = a->most + b->most;
    return sp_parity_brief_distance(a->brief, b->brief) > most ||
           sp_parity_distance(a->bits, a->words, b->bits, b->words) > most;
}

/* ---- stored */

/* Those of a group that was read, until it is made large. */
struct stored {
    struct sp_id content;
    struct sp_parity_wide wide;
};

struct sp_patterns_read {
    struct stored *items;
    uint32_t count;
    uint32_t cap;
};

/* A group with fewer winners needs no stored patterns. */
static bool are_many(const struct sp_large *l)
{
    enum { MANY = 32 };
    return l->stage->options.large_from || l->winners.count >= MANY;
}

bool sp_pattern_is_stored(const struct sp_member *m)
{
    struct sp_hub *h = m->hub;
    if (!h || h->best != m || h->winner != h || !are_many(h->group->large))
        return false;
    if (!h->pattern && h->signature)
        make(h->group->large, h);
    return h->pattern && isfinite(h->pattern->most);
}

void sp_pattern_encode(const struct sp_member *m, struct sp_buf *out)
{
    struct sp_parity_wide wide;
    sp_pattern_fold(m->hub->group->large, m->hub, &wide);
    sp_buf_put(out, &wide.most, sizeof wide.most);
    sp_buf_put(out, wide.words, sizeof wide.words);
}

void sp_patterns_keep(struct sp_group *g, struct sp_id content, struct sp_view pattern)
{
    struct stored stored = {.content = content};
    memcpy(&stored.wide.most, pattern.data, sizeof stored.wide.most);
    memcpy(stored.wide.words, pattern.data + sizeof stored.wide.most, sizeof stored.wide.words);
    if (!g->patterns)
        g->patterns = sp_calloc(1, sizeof *g->patterns);
    struct sp_patterns_read *p = g->patterns;
    sp_grow(&p->items, &p->cap, p->count + 1);
    p->items[p->count++] = stored;
}

static struct sp_pattern *restored(const struct sp_parity_wide *wide)
{
    struct sp_pattern *p = sp_alloc(sizeof *p + sizeof wide->words);
    *p = (struct sp_pattern){.most = wide->most, .words = SP_PARITY_WIDE};
    memcpy(p->bits, wide->words, sizeof wide->words);
    sp_parity_brief(p->bits, p->words, p->brief);
    return p;
}

void sp_patterns_restore(struct sp_group *g)
{
    const struct sp_patterns_read *p = g->patterns;
    for (uint32_t i = 0; p && i < p->count; i++) {
        struct sp_hub *h = sp_map_get(&g->large->hubs, p->items[i].content);
        if (h && h->winner == h && !h->pattern)
            h->pattern = restored(&p->items[i].wide);
    }
    sp_patterns_drop(g);
}

void sp_patterns_drop(struct sp_group *g)
{
    if (g->patterns)
        sp_free(g->patterns->items);
    sp_free(g->patterns);
    g->patterns = NULL;
}
