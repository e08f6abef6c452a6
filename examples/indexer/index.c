/* See index.h. */
#include "index.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum statement {
    BEGIN,
    COMMIT,
    ADD,
    MOVE_ON,
    HAS,
    TAKE_OUT,
    PUT_IN,
    FORGET,
    VERDICT,
    NO_VERDICT,
    DROP_EMPTY,
    NO_VERDICTS,
    DROP_ALL_EMPTY,
    STATEMENTS
};

struct index {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
};

static const char schema[] =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = FULL;" /* offsets are committed later: NORMAL may lose what they cover */
    "PRAGMA secure_delete = ON;"
    "CREATE TABLE IF NOT EXISTS page (id INTEGER PRIMARY KEY, url TEXT UNIQUE NOT NULL,"
    " version INTEGER NOT NULL DEFAULT 0,"
    " status INTEGER NOT NULL DEFAULT 0, winner_url TEXT, contained_in TEXT);"
    "CREATE VIRTUAL TABLE IF NOT EXISTS body USING fts5(url, text);";

/* RETURNING yields what new and old rows have alike. `version`: of the last fetch that counted. */
static const char *const texts[STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ADD] = "INSERT INTO page (url) VALUES (?1) ON CONFLICT (url) DO UPDATE SET url = url"
            " RETURNING id, version",
    [MOVE_ON] = "UPDATE page SET version = ?2 WHERE id = ?1",
    [HAS] = "SELECT coalesce((SELECT text FROM body WHERE rowid = ?1), '') = ?2",
    [TAKE_OUT] = "DELETE FROM body WHERE rowid = ?1",
    [PUT_IN] = "INSERT INTO body (rowid, url, text) VALUES (?1, ?2, ?3)",
    [FORGET] = "UPDATE page SET version = 0 WHERE id = ?1",
    [VERDICT] = "INSERT INTO page (url, status, winner_url, contained_in) VALUES (?1, ?2, ?3, ?4)"
                " ON CONFLICT (url) DO UPDATE SET status = ?2, winner_url = ?3,"
                " contained_in = ?4",
    [NO_VERDICT] = "UPDATE page SET status = 0, winner_url = NULL, contained_in = NULL"
                   " WHERE url = ?1",
    [DROP_EMPTY] = "DELETE FROM page WHERE url = ?1 AND status = 0 AND version = 0 AND NOT EXISTS"
                   " (SELECT 1 FROM body WHERE body.rowid = page.id)",
    [NO_VERDICTS] = "UPDATE page SET status = 0, winner_url = NULL, contained_in = NULL",
    [DROP_ALL_EMPTY] = "DELETE FROM page WHERE version = 0 AND NOT EXISTS"
                       " (SELECT 1 FROM body WHERE body.rowid = page.id)",
};

enum { PATIENCE_MS = 10000 };

/* SQLite does not wait where another process changes the journal mode at that moment: of an indexer
 * and a query that open a new index at once, one was refused. */
static bool make_schema(sqlite3 *db)
{
    enum { STEP_MS = 20 };
    int code = SQLITE_BUSY;
    for (int ms = 0; code == SQLITE_BUSY && ms < PATIENCE_MS; ms += STEP_MS) {
        code = sqlite3_exec(db, schema, NULL, NULL, NULL);
        if (code == SQLITE_BUSY)
            sqlite3_sleep(STEP_MS);
    }
    return code == SQLITE_OK;
}

struct index *index_open(const char *file, bool create, char *error, size_t size)
{
    int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
    struct index *index = calloc(1, sizeof *index);
    if (!index) {
        snprintf(error, size, "out of memory");
        return NULL;
    }
    bool good = sqlite3_open_v2(file, &index->db, flags, NULL) == SQLITE_OK;
    if (good) {
        sqlite3_busy_timeout(index->db, PATIENCE_MS);
        good = make_schema(index->db);
    }
    bool made = good;
    for (int i = 0; i < STATEMENTS && good; i++)
        good =
            sqlite3_prepare_v2(index->db, texts[i], -1, &index->statements[i], NULL) == SQLITE_OK;
    if (good)
        return index;
    snprintf(error, size, "%s: %s%s", file, sqlite3_errmsg(index->db),
             made ? " (an index of an earlier version has to be built again)" : "");
    index_close(index);
    return NULL;
}

void index_close(struct index *index)
{
    if (!index)
        return;
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(index->statements[i]);
    sqlite3_close(index->db);
    free(index);
}

const char *index_error(const struct index *index)
{
    return sqlite3_errmsg(index->db);
}

/* Runs a statement to its end; the first `count` numbers of its first row, where there is one. */
static bool ask(struct index *index, enum statement which, int64_t *ret_numbers, int count)
{
    sqlite3_stmt *s = index->statements[which];
    int code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW)
        for (int i = 0; i < count; i++)
            ret_numbers[i] = sqlite3_column_int64(s, i);
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    return code == SQLITE_DONE;
}

static bool step(struct index *index, enum statement which)
{
    return ask(index, which, NULL, 0);
}

static void bind_text(sqlite3_stmt *s, int at, const char *text, size_t len)
{
    sqlite3_bind_text64(s, at, text ? text : "", len, SQLITE_STATIC, SQLITE_UTF8);
}

bool index_begin(struct index *index)
{
    return step(index, BEGIN);
}

bool index_commit(struct index *index)
{
    return step(index, COMMIT);
}

