/* links: sp_local sp_store sp_base */
/* Any bytes as the stored position of a run: refused, or a position that encodes to an equal one
 * and in which inputs can be looked up. */
#include "base/assert.h"
#include "local/position.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sp_view stored(struct sp_store *store)
{
    struct sp_view row;
    SP_ASSERT(sp_store_get(store, sp_view_str("position"), &row) == SP_OK);
    return row;
}

static void save(struct sp_db *db, struct sp_store *store, const struct sp_position *position,
                 struct sp_buf *out)
{
    sp_position_save(store, position);
    SP_ASSERT(sp_db_commit(db) == SP_OK);
    sp_buf_put_view(out, stored(store));
}

static void check_inputs(struct sp_position *position)
{
    static const char *const names[] = {"-", "/dev/null", "", "a"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct sp_input_position *in = sp_position_input(position, names[i]);
        SP_ASSERT(strcmp(in->name, names[i]) == 0 && in->head_bytes <= 4096);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sp_db *db = sp_db_open_memory();
    struct sp_store *store = sp_db_store(db, 0);
    struct sp_position position, again;
    sp_store_put(store, sp_view_str("position"), sp_view(data, size));
    SP_ASSERT(sp_db_commit(db) == SP_OK);
    enum sp_err err = sp_position_load(store, &position);
    if (err == SP_OK) {
        struct sp_buf once = {0}, twice = {0};
        save(db, store, &position, &once);
        SP_ASSERT(sp_position_load(store, &again) == SP_OK);
        save(db, store, &again, &twice);
        SP_ASSERT(sp_view_eq(sp_buf_view(&once), sp_buf_view(&twice)));
        sp_fetch_clock_accepts(&position.clock, INT64_MAX, 1);
        sp_fetch_clock_accepts(&position.clock, INT64_MIN, 1);
        check_inputs(&position);
        sp_position_done(&again);
        sp_buf_done(&once);
        sp_buf_done(&twice);
    } else {
        SP_ASSERT(err == SP_CORRUPT || err == SP_STATE_FORMAT);
    }
    sp_position_done(&position);
    sp_db_close(db);
    return 0;
}
