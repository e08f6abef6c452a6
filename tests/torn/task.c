/* The local database of a Kafka task, without Kafka: opened, restored from a changelog that a seed
 * determines, then changed by transactions, as a stage's worker does. The rows of a database that
 * is opened must equal the changelog at the offset that the database names.
 *
 *     torn_task DIRECTORY DUMP SEED RESTORED STEPPED [fill] [log] [wipe]
 *
 * RESTORED transactions come from the changelog, then STEPPED ones are applied. All rows are
 * written to DUMP at the end. Exit code 1: an error; 2: rows that differ from the changelog. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kafka/changelog.h"
#include "kafka/task.h"

enum { ROWS_MOST = 12, KEYS = 60, VALUE_MOST = 900, BATCH_BYTES = 6000, MEMTABLE = 1 << 20 };

struct row {
    int64_t offset;
    bool marker;
    uint32_t key;
    uint32_t len; /* 0: deleted */
    uint64_t seed;
};

struct world {
    const char *directory;
    uint64_t seed;
    uint32_t restored, stepped;
    bool fills, log, wipe;
    struct row *rows;
    size_t count, cap;
    size_t *ends; /* of each transaction, after its marker */
    uint32_t transactions;
    struct sp_task task;
    struct sp_fault fault;
};

static _Noreturn void give_up(const struct world *w, int code, const char *what)
{
    fprintf(stderr, "torn_task: %s: %s\n", what,
            *w->fault.text ? w->fault.text : sp_db_message(w->task.db));
    exit(code);
}

/* ---- the changelog ---- */

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state = sp_mix64(*state + 0x9e3779b97f4a7c15);
    return *state % below;
}

static struct row *add(struct world *w)
{
    sp_grow(&w->rows, &w->cap, w->count + 1);
    struct row *row = &w->rows[w->count];
    *row = (struct row){.offset = (int64_t)w->count++};
    return row;
}

static void make_changelog(struct world *w)
{
    uint64_t state = w->seed;
    w->transactions = w->restored + w->stepped;
    w->ends = sp_calloc(w->transactions + 1, sizeof *w->ends);
    for (uint32_t i = 1; i <= w->transactions; i++) {
        for (uint64_t n = 1 + draw(&state, ROWS_MOST); n > 0; n--) {
            struct row *row = add(w);
            row->key = (uint32_t)draw(&state, KEYS);
            row->len = draw(&state, 4) ? 1 + (uint32_t)draw(&state, VALUE_MOST) : 0;
            row->seed = draw(&state, UINT64_MAX);
        }
        add(w)->marker = true;
        w->ends[i] = w->count;
    }
}

/* As in the changelog: the store's number, then the stage's key. */
static struct sp_view key_of(const struct row *row, char to[16])
{
    int n = snprintf(to + 2, 14, "row-%u", row->key);
    to[0] = 0;
    to[1] = SP_TASK_STORE_STAGE;
    return row->marker ? sp_view("", 0) : sp_view(to, (size_t)n + 2);
}

static struct sp_view value_of(const struct row *row, char to[VALUE_MOST])
{
    uint64_t state = row->seed;
    for (uint32_t i = 0; i < row->len; i++)
        to[i] = (char)draw(&state, 256);
    return sp_view(row->len ? to : NULL, row->len);
}

static struct sp_id life(const struct world *w)
{
    return (struct sp_id){w->seed + 1, 1};
}

/* ---- the database ---- */

static void open_database(struct world *w)
{
    struct sp_rocksdb_options options;
    sp_rocksdb_options_default(&options);
    options.memtable_bytes = MEMTABLE;
    options.write_ahead_log = w->log;
    if (sp_db_open_rocksdb(w->directory, "made.by=torn\n", &options, &w->task.db, &w->fault) !=
        SP_OK)
        give_up(w, 1, "the database is refused");
}

static void close_database(struct world *w)
{
    sp_db_close(w->task.db);
    w->task.db = NULL;
}

/* The last row of each key before offset `next`, or NULL. */
static void newest(const struct world *w, int64_t next, const struct row *of[KEYS])
{
    memset(of, 0, KEYS * sizeof *of);
    for (int64_t i = 0; i < next && i < (int64_t)w->count; i++)
        if (!w->rows[i].marker)
            of[w->rows[i].key] = w->rows[i].len ? &w->rows[i] : NULL;
}

static void check_rows(struct world *w, int64_t next)
{
    const struct row *of[KEYS];
    char key[16], value[VALUE_MOST];
    newest(w, next, of);
    for (uint32_t k = 0; k < KEYS; k++) {
        struct row named = {.key = k};
        struct sp_view found = {0}, wanted = of[k] ? value_of(of[k], value) : sp_view(NULL, 0);
        struct sp_view name = key_of(&named, key);
        enum sp_err err = sp_store_get(sp_db_store(w->task.db, SP_TASK_STORE_STAGE),
                                       sp_view(name.data + 2, name.len - 2), &found);
        if (err != SP_OK && err != SP_NOT_FOUND)
            give_up(w, 1, "a row cannot be read");
        if ((err == SP_OK) != (of[k] != NULL) || (of[k] && !sp_view_eq(found, wanted))) {
            snprintf(w->fault.text, sizeof w->fault.text, "row %u at offset %lld", k,
                     (long long)next);
            give_up(w, 2, "other rows than the changelog's");
        }
    }
}