static bool replace(struct index *index, int64_t id, const char *url, size_t url_len,
                    const char *text, size_t text_len)
{
    sqlite3_bind_int64(index->statements[TAKE_OUT], 1, id);
    if (!step(index, TAKE_OUT))
        return false;
    if (text_len == 0)
        return true;
    sqlite3_stmt *s = index->statements[PUT_IN];
    sqlite3_bind_int64(s, 1, id);
    bind_text(s, 2, url, url_len);
    bind_text(s, 3, text, text_len);
    return step(index, PUT_IN);
}

static bool has(struct index *index, int64_t id, const char *text, size_t text_len, bool *ret_has)
{
    int64_t same = 0;
    sqlite3_bind_int64(index->statements[HAS], 1, id);
    bind_text(index->statements[HAS], 2, text, text_len);
    bool good = ask(index, HAS, &same, 1);
    *ret_has = same != 0;
    return good;
}

/* The page's version after this fetch, as samepage counts versions; not more than before: the fetch
 * came late, or again. */
static int64_t version_of(int64_t fetch_time_ms, int64_t version, bool tie)
{
    if (fetch_time_ms > version || (fetch_time_ms > 0 && !tie))
        return fetch_time_ms;
    return version < INT64_MAX ? version + 1 : version;
}

bool index_take_fetch(struct index *index, const char *url, size_t url_len, int64_t fetch_time_ms,
                      const char *text, size_t text_len)
{
    int64_t row[2] = {0, 0}; /* id, version */
    bool same = true;
    bind_text(index->statements[ADD], 1, url, url_len);
    if (!ask(index, ADD, row, 2))
        return false;
    if (fetch_time_ms == row[1] && text && !has(index, row[0], text, text_len, &same))
        return false;
    int64_t version = version_of(fetch_time_ms, row[1], fetch_time_ms == row[1] && !same);
    if (version <= row[1])
        return true;
    sqlite3_bind_int64(index->statements[MOVE_ON], 1, row[0]);
    sqlite3_bind_int64(index->statements[MOVE_ON], 2, version);
    return step(index, MOVE_ON) && (!text || replace(index, row[0], url, url_len, text, text_len));
}

bool index_put_status(struct index *index, const char *url, size_t url_len,
                      const struct samepage_status_event *event)
{
    sqlite3_stmt *s = index->statements[VERDICT];
    bind_text(s, 1, url, url_len);
    sqlite3_bind_int(s, 2, event->status);
    if (event->winner_url)
        bind_text(s, 3, event->winner_url, strlen(event->winner_url));
    if (event->contained_in)
        bind_text(s, 4, event->contained_in, strlen(event->contained_in));
    return step(index, VERDICT);
}

/* A page without text and status goes. */
static bool drop_empty(struct index *index, const char *url, size_t url_len)
{
    bind_text(index->statements[DROP_EMPTY], 1, url, url_len);
    return step(index, DROP_EMPTY);
}

bool index_forget_text(struct index *index, const char *url, size_t url_len)
{
    int64_t id = 0;
    bind_text(index->statements[ADD], 1, url, url_len);
    if (!ask(index, ADD, &id, 1) || !replace(index, id, url, url_len, "", 0))
        return false;
    sqlite3_bind_int64(index->statements[FORGET], 1, id);
    return step(index, FORGET) && drop_empty(index, url, url_len);
}

bool index_forget_status(struct index *index, const char *url, size_t url_len)
{
    bind_text(index->statements[NO_VERDICT], 1, url, url_len);
    return step(index, NO_VERDICT) && drop_empty(index, url, url_len);
}

bool index_forget_statuses(struct index *index)
{
    return step(index, NO_VERDICTS) && step(index, DROP_ALL_EMPTY);
}

/* Each word in quotes, so that none is taken for an operator of FTS5. NULL: out of memory. */
static char *quote_words(const char *const *words, size_t count)
{
    size_t room = 1;
    for (size_t i = 0; i < count; i++)
        room += 2 * strlen(words[i]) + 3;
    char *out = malloc(room), *at = out;
    for (size_t i = 0; out && i < count; i++) {
        if (i)
            *at++ = ' ';
        *at++ = '"';
        for (const char *c = words[i]; *c; c++) {
            if (*c == '"')
                *at++ = '"';
            *at++ = *c;
        }
        *at++ = '"';
    }
    if (out)
        *at = 0;
    return out;
}

bool index_query(struct index *index, const char *const *words, size_t count, int most,
                 void (*each)(void *arg, const char *url, const char *contained_in), void *arg)
{
    char *match = quote_words(words, count);
    sqlite3_stmt *s = NULL;
    if (!match)
        return false;
    int code = sqlite3_prepare_v2(
        index->db,
        "SELECT page.url, page.contained_in FROM body JOIN page ON page.id = body.rowid"
        " WHERE body MATCH ?1 AND page.status NOT IN (?2, ?3) ORDER BY body.rank LIMIT ?4",
        -1, &s, NULL);
    if (code == SQLITE_OK) {
        bind_text(s, 1, match, strlen(match));
        sqlite3_bind_int(s, 2, SAMEPAGE_STATUS_LOSER);
        sqlite3_bind_int(s, 3, SAMEPAGE_STATUS_GONE);
        sqlite3_bind_int(s, 4, most);
        while ((code = sqlite3_step(s)) == SQLITE_ROW)
            each(arg, (const char *)sqlite3_column_text(s, 0),
                 (const char *)sqlite3_column_text(s, 1));
    }
    sqlite3_finalize(s);
    free(match);
    return code == SQLITE_DONE;
}
