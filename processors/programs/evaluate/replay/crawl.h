/* A crawl in memory, as the output of the signature stage for each fetch, so that an experiment can
 * replay it several times.
 *
 * Pages and distinct contents are numbered in order of appearance; a fetch is a few numbers. Equal
 * contents share one signature.
 *
 * Thread rule: a crawl is read-only once made; any thread. Signatures are counted without atomics:
 * sp_crawl_message therefore gives each message a copy. */
#ifndef SP_REPLAY_CRAWL_H
#define SP_REPLAY_CRAWL_H

#include "base/map.h"
#include "page/message.h"

enum { SP_NO_NUMBER = UINT32_MAX };

struct sp_crawl_page {
    struct sp_id id; /* key of a map: first */
    struct sp_id url_hash;
    uint32_t number;
    int64_t version; /* the last one, while the crawl is made */
    uint32_t last;   /* fetch that was not late, likewise; SP_NO_NUMBER: none */
    char *url;       /* as first seen */
};

struct sp_crawl_fetch {
    enum sp_page_kind kind;
    uint32_t page;
    uint32_t content; /* SP_NO_NUMBER: none */
    uint32_t target;  /* page a redirect leads to; SP_NO_NUMBER: none */
    int64_t version;  /* 0: the next after the page's last */
    bool late;        /* not above the page's last version: the group stage discards it */
    struct sp_rank rank;
};

struct sp_crawl {
    struct sp_crawl_fetch *fetches;
    size_t fetch_count;
    struct sp_crawl_page **pages;
    size_t page_count;
    struct sp_signature **contents; /* one reference each */
    size_t content_count;
    size_t fetch_cap;
    size_t page_cap;
    size_t content_cap;
    struct sp_map by_id;
    struct sp_map by_content;
};

/* Never NULL. */
struct sp_crawl *sp_crawl_new(void);
void sp_crawl_free(struct sp_crawl *c);

/* Adds a `crawled` message as the next fetch. It stays the caller's; its signature is shared. */
void sp_crawl_add(struct sp_crawl *c, const struct sp_message *m);

/* The `crawled` message of a fetch, the caller's. */
struct sp_message *sp_crawl_message(const struct sp_crawl *c, size_t fetch);

/* The fetch that says what each page is behind the first `fetch_count` fetches, by page number:
 * SP_NO_NUMBER if it was not fetched yet. Room for page_count. */
void sp_crawl_latest(const struct sp_crawl *c, size_t fetch_count, uint32_t *ret_fetches);

#endif
