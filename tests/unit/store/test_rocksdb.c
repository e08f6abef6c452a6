/* The state directory: what persists in it, and which opens are refused. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "store/store.h"
#include "temporary.h"

#define FINGERPRINT "mode=exact\nsimilarity.threshold=0.8\n"

enum { CHILD_PIPE = 200 };

static struct sp_rocksdb_options small(void)
{
    struct sp_rocksdb_options o;
    sp_rocksdb_options_default(&o);
    o.block_cache_bytes = 4 << 20;
    o.memtable_bytes = 1 << 20;
    return o;
}

static enum sp_err try_open(const char *directory, const char *fingerprint, struct sp_db **ret_db,
                            struct sp_fault *fault)
{
    struct sp_rocksdb_options o = small();
    *ret_db = NULL;
    return sp_db_open_rocksdb(directory, fingerprint, &o, ret_db, fault);
}

static struct sp_db *open_it(const char *directory)
{
    struct sp_db *db;
    struct sp_fault fault = {""};
    if (try_open(directory, FINGERPRINT, &db, &fault) != SP_OK)
        printf("%s\n", fault.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(db);
    return db;
}

/* Asserts that opening fails with this error and all of these words in the message. */
static void check_refused(const char *directory, const char *fingerprint, enum sp_err err,
                          const char *const words[], size_t count)
{
    struct sp_db *db;
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL(try_open(directory, fingerprint, &db, &fault), err);
    CU_ASSERT_PTR_NULL_FATAL(db);
    for (size_t i = 0; i < count; i++) {
        if (!strstr(fault.text, words[i]))
            printf("no '%s' in: %s\n", words[i], fault.text);
        CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, words[i]));
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, directory));
}

#define REFUSED(directory, fingerprint, err, ...)                                                  \
    do {                                                                                           \
        const char *words_[] = {__VA_ARGS__};                                                      \
        check_refused(directory, fingerprint, err, words_, sizeof words_ / sizeof *words_);        \
    } while (0)

static void put(struct sp_db *db, const char *key, const char *value)
{
    sp_store_put(sp_db_store(db, 1), sp_view_str(key), sp_view_str(value));
}

static bool has(struct sp_db *db, const char *key, const char *value)
{
    struct sp_view v;
    return sp_store_get(sp_db_store(db, 1), sp_view_str(key), &v) == SP_OK &&
           sp_view_eq(v, sp_view_str(value));
}

static void write_file(const char *directory, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
}

static bool exists(const char *directory, const char *name)
{
    char path[512];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return stat(path, &st) == 0;
}

TEST(reopening_keeps_what_was_committed_and_nothing_else)
{
    const char *directory = temporary_directory();
    for (int round = 0; round < 4; round++) {
        struct sp_db *db = open_it(directory);
        char key[32];
        for (int i = 0; i < round; i++) {
            snprintf(key, sizeof key, "committed %d", i);
            CU_ASSERT(has(db, key, "1"));
            snprintf(key, sizeof key, "open %d", i);
            CU_ASSERT(!has(db, key, "1"));
        }
        snprintf(key, sizeof key, "committed %d", round);
        put(db, key, "1");
        CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
        snprintf(key, sizeof key, "open %d", round);
        put(db, key, "1");
        sp_db_close(db);
    }
}

/* Starts a process that runs the named case of this program; the environment variable SP_CHILD
 * tells it that it is the child. A plain fork would lack RocksDB's threads. It writes to
 * CHILD_PIPE. */
static pid_t start_child(const char *name, const char *directory, int pipe_end)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setenv("SP_CHILD", directory, 1);
        dup2(pipe_end, CHILD_PIPE);
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        execl("/proc/self/exe", "child", name, (char *)NULL);
        _exit(126);
    }
    return child;
}

/* Commits pairs of rows in two partitions until it is killed. */
static void commit_until_killed(const char *directory, bool write_ahead_log, bool background,
                                bool gathers)
{
    struct sp_rocksdb_options o = small();
    struct sp_db *db;
    struct sp_fault fault = {""};
    char key[32], value[2000];
    memset(value, 'v', sizeof value);
    o.memtable_bytes = 1 << 18;
    o.write_ahead_log = write_ahead_log;
    o.background = background;
    o.gathers = gathers;
    if (sp_db_open_rocksdb(directory, FINGERPRINT, &o, &db, &fault) != SP_OK)
        _exit(1);
    for (uint32_t i = 0;; i++) {
        snprintf(key, sizeof key, "%08u", i);
        sp_store_put(sp_db_store(db, 1), sp_view_str(key), sp_view(value, sizeof value));
        sp_store_put(sp_db_store(db, 900), sp_view_str(key), sp_view("", 0));
        if (sp_db_commit(db) != SP_OK || write(CHILD_PIPE, &i, sizeof i) != sizeof i)
            _exit(1);
    }
}

