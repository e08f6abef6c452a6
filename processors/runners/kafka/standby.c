/* See standby.h. After a failure the copies are closed and opened again after a while, because
 * nothing depends on them. */
#include "kafka/standby.h"

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "kafka/repeats.h"

/* FOLLOW_MS: a take-over has to read what was written in that time. */
enum { FOLLOW_MS = 1000, RETRY_MS = 10000, REPLY_MS = 3000 };
/* A copy is written to but never read, so it gets little memory. */
enum { MEMTABLE_BYTES = 8 << 20, CACHE_BYTES = 1 << 20 };

struct sp_standby {
    struct sp_standby_options options;
    struct sp_rocksdb_options store;
    char *group;
    char *member;
    bool *own;
    struct sp_states *states;
    struct sp_task *copies;
    struct sp_task **all;
    size_t count;
    pthread_t thread;
    bool running;
    bool ending; /* atomic */
};

static bool ends(const struct sp_standby *s)
{
    return __atomic_load_n(&s->ending, __ATOMIC_RELAXED);
}

static bool goes_on(void *arg)
{
    return !ends(arg);
}

static void say(void *arg, const char *level, const char *text)
{
    const struct sp_standby *s = arg;
    char line[1024];
    snprintf(line, sizeof line, "standby copies: %.900s", text);
    s->options.states.say(s->options.states.arg, level, line);
}

/* ---- choosing the copies ---- */

/* The broker divides partitions into ranges as equal as possible; the first members have one more.
 */
static void mark_range(int32_t partitions, size_t members, size_t position, bool *ret_chosen)
{
    size_t each = (size_t)partitions / members, larger = (size_t)partitions % members;
    size_t from = each * position + (position < larger ? position : larger);
    size_t count = each + (position < larger);
    for (size_t p = from; p < from + count; p++)
        ret_chosen[p] = true;
}

void sp_standby_choose(int32_t partitions, size_t members, size_t position, size_t replicas,
                       bool *ret_chosen)
{
    memset(ret_chosen, 0, (size_t)partitions);
    for (size_t gone = 1; gone <= replicas && gone < members; gone++)
        for (size_t before = 0; before <= gone && before <= position; before++)
            if (gone - before < members - position)
                mark_range(partitions, members - gone, position - before, ret_chosen);
}

/* Reads a big-endian number; false if there is none left. */
static bool take(struct sp_view *from, size_t bytes, uint32_t *ret_number)
{
    if (from->len < bytes)
        return false;
    *ret_number = (uint32_t)sp_get_big_endian(from->data, bytes);
    *from = sp_view(from->data + bytes, from->len - bytes);
    return true;
}

int32_t sp_standby_first(struct sp_view assignment, const char *topic)
{
    uint32_t version, topics, bytes, count, p, first = INT32_MAX;
    if (!take(&assignment, 2, &version) || !take(&assignment, 4, &topics))
        return INT32_MAX;
    for (; topics > 0 && take(&assignment, 2, &bytes) && bytes <= assignment.len; topics--) {
        struct sp_view name = sp_view(assignment.data, bytes);
        assignment = sp_view(assignment.data + bytes, assignment.len - bytes);
        bool meant = sp_view_eq(name, sp_view_str(topic));
        if (!take(&assignment, 4, &count))
            break;
        for (; count > 0 && take(&assignment, 4, &p); count--)
            first = meant && p < first ? p : first;
    }
    return (int32_t)first;
}

/* A member of the group. Members are sorted by their lowest partition, then by name. */
struct place {
    int32_t first;
    const char *name;
};

static struct place place_of(const struct sp_standby *s,
                             const struct rd_kafka_group_member_info *member)
{
    struct sp_view assignment =
        sp_view(member->member_assignment, (size_t)member->member_assignment_size);
    return (struct place){sp_standby_first(assignment, s->options.input), member->client_id};
}

static bool is_before(struct place a, struct place b)
{
    return a.first != b.first ? a.first < b.first : strcmp(a.name, b.name) < 0;
}

/* Returns false if the group is rebalancing, or if this process is not in it yet. */
static bool find_place(const struct sp_standby *s, const struct rd_kafka_group_info *group,
                       size_t *ret_members, size_t *ret_position)
{
    const struct rd_kafka_group_member_info *mine = NULL;
    size_t position = 0;
    if (group->err != RD_KAFKA_RESP_ERR_NO_ERROR || strcmp(group->state, "Stable") != 0)
        return false;
    for (int i = 0; i < group->member_cnt; i++)
        if (strcmp(group->members[i].member_id, s->member) == 0)
            mine = &group->members[i];
    for (int i = 0; i < group->member_cnt && mine; i++)
        position += is_before(place_of(s, &group->members[i]), place_of(s, mine));
    *ret_members = (size_t)group->member_cnt;
    *ret_position = position;
    return mine != NULL;
}

/* Uses the older of librdkafka's two functions, because 2.0.2 deadlocks if the reply to
 * rd_kafka_DescribeConsumerGroups is not waited for. */
static bool ask(const struct sp_standby *s, size_t *ret_members, size_t *ret_position)
{
    const struct rd_kafka_group_list *list = NULL;
    bool found = false;
    rd_kafka_list_groups(s->options.states.watcher, s->group, &list, REPLY_MS);
    for (int i = 0; list && i < list->group_cnt && !found; i++)
        found = find_place(s, &list->groups[i], ret_members, ret_position);
    if (list)
        rd_kafka_group_list_destroy(list);
    return found;
}