/* The number of transactions in the changelog, which is at least that of the database. */
static uint32_t transactions_of(const struct world *w)
{
    uint32_t n = w->restored;
    while (n < w->transactions && (int64_t)w->ends[n] < w->task.changelog_next)
        n++;
    return n;
}

static void load(struct world *w)
{
    if (sp_task_load(&w->task) != SP_OK)
        give_up(w, 1, "the row of the task is damaged");
    if (w->task.changelog_next > (int64_t)w->count)
        give_up(w, 2, "ahead of the changelog");
    check_rows(w, w->task.changelog_next);
}

/* Like restore.c, with the records that the consumer would have delivered. */
static void restore(struct world *w, size_t to)
{
    char key[16], value[VALUE_MOST];
    struct sp_changelog c = {.batch_bytes = BATCH_BYTES, .from = w->task.changelog_next};
    bool again = false;
    enum sp_err err = SP_OK;
    for (size_t i = (size_t)c.from; i < to && err == SP_OK; i++) {
        const struct row *row = &w->rows[i];
        struct sp_changelog_record record = {row->offset, key_of(row, key), value_of(row, value)};
        struct sp_buf marker = {0};
        sp_marker_put(&marker, &(struct sp_marker){row->offset, (uint64_t)row->offset, life(w)});
        if (row->marker)
            record.value = sp_buf_view(&marker);
        err = sp_changelog_apply(&c, &w->task, &record);
        sp_buf_done(&marker);
    }
    if (err == SP_OK)
        err = sp_changelog_end(&c, &w->task, &again);
    if (err != SP_OK || again)
        give_up(w, 1, "the changelog cannot be applied");
}

/* Like the worker applying a transaction that the broker has committed. */
static void step(struct world *w, uint32_t transaction)
{
    char key[16], value[VALUE_MOST];
    for (size_t i = w->ends[transaction - 1]; i + 1 < w->ends[transaction]; i++) {
        struct sp_view name = key_of(&w->rows[i], key);
        struct sp_store *store = sp_db_store(w->task.db, SP_TASK_STORE_STAGE);
        if (w->rows[i].len)
            sp_store_put(store, sp_view(name.data + 2, name.len - 2), value_of(&w->rows[i], value));
        else
            sp_store_delete(store, sp_view(name.data + 2, name.len - 2));
    }
    w->task.changelog_next = (int64_t)w->ends[transaction];
    w->task.input_next = w->task.changelog_next - 1;
    w->task.batch = (uint64_t)w->task.input_next;
    w->task.life = life(w);
    sp_task_save(&w->task);
    if (sp_db_commit(w->task.db) != SP_OK)
        give_up(w, 1, "a transaction cannot be applied");
}

/* ---- from start to end ---- */

static void wipe(struct world *w)
{
    if (sp_db_wipe(w->directory, &w->fault) != SP_OK)
        give_up(w, 1, "wiping");
}

static void bring_up(struct world *w)
{
    open_database(w);
    load(w);
    if (w->task.partial && sp_id_is_zero(w->task.life)) { /* like restore.c */
        close_database(w);
        wipe(w);
        open_database(w);
        load(w);
    }
    size_t to = w->ends[transactions_of(w)];
    bool fills = w->fills && (size_t)w->task.changelog_next < to;
    if (fills && sp_db_fill(w->task.db, true) != SP_OK)
        give_up(w, 1, "the database cannot be filled");
    restore(w, to);
    if (fills && sp_db_fill(w->task.db, false) != SP_OK)
        give_up(w, 1, "the restore cannot be written");
    if (fills) { /* reads the disk, not the block cache */
        close_database(w);
        open_database(w);
    }
    load(w);
}

static bool dump_row(void *arg, struct sp_view key, struct sp_view value)
{
    FILE *out = arg;
    fprintf(out, "%.*s=%016llx\n", (int)key.len, key.data,
            (unsigned long long)sp_hash64(value.data, value.len));
    return true;
}

static void dump(struct world *w, const char *name)
{
    FILE *out = fopen(name, "we");
    if (!out)
        give_up(w, 1, name);
    static const uint16_t stores[] = {SP_TASK_STORE_META, SP_TASK_STORE_STAGE};
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++)
        if (sp_store_scan(sp_db_store(w->task.db, stores[i]), sp_view("", 0), sp_view("", 0),
                          dump_row, out) != SP_OK)
            give_up(w, 1, "rows cannot be read");
    fclose(out);
}

static bool told(int argc, char **argv, const char *word)
{
    for (int i = 6; i < argc; i++)
        if (strcmp(argv[i], word) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return 64;
    struct world w = {.directory = argv[1],
                      .seed = strtoull(argv[3], NULL, 10),
                      .restored = (uint32_t)strtoul(argv[4], NULL, 10),
                      .stepped = (uint32_t)strtoul(argv[5], NULL, 10),
                      .fills = told(argc, argv, "fill"),
                      .log = told(argc, argv, "log"),
                      .wipe = told(argc, argv, "wipe")};
    make_changelog(&w);
    if (w.wipe)
        wipe(&w);
    bring_up(&w);
    for (uint32_t i = transactions_of(&w) + 1; i <= w.transactions; i++)
        step(&w, i);
    check_rows(&w, (int64_t)w.count);
    if (sp_db_sync(w.task.db) != SP_OK)
        give_up(&w, 1, "the database cannot be written");
    dump(&w, argv[2]);
    close_database(&w);
    sp_free(w.ends);
    sp_free(w.rows);
    return 0;
}
