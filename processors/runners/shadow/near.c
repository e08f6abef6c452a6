/* Finds the watched contents that are similar, by an exact look-up that shares nothing with tier 2
 * except F.
 *
 * Where F asks for a Jaccard similarity, a prefix filter as in similarity/join.c, in the order of
 * the hashes: of n hashes kept, the n - ceil(tau n) + 1 smallest are keys. F asks for J >= tau over
 * the hashes that both signatures know, so two similar ones share at least tau n of the larger
 * one's n, and the smallest shared one is among the keys of both. (A stream knows no frequencies; a
 * common key costs comparisons and loses nothing.) With other methods the keys are those of the
 * candidate rule, which F includes or which it cannot hold without. */
#include <math.h>

#include "base/mem.h"
#include "shadow/internal.h"

enum { HEADS_MIN = 1024 };

static const uint32_t *keys_of(const struct sp_shadow *s, const struct sp_signature *g,
                               uint32_t scratch[SP_SKETCH_MAX], uint32_t *ret_count)
{
    if (!s->jaccard)
        return sp_candidate_keys(&s->rule, g, scratch, ret_count);
    double n = g->shingle_count;
    uint32_t needed = (uint32_t)ceil((s->options.similarity.threshold - 1e-9) * n);
    *ret_count = needed > 0 ? g->shingle_count - needed + 1 : g->shingle_count;
    return sp_signature_shingles(g);
}

static uint32_t *head_of(const struct sp_shadow_near *near, uint32_t key)
{
    return &near->heads[sp_mix64(key) & (near->head_count - 1)];
}

static void grow_heads(struct sp_shadow_near *near)
{
    size_t count = near->head_count ? 2 * near->head_count : HEADS_MIN;
    uint32_t *old = near->heads;
    size_t old_count = near->head_count;
    near->heads = sp_calloc(count, sizeof *near->heads);
    near->head_count = count;
    for (size_t i = 0; i < old_count; i++) {
        /* Lists are newest first; they are copied from the oldest entry on, which keeps that
         * order. */
        uint32_t reversed = 0;
        for (uint32_t at = old[i], next; at; at = next) {
            next = near->postings[at - 1].next;
            near->postings[at - 1].next = reversed;
            reversed = at;
        }
        for (uint32_t at = reversed, next; at; at = next) {
            uint32_t *head = head_of(near, near->postings[at - 1].key);
            next = near->postings[at - 1].next;
            near->postings[at - 1].next = *head;
            *head = at;
        }
    }
    sp_free(old);
}

static uint32_t new_posting(struct sp_shadow_near *near)
{
    uint32_t at = near->free;
    if (at) {
        near->free = near->postings[at - 1].next;
        return at;
    }
    sp_grow(&near->postings, &near->posting_cap, near->posting_count + 1);
    return (uint32_t)++near->posting_count;
}

void sp_shadow_near_add(struct sp_shadow *s, struct sp_shadow_content *c)
{
    struct sp_shadow_near *near = &s->near;
    uint32_t scratch[SP_SKETCH_MAX], count;
    const uint32_t *keys = keys_of(s, c->signature, scratch, &count);
    while (near->used + count > near->head_count)
        grow_heads(near);
    near->used += count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = new_posting(near), *head = head_of(near, keys[i]);
        near->postings[at - 1] = (struct sp_shadow_posting){c, keys[i], *head};
        *head = at;
    }
}

void sp_shadow_near_remove(struct sp_shadow *s, struct sp_shadow_content *c)
{
    struct sp_shadow_near *near = &s->near;
    uint32_t scratch[SP_SKETCH_MAX], count;
    const uint32_t *keys = keys_of(s, c->signature, scratch, &count);
    near->used -= count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *link = head_of(near, keys[i]);
        while (near->postings[*link - 1].content != c || near->postings[*link - 1].key != keys[i])
            link = &near->postings[*link - 1].next;
        uint32_t at = *link;
        *link = near->postings[at - 1].next;
        near->postings[at - 1].next = near->free;
        near->free = at;
    }
}

void sp_shadow_near_done(struct sp_shadow_near *near)
{
    sp_free(near->heads);
    sp_free(near->postings);
}

void sp_shadow_near_each(struct sp_shadow *s, const struct sp_shadow_content *c,
                         bool (*each)(void *arg, struct sp_shadow_content *other,
                                      double similarity),
                         void *arg)
{
    struct sp_shadow_near *near = &s->near;
    const struct sp_similarity_options *o = &s->options.similarity;
    uint32_t scratch[SP_SKETCH_MAX], count;
    const uint32_t *keys = keys_of(s, c->signature, scratch, &count);
    uint64_t look = ++near->looks;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t at = *head_of(near, keys[i]); at; at = near->postings[at - 1].next) {
            struct sp_shadow_content *other = near->postings[at - 1].content;
            double similarity;
            if (near->postings[at - 1].key != keys[i] || other->met == look)
                continue;
            other->met = look;
            if (sp_similar(o, c->signature, other->signature, &similarity) &&
                !each(arg, other, similarity))
                return;
        }
}
