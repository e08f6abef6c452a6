/* The signature table against a plain array of counts. After any sequence of holds, drops, flushes
 * and reads each content has one signature and the right count, in memory and in the store. */
#include "contents/contents.h"

#include "base/mem.h"
#include "harness.h"
#include "made_up.h"

enum { CONTENTS = 40, STEPS = 4000, USUAL = 2 };

struct world {
    struct sp_db *db;
    struct sp_contents *table;
    size_t cache_bytes;
    uint64_t held[CONTENTS];
    uint64_t seed;
};

static struct sp_store *store(struct world *w)
{
    return sp_db_store(w->db, 1);
}

static void begin(struct world *w, size_t cache_bytes)
{
    *w = (struct world){.db = sp_db_open_memory(), .cache_bytes = cache_bytes};
    w->table = sp_contents_new(store(w), USUAL, cache_bytes);
}

static void end(struct world *w)
{
    sp_contents_free(w->table);
    sp_db_close(w->db);
}

static struct sp_id id_of(uint32_t number)
{
    return (struct sp_id){sp_mix64(number + 1), sp_mix64(number + 2)};
}

static struct sp_signature *signature_of(uint32_t number)
{
    struct sp_signature *s = made_up(id_of(number), number);
    for (uint32_t i = 0; i < number; i++)
        s->hashes[i] = (i + 1) * 1000 + number;
    return s;
}

static void hold(struct world *w, uint32_t number)
{
    struct sp_signature *s = signature_of(number);
    CU_ASSERT_EQUAL(sp_contents_hold(w->table, s), SP_OK);
    sp_signature_unref(s);
    w->held[number]++;
}

static void drop(struct world *w, uint32_t number)
{
    CU_ASSERT_EQUAL(sp_contents_drop(w->table, id_of(number)), SP_OK);
    w->held[number]--;
}

static void check_get(struct world *w, uint32_t number)
{
    struct sp_signature *s = NULL;
    CU_ASSERT_EQUAL_FATAL(sp_contents_get(w->table, id_of(number), &s), SP_OK);
    CU_ASSERT(sp_id_eq(s->content_hash, id_of(number)));
    CU_ASSERT_EQUAL(s->shingle_count, number);
    for (uint32_t i = 0; i < s->shingle_count; i++)
        CU_ASSERT_EQUAL(s->hashes[i], (i + 1) * 1000 + number);
}

static uint32_t number_of(struct sp_id content)
{
    for (uint32_t i = 0; i < CONTENTS; i++)
        if (sp_id_eq(id_of(i), content))
            return i;
    CU_FAIL("a content that nobody held");
    return 0;
}

struct seen {
    uint64_t counts[CONTENTS];
    bool signatures[CONTENTS];
};

static void on_signature(void *arg, struct sp_signature *s)
{
    struct seen *seen = arg;
    seen->signatures[number_of(s->content_hash)] = true;
    seen->counts[number_of(s->content_hash)] = USUAL; /* unless it has a row of its own */
}

static void on_count(void *arg, struct sp_id content, uint64_t holders)
{
    CU_ASSERT_NOT_EQUAL(holders, USUAL);
    CU_ASSERT(((struct seen *)arg)->signatures[number_of(content)]);
    ((struct seen *)arg)->counts[number_of(content)] = holders;
}

static void commit(struct world *w)
{
    struct seen seen = {0};
    sp_contents_flush(w->table);
    CU_ASSERT_EQUAL(sp_db_commit(w->db), SP_OK);
    CU_ASSERT_EQUAL(sp_contents_each(store(w), on_signature, &seen), SP_OK);
    CU_ASSERT_EQUAL(sp_contents_each_count(store(w), on_count, &seen), SP_OK);
    for (uint32_t i = 0; i < CONTENTS; i++) {
        CU_ASSERT_EQUAL(seen.counts[i], w->held[i]);
        CU_ASSERT_EQUAL(seen.signatures[i], w->held[i] > 0);
    }
}

