/* See crowd.h. */
#include "dedup/crowd.h"

#include "base/mem.h"

struct sp_crowd {
    struct sp_stars *stars;
    struct sp_stars_domain *domain;
    uint32_t *found;
    size_t found_cap;
    size_t found_count;
};

struct sp_crowd *sp_crowd_new(const struct sp_stars_options *options)
{
    struct sp_crowd *c = sp_calloc(1, sizeof *c);
    c->stars = sp_stars_new(options);
    c->domain = sp_stars_domain_new(c->stars, 0, false);
    return c;
}

void sp_crowd_free(struct sp_crowd *c)
{
    if (!c)
        return;
    sp_stars_free(c->stars);
    sp_stars_domain_free(c->domain);
    sp_free(c->found);
    sp_free(c);
}

uint64_t sp_crowd_compared(const struct sp_crowd *c)
{
    struct sp_stars_stats stats;
    sp_stars_stats(c->stars, &stats);
    return stats.verified;
}

enum sp_err sp_crowd_add(struct sp_crowd *c, uint32_t row, const struct sp_signature *signature)
{
    struct sp_touches touches;
    return sp_stars_insert(c->domain, row, signature, &touches);
}

static void note(void *arg, uint32_t row)
{
    struct sp_crowd *c = arg;
    sp_grow(&c->found, &c->found_cap, c->found_count + 1);
    c->found[c->found_count++] = row;
}

enum sp_err sp_crowd_find(struct sp_crowd *c, const struct sp_signature *signature,
                          const uint32_t **ret_rows, size_t *ret_count)
{
    struct sp_touches touches;
    c->found_count = 0;
    enum sp_err err = sp_stars_probe(c->domain, signature, SP_STARS_NONE, &touches);
    for (size_t i = 0; i < touches.count && err == SP_OK; i++)
        sp_stars_each_member(c->stars, touches.items[i].row, note, c);
    *ret_rows = c->found;
    *ret_count = c->found_count;
    return err;
}