/* Checks that rows are numbered from 0 without a gap. */
static bool count_row(void *arg, struct sp_view key, struct sp_view value)
{
    uint32_t *rows = arg;
    char expected[32];
    (void)value;
    snprintf(expected, sizeof expected, "%08u", *rows);
    CU_ASSERT(sp_view_eq(key, sp_view_str(expected)));
    ++*rows;
    return true;
}

/* The number of commits that survive a kill of the child, which reported *ret_last + 1. */
static uint32_t commits_after_a_kill(const char *name, uint32_t *ret_last)
{
    const char *directory = temporary_directory();
    int ends[2];
    CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = start_child(name, directory, ends[1]);
    close(ends[1]);
    uint32_t number, rows[2] = {0, 0};
    while (read(ends[0], &number, sizeof number) == sizeof number) {
        *ret_last = number;
        if (number == 1500)
            kill(child, SIGKILL);
    }
    int status;
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    close(ends[0]);
    CU_ASSERT(WIFSIGNALED(status));
    CU_ASSERT(*ret_last >= 1500);
    struct sp_db *db = open_it(directory);
    CU_ASSERT_EQUAL(
        sp_store_scan(sp_db_store(db, 1), sp_view("", 0), sp_view("", 0), count_row, &rows[0]),
        SP_OK);
    CU_ASSERT_EQUAL(
        sp_store_scan(sp_db_store(db, 900), sp_view("", 0), sp_view("", 0), count_row, &rows[1]),
        SP_OK);
    CU_ASSERT_EQUAL(rows[0], rows[1]); /* each commit is complete or absent */
    sp_db_close(db);
    return rows[0];
}

TEST(with_the_log_every_commit_is_there_after_a_kill)
{
    uint32_t last = 0;
    if (getenv("SP_CHILD"))
        commit_until_killed(getenv("SP_CHILD"), true, false, false);
    uint32_t found = commits_after_a_kill("with_the_log_every_commit_is_there_after_a_kill", &last);
    CU_ASSERT(found >= last + 1);
}

TEST(without_the_log_a_kill_leaves_the_first_commits_whole)
{
    uint32_t last = 0;
    if (getenv("SP_CHILD"))
        commit_until_killed(getenv("SP_CHILD"), false, false, false);
    uint32_t found =
        commits_after_a_kill("without_the_log_a_kill_leaves_the_first_commits_whole", &last);
    CU_ASSERT(found > 0);
    CU_ASSERT(found <= last + 2); /* one may have been committed before it was reported */
}

TEST(a_kill_leaves_the_first_commits_whole_that_were_made_in_the_background)
{
    uint32_t last = 0;
    if (getenv("SP_CHILD"))
        commit_until_killed(getenv("SP_CHILD"), false, true, false);
    uint32_t found = commits_after_a_kill(
        "a_kill_leaves_the_first_commits_whole_that_were_made_in_the_background", &last);
    CU_ASSERT(found > 0);
    CU_ASSERT(found <= last + 2); /* one may have been committed before it was reported */
}

TEST(a_kill_leaves_the_first_commits_whole_that_were_gathered)
{
    uint32_t last = 0;
    if (getenv("SP_CHILD"))
        commit_until_killed(getenv("SP_CHILD"), false, false, true);
    uint32_t found =
        commits_after_a_kill("a_kill_leaves_the_first_commits_whole_that_were_gathered", &last);
    CU_ASSERT(found > 0);
    CU_ASSERT(found <= last + 2);
}

TEST(a_kill_leaves_the_first_commits_whole_that_were_gathered_in_the_background)
{
    uint32_t last = 0;
    if (getenv("SP_CHILD"))
        commit_until_killed(getenv("SP_CHILD"), false, true, true);
    uint32_t found = commits_after_a_kill(
        "a_kill_leaves_the_first_commits_whole_that_were_gathered_in_the_background", &last);
    CU_ASSERT(found > 0);
    CU_ASSERT(found <= last + 2);
}