static void reopen(struct world *w)
{
    sp_contents_free(w->table);
    w->table = sp_contents_new(store(w), USUAL, w->cache_bytes);
}

static void walk(size_t cache_bytes)
{
    struct world w;
    begin(&w, cache_bytes);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint64_t dice = sp_mix64(++w.seed);
        uint32_t number = (uint32_t)(dice >> 8) % CONTENTS;
        bool held = w.held[number] > 0;
        switch (dice % 9) {
        case 0:
        case 1:
            hold(&w, number);
            break;
        case 2:
        case 3:
        case 4:
            if (held)
                drop(&w, number);
            break;
        case 5:
        case 6:
            if (held)
                check_get(&w, number);
            break;
        case 7:
            sp_contents_trim(w.table);
            break;
        default:
            sp_contents_sweep(w.table);
        }
        if (dice >> 16 & 1 && step % 7 == 0)
            commit(&w);
        if (step % 501 == 500) {
            commit(&w);
            reopen(&w);
        }
    }
    for (uint32_t i = 0; i < CONTENTS; i++)
        while (w.held[i])
            drop(&w, i);
    commit(&w);
    end(&w);
}

TEST(each_content_is_kept_once_and_counted)
{
    walk(1 << 20);
    walk(2000);
    walk(0);
}

static struct sp_db_counts commit_and_count(struct world *w)
{
    struct sp_db_counts before, after;
    sp_db_counts(w->db, &before);
    sp_contents_flush(w->table);
    CU_ASSERT_EQUAL(sp_db_commit(w->db), SP_OK);
    sp_db_counts(w->db, &after);
    return (struct sp_db_counts){.rows_put = after.rows_put - before.rows_put,
                                 .rows_deleted = after.rows_deleted - before.rows_deleted};
}

TEST(a_content_with_the_usual_number_of_holders_has_one_row)
{
    struct world w;
    struct sp_db_counts counts;
    begin(&w, 1 << 20);
    for (uint32_t i = 0; i < USUAL; i++)
        hold(&w, 1);
    counts = commit_and_count(&w);
    CU_ASSERT(counts.rows_put == 1 && counts.rows_deleted == 0);
    reopen(&w);
    hold(&w, 1);
    counts = commit_and_count(&w);
    CU_ASSERT(counts.rows_put == 1 && counts.rows_deleted == 0);
    reopen(&w);
    drop(&w, 1);
    counts = commit_and_count(&w);
    CU_ASSERT(counts.rows_put == 0 && counts.rows_deleted == 1);
    reopen(&w);
    for (uint32_t i = 0; i < USUAL; i++)
        drop(&w, 1);
    counts = commit_and_count(&w);
    CU_ASSERT(counts.rows_put == 0 && counts.rows_deleted == 1);
    end(&w);
}

static uint64_t rows_read(const struct world *w)
{
    struct sp_db_counts counts;
    sp_db_counts(w->db, &counts);
    return counts.rows_read;
}

TEST(to_drop_a_content_with_the_usual_number_of_holders_reads_nothing)
{
    struct world w;
    begin(&w, 1 << 20);
    for (uint32_t i = 0; i < USUAL; i++)
        hold(&w, 1);
    commit(&w);
    reopen(&w);
    uint64_t before = rows_read(&w);
    drop(&w, 1);
    CU_ASSERT_EQUAL(rows_read(&w), before);
    commit(&w);
    end(&w);
}

TEST(what_is_kept_in_memory_fits_its_budget)
{
    struct world w;
    struct sp_contents_stats stats;
    begin(&w, 2000);
    for (uint32_t i = 0; i < CONTENTS; i++)
        hold(&w, i);
    sp_contents_stats(w.table, &stats);
    CU_ASSERT(stats.cache_bytes > 2000); /* unstored signatures are not evicted */
    commit(&w);
    sp_contents_stats(w.table, &stats);
    CU_ASSERT(stats.cache_bytes > 0 && stats.cache_bytes <= 2000);
    CU_ASSERT_EQUAL(stats.loads, 0);
    for (uint32_t i = 0; i < CONTENTS; i++)
        check_get(&w, i);
    sp_contents_stats(w.table, &stats);
    CU_ASSERT(stats.loads > CONTENTS / 2);
    CU_ASSERT(stats.cache_bytes > 2000);
    sp_contents_trim(w.table);
    sp_contents_stats(w.table, &stats);
    CU_ASSERT(stats.cache_bytes <= 2000);
    end(&w);
}

