/* See winners.h. Rank, relation, and the cover chosen from scratch; stages/group updates the same
 * cover step by step. */
#include "winners/winners.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/url.h"
#include "similarity/similarity.h"

/* ---- rank ---- */

struct sp_rank sp_rank_of(struct sp_view url, double popularity)
{
    bool dynamic = url.len && memchr(url.data, '?', url.len);
    /* There is no setting for a preferred market yet. */
    return (struct sp_rank){isnan(popularity) ? 0 : popularity, (uint32_t)url.len, dynamic, 0};
}

double sp_popularity_class(double popularity, double tolerance)
{
    int exponent;
    if (!(tolerance > DBL_EPSILON)) /* finer than the precision of a double */
        return popularity;
    double mantissa = frexp(popularity, &exponent); /* 0, or in [0.5, 1) */
    double classes = 2 * ceil(1 / tolerance);
    double rounded = ldexp(rint(mantissa * classes) / classes, exponent);
    return isfinite(rounded) ? rounded : popularity;
}

int sp_rank_cmp(const struct sp_rank *a, struct sp_id a_page, const struct sp_rank *b,
                struct sp_id b_page)
{
    if (a->popularity != b->popularity)
        return a->popularity > b->popularity ? -1 : 1;
    if (a->dynamic != b->dynamic)
        return a->dynamic < b->dynamic ? -1 : 1;
    if (a->url_bytes != b->url_bytes)
        return a->url_bytes < b->url_bytes ? -1 : 1;
    if (a->unfavoured != b->unfavoured)
        return a->unfavoured < b->unfavoured ? -1 : 1;
    return sp_id_cmp(a_page, b_page);
}

/* Appends a field to the head. One that does not fit becomes all ones, and so does all that
 * follows: otherwise a later field would decide between two that do not fit. */
static uint64_t append(uint64_t head, uint64_t field, unsigned bits, bool *full)
{
    uint64_t most = (1ull << bits) - 1;
    *full |= field >= most;
    return head << bits | (*full ? most : field);
}

enum { DYNAMIC = 2, UNFAVOURED = 2 };

/* Appends what decides between pages of equal popularity: the length of the URL and the page in so
 * many bits. */
static uint64_t append_rest(uint64_t head, const struct sp_rank *rank, struct sp_id page,
                            unsigned url_bits, unsigned page_bits)
{
    bool full = false;
    head = append(head, rank->dynamic, DYNAMIC, &full);
    head = append(head, rank->url_bytes, url_bits, &full);
    head = append(head, rank->unfavoured, UNFAVOURED, &full);
    return append(head, page.hi >> (64 - page_bits), page_bits, &full);
}

/* Of the bits of a popularity above 0, the lower half is zero if it is a whole number below two
 * million. Otherwise it ranks before the popularities whose upper half is the same and whose lower
 * half is zero, and nothing is appended. */
static uint64_t popular_head(uint64_t bits, const struct sp_rank *rank, struct sp_id page)
{
    enum { URL = 12, PAGE = 15, REST = DYNAMIC + URL + UNFAVOURED + PAGE };
    uint64_t head = INT32_MAX - (bits >> 32);
    return (uint32_t)bits ? head << REST : append_rest(head, rank, page, URL, PAGE);
}

uint64_t sp_rank_head(const struct sp_rank *rank, struct sp_id page)
{
    enum { URL = 16, PAGE = 42 };
    static const uint64_t sign = 1ull << 63;
    uint64_t bits;
    memcpy(&bits, &rank->popularity, sizeof bits);
    /* Heads of popularities above 0 begin with the bits 00, those of 0 with 01, others with 11. */
    if (rank->popularity == 0)
        return append_rest(1, rank, page, URL, PAGE);
    return bits & sign ? (bits ^ sign) >> 1 | 3ull << 62 : popular_head(bits, rank, page);
}

enum sp_rank_rule sp_rank_decided(const struct sp_rank *winner, struct sp_id winner_page,
                                  const struct sp_rank *loser, struct sp_id loser_page)
{
    if (sp_rank_cmp(winner, winner_page, loser, loser_page) > 0)
        return SP_RANK_OVERRIDE;
    if (winner->popularity != loser->popularity)
        return SP_RANK_POPULARITY;
    if (winner->dynamic != loser->dynamic)
        return SP_RANK_STATIC;
    if (winner->url_bytes != loser->url_bytes)
        return SP_RANK_SHORT;
    return winner->unfavoured != loser->unfavoured ? SP_RANK_MARKET : SP_RANK_ID;
}

/* ---- the relation ---- */

/* What is stored with the pages of a group. */
static const uint32_t KNOWN_FIELDS = 1u << SP_FIELD_url | 1u << SP_FIELD_host |
                                     1u << SP_FIELD_timestamp | 1u << SP_FIELD_popularity |
                                     1u << SP_FIELD_shingles;

