/* See state.h. Each view of the state is a database that is open for reading, with a count of its
 * readers. The last reader of an outdated view closes it. */
#include "serve/state.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/url.h"
#include "local/bus.h"
#include "local/keeper.h"
#include "local/position.h"

enum { ATTEMPTS = 5 };
static const uint64_t block_cache_bytes = 256ull << 20;

struct look {
    struct sp_db *db;
    uint64_t version;
    uint32_t readers; /* one more while it is the latest view */
};

struct sp_state {
    struct sp_statuses *statuses; /* NULL: a directory is read */
    const char *directory;
    char *scratch;
    uint32_t tier1;
    uint64_t files;          /* sp_db_files of the latest view */
    uint64_t version;        /* atomic: of the latest view */
    pthread_mutex_t opening; /* held while a view is opened */
    pthread_mutex_t lock;    /* of `latest` and `readers` */
    struct look *latest;
};

struct sp_state_reader {
    struct sp_state *state;
    struct sp_db *db;
    struct look *look;
    struct sp_buf url;
    bool inside;
};

/* Removes the directory in which RocksDB puts its log. */
static void remove_scratch(const char *directory)
{
    DIR *dir = opendir(directory);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir))
        unlinkat(dirfd(dir), e->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(directory);
}

static enum sp_err make_scratch(char **ret_directory, struct sp_fault *fault)
{
    const char *parent = getenv("TMPDIR");
    struct sp_buf path = {0};
    sp_buf_put_str(&path, parent && *parent ? parent : "/tmp");
    sp_buf_put(&path, "/samepage-serve-XXXXXX", sizeof "/samepage-serve-XXXXXX");
    if (mkdtemp(path.data)) {
        *ret_directory = path.data;
        return SP_OK;
    }
    sp_fault_set(fault, SP_IO,
                 "cannot create the directory %s: %s; set TMPDIR to one that can be written to",
                 path.data, strerror(errno));
    sp_buf_done(&path);
    return SP_IO;
}

static void leave(struct sp_state *s, struct look *look)
{
    pthread_mutex_lock(&s->lock);
    bool last = --look->readers == 0;
    pthread_mutex_unlock(&s->lock);
    if (!last)
        return;
    sp_db_close(look->db);
    sp_free(look);
}

static enum sp_err open_look(struct sp_state *s, struct look *look, struct sp_fault *fault)
{
    struct sp_rocksdb_options options;
    sp_rocksdb_options_default(&options);
    options.block_cache_bytes = block_cache_bytes;
    enum sp_err err = SP_STORE;
    /* The writer may delete a file between two steps of an open. */
    for (int attempt = 0; attempt < ATTEMPTS && err == SP_STORE; attempt++) {
        s->files = sp_db_files(s->directory);
        err = sp_db_open_reading(s->directory, s->scratch, &options,
                                 s->latest ? s->latest->db : NULL, &look->db, fault);
    }
    return err;
}

/* With `opening` held. */
static enum sp_err look_again(struct sp_state *s, struct sp_fault *fault)
{
    struct look *look = sp_calloc(1, sizeof *look), *before = s->latest;
    enum sp_err err = open_look(s, look, fault);
    if (err != SP_OK) {
        s->files = 0;
        sp_free(look);
        return err;
    }
    look->version = s->version + 1;
    look->readers = 1;
    pthread_mutex_lock(&s->lock);
    s->latest = look;
    pthread_mutex_unlock(&s->lock);
    __atomic_store_n(&s->version, look->version, __ATOMIC_SEQ_CST);
    if (before)
        leave(s, before);
    return SP_OK;
}

enum sp_err sp_state_open(const char *directory, uint32_t tier1, struct sp_state **ret_state,
                          struct sp_fault *fault)
{
    struct sp_state *s = sp_calloc(1, sizeof *s);
    s->directory = directory;
    s->tier1 = tier1;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->opening, NULL);
    enum sp_err err = make_scratch(&s->scratch, fault);
    if (err == SP_OK)
        err = look_again(s, fault);
    if (err == SP_OK)
        err = sp_keeper_check_read(s->latest->db, directory, fault);
    if (err == SP_OK)
        *ret_state = s;
    else
        sp_state_close(s);
    return err;
}

struct sp_state *sp_state_of_statuses(struct sp_statuses *statuses)
{
    struct sp_state *s = sp_calloc(1, sizeof *s);
    s->statuses = statuses;
    s->version = sp_statuses_version(statuses);
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->opening, NULL);
    return s;
}

void sp_state_close(struct sp_state *s)
{
    if (!s)
        return;
    sp_statuses_stop(s->statuses);
    if (s->latest)
        leave(s, s->latest);
    if (s->scratch)
        remove_scratch(s->scratch);
    sp_free(s->scratch);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->opening);
    sp_free(s);
}

static enum sp_err refresh_statuses(struct sp_state *s)
{
    uint64_t version = sp_statuses_version(s->statuses);
    if (version == UINT64_MAX)
        return SP_IO;
    __atomic_store_n(&s->version, version, __ATOMIC_SEQ_CST);
    return SP_OK;
}