TEST(with_the_log_nothing_is_gathered)
{
    uint32_t last = 0;
    if (getenv("SP_CHILD"))
        commit_until_killed(getenv("SP_CHILD"), true, false, true);
    uint32_t found = commits_after_a_kill("with_the_log_nothing_is_gathered", &last);
    CU_ASSERT(found >= last + 1);
}

TEST(another_configuration_is_refused_with_the_keys_and_both_values)
{
    const char *directory = temporary_directory();
    sp_db_close(open_it(directory));
    REFUSED(directory, "mode=exact\nsimilarity.threshold=0.9\n", SP_STATE_FORMAT,
            "another configuration", "similarity.threshold was 0.8 and is now 0.9", "--state");
    REFUSED(directory, "mode=fast\nsimilarity.threshold=0.85\n", SP_STATE_FORMAT,
            "mode was exact and is now fast", "similarity.threshold was 0.8 and is now 0.85");
    REFUSED(directory, "mode=exact\n", SP_STATE_FORMAT,
            "similarity.threshold was 0.8 and is now (not set)");
    REFUSED(directory, FINGERPRINT "new.key=5\n", SP_STATE_FORMAT,
            "new.key was (not set) and is now 5");
    REFUSED(directory, "mode=exact\nsimilarity.threshold=\n", SP_STATE_FORMAT,
            "similarity.threshold was 0.8 and is now ;");
    REFUSED(directory, "mode=exact\nsimilarity.threshold=0.80\n", SP_STATE_FORMAT, "0.80");
    /* The right fingerprint still opens it, with its lines in any order. */
    sp_db_close(open_it(directory));
    struct sp_db *db;
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL(try_open(directory, "similarity.threshold=0.8\nmode=exact\n", &db, &fault),
                    SP_OK);
    sp_db_close(db);
}

TEST(a_message_says_nothing_of_keys_that_agree)
{
    const char *directory = temporary_directory();
    struct sp_fault fault = {""};
    struct sp_db *db;
    sp_db_close(open_it(directory));
    CU_ASSERT_EQUAL(try_open(directory, "mode=fast\nsimilarity.threshold=0.8\n", &db, &fault),
                    SP_STATE_FORMAT);
    CU_ASSERT_PTR_NULL(strstr(fault.text, "similarity.threshold"));
}

TEST(a_directory_that_is_not_ours_is_refused_and_left_alone)
{
    const char *directory = temporary_directory();
    write_file(directory, "thesis.tex", "precious");
    REFUSED(directory, FINGERPRINT, SP_STATE_FORMAT, "not a state directory", "thesis.tex");
    CU_ASSERT(!exists(directory, "FORMAT"));
    CU_ASSERT(!exists(directory, "LOCK"));
    CU_ASSERT(!exists(directory, "rocksdb"));

    const char *foreign = temporary_directory();
    write_file(foreign, "FORMAT", "a magazine\n");
    REFUSED(foreign, FINGERPRINT, SP_STATE_FORMAT, "not written by samepage");
    CU_ASSERT(!exists(foreign, "rocksdb"));
}

TEST(another_version_of_the_format_is_refused)
{
    const char *directory = temporary_directory();
    sp_db_close(open_it(directory));
    write_file(directory, "FORMAT", "samepage state 99\n" FINGERPRINT);
    REFUSED(directory, FINGERPRINT, SP_STATE_FORMAT, "state format 99,",
            "this samepage uses 6; run");
    write_file(directory, "FORMAT", "");
    REFUSED(directory, FINGERPRINT, SP_STATE_FORMAT, "damaged");
    write_file(directory, "FORMAT", "samepage state 6");
    REFUSED(directory, FINGERPRINT, SP_STATE_FORMAT, "damaged");
}

TEST(what_a_killed_start_or_a_new_volume_leaves_does_no_harm)
{
    const char *directory = temporary_directory();
    char name[512];
    write_file(directory, "LOCK", "12345\n");
    write_file(directory, "FORMAT.new", "samepage st");
    snprintf(name, sizeof name, "%s/lost+found", directory);
    CU_ASSERT_EQUAL(mkdir(name, 0700), 0);
    sp_db_close(open_it(directory));
    sp_db_close(open_it(directory));
    CU_ASSERT(exists(directory, "FORMAT"));
    CU_ASSERT(!exists(directory, "FORMAT.new"));
}

TEST(a_missing_directory_is_created_with_those_above_it)
{
    char name[512];
    snprintf(name, sizeof name, "%s/a/b/c", temporary_directory());
    struct sp_db *db = open_it(name);
    put(db, "k", "v");
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    sp_db_close(db);
    snprintf(name + strlen(name), 8, "/");
    db = open_it(name);
    CU_ASSERT(has(db, "k", "v"));
    sp_db_close(db);
}