/* ---- following ---- */

static void choose(struct sp_standby *s, size_t members, size_t position)
{
    bool *chosen = sp_calloc((size_t)s->options.partitions, sizeof *chosen);
    sp_standby_choose(s->options.partitions, members, position, s->options.replicas, chosen);
    for (int32_t p = 0; p < s->options.partitions; p++) {
        if (!chosen[p] || s->own[p])
            continue;
        s->copies[s->count] = (struct sp_task){.partition = p, .input_next = -1};
        s->all[s->count] = &s->copies[s->count];
        s->count++;
    }
    sp_free(chosen);
}

static void close_copies(struct sp_standby *s)
{
    for (size_t i = 0; i < s->count; i++) {
        sp_db_close(s->copies[i].db);
        s->copies[i].db = NULL;
    }
    __atomic_store_n(s->options.metric_copies, 0, __ATOMIC_RELAXED);
    __atomic_store_n(s->options.metric_remaining, 0, __ATOMIC_RELAXED);
}

static bool on_waiting(void *arg, uint64_t applied, int64_t remaining)
{
    struct sp_standby *s = arg;
    (void)applied;
    __atomic_store_n(s->options.metric_remaining, (uint64_t)remaining, __ATOMIC_RELAXED);
    return !ends(s);
}

/* The instance that has the partition asks and ends as well, but if its disk is lost, a copy is all
 * that is left. */
static enum sp_err on_emptied(void *arg, int32_t partition, struct sp_fault *fault)
{
    const struct sp_states_options *states = &((struct sp_standby *)arg)->options.states;
    return states->emptied(states->arg, partition, fault);
}

static bool has_room(const struct sp_standby *s)
{
    struct statvfs disk;
    return statvfs(s->options.states.directory, &disk) != 0 ||
           (uint64_t)disk.f_bavail * disk.f_frsize >= s->options.room_bytes;
}

/* Brings all copies up to the present ends of their changelogs. */
static enum sp_err catch_up(struct sp_standby *s)
{
    struct sp_fault fault = {""};
    size_t failed = 0;
    for (size_t i = 0; i < s->count; i++)
        s->copies[i].read_until = 0; /* the transaction that was open then may have ended */
    enum sp_err err = sp_states_open(s->states, s->all, s->count, &failed, &fault);
    if (err != SP_OK && !ends(s) && !sp_repeats("STANDBY", fault.text))
        say(s, "warning", fault.text);
    if (err == SP_OK) {
        __atomic_store_n(s->options.metric_copies, s->count, __ATOMIC_RELAXED);
        __atomic_add_fetch(s->options.metric_rounds, 1, __ATOMIC_RELAXED);
    }
    return err;
}

static void *follow(void *arg)
{
    struct sp_standby *s = arg;
    size_t members = 0, position = 0;
    while (!ends(s) && !ask(s, &members, &position))
        sp_clock_pause(FOLLOW_MS, goes_on, s);
    if (!ends(s)) {
        choose(s, members, position);
        __atomic_store_n(s->options.metric_wanted, s->count, __ATOMIC_RELAXED);
    }
    while (!ends(s) && s->count) {
        bool good = has_room(s) && catch_up(s) == SP_OK;
        if (!good)
            close_copies(s);
        sp_clock_pause(good ? FOLLOW_MS : RETRY_MS, goes_on, s);
    }
    close_copies(s);
    return NULL;
}

struct sp_standby *sp_standby_start(const struct sp_standby_options *options)
{
    struct sp_standby *s = sp_calloc(1, sizeof *s);
    size_t partitions = (size_t)options->partitions;
    struct sp_fault fault;
    s->options = *options;
    s->group = sp_strdup(options->group);
    s->member = sp_strdup(options->member);
    s->own = sp_memdup(options->own, partitions * sizeof *s->own);
    s->copies = sp_calloc(partitions, sizeof *s->copies);
    s->all = sp_calloc(partitions, sizeof *s->all);
    s->store = *options->states.store;
    s->store.shared = NULL;
    s->store.memtable_bytes = MEMTABLE_BYTES;
    s->store.block_cache_bytes = CACHE_BYTES;
    s->store.looks_for_room = true;
    struct sp_states_options states = options->states;
    states.store = &s->store;
    states.lanes = 1;
    states.waiting = on_waiting;
    states.say = say;
    states.emptied = on_emptied;
    states.arg = s;
    s->states = sp_states_new(&states);
    /* An instance that cannot find out which copies it should have counts as lacking one, in the
     * metrics. */
    __atomic_store_n(s->options.metric_wanted, 1, __ATOMIC_RELAXED);
    s->running = sp_thread_start(&s->thread, follow, s, &fault) == SP_OK;
    if (s->running)
        return s;
    say(s, "warning", fault.text);
    sp_standby_stop(s);
    return NULL;
}

void sp_standby_stop(struct sp_standby *s)
{
    if (!s)
        return;
    __atomic_store_n(&s->ending, true, __ATOMIC_RELAXED);
    if (s->running)
        pthread_join(s->thread, NULL);
    sp_states_free(s->states);
    sp_free(s->all);
    sp_free(s->copies);
    sp_free(s->own);
    sp_free(s->member);
    sp_free(s->group);
    sp_free(s);
}
