/* A table of slots, indexed by the hash of the key, and a queue of the slots that wait for the
 * reading thread. A slot's state says which thread may use it:
 *
 *   FREE, READ   the caller: the slot is empty, or has a value
 *   ASKED        the thread may take it to read; the caller may take it back
 *   READING      the thread
 *
 * A failed read leaves no value: the caller then reads the key itself and gets the error. */
#include "store/ahead.h"

#include <stdatomic.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/thread.h"
#include "store/tuning.h"

enum {
    SLOTS = 16384, /* some 3,000 are in use; more slots make collisions, which lose rows, rarer */
    QUEUE = 16384, /* a power of two */
    KEY_BYTES = 40,
    WORTH_WAKING = 64, /* keys; with fewer, the thread is not woken */
};

enum state { FREE, ASKED, READING, READ };

struct slot {
    _Atomic int state;
    bool settled;
    bool failed;
    uint8_t key_len;
    char key[KEY_BYTES];
    uint64_t commits; /* number of commits when the read began */
    const rocksdb_readoptions_t *options;
    rocksdb_pinnableslice_t *value;
};

struct sp_ahead {
    rocksdb_t *handle;
    const struct sp_flight *flight;
    struct slot slots[SLOTS];
    uint16_t queue[QUEUE];
    _Atomic uint32_t put;
    _Atomic uint32_t taken;
    _Atomic uint64_t commits;
    _Atomic bool asleep;
    bool ending; /* under the lock */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
};

/* ---- the thread ---- */

static void read_slot(struct sp_ahead *a, struct slot *s)
{
    int asked = ASKED;
    if (!atomic_compare_exchange_strong(&s->state, &asked, READING))
        return; /* the caller took it back */
    char *error = NULL;
    /* The order matters, because a commit is counted after it has started. */
    s->commits = atomic_load(&a->commits);
    s->settled = !sp_flight_batch(a->flight);
    s->value = rocksdb_get_pinned(a->handle, s->options, s->key, s->key_len, &error);
    s->failed = error != NULL;
    rocksdb_free(error);
    atomic_store(&s->state, READ);
}

/* Returns false when the thread must end. */
static bool wait_for_work(struct sp_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    atomic_store(&a->asleep, true);
    while (!a->ending && atomic_load(&a->put) - atomic_load(&a->taken) < WORTH_WAKING)
        pthread_cond_wait(&a->wake, &a->lock);
    atomic_store(&a->asleep, false);
    bool goes_on = !a->ending;
    pthread_mutex_unlock(&a->lock);
    return goes_on;
}

static void *work(void *arg)
{
    struct sp_ahead *a = arg;
    sp_rocksdb_tuned_thread();
    while (wait_for_work(a))
        for (uint32_t at = atomic_load(&a->taken); at != atomic_load(&a->put); at++) {
            struct slot *s = &a->slots[a->queue[at % QUEUE]];
            atomic_store(&a->taken, at + 1);
            read_slot(a, s);
        }
    return NULL;
}

static void wake(struct sp_ahead *a, bool ending)
{
    pthread_mutex_lock(&a->lock);
    a->ending = ending;
    pthread_cond_signal(&a->wake);
    pthread_mutex_unlock(&a->lock);
}

/* ---- the caller ---- */

struct sp_ahead *sp_ahead_new(rocksdb_t *handle, const struct sp_flight *flight)
{
    struct sp_ahead *a = sp_calloc(1, sizeof *a);
    a->handle = handle;
    a->flight = flight;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->wake, NULL);
    struct sp_fault fault;
    if (sp_thread_start(&a->thread, work, a, &fault) == SP_OK)
        return a;
    sp_free(a);
    return NULL;
}

static void drop_value(struct slot *s)
{
    if (s->value)
        rocksdb_pinnableslice_destroy(s->value);
    s->value = NULL;
    atomic_store(&s->state, FREE);
}

void sp_ahead_free(struct sp_ahead *a)
{
    if (!a)
        return;
    wake(a, true);
    pthread_join(a->thread, NULL);
    for (unsigned i = 0; i < SLOTS; i++)
        drop_value(&a->slots[i]);
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->wake);
    sp_free(a);
}

static struct slot *slot_of(struct sp_ahead *a, struct sp_view key)
{
    return &a->slots[sp_hash64(key.data, key.len) % SLOTS];
}

static bool is_for(const struct slot *s, struct sp_view key)
{
    return s->key_len == key.len && memcmp(s->key, key.data, key.len) == 0;
}

void sp_ahead_expect(struct sp_ahead *a, struct sp_view key, const rocksdb_readoptions_t *options)
{
    struct slot *s = slot_of(a, key);
    int state = atomic_load(&s->state);
    uint32_t put = atomic_load(&a->put);
    if (key.len > KEY_BYTES || state == ASKED || state == READING ||
        put - atomic_load(&a->taken) == QUEUE)
        return;
    if (state == READ && is_for(s, key) && s->commits == atomic_load(&a->commits))
        return;
    drop_value(s);
    s->key_len = (uint8_t)key.len;
    memcpy(s->key, key.data, key.len);
    s->options = options;
    atomic_store(&s->state, ASKED);
    a->queue[put % QUEUE] = (uint16_t)(s - a->slots);
    atomic_store(&a->put, put + 1);
    if (put + 1 - atomic_load(&a->taken) >= WORTH_WAKING && atomic_load(&a->asleep))
        wake(a, false);
}

void sp_ahead_commit(struct sp_ahead *a)
{
    atomic_fetch_add(&a->commits, 1);
}

bool sp_ahead_take(struct sp_ahead *a, struct sp_view key, struct sp_ahead_value *ret_value)
{
    struct slot *s = slot_of(a, key);
    int state = atomic_load(&s->state), asked = ASKED;
    if (state == FREE || state == READING || !is_for(s, key))
        return false;
    if (state == ASKED) {
        atomic_compare_exchange_strong(&s->state, &asked, FREE);
        return false;
    }
    bool good = !s->failed && s->commits == atomic_load(&a->commits);
    *ret_value = (struct sp_ahead_value){s->value, s->settled};
    if (good)
        s->value = NULL;
    drop_value(s);
    return good;
}

bool sp_ahead_peek(struct sp_ahead *a, struct sp_view key, struct sp_view *ret_value)
{
    const struct slot *s = slot_of(a, key);
    if (atomic_load(&s->state) != READ || !is_for(s, key) || s->failed || !s->value)
        return false;
    size_t len;
    const char *data = rocksdb_pinnableslice_value(s->value, &len);
    *ret_value = sp_view(data, len);
    return true;
}