TEST(a_file_in_place_of_the_directory_is_refused)
{
    const char *directory = temporary_directory();
    char name[512];
    write_file(directory, "file", "text");
    snprintf(name, sizeof name, "%s/file", directory);
    REFUSED(name, FINGERPRINT, SP_STORE, "file");
    snprintf(name, sizeof name, "%s/file/below", directory);
    struct sp_db *db;
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL(try_open(name, FINGERPRINT, &db, &fault), SP_STORE);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "it is a file"));
}

TEST(a_second_opener_is_told_who_has_it)
{
    if (getenv("SP_CHILD")) {
        struct sp_db *other;
        struct sp_fault fault = {""};
        enum sp_err err = try_open(getenv("SP_CHILD"), FINGERPRINT, &other, &fault);
        char parent[32];
        snprintf(parent, sizeof parent, "%ld", (long)getppid());
        _exit(err == SP_BUSY && strstr(fault.text, parent) ? 0 : 1);
    }
    const char *directory = temporary_directory();
    struct sp_db *db = open_it(directory);
    char own[32];
    snprintf(own, sizeof own, "%ld", (long)getpid());
    REFUSED(directory, FINGERPRINT, SP_BUSY, "in use", own);

    /* Another process is refused, too, and its attempt does no harm. */
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    pid_t child = start_child("a_second_opener_is_told_who_has_it", directory, nothing);
    close(nothing);
    int status = -1;
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    put(db, "k", "v");
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    sp_db_close(db);
    db = open_it(directory); /* the lock ended with its holder */
    CU_ASSERT(has(db, "k", "v"));
    sp_db_close(db);
}

TEST(damage_of_the_database_is_named)
{
    const char *directory = temporary_directory();
    struct sp_db *db = open_it(directory);
    put(db, "k", "v");
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    sp_db_close(db);
    write_file(directory, "rocksdb/CURRENT", "MANIFEST-999999\n");
    REFUSED(directory, FINGERPRINT, SP_STORE, "RocksDB", "--state");
}

TEST(a_state_of_one_file_is_read_whole)
{
    const char *directory = temporary_directory(), *scratch = temporary_directory();
    struct sp_fault fault = {""};
    static char large[2000];
    struct sp_db *db = open_it(directory), *reading;
    struct sp_view value;
    memset(large, 'v', sizeof large);
    sp_store_put(sp_db_store(db, 1), sp_view_str("small"), sp_view_str("v"));
    sp_store_put(sp_db_store(db, 1), sp_view_str("large"), sp_view(large, sizeof large));
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    CU_ASSERT_EQUAL(sp_db_sync(db), SP_OK);
    sp_db_close(db);
    CU_ASSERT_EQUAL_FATAL(sp_db_open_reading(directory, scratch, NULL, NULL, &reading, &fault),
                          SP_OK);
    struct sp_store *s = sp_db_store(reading, 1);
    CU_ASSERT_EQUAL(sp_store_get(s, sp_view_str("small"), &value), SP_OK);
    CU_ASSERT_EQUAL_FATAL(sp_store_get(s, sp_view_str("large"), &value), SP_OK);
    CU_ASSERT(sp_view_eq(value, sp_view(large, sizeof large)));
    sp_db_close(reading);
}

TEST(what_is_opened_for_reading_must_be_there)
{
    const char *directory = temporary_directory(), *scratch = temporary_directory();
    struct sp_db *reading = NULL;
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL(sp_db_open_reading(directory, scratch, NULL, NULL, &reading, &fault), SP_STORE);
    CU_ASSERT_PTR_NULL(reading);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, directory));
    CU_ASSERT(!exists(directory, "rocksdb"));
}

