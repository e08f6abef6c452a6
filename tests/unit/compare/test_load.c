/* A compare stage restored from its rows behaves like the one that wrote them. Rows that no stage
 * writes are refused, and a store error persists. */
#include "base/mem.h"
#include "compare/cell.h"
#include "compare_helper.h"
#include "harness.h"
#include "made_up.h"

enum { CELLS = 3, CONTENTS = 300, SHINGLES = 40, PAGES = 2 * CONTENTS };

struct world {
    struct stage stage;
    uint64_t said; /* hash of the edges that probes returned */
    uint64_t edges;
};

static void on_send(void *arg, struct sp_message *m)
{
    struct world *w = arg;
    for (uint32_t i = 0; i < m->link.edge_count; i++) {
        w->said = sp_mix64(w->said ^ m->page.lo) + sp_mix64(m->link.edges[i].page.lo);
        w->edges++;
    }
    sp_message_free(m);
}

static void begin(struct world *w)
{
    *w = (struct world){0};
    stage_init(&w->stage, CELLS, on_send, w);
    w->stage.options.work_per_step = 1;
    CU_ASSERT_EQUAL_FATAL(stage_open(&w->stage), SP_OK);
}

/* Groups of three similar contents; every tenth content has almost no words. */
static struct sp_signature *content(uint32_t number)
{
    uint32_t n = number % 10 == 9 ? number % 3 : SHINGLES;
    struct sp_signature *s = made_up((struct sp_id){sp_mix64(number + 1), sp_mix64(number + 2)}, n);
    for (uint32_t i = 0; i < n; i++)
        s->hashes[i] = (i + 1) * 1000 + (uint32_t)(sp_mix64(number / 3 * SHINGLES + i) % 900);
    if (n)
        s->hashes[n - 1] += number % 3;
    return s;
}

static enum sp_err try_step(struct world *w, enum sp_message_kind kind, uint32_t page,
                            uint32_t number)
{
    struct sp_message *m = sp_message_new(kind);
    uint32_t cell = number / 3 % CELLS;
    m->page = (struct sp_id){0, page + 1};
    if (kind == SP_MSG_PUT)
        m->put = (struct sp_put){
            .cell = cell, .settled = true, .content_version = 1, .signature = content(number)};
    else if (kind == SP_MSG_PROBE)
        m->probe = (struct sp_probe){cell, 1, content(number)};
    else
        m->remove = (struct sp_remove){cell, 1, {sp_mix64(number + 1), sp_mix64(number + 2)}};
    return stage_try_step(&w->stage, m);
}

static void step(struct world *w, enum sp_message_kind kind, uint32_t page, uint32_t number)
{
    CU_ASSERT_EQUAL(try_step(w, kind, page, number), SP_OK);
}

/* Every other content has three pages instead of one. */
static void put_all(struct world *w)
{
    for (uint32_t page = 0; page < PAGES; page++)
        step(w, SP_MSG_PUT, page, page < CONTENTS ? page : page / 2 * 2 % CONTENTS);
    stage_commit(&w->stage);
}

static uint64_t probe_all(struct world *w)
{
    w->said = w->edges = 0;
    for (uint32_t number = 0; number < CONTENTS; number++)
        step(w, SP_MSG_PROBE, PAGES, number);
    return w->said;
}

static bool count(void *arg, struct sp_view key, struct sp_view value)
{
    size_t *rows = arg;
    (void)key, (void)value;
    ++*rows;
    return true;
}

static size_t rows(struct world *w, const char *kind)
{
    size_t n = 0;
    CU_ASSERT_EQUAL(
        sp_store_scan(stage_store(&w->stage), sp_view_str(kind), sp_view(NULL, 0), count, &n),
        SP_OK);
    return n;
}

TEST(a_stage_that_is_loaded_replies_as_before)
{
    struct world w;
    begin(&w);
    put_all(&w);
    uint64_t said = probe_all(&w);
    CU_ASSERT(w.edges > CONTENTS * 3 / 4 && w.edges < CONTENTS * 2); /* one edge a star */
    struct sp_compare_stage_stats before = stage_stats(&w.stage);
    CU_ASSERT_EQUAL(stage_reopen(&w.stage), SP_OK);
    struct sp_compare_stage_stats after = stage_stats(&w.stage);
    CU_ASSERT_EQUAL(after.rows, before.rows);
    CU_ASSERT_EQUAL(after.row_loads, 0); /* no row was read */
    CU_ASSERT_EQUAL(probe_all(&w), said);
    stage_done(&w.stage);
}