TEST(what_is_used_again_and_again_stays_in_memory)
{
    struct world w;
    struct sp_contents_stats stats;
    begin(&w, 3000);
    for (uint32_t i = 0; i < CONTENTS; i++) {
        hold(&w, i);
        commit(&w);
        check_get(&w, 0);
    }
    sp_contents_stats(w.table, &stats);
    CU_ASSERT_EQUAL(stats.loads, 0);
    check_get(&w, 5); /* evicted */
    sp_contents_stats(w.table, &stats);
    CU_ASSERT_EQUAL(stats.loads, 1);
    end(&w);
}

static uint64_t waste(const struct world *w)
{
    struct sp_contents_stats stats;
    sp_contents_stats(w->table, &stats);
    return stats.waste_bytes;
}

TEST(contents_without_holders_are_waste_until_the_flush)
{
    struct world w;
    struct sp_contents_stats stats;
    begin(&w, 1 << 20);
    hold(&w, 1);
    hold(&w, 2);
    CU_ASSERT_EQUAL(waste(&w), 0);
    drop(&w, 1);
    uint64_t one = waste(&w);
    drop(&w, 2);
    CU_ASSERT(one > 0 && waste(&w) > one);
    hold(&w, 2); /* again */
    CU_ASSERT_EQUAL(waste(&w), one);
    drop(&w, 2);
    sp_contents_stats(w.table, &stats);
    CU_ASSERT_EQUAL(stats.waste_bytes, stats.cache_bytes);
    commit(&w);
    sp_contents_stats(w.table, &stats);
    CU_ASSERT_EQUAL(stats.waste_bytes, 0);
    CU_ASSERT_EQUAL(stats.cache_bytes, 0);
    end(&w);
}

static void on_any_signature(void *arg, struct sp_signature *s)
{
    (void)s;
    ++*(uint32_t *)arg;
}

TEST(a_sweep_frees_waste_and_writes_nothing)
{
    struct world w;
    struct sp_contents_stats stats;
    uint32_t rows = 0;
    begin(&w, 1 << 20);
    for (uint32_t i = 0; i < 6; i++)
        hold(&w, i);
    for (uint32_t i = 1; i < 6; i += 2)
        drop(&w, i);
    sp_contents_stats(w.table, &stats);
    uint64_t left = stats.cache_bytes - stats.waste_bytes;
    sp_contents_sweep(w.table);
    sp_contents_stats(w.table, &stats);
    CU_ASSERT_EQUAL(stats.cache_bytes, left);
    CU_ASSERT_EQUAL(stats.waste_bytes, 0);
    CU_ASSERT_EQUAL(sp_db_commit(w.db), SP_OK);
    CU_ASSERT_EQUAL(sp_contents_each(store(&w), on_any_signature, &rows), SP_OK);
    CU_ASSERT_EQUAL(rows, 0);
    hold(&w, 1); /* swept and here again */
    commit(&w);
    drop(&w, 2); /* has rows, so only a flush frees it */
    sp_contents_sweep(w.table);
    CU_ASSERT(waste(&w) > 0);
    commit(&w);
    CU_ASSERT_EQUAL(waste(&w), 0);
    end(&w);
}

/* So many pages, one of which changes in each step to a content that nobody had. Returns how many
 * contents sweeps have looked at. */