/* Writes the rows twice and deletes all but a few. */
TEST(compaction_gives_back_the_room_of_what_was_deleted)
{
    enum { ROWS = 20000, KEPT = 10 };
    struct sp_db *db = open_it(temporary_directory());
    struct sp_store *store = sp_db_store(db, 1);
    uint64_t before = 0, after, memory;
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < ROWS; i++) {
            uint64_t value[8] = {i, round, i * 2654435761u, ~i, i * 7, i * 31, i ^ 99, round + i};
            if (round < 2)
                sp_store_put(store, sp_view(&i, sizeof i), sp_view(value, sizeof value));
            else if (i >= KEPT)
                sp_store_delete(store, sp_view(&i, sizeof i));
        }
        CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
        CU_ASSERT_EQUAL(sp_db_sync(db), SP_OK);
        if (round == 1) /* RocksDB may begin to merge as soon as there are deletions */
            sp_db_size(db, &before, &memory);
    }
    CU_ASSERT_EQUAL(sp_db_compact(db), SP_OK);
    sp_db_size(db, &after, &memory);
    CU_ASSERT(before > 200 << 10);
    CU_ASSERT(after < 20 << 10);
    for (uint32_t i = 0; i < ROWS; i++) {
        struct sp_view value;
        CU_ASSERT_EQUAL(sp_store_get(store, sp_view(&i, sizeof i), &value),
                        i < KEPT ? SP_OK : SP_NOT_FOUND);
    }
    sp_db_close(db);
}

static enum sp_err count_call(void *arg)
{
    ++*(uint32_t *)arg;
    return SP_OK;
}

/* Ten buffers of a megabyte in commits of ten kilobytes: the dependency is synced once for each
 * buffer, not for each commit. */
TEST(dependencies_are_synced_once_for_each_buffer)
{
    enum { COMMITS = 1000, VALUE = 10000 };
    static char value[VALUE];
    struct sp_rocksdb_options o = small();
    for (int gathers = 0; gathers < 2; gathers++) {
        struct sp_fault fault = {""};
        struct sp_db *db = NULL;
        uint32_t calls = 0;
        uint64_t disk, memory;
        o.gathers = gathers;
        CU_ASSERT_EQUAL_FATAL(
            sp_db_open_rocksdb(temporary_directory(), FINGERPRINT, &o, &db, &fault), SP_OK);
        sp_db_before_commits(db, count_call, &calls);
        for (uint32_t i = 0; i < COMMITS; i++) {
            sp_store_put(sp_db_store(db, 1), sp_view(&i, sizeof i), sp_view(value, VALUE));
            CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
        }
        CU_ASSERT(calls >= 5 && calls <= 20);
        sp_db_size(db, &disk, &memory);
        CU_ASSERT(memory < 8 << 20);
        sp_db_close(db);
    }
}

static enum sp_err refuse(void *arg)
{
    (void)arg;
    return SP_STORE;
}

/* Many small commits of the same rows: only the last ones are there, and only once in memory. */
TEST(gathered_commits_are_found_before_and_after_they_are_applied)
{
    enum { ROWS = 3000, ROUNDS = 40 };
    const char *directory = temporary_directory();
    struct sp_rocksdb_options o = small();
    struct sp_fault fault = {""};
    struct sp_db *db = NULL;
    o.gathers = true;
    CU_ASSERT_EQUAL_FATAL(sp_db_open_rocksdb(directory, FINGERPRINT, &o, &db, &fault), SP_OK);
    for (int after = 0; after < 2; after++) {
        uint32_t wrong = 0;
        for (uint32_t round = 0; round < ROUNDS; round++) {
            for (uint32_t k = round; k < ROWS; k += 1 + round % 7)
                sp_store_put(sp_db_store(db, 1), sp_view(&k, sizeof k),
                             sp_view(&round, sizeof round));
            CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
            for (uint32_t k = round; k < ROWS; k += 1 + round % 7) {
                struct sp_view v;
                wrong += sp_store_get(sp_db_store(db, 1), sp_view(&k, sizeof k), &v) != SP_OK ||
                         !sp_view_eq(v, sp_view(&round, sizeof round));
            }
        }
        CU_ASSERT_EQUAL(wrong, 0);
        CU_ASSERT_EQUAL(sp_db_sync(db), SP_OK);
    }
    sp_db_close(db);
}

/* Waits until the thread has read `enough` of the rows, and returns how many of them are seen. */
static uint32_t count_seen(struct sp_store *s, uint32_t rows, uint32_t enough)
{
    uint32_t seen = 0;
    for (int tries = 0; tries < 10000 && seen < enough; tries++) {
        seen = 0;
        usleep(tries ? 1000 : 0);
        for (uint32_t k = 0; k < rows; k++) {
            struct sp_view v;
            seen +=
                sp_store_peek(s, sp_view(&k, sizeof k), &v) && sp_view_eq(v, sp_view(&k, sizeof k));
        }
    }
    return seen;
}

