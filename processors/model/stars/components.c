/* See components.h. The first page of each content is a row. A row is united with what it touches
 * when it is inserted: one row of each star that it resembles. The members of a star are united by
 * their anchors, whenever these change. No row is removed, so whatever was united stays similar. */
#include "stars/components.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/sets.h"

struct content {
    struct sp_id hash; /* key of the map: first */
    uint32_t page;     /* the first one */
    bool resembles_itself;
};

struct work {
    struct sp_signature *const *signatures;
    struct content *contents; /* by row */
    uint32_t row_count;
    uint32_t *set; /* over pages */
    struct sp_stars *stars;
    struct sp_stars_domain *domain;
    uint32_t *changed; /* rows that may have another anchor */
    size_t changed_count;
    size_t changed_cap;
};

static enum sp_err signature_of(void *arg, uint32_t row, const struct sp_signature **ret_signature)
{
    const struct work *w = arg;
    *ret_signature = w->signatures[w->contents[row].page];
    return SP_OK;
}

static uint64_t name_of(void *arg, uint32_t row)
{
    const struct work *w = arg;
    return w->contents[row].hash.lo;
}

static void note_changed(void *arg, uint32_t row)
{
    struct work *w = arg;
    sp_grow(&w->changed, &w->changed_cap, w->changed_count + 1);
    w->changed[w->changed_count++] = row;
}

static void unite(struct work *w, uint32_t row, uint32_t other)
{
    sp_sets_unite(w->set, w->contents[row].page, w->contents[other].page);
}

static enum sp_err enter(struct work *w, uint32_t row)
{
    const struct sp_signature *s = w->signatures[w->contents[row].page];
    struct sp_touches touches;
    enum sp_err err = sp_stars_insert(w->domain, row, s, &touches);
    for (size_t i = 0; err == SP_OK && i < touches.count; i++)
        unite(w, row, touches.items[i].row);
    for (size_t i = 0; err == SP_OK && i < w->changed_count; i++) {
        uint32_t anchor = sp_stars_anchor(w->stars, w->changed[i]);
        if (anchor != SP_STARS_NONE)
            unite(w, w->changed[i], anchor);
    }
    w->changed_count = 0;
    return err;
}

static enum sp_err enter_all(struct work *w, const struct sp_similarity_options *o, size_t count)
{
    struct sp_map by_hash = {0};
    enum sp_err err = SP_OK;
    for (uint32_t i = 0; i < count && err == SP_OK; i++) {
        const struct sp_signature *s = w->signatures[i];
        struct content *c = sp_map_get(&by_hash, s->content_hash);
        if (c && c->resembles_itself)
            sp_sets_unite(w->set, i, c->page);
        if (c)
            continue;
        c = &w->contents[w->row_count++];
        *c = (struct content){s->content_hash, i, sp_similar(o, s, s, NULL)};
        sp_map_add(&by_hash, c);
        if (s->shingle_total > 0)
            err = enter(w, w->row_count - 1);
    }
    sp_map_done(&by_hash);
    return err;
}

enum sp_err sp_stars_components(const struct sp_similarity_options *o,
                                struct sp_signature *const *signatures, size_t count,
                                uint32_t *ret_first, struct sp_stars_stats *stats)
{
    if (count >= SP_STARS_ROWS)
        return SP_TOO_LARGE;
    struct work w = {.signatures = signatures,
                     .contents = sp_alloc((count + 1) * sizeof *w.contents),
                     .set = ret_first};
    w.stars = sp_stars_new(&(struct sp_stars_options){.similarity = *o,
                                                      .signature = signature_of,
                                                      .name = name_of,
                                                      .changed = note_changed,
                                                      .arg = &w});
    w.domain = sp_stars_domain_new(w.stars, 0, false);
    sp_sets_init(w.set, count);
    enum sp_err err = enter_all(&w, o, count);
    for (uint32_t i = 0; i < count; i++)
        w.set[i] = sp_sets_root(w.set, i);
    if (stats)
        sp_stars_stats(w.stars, stats);
    sp_stars_free(w.stars);
    sp_stars_domain_free(w.domain);
    sp_free(w.contents);
    sp_free(w.changed);
    return err;
}
