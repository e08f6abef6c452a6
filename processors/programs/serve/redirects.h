/* Where redirects end, for the pages of one request: chains of any length are followed, and each of
 * their pages is read once, however many of the request's pages lead to it. After SP_REDIRECTS_READ
 * pages the status of a redirect tells: it names the winner that covers the end of the chain, which
 * the run has found. Loops end nowhere. Private to this folder. */
#ifndef SP_SERVE_REDIRECTS_H
#define SP_SERVE_REDIRECTS_H

#include "serve/state.h"

enum { SP_REDIRECTS_READ = 20000 }; /* about 0.1 s */

struct sp_redirects;

/* For one reader between begin and end. `most`: redirects to read; SP_REDIRECTS_READ. */
struct sp_redirects *sp_redirects_new(struct sp_state_reader *r, uint32_t most);
void sp_redirects_free(struct sp_redirects *redirects);

struct sp_redirects_end {
    struct sp_id content;
    struct sp_group_id group;
};

/* The content of the page, or of the one that it leads to. SP_NOT_FOUND: there is none. */
enum sp_err sp_redirects_follow(struct sp_redirects *redirects, struct sp_id page,
                                struct sp_redirects_end *ret_end);

#endif