TEST(rows_are_seen_that_were_read_ahead_or_not_applied_yet)
{
    /* The thread is not woken for fewer than 64 keys, and keys with the same slot replace one
     * another. */
    enum { ROWS = 300, READ_AHEAD = ROWS - 63 - 20 };
    const char *directory = temporary_directory();
    struct sp_rocksdb_options o = small();
    struct sp_fault fault = {""};
    struct sp_db *db = NULL;
    struct sp_view v;
    uint32_t key = 0;
    o.background = o.alone = true;
    for (int gathers = 0; gathers < 2; gathers++) {
        o.gathers = gathers;
        CU_ASSERT_EQUAL_FATAL(sp_db_open_rocksdb(directory, FINGERPRINT, &o, &db, &fault), SP_OK);
        struct sp_store *s = sp_db_store(db, 1);
        CU_ASSERT_FALSE(sp_store_peek(s, sp_view(&key, sizeof key), &v));
        for (uint32_t k = 0; k < ROWS; k++)
            sp_store_put(s, sp_view(&k, sizeof k), sp_view(&k, sizeof k));
        CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
        if (gathers)
            CU_ASSERT_EQUAL(count_seen(s, ROWS, ROWS), ROWS);
        CU_ASSERT_EQUAL(sp_db_sync(db), SP_OK);
        for (uint32_t k = 0; k < ROWS; k++)
            sp_store_expect(s, sp_view(&k, sizeof k));
        CU_ASSERT(count_seen(s, ROWS, READ_AHEAD) >= READ_AHEAD);
        for (uint32_t k = 0; k < ROWS; k++)
            sp_store_delete(s, sp_view(&k, sizeof k));
        CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
        CU_ASSERT_EQUAL(sp_db_sync(db), SP_OK);
        sp_db_close(db);
    }
}

TEST(a_commit_without_its_dependencies_does_not_reach_the_disk)
{
    const char *directory = temporary_directory();
    struct sp_db *db = open_it(directory);
    sp_db_before_commits(db, refuse, NULL);
    put(db, "k", "v");
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK); /* fills the write buffer */
    CU_ASSERT_EQUAL(sp_db_sync(db), SP_STORE);
    CU_ASSERT_STRING_EQUAL(sp_db_message(db),
                           "data that it depends on could not be written to the disk");
    put(db, "k", "w");
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_STORE); /* from here on */
    sp_db_close(db);
}

/* RocksDB may flush a full buffer at any time, and one commit can fill it. */
TEST(a_commit_of_the_size_of_a_buffer_syncs_its_dependencies_first)
{
    static char large[700 << 10]; /* of the buffer's megabyte */
    struct sp_db *db = open_it(temporary_directory());
    sp_db_before_commits(db, refuse, NULL);
    sp_store_put(sp_db_store(db, 1), sp_view_str("k"), sp_view(large, sizeof large));
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_STORE);
    sp_db_close(db);
}

TEST(a_wiped_state_is_empty_and_keeps_its_configuration)
{
    const char *directory = temporary_directory();
    struct sp_fault fault = {""};
    char name[512];
    struct sp_db *db = open_it(directory);
    put(db, "k", "v");
    CU_ASSERT_EQUAL(sp_db_commit(db), SP_OK);
    CU_ASSERT_EQUAL(sp_db_sync(db), SP_OK);
    sp_db_close(db);
    CU_ASSERT_EQUAL(sp_db_wipe(directory, &fault), SP_OK);
    CU_ASSERT(!exists(directory, "rocksdb"));
    REFUSED(directory, "another=one\n", SP_STATE_FORMAT, "another", "--state");
    db = open_it(directory);
    CU_ASSERT(!has(db, "k", "v"));
    sp_db_close(db);
    /* Killed in the middle of a wipe, then wiped again or opened. */
    for (int next = 0; next < 2; next++) {
        snprintf(name, sizeof name, "%s/rocksdb.wiped", directory);
        CU_ASSERT_EQUAL(mkdir(name, 0700), 0);
        write_file(directory, "rocksdb.wiped/CURRENT", "MANIFEST-000001\n");
        CU_ASSERT_EQUAL(next ? sp_db_wipe(directory, &fault) : SP_OK, SP_OK);
        sp_db_close(open_it(directory));
        CU_ASSERT(!exists(directory, "rocksdb.wiped"));
    }
    CU_ASSERT_EQUAL(sp_db_wipe("/tmp/samepage-that-is-not-there", &fault), SP_OK);
    write_file(directory, "file", "");
    snprintf(name, sizeof name, "%s/file", directory);
    CU_ASSERT_EQUAL(sp_db_wipe(name, &fault), SP_STORE);
}
