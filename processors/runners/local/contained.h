/* Recomputes containment from scratch: the best container of each kept page among all of them, by
 * counting common shingles. It shares nothing with the contain stage except which shingles that
 * stage has found to be boilerplate. Private to local. */
#ifndef SP_LOCAL_CONTAINED_H
#define SP_LOCAL_CONTAINED_H

#include "contain/contain.h"

/* A kept page; borrowed. */
struct sp_contained_page {
    const char *url;
    struct sp_id page;
    struct sp_id contained_in; /* the page that was published; zero: none */
    float containment;
    const struct sp_signature *signature;
};

/* Calls `differ` for each page whose published container is not one with the largest share. Holds a
 * number for each shingle of each page in memory. */
enum sp_err sp_contained_check(struct sp_store *store, const struct sp_contain_options *options,
                               const struct sp_contained_page *pages, size_t count,
                               void (*differ)(void *arg, size_t page, const char *what), void *arg);

#endif