static uint64_t swept_by(uint32_t pages, uint32_t steps)
{
    enum { FEW_BYTES = 4096 };
    struct world w;
    struct sp_contents_stats stats;
    struct sp_id *held = sp_calloc(pages, sizeof *held);
    begin(&w, SIZE_MAX);
    for (uint32_t i = 0; i < pages + steps; i++) {
        struct sp_signature *s = signature_of(8);
        s->content_hash = (struct sp_id){sp_mix64(i), i};
        CU_ASSERT_EQUAL(sp_contents_hold(w.table, s), SP_OK);
        if (i >= pages)
            CU_ASSERT_EQUAL(sp_contents_drop(w.table, held[i % pages]), SP_OK);
        held[i % pages] = s->content_hash;
        sp_signature_unref(s);
        if (sp_contents_has_waste(w.table, FEW_BYTES))
            sp_contents_sweep(w.table);
    }
    sp_contents_stats(w.table, &stats);
    CU_ASSERT(stats.waste_bytes <= FEW_BYTES || stats.waste_bytes <= stats.cache_bytes / 2);
    end(&w);
    sp_free(held);
    return stats.swept;
}

TEST(sweeps_look_at_as_few_contents_a_change_however_many_pages_there_are)
{
    enum { PAGES = 500 };
    uint64_t once = swept_by(PAGES, 20 * PAGES), more = swept_by(4 * PAGES, 20 * 4 * PAGES);
    printf("swept a change: %.2f at %d pages, %.2f at %d\n", (double)once / 20 / PAGES, PAGES,
           (double)more / 80 / PAGES, 4 * PAGES);
    CU_ASSERT(once > 0);
    CU_ASSERT(more <= 3ull * 80 * PAGES);
    CU_ASSERT((double)more / 4 <= 1.5 * (double)once);
}

TEST(a_signature_read_from_the_store_can_be_waste)
{
    struct world w;
    begin(&w, 1 << 20);
    hold(&w, 1);
    commit(&w);
    reopen(&w);
    drop(&w, 1); /* counted, but not read */
    uint64_t counted = waste(&w);
    hold(&w, 1);
    CU_ASSERT_EQUAL(waste(&w), 0);
    drop(&w, 1);
    CU_ASSERT(counted > 0 && waste(&w) > counted);
    commit(&w);
    CU_ASSERT_EQUAL(waste(&w), 0);
    end(&w);
}

TEST(a_content_that_nobody_holds_is_damage)
{
    struct world w;
    struct sp_signature *s;
    begin(&w, 1 << 20);
    CU_ASSERT_EQUAL(sp_contents_drop(w.table, id_of(1)), SP_CORRUPT);
    reopen(&w);
    CU_ASSERT_EQUAL(sp_contents_get(w.table, id_of(1), &s), SP_CORRUPT);
    CU_ASSERT_EQUAL(sp_contents_read(store(&w), id_of(1), &s), SP_NOT_FOUND);
    end(&w);
}

static void put(struct world *w, char kind, const char *value, size_t len)
{
    char key[17] = {kind};
    struct sp_id id = id_of(1);
    memcpy(key + 1, &id, sizeof id);
    sp_store_put(store(w), sp_view(key, sizeof key), sp_view(value, len));
    CU_ASSERT_EQUAL(sp_db_commit(w->db), SP_OK);
}

TEST(rows_that_no_table_wrote_are_refused)
{
    struct world w;
    struct sp_signature *s;
    begin(&w, 1 << 20);
    put(&w, 'S', "\1nonsense", 9);
    CU_ASSERT_EQUAL(sp_contents_get(w.table, id_of(1), &s), SP_CORRUPT);
    put(&w, 'N', "\0", 1);
    CU_ASSERT_EQUAL(sp_contents_drop(w.table, id_of(1)), SP_CORRUPT);
    reopen(&w);
    put(&w, 'N', "\1\1", 2);
    CU_ASSERT_EQUAL(sp_contents_drop(w.table, id_of(1)), SP_CORRUPT);
    reopen(&w);
    CU_ASSERT_EQUAL(sp_contents_get(w.table, id_of(1), &s), SP_CORRUPT);
    end(&w);
}