enum sp_err sp_state_refresh(struct sp_state *s, bool must)
{
    if (s->statuses)
        return refresh_statuses(s);
    struct sp_fault ignored; /* failures are counted, and the open is repeated */
    enum sp_err err = SP_OK;
    pthread_mutex_lock(&s->opening);
    if (must || sp_db_files(s->directory) != s->files)
        err = look_again(s, &ignored);
    pthread_mutex_unlock(&s->opening);
    return err;
}

uint64_t sp_state_version(const struct sp_state *s)
{
    return __atomic_load_n(&s->version, __ATOMIC_SEQ_CST);
}

bool sp_state_complete(const struct sp_state *s)
{
    return !s->statuses || sp_statuses_caught_up(s->statuses);
}

struct sp_state_reader *sp_state_reader_new(struct sp_state *state)
{
    struct sp_state_reader *r = sp_calloc(1, sizeof *r);
    r->state = state;
    r->db = state->statuses ? NULL : sp_db_reader();
    return r;
}

void sp_state_reader_free(struct sp_state_reader *r)
{
    if (!r)
        return;
    sp_state_end(r);
    sp_db_close(r->db);
    sp_buf_done(&r->url);
    sp_free(r);
}

void sp_state_begin(struct sp_state_reader *r)
{
    sp_state_end(r);
    r->inside = true;
    if (r->state->statuses) {
        sp_statuses_begin(r->state->statuses);
        return;
    }
    pthread_mutex_lock(&r->state->lock);
    r->look = r->state->latest;
    r->look->readers++;
    pthread_mutex_unlock(&r->state->lock);
    sp_db_reader_use(r->db, r->look->db);
}

void sp_state_end(struct sp_state_reader *r)
{
    if (!r->inside)
        return;
    r->inside = false;
    if (r->state->statuses) {
        sp_statuses_end(r->state->statuses);
        return;
    }
    sp_db_reader_use(r->db, NULL);
    leave(r->state, r->look);
    r->look = NULL;
}

const char *sp_state_message(const struct sp_state_reader *r)
{
    return r->db ? sp_db_message(r->db) : "";
}

uint64_t sp_state_seen(const struct sp_state_reader *r)
{
    return r->look ? r->look->version : sp_state_version(r->state);
}

/* ---- rows */

enum sp_err sp_state_page_id(struct sp_state_reader *r, struct sp_view url, struct sp_id *ret_page)
{
    return sp_url_page(url, &r->url, ret_page);
}

static struct sp_store *home(struct sp_state_reader *r, struct sp_id page)
{
    return sp_db_store(r->db, (uint16_t)(SP_BUS_STORE_TIER1 + page.lo % r->state->tier1));
}

enum sp_err sp_state_page(struct sp_state_reader *r, struct sp_id page,
                          void (*each)(void *arg, const struct sp_page_view *page), void *arg)
{
    if (r->state->statuses)
        return sp_statuses_page(r->state->statuses, page, each, arg);
    return sp_group_read_page(home(r, page), page, each, arg);
}

enum sp_err sp_state_members(struct sp_state_reader *r, struct sp_group_id group,
                             struct sp_id after,
                             bool (*each)(void *arg, const struct sp_member_view *member),
                             void *arg)
{
    if (r->state->statuses)
        return sp_statuses_members(r->state->statuses, group, after, each, arg);
    return sp_group_read_members_after(home(r, group.founder), group, after, each, arg);
}

enum sp_err sp_state_signature(struct sp_state_reader *r, struct sp_group_id group,
                               struct sp_id content, struct sp_signature **ret_signature)
{
    if (r->state->statuses)
        return SP_NOT_FOUND;
    /* The signatures of a run are all in one place; a copy of the group stage has each with its
     * group. */
    enum sp_err err =
        sp_contents_read(sp_db_store(r->db, SP_BUS_STORE_CONTENTS), content, ret_signature);
    return err == SP_NOT_FOUND ? sp_contents_read(home(r, group.founder), content, ret_signature)
                               : err;
}

enum sp_err sp_state_each_page(struct sp_state_reader *r,
                               void (*each)(void *arg, const struct sp_page_view *page), void *arg)
{
    enum sp_err err = SP_OK;
    if (r->state->statuses)
        return sp_statuses_each_page(r->state->statuses, each, arg);
    for (uint32_t i = 0; i < r->state->tier1 && err == SP_OK; i++)
        err = sp_group_each_page(sp_db_store(r->db, (uint16_t)(SP_BUS_STORE_TIER1 + i)), each, arg);
    return err;
}

void sp_state_position(struct sp_state_reader *r, uint64_t *ret_records, bool *ret_ended)
{
    struct sp_position position = {0};
    *ret_records = 0;
    *ret_ended = false;
    if (r->state->statuses) {
        *ret_records = sp_state_version(r->state);
        return;
    }
    if (sp_position_load(sp_db_store(r->db, SP_BUS_STORE_META), &position) != SP_OK)
        return;
    *ret_ended = position.input_count > 0;
    for (size_t i = 0; i < position.input_count; i++) {
        *ret_records += position.inputs[i].records;
        *ret_ended &= position.inputs[i].ended;
    }
    sp_position_done(&position);
}

enum sp_err sp_state_audit(struct sp_state_reader *r, struct sp_watching_report *ret_report)
{
    if (r->state->statuses)
        return SP_NOT_FOUND;
    return sp_watching_load(sp_db_store(r->db, SP_BUS_STORE_META), ret_report);
}