TEST(a_stored_form_comes_and_goes_with_its_row)
{
    struct world w;
    begin(&w);
    put_all(&w);
    CU_ASSERT_EQUAL(rows(&w, "R"), CONTENTS);
    CU_ASSERT_EQUAL(rows(&w, "P") + rows(&w, "K"), CONTENTS);
    CU_ASSERT(rows(&w, "K") > CONTENTS / 4);
    for (uint32_t page = 0; page < PAGES; page += 3) /* removed and added in one batch */
        step(&w, SP_MSG_REMOVE, page, page < CONTENTS ? page : page / 2 * 2 % CONTENTS);
    for (uint32_t page = 0; page < PAGES; page += 6)
        step(&w, SP_MSG_PUT, page, page < CONTENTS ? page : page / 2 * 2 % CONTENTS);
    stage_commit(&w.stage);
    CU_ASSERT(rows(&w, "R") > 0 && rows(&w, "R") < CONTENTS);
    stage_settle(&w.stage);
    stage_commit(&w.stage);
    CU_ASSERT_EQUAL(rows(&w, "P") + rows(&w, "K"), rows(&w, "R"));
    CU_ASSERT_EQUAL(rows(&w, "S"), rows(&w, "R"));
    uint64_t said = probe_all(&w);
    CU_ASSERT_EQUAL(stage_reopen(&w.stage), SP_OK);
    CU_ASSERT_EQUAL(probe_all(&w), said);
    for (uint32_t page = 0; page < PAGES; page++)
        step(&w, SP_MSG_REMOVE, page, page < CONTENTS ? page : page / 2 * 2 % CONTENTS);
    stage_commit(&w.stage);
    stage_settle(&w.stage);
    stage_commit(&w.stage);
    CU_ASSERT_EQUAL(rows(&w, "R") + rows(&w, "O") + rows(&w, "P") + rows(&w, "K"), 0);
    CU_ASSERT_EQUAL(rows(&w, "E") + rows(&w, "Q"), 0);
    CU_ASSERT_EQUAL(rows(&w, "S") + rows(&w, "N"), 0);
    CU_ASSERT_EQUAL(stage_reopen(&w.stage), SP_OK);
    stage_done(&w.stage);
}

static void check_refused(const char *key, size_t key_len, const char *value, size_t value_len,
                          enum sp_err err)
{
    struct world w;
    begin(&w);
    sp_store_put(stage_store(&w.stage), sp_view(key, key_len), sp_view(value, value_len));
    CU_ASSERT_EQUAL(sp_db_commit(w.stage.db), SP_OK);
    CU_ASSERT_EQUAL(stage_reopen(&w.stage), err);
    stage_done(&w.stage);
}

struct row_value {
    char key[64];
    size_t key_len;
    char value[4096];
    size_t value_len;
};

static bool take_row(void *arg, struct sp_view key, struct sp_view value)
{
    struct row_value *r = arg;
    memcpy(r->key, key.data, r->key_len = key.len);
    memcpy(r->value, value.data, r->value_len = value.len);
    return false;
}

/* The first stored pivot, or kid. */
static struct row_value some_row(const char *kind)
{
    struct row_value r = {.key_len = 0};
    struct world w;
    begin(&w);
    put_all(&w);
    CU_ASSERT_EQUAL(
        sp_store_scan(stage_store(&w.stage), sp_view_str(kind), sp_view(NULL, 0), take_row, &r),
        SP_OK);
    stage_done(&w.stage);
    CU_ASSERT_FATAL(r.key_len == 5);
    return r;
}

TEST(rows_that_no_stage_wrote_are_refused)
{
    struct row_value pivot = some_row("P"), kid = some_row("K");
    check_refused(pivot.key, 5, pivot.value, pivot.value_len, SP_OK);
    check_refused(kid.key, 5, kid.value, kid.value_len, SP_CORRUPT); /* its pivot is missing */
    for (size_t len = 0; len < pivot.value_len; len++)
        check_refused(pivot.key, 5, pivot.value, len, SP_CORRUPT);
    pivot.value[pivot.value_len] = 0;
    check_refused(pivot.key, 5, pivot.value, pivot.value_len + 1, SP_CORRUPT);
    pivot.value[0] = CELLS; /* cell number out of range */
    check_refused(pivot.key, 5, pivot.value, pivot.value_len, SP_CORRUPT);
    pivot.value[0] = 0;
    pivot.key[0] = 'K'; /* a pivot's value under a kid's key */
    check_refused(pivot.key, 5, pivot.value, pivot.value_len, SP_CORRUPT);
}

TEST(reliance_on_no_row_is_damage)
{
    char key[26] = {'E'};
    check_refused(key, 25, "", 1, SP_CORRUPT);
    check_refused(key, 24, "", 1, SP_CORRUPT);
    key[0] = 'Q';
    check_refused(key, 25, "", 1, SP_OK);
    check_refused(key, 26, "", 1, SP_CORRUPT);
}

