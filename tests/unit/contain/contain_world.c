/* See contain_world.h. */
#include "contain_world.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "harness.h"
#include "made_up.h"

enum { STORE_CONTENTS = 1, STORE_CONTAIN = 2, CACHE_BYTES = 1 << 14 };

static void on_say(void *arg, struct sp_id page, const char *url, float containment)
{
    struct world *w = arg;
    w->hash = sp_mix64(w->hash ^ page.lo) + (url ? sp_hash64(url, strlen(url)) : 1);
    w->hash ^= sp_hash64(&containment, sizeof containment);
    if (page.lo >= WORLD_PAGES)
        return;
    snprintf(w->said[page.lo].url, WORLD_URL, "%s", url ? url : "");
    w->said[page.lo].containment = containment;
}

static void make(struct world *w)
{
    w->contents = sp_contents_new(sp_db_store(w->db, STORE_CONTENTS), 1, CACHE_BYTES);
    w->stage = sp_contain_stage_new(&w->options, sp_db_store(w->db, STORE_CONTAIN), w->contents,
                                    on_say, w);
    CU_ASSERT_EQUAL_FATAL(sp_contain_stage_load(w->stage), SP_OK);
}

void world_open(struct world *w, const struct sp_contain_options *options)
{
    *w = (struct world){.db = sp_db_open_memory(), .options = *options};
    make(w);
}

void world_close(struct world *w)
{
    sp_contain_stage_free(w->stage);
    sp_contents_free(w->contents);
    sp_db_close(w->db);
}

void world_commit(struct world *w)
{
    CU_ASSERT_EQUAL(sp_contain_stage_flush(w->stage), SP_OK);
    sp_contents_flush(w->contents);
    CU_ASSERT_EQUAL(sp_db_commit(w->db), SP_OK);
}

void world_restart(struct world *w)
{
    world_commit(w);
    sp_contain_stage_free(w->stage);
    sp_contents_free(w->contents);
    make(w);
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

struct sp_signature *world_signature(const uint32_t *shingles, uint32_t count, uint32_t cap)
{
    uint32_t *sorted = sp_memdup(shingles, count * sizeof *shingles), total = 0;
    qsort(sorted, count, sizeof *sorted, by_value);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || sorted[i] != sorted[i - 1])
            sorted[total++] = sorted[i];
    struct sp_signature *s = made_up_capped(sp_hash128(sorted, total * sizeof *sorted),
                                            total < cap ? total : cap, total);
    memcpy(s->hashes, sorted, s->shingle_count * sizeof *sorted);
    sp_free(sorted);
    return s;
}

enum sp_err world_try_put(struct world *w, uint32_t page, const char *url, struct sp_signature *s)
{
    enum sp_err err = sp_contents_hold(w->contents, s); /* as a group would */
    if (err == SP_OK)
        err = sp_contain_stage_put(w->stage, (struct sp_id){0, page}, url, s->content_hash);
    enum sp_err dropped = sp_contents_drop(w->contents, s->content_hash);
    return err != SP_OK ? err : dropped;
}

void world_put(struct world *w, uint32_t page, const char *url, struct sp_signature *s)
{
    CU_ASSERT_EQUAL(world_try_put(w, page, url, s), SP_OK);
}

void world_remove(struct world *w, uint32_t page)
{
    CU_ASSERT_EQUAL(sp_contain_stage_remove(w->stage, (struct sp_id){0, page}), SP_OK);
    if (page < WORLD_PAGES)
        w->said[page] = (struct said){"", 0};
}

struct sp_contain_stats world_stats(const struct world *w)
{
    struct sp_contain_stats stats;
    sp_contain_stage_stats(w->stage, &stats);
    return stats;
}
