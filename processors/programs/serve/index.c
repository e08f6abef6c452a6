/* See index.h. Pages are spread over shards by their ids, each with a lock that is held for a
 * look-up or an insertion, never while the state is read. */
#include "serve/index.h"

#include <pthread.h>

#include "base/map.h"
#include "base/mem.h"
#include "similarity/similarity.h"

enum { SHARDS = 64 };

struct entry {
    struct sp_id page; /* key of the map: first */
    struct sp_lru lru;
    struct sp_id content;
    uint64_t version; /* version of the state in which the page had this content */
    struct samepage_document *document;
};

struct shard {
    pthread_mutex_t lock;
    struct sp_map entries;
    struct sp_lru lru;
    uint64_t bytes;
    uint64_t hits;
    uint64_t misses;
};

struct sp_index {
    enum sp_features features; /* the part of a signature that documents are made from */
    uint64_t shard_bytes;
    struct shard shards[SHARDS];
};

bool sp_index_of_sentences(const struct sp_index *x)
{
    return x->features != SP_FEATURES_SHINGLES;
}

struct sp_index *sp_index_new(enum sp_method method, bool sentences, uint64_t bytes)
{
    struct sp_index *x = sp_calloc(1, sizeof *x);
    x->features = sp_method_info(method)->features;
    if (sentences && x->features == SP_FEATURES_SHINGLES)
        x->features = SP_FEATURES_SENTENCE_SEQUENCE;
    x->shard_bytes = bytes / SHARDS;
    for (size_t i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&x->shards[i].lock, NULL);
        sp_lru_init(&x->shards[i].lru);
    }
    return x;
}

static size_t bytes_of(const struct entry *e)
{
    return sizeof *e + 4 * sizeof(void *) + samepage_document_bytes(e->document);
}

static void drop(struct shard *s, struct entry *e)
{
    sp_map_remove(&s->entries, e->page);
    sp_lru_remove(&e->lru);
    s->bytes -= bytes_of(e);
    samepage_document_free(e->document);
    sp_free(e);
}

void sp_index_free(struct sp_index *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < SHARDS; i++) {
        struct shard *s = &x->shards[i];
        while (s->lru.prev != &s->lru)
            drop(s, SP_LRU_OBJECT(s->lru.prev, struct entry, lru));
        sp_map_done(&s->entries);
        pthread_mutex_destroy(&s->lock);
    }
    sp_free(x);
}

static struct shard *shard_of(struct sp_index *x, struct sp_id page)
{
    return &x->shards[page.hi % SHARDS];
}

struct samepage_document *sp_index_of_signature(const struct sp_index *x,
                                                const struct sp_signature *s)
{
    if (x->features == SP_FEATURES_SENTENCES)
        return samepage_document_from_hashes(sp_signature_shingles(s), s->shingle_count,
                                             s->shingle_total, SP_INDEX_SENTENCES);
    if (x->features == SP_FEATURES_SENTENCE_SEQUENCE)
        return samepage_document_from_hashes(sp_signature_sentences(s), s->sentence_count,
                                             s->sentence_count, SP_INDEX_SENTENCES);
    return samepage_document_from_hashes(sp_signature_shingles(s), s->shingle_count,
                                         s->shingle_total, SAMEPAGE_DOCUMENT_HASHES);
}

/* ---- the cache */

/* Returns the document if it is that of `content`, or, if content is NULL, of this version. */
static struct samepage_document *look_up(struct shard *s, struct sp_id page, uint64_t version,
                                         const struct sp_id *content)
{
    struct samepage_document *document = NULL;
    pthread_mutex_lock(&s->lock);
    struct entry *e = sp_map_get(&s->entries, page);
    if (e && (content ? sp_id_eq(e->content, *content) : e->version == version)) {
        sp_lru_touch(&s->lru, &e->lru);
        e->version = version;
        document = samepage_document_share(e->document);
        s->hits++;
    }
    pthread_mutex_unlock(&s->lock);
    return document;
}

static void keep(struct sp_index *x, struct sp_id page, struct sp_id content, uint64_t version,
                 struct samepage_document *document)
{
    struct shard *s = shard_of(x, page);
    struct entry *e = sp_alloc(sizeof *e);
    *e = (struct entry){.page = page,
                        .content = content,
                        .version = version,
                        .document = samepage_document_share(document)};
    pthread_mutex_lock(&s->lock);
    struct entry *old = sp_map_get(&s->entries, page);
    if (old)
        drop(s, old);
    sp_map_add(&s->entries, e);
    sp_lru_push(&s->lru, &e->lru);
    s->bytes += bytes_of(e);
    s->misses++;
    while (s->bytes > x->shard_bytes && s->lru.prev != &s->lru)
        drop(s, SP_LRU_OBJECT(s->lru.prev, struct entry, lru));
    pthread_mutex_unlock(&s->lock);
}

/* ---- from the state */

enum sp_err sp_index_document(struct sp_index *x, struct sp_state_reader *r,
                              struct sp_redirects *redirects, struct sp_id page,
                              struct samepage_document **ret_document)
{
    uint64_t version = sp_state_seen(r);
    struct shard *shard = shard_of(x, page);
    struct sp_redirects_end end = {0};
    struct samepage_document *d = look_up(shard, page, version, NULL);
    enum sp_err err = d ? SP_OK : sp_redirects_follow(redirects, page, &end);
    if (!d && err == SP_OK)
        d = look_up(shard, page, version, &end.content);
    if (!d && err == SP_OK) {
        struct sp_signature *signature = NULL;
        err = sp_state_signature(r, end.group, end.content, &signature);
        if (err == SP_OK) {
            d = sp_index_of_signature(x, signature);
            keep(x, page, end.content, version, d);
        }
        sp_signature_unref(signature);
    }
    if (d)
        *ret_document = d;
    return err;
}

void sp_index_stats(struct sp_index *x, struct sp_index_stats *ret_stats)
{
    struct sp_index_stats sum = {0};
    for (size_t i = 0; i < SHARDS; i++) {
        struct shard *s = &x->shards[i];
        pthread_mutex_lock(&s->lock);
        sum.documents += s->entries.count;
        sum.bytes += s->bytes;
        sum.hits += s->hits;
        sum.misses += s->misses;
        pthread_mutex_unlock(&s->lock);
    }
    *ret_stats = sum;
}