TEST(rows_of_an_older_format_are_refused)
{
    char key[3 + 16] = {'R'}, value[24] = {0};
    check_refused(key, sizeof key, value, sizeof value, SP_STATE_FORMAT);
    key[0] = 'K';
    check_refused(key, sizeof key, value, sizeof value, SP_STATE_FORMAT);
}

TEST(rows_with_signatures_in_them_are_of_an_older_format)
{
    struct world w;
    begin(&w);
    put_all(&w);
    char key[3 + 16] = {'R'};
    static const char bytes[100];
    sp_store_put(stage_store(&w.stage), sp_view(key, sizeof key), sp_view(bytes, sizeof bytes));
    CU_ASSERT_EQUAL(sp_db_commit(w.stage.db), SP_OK);
    CU_ASSERT_EQUAL(stage_reopen(&w.stage), SP_STATE_FORMAT);
    stage_done(&w.stage);
}

TEST(a_further_owner_of_no_row_is_damage)
{
    struct world w;
    begin(&w);
    put_all(&w);
    char key[3 + 16 + 16] = {'O'};
    sp_store_put(stage_store(&w.stage), sp_view(key, sizeof key), sp_view("12345678", 8));
    CU_ASSERT_EQUAL(sp_db_commit(w.stage.db), SP_OK);
    CU_ASSERT_EQUAL(stage_reopen(&w.stage), SP_CORRUPT);
    stage_done(&w.stage);
}

/* The store fails from call number `calls` on during one step, and works again in the next. Returns
 * false if the step made fewer calls. */
static bool fail_once(enum sp_message_kind failing, enum sp_message_kind next, long calls)
{
    struct world w;
    begin(&w);
    put_all(&w);
    CU_ASSERT_EQUAL(stage_reopen(&w.stage), SP_OK); /* nothing cached */
    sp_db_fail_after(w.stage.db, calls);
    enum sp_err err = try_step(&w, failing, CONTENTS, 0);
    sp_db_fail_after(w.stage.db, -1);
    CU_ASSERT(err == SP_OK || err == SP_STORE);
    CU_ASSERT_EQUAL(try_step(&w, next, CONTENTS + 1, 0), err);
    CU_ASSERT_EQUAL(sp_compare_stage_flush(w.stage.compare), err);
    stage_done(&w.stage);
    return err != SP_OK;
}

TEST(an_error_stays_until_the_stage_is_loaded_again)
{
    static const enum sp_message_kind kinds[] = {SP_MSG_PUT, SP_MSG_REMOVE, SP_MSG_PROBE};
    for (int failing = 0; failing < 3; failing++)
        for (int next = 0; next < 3; next++) {
            long calls = 0;
            while (fail_once(kinds[failing], kinds[next], calls))
                calls++;
            CU_ASSERT(calls >= 2); /* at least one read of the row and one of its owners */
        }
}

enum look_up { SIGNATURE, ROW, OTHERS, LOOK_UPS };

static bool look_up(struct world *w, enum look_up what)
{
    struct sp_signature *s = content(0);
    struct sp_cell_actor *cell = sp_cell_actor_get(w->stage.compare, 0);
    uint32_t slot = sp_cell_actor_find(w->stage.compare, cell, s->content_hash);
    sp_signature_unref(s);
    CU_ASSERT_FATAL(slot != NO_SLOT);
    if (what == SIGNATURE)
        return sp_cell_actor_signature(w->stage.compare, slot) != NULL;
    if (what == ROW)
        return sp_cell_actor_row(w->stage.compare, slot) != NULL;
    const struct sp_other *second = sp_owners_second(w->stage.compare, slot);
    return second && sp_owners_after(w->stage.compare, slot, second);
}

/* Within one step, too, a successful look-up must not clear the error of an earlier one. */
TEST(a_look_up_that_succeeds_hides_no_error)
{
    for (int failing = 0; failing < LOOK_UPS; failing++)
        for (int next = 0; next < LOOK_UPS; next++) {
            struct world w;
            begin(&w);
            put_all(&w);
            CU_ASSERT_EQUAL(stage_reopen(&w.stage), SP_OK);
            sp_db_fail_after(w.stage.db, 0);
            CU_ASSERT_FALSE(look_up(&w, failing));
            sp_db_fail_after(w.stage.db, -1);
            CU_ASSERT(look_up(&w, next));
            CU_ASSERT_EQUAL(w.stage.compare->err, SP_STORE);
            stage_done(&w.stage);
        }
}