enum sp_err sp_winner_relation_parse(const char *source, enum sp_method method,
                                     struct sp_relation **ret_relation, struct sp_fault *fault)
{
    struct sp_relation *r = NULL;
    enum sp_err err = sp_relation_parse_fields(source, SP_RELATION, KNOWN_FIELDS, &r, fault);
    if (err != SP_OK)
        return sp_fault_set(fault, err, "winner.relation: %s", fault->text);
    bool measures = sp_winner_relation_measures(r) || r->fields & 1u << SP_FIELD_shingles;
    if (measures && sp_method_info(method)->features != SP_FEATURES_SHINGLES)
        err = sp_fault_set(fault, SP_INVALID,
                           "winner.relation: measures and `shingles` need signatures of shingles: "
                           "similarity.method = shingles or combined");
    if (err == SP_OK)
        *ret_relation = r;
    else
        sp_relation_free(r);
    return err;
}

void sp_winner_facts_init(struct sp_winner_facts *ret_facts, const struct sp_relation *relation,
                          struct sp_view url, int64_t since_ms, double popularity,
                          const struct sp_signature *signature)
{
    struct sp_winner_facts *f = ret_facts;
    *f = (struct sp_winner_facts){.url = url, .signature = signature};
    if (relation->fields & (1u << SP_FIELD_url | 1u << SP_FIELD_host) &&
        sp_url_canonical(url, &f->canonical) == SP_OK)
        f->url = sp_buf_view(&f->canonical);
    f->host = sp_url_host(f->url);
    f->cells[SP_FIELD_url].text = &f->url;
    f->cells[SP_FIELD_host].text = &f->host;
    f->cells[SP_FIELD_timestamp].number = since_ms > 0 ? (double)since_ms : 0;
    f->cells[SP_FIELD_popularity].number = popularity;
    f->cells[SP_FIELD_shingles].number = signature->shingle_total;
}

void sp_winner_facts_done(struct sp_winner_facts *facts)
{
    sp_buf_done(&facts->canonical);
}

bool sp_winner_relation_measures(const struct sp_relation *relation)
{
    return relation->root->uses & SP_USES_MEASURE;
}

/* Derives the number of shared shingles from J. It is exact if J is, because it is an integer. */
static uint32_t shared_shingles(const struct sp_signature *a, const struct sp_signature *b)
{
    double j = sp_jaccard(a, b);
    return (uint32_t)llround(j / (1 + j) * ((double)a->shingle_total + b->shingle_total));
}

bool sp_winner_relation_holds(const struct sp_relation *relation, const struct sp_winner_facts *a,
                              const struct sp_winner_facts *b)
{
    struct sp_relation_pair pair = {
        .document = {a->cells, b->cells},
        .size = {a->signature->shingle_total, b->signature->shingle_total}};
    if (sp_winner_relation_measures(relation))
        pair.overlap = shared_shingles(a->signature, b->signature);
    return sp_relation_holds(relation->root, &pair);
}

/* ---- the cover ---- */

static const uint32_t NOBODY = UINT32_MAX;

struct choice {
    sp_winner_covers *covers;
    void *arg;
    uint32_t *winner; /* of each member */
    float *similarity;
    uint32_t count;
    uint32_t *list; /* the winners, by rank */
    uint32_t winners;
};

/* The first winner other than `except` that covers the member, or NOBODY. */
static uint32_t first_cover(const struct choice *c, uint32_t member, uint32_t except,
                            float *ret_similarity)
{
    for (uint32_t i = 0; i < c->winners; i++) {
        uint32_t w = c->list[i];
        if (w != except && w != member && c->covers(c->arg, member, w, ret_similarity))
            return w;
    }
    return NOBODY;
}

static bool can_be_dropped(const struct choice *c, uint32_t w)
{
    float similarity;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->winner[i] == w && first_cover(c, i, w, &similarity) == NOBODY)
            return false;
    return true;
}

static void assign(struct choice *c, uint32_t member)
{
    c->winner[member] = first_cover(c, member, NOBODY, &c->similarity[member]);
}

static void drop(struct choice *c, uint32_t place)
{
    uint32_t w = c->list[place];
    c->winners--;
    memmove(c->list + place, c->list + place + 1, (c->winners - place) * sizeof *c->list);
    for (uint32_t i = 0; i < c->count; i++)
        if (c->winner[i] == w)
            assign(c, i);
}

void sp_winners_choose(uint32_t count, sp_winner_covers *covers, void *arg, uint32_t *ret_winner,
                       float *ret_similarity)
{
    struct choice c = {covers, arg, ret_winner, ret_similarity, count, NULL, 0};
    c.list = sp_alloc((count + 1) * sizeof *c.list);
    for (uint32_t i = 0; i < count; i++) {
        assign(&c, i);
        if (c.winner[i] == NOBODY)
            c.winner[i] = c.list[c.winners++] = i;
    }
    for (uint32_t place = c.winners; place-- > 0;)
        if (can_be_dropped(&c, c.list[place]))
            drop(&c, place);
    for (uint32_t i = 0; i < count; i++)
        if (c.winner[i] != i)
            assign(&c, i);
        else
            c.similarity[i] = 0;
    sp_free(c.list);
}
