/* The field `versions`: the number of documents of a document's URL. It is known only when all have
 * been read, so a filter that uses it is evaluated in two steps. The filter's parts are those
 * joined by `&&`. Parts without `versions` are evaluated for each document as it is read, and
 * `versions` counts the documents that pass them; the other parts are evaluated at the end. So
 * `versions >= 2 && timestamp >= 2010-01-01` means URLs with two versions since 2010.
 *
 * Memory, if the field is used: 4 bytes a document and about 40 a URL. */
#ifndef SP_COVER_VERSIONS_H
#define SP_COVER_VERSIONS_H

#include "base/map.h"
#include "relation/relation.h"

struct sp_versions {
    uint32_t *url_of; /* by document */
    size_t url_of_cap;
    uint32_t *counts; /* by URL */
    size_t count_cap;
    uint8_t *seen; /* by URL; made when first asked */
    size_t url_count;
    struct sp_map by_url;
};

/* Adds document `number`, the next one, of that canonical URL. */
void sp_versions_add(struct sp_versions *v, size_t number, struct sp_view url);
void sp_versions_done(struct sp_versions *v);

static inline uint32_t sp_versions_of(const struct sp_versions *v, size_t number)
{
    return v->counts[v->url_of[number]];
}

/* Whether this is the first call for a document of its URL. */
bool sp_versions_first(struct sp_versions *v, size_t number);

/* What the parts of a condition with, or without, the field say: true if there are none. */
bool sp_versions_part(const struct sp_node *condition, bool with,
                      const struct sp_relation_pair *pair);

/* The fields that the parts with it use, one bit each; 0: there are none. */
uint32_t sp_versions_fields(const struct sp_node *condition);

#endif
