/* links: sp_kafka sp_store sp_base */
/* Any records as a changelog: a restore yields the state as of the last marker, whatever the batch
 * size and whatever follows that marker, or it refuses the changelog. Never a crash.
 *
 * The first byte is the batch size. Then records: kind (0 a row, 1 a deletion, 2 a marker, 3 other
 * bytes with a marker's key, all modulo 4), a number (of the key; a marker's input offset), the
 * length of the value, the value. */
#include "base/assert.h"
#include "kafka/changelog.h"

enum { KEYS = 8, RECORDS = 64, ROW, DELETION, MARKER, BYTES };
enum { KINDS = BYTES - ROW + 1 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct record {
    unsigned kind;
    uint8_t number;
    char key[3];
    struct sp_buf value;
};

struct changelog {
    struct record records[RECORDS];
    size_t count;
    size_t batch_bytes;
};

static void read_changelog(struct sp_reader *r, struct changelog *log)
{
    log->batch_bytes = 1 + sp_read_u8(r);
    while (sp_reader_left(r) >= 3 && log->count < RECORDS) {
        struct record *to = &log->records[log->count++];
        to->kind = ROW + sp_read_u8(r) % KINDS;
        to->number = sp_read_u8(r);
        to->key[1] = SP_TASK_STORE_STAGE;
        to->key[2] = (char)(to->number % KEYS);
        size_t len = sp_read_u8(r), left = sp_reader_left(r);
        struct sp_view value = sp_read_bytes(r, len < left ? len : left);
        if (to->kind == MARKER)
            sp_marker_put(&to->value, &(struct sp_marker){to->number, log->count, {1, 2}});
        else
            sp_buf_put_view(&to->value, value);
        sp_buf_reserve(&to->value, 1); /* an empty value is valid */
    }
}

static struct sp_changelog_record record_at(const struct changelog *log, size_t i)
{
    const struct record *from = &log->records[i];
    struct sp_view value = from->kind == DELETION ? sp_view(NULL, 0) : sp_buf_view(&from->value);
    bool row = from->kind == ROW || from->kind == DELETION;
    return (struct sp_changelog_record){(int64_t)i, sp_view(from->key, row ? sizeof from->key : 0),
                                        value};
}

/* Like sp_task_restore, without a broker. */
static enum sp_err read_on(const struct changelog *log, struct sp_task *t, size_t until)
{
    bool again = true;
    enum sp_err err = SP_OK;
    for (int round = 0; again && err == SP_OK; round++) {
        again = false;
        SP_ASSERT(sp_task_load(t) == SP_OK && t->changelog_next <= (int64_t)until);
        struct sp_changelog c = {
            .batch_bytes = log->batch_bytes, .from = t->changelog_next, .each_marker = round > 0};
        int64_t from = t->input_next < 0 ? t->changelog_next : t->changelog_next - 1;
        for (size_t i = (size_t)from; i < until && err == SP_OK; i++) {
            struct sp_changelog_record record = record_at(log, i);
            err = sp_changelog_apply(&c, t, &record);
        }
        if (err == SP_OK)
            err = sp_changelog_end(&c, t, &again);
        if (err != SP_OK)
            sp_db_discard(t->db);
        SP_ASSERT(round < 2);
    }
    return err;
}

static size_t behind_last_marker(const struct changelog *log)
{
    size_t last = 0;
    for (size_t i = 0; i < log->count; i++)
        if (log->records[i].kind == MARKER || log->records[i].kind == BYTES)
            last = i + 1;
    return last;
}

struct rows {
    const struct record *of[KEYS];
    size_t seen;
};

static bool check_row(void *arg, struct sp_view key, struct sp_view value)
{
    struct rows *rows = arg;
    SP_ASSERT(key.len == 1 && (uint8_t)key.data[0] < KEYS);
    const struct record *wanted = rows->of[(uint8_t)key.data[0]];
    SP_ASSERT(wanted && sp_view_eq(sp_buf_view(&wanted->value), value));
    rows->seen++;
    return true;
}

/* The database holds the rows and the offsets as of the last marker. */
static void check(const struct changelog *log, struct sp_task *t, size_t end)
{
    struct rows rows = {.seen = 0};
    size_t wanted = 0;
    for (size_t i = 0; i < end; i++) {
        const struct record *r = &log->records[i];
        if (r->kind == ROW || r->kind == DELETION)
            rows.of[r->number % KEYS] = r->kind == ROW ? r : NULL;
    }
    for (int key = 0; key < KEYS; key++)
        wanted += rows.of[key] != NULL;
    struct sp_view all = {0};
    SP_ASSERT(sp_store_scan(sp_db_store(t->db, SP_TASK_STORE_STAGE), all, all, check_row, &rows) ==
              SP_OK);
    SP_ASSERT(rows.seen == wanted);
    SP_ASSERT(sp_task_load(t) == SP_OK && !t->partial);
    SP_ASSERT(t->changelog_next == (int64_t)end);
    SP_ASSERT(end == 0 || log->records[end - 1].kind == BYTES ||
              t->input_next == log->records[end - 1].number);
}

static void restore(const struct changelog *log)
{
    struct sp_task t = {.db = sp_db_open_memory()};
    size_t end = behind_last_marker(log);
    enum sp_err err = read_on(log, &t, log->count);
    if (err == SP_STATE_FORMAT && t.read_until > 0) { /* wiped, and read up to the marker */
        SP_ASSERT(t.read_until == (int64_t)end);
        sp_db_close(t.db);
        t.db = sp_db_open_memory();
        err = read_on(log, &t, (size_t)t.read_until);
        SP_ASSERT(err == SP_OK);
    }
    if (err == SP_OK)
        check(log, &t, end);
    else
        SP_ASSERT(err == SP_INVALID || err == SP_STATE_FORMAT);
    sp_db_close(t.db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct changelog log = {.count = 0};
    struct sp_reader r = sp_reader(sp_view(data, size));
    read_changelog(&r, &log);
    restore(&log);
    for (size_t i = 0; i < log.count; i++)
        sp_buf_done(&log.records[i].value);
    return 0;
}
