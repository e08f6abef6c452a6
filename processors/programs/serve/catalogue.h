/* The URLs of all pages of a state, sorted by host, with the status each had: to find pages by a
 * part of their URL, and hosts. In memory, up to SP_CATALOGUE_BYTES: if the pages do not
 * fit, it holds a part of them and is marked as cut. Private to this folder and its tests.
 *
 * Thread rule: one thread fills it; sorted, it is read by any. */
#ifndef SP_SERVE_CATALOGUE_H
#define SP_SERVE_CATALOGUE_H

#include "serve/state.h"

enum {
    SP_CATALOGUE_BYTES = 256 << 20,
    SP_CATALOGUE_HOSTS = 1 << 20, /* that are counted: 48 MiB */
    SP_CATALOGUE_STATUSES = SP_STATUS_GONE + 1
};

struct sp_catalogue;

struct sp_catalogue *sp_catalogue_new(size_t most_bytes);
/* Takes a page in; for sp_state_each_page. */
void sp_catalogue_note(void *catalogue, const struct sp_page_view *page);
/* After the last page, before all that follows. */
void sp_catalogue_sort(struct sp_catalogue *c);

/* The one of sp_catalogue_new is the first; NULL is allowed. */
struct sp_catalogue *sp_catalogue_ref(struct sp_catalogue *c);
void sp_catalogue_unref(struct sp_catalogue *c);

struct sp_catalogue_query {
    const char *text;           /* in the URL, in any case; NULL: any URL */
    const char *host;           /* exactly; NULL: any */
    const char *after;          /* only URLs after this one; NULL: all */
    enum sp_page_status status; /* SP_STATUS_NONE: any */
};

/* The first `most` URLs in their order, by host and then path: borrowed from the catalogue. With a
 * text all URLs may be looked at, in about a second if there are SP_CATALOGUE_BYTES of them. */
size_t sp_catalogue_find(const struct sp_catalogue *c, const struct sp_catalogue_query *query,
                         size_t most, const char **ret_urls);

struct sp_catalogue_host {
    struct sp_view name;                   /* borrowed from the catalogue */
    uint32_t pages[SP_CATALOGUE_STATUSES]; /* by status */
    uint32_t first;                        /* place of its first URL */
    uint32_t all;
};

/* From `offset` on, `most` of the hosts with that text in their name (NULL: all), those with the
 * most losers first; *ret_count: of all such hosts. */
size_t sp_catalogue_hosts(const struct sp_catalogue *c, const char *text, size_t offset,
                          size_t most, const struct sp_catalogue_host **ret_hosts,
                          size_t *ret_count);

size_t sp_catalogue_pages(const struct sp_catalogue *c);
bool sp_catalogue_is_cut(const struct sp_catalogue *c);

#endif
