/* See versions.h. */
#include "cover/versions.h"

#include "base/hash.h"
#include "base/mem.h"

struct url {
    struct sp_id id; /* key of the map: first */
    uint32_t number;
};

void sp_versions_add(struct sp_versions *v, size_t number, struct sp_view url)
{
    struct sp_id id = sp_hash128(url.data ? url.data : "", url.len);
    struct url *known = sp_map_get(&v->by_url, id);
    if (!known) {
        known = sp_alloc(sizeof *known);
        *known = (struct url){id, (uint32_t)v->url_count};
        sp_map_add(&v->by_url, known);
        sp_grow(&v->counts, &v->count_cap, v->url_count + 1);
        v->counts[v->url_count++] = 0;
    }
    sp_grow(&v->url_of, &v->url_of_cap, number + 1);
    v->url_of[number] = known->number;
    v->counts[known->number]++;
}

bool sp_versions_first(struct sp_versions *v, size_t number)
{
    if (!v->seen)
        v->seen = sp_calloc(v->url_count + 1, 1);
    uint8_t *seen = &v->seen[v->url_of[number]];
    bool first = !*seen;
    *seen = 1;
    return first;
}

void sp_versions_done(struct sp_versions *v)
{
    sp_map_free_objects(&v->by_url);
    sp_free(v->url_of);
    sp_free(v->counts);
    sp_free(v->seen);
    *v = (struct sp_versions){0};
}

static bool asks(const struct sp_node *n)
{
    return (sp_relation_fields(n) & 1u << SP_FIELD_versions) != 0;
}

bool sp_versions_part(const struct sp_node *n, bool with, const struct sp_relation_pair *pair)
{
    if (n->op == SP_OP_AND)
        return sp_versions_part(n->kid[0], with, pair) && sp_versions_part(n->kid[1], with, pair);
    return asks(n) != with || sp_relation_holds(n, pair);
}

uint32_t sp_versions_fields(const struct sp_node *n)
{
    if (n->op == SP_OP_AND)
        return sp_versions_fields(n->kid[0]) | sp_versions_fields(n->kid[1]);
    return asks(n) ? sp_relation_fields(n) : 0;
}
