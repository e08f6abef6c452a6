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

int rank_cmp(const struct member *a, const struct member *b, double margin)
{
    double x = a->rank.popularity + (a->incumbent ? margin : 0);
    double y = b->rank.popularity + (b->incumbent ? margin : 0);
    if (x != y)
        return x > y ? -1 : 1;
    if (a->rank.dynamic != b->rank.dynamic)
        return a->rank.dynamic < b->rank.dynamic ? -1 : 1;
    if (a->rank.url_bytes != b->rank.url_bytes)
        return a->rank.url_bytes < b->rank.url_bytes ? -1 : 1;
    if (a->rank.unfavoured != b->rank.unfavoured)
        return a->rank.unfavoured < b->rank.unfavoured ? -1 : 1;
    return sp_id_cmp(a->page, b->page);
}
