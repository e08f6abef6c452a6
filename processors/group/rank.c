/* Rank: which of two members is kept. Source: Zhu et al., WWW 2012, section 5 (selection of
 * winners): popularity, static before dynamic URLs, short before long ones, then the
 * market rule; the page id makes it a total order. This file is the whole rule. */
#include "group/internal.h"

struct sp_rank sp_rank_of(struct sp_view url, double popularity)
{
    bool dynamic = url.len && memchr(url.data, '?', url.len);
    /* No market is preferred until a rule is configured. */
    return (struct sp_rank){popularity == popularity ? popularity : 0, (uint32_t)url.len, dynamic,
                            0};
}

static int by_rank(const struct sp_rank *a, double a_popularity, struct sp_id a_page,
                   const struct sp_rank *b, double b_popularity, struct sp_id b_page)
{
    if (a_popularity != b_popularity)
        return a_popularity > b_popularity ? -1 : 1;
    if (a->dynamic != b->dynamic)
        return a->dynamic < b->dynamic ? -1 : 1;
    if (a->url_bytes != b->url_bytes)
        return a->url_bytes < b->url_bytes ? -1 : 1;
    if (a->unfavoured != b->unfavoured)
        return a->unfavoured < b->unfavoured ? -1 : 1;
    return sp_id_cmp(a_page, b_page);
}

int rank_cmp(const struct member *a, const struct member *b, double margin)
{
    double x = a->rank.popularity + (a->incumbent ? margin : 0);
    double y = b->rank.popularity + (b->incumbent ? margin : 0);
    return by_rank(&a->rank, x, a->page, &b->rank, y, b->page);
}

int sp_rank_cmp(const struct sp_rank *a, struct sp_id a_page, const struct sp_rank *b,
                struct sp_id b_page)
{
    return by_rank(a, a->popularity, a_page, b, b->popularity, b_page);
}
