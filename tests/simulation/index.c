/* simulate_index FIRST LAST [--leave-out NAME]
 *
 * Random worlds of rows in the star index (stars/stars.h), kept as its two users do (keepers.h).
 * Whenever no work is left, what is kept must connect exactly what similarity connects; and if rows
 * of a large group come apart, a search must start in each part. With a rule left out the program
 * fails if no world detects it.
 *
 * A world has many more rows than one of `simulate`, and no protocol: it is after stars that grow,
 * drain, lose their pivots and move their pivots. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "keepers.h"
#include "pages.h"
#include "rnd.h"

enum { SHINGLES_MAX = 160, KINDS = 5, BURST = 24 };

/* How a row's text is drawn. */
enum texts {
    TEXTS_CHAIN,     /* a range of a line: neighbours overlap */
    TEXTS_FAMILIES,  /* the base of a family, some of it replaced, often as in other members */
    TEXTS_TEMPLATES, /* a long template, a document, a version: rows on fringes */
    TEXTS_CENTRES,   /* near one or both of two centres, so that a star may move its pivot */
    TEXTS_MIXED
};

struct index_world {
    struct keeping k;
    struct rnd rnd;
    enum texts texts;
    uint32_t size;   /* shingles of a row */
    uint32_t span;   /* of a chain, the number of places; else families or documents */
    uint32_t most;   /* replaced shingles */
    uint32_t kept;   /* of a signature; 0: all */
    uint32_t target; /* rows at the end of the first phase */
    bool in_turn;    /* of texts near centres: one kind after the other */
    uint32_t rested; /* steps between two rests */
    uint32_t serial;
    uint32_t count;            /* live rows */
    uint32_t kind[ROWS_MAX];   /* what rows that come and go together have in common */
    struct sp_signature *last; /* of the row that was removed last */
    bool similar[ROWS_MAX][ROWS_MAX];
    uint32_t
        before[ROWS_MAX]; /* components at the last rest; of rows that came later: themselves */
    uint32_t want[ROWS_MAX];
    uint32_t got[ROWS_MAX];
    const char *why; /* NULL: no failure */
    uint64_t checks;
};

/* ---- texts ---- */

static struct sp_signature *signature_of(struct index_world *w, uint32_t *shingles, uint32_t count)
{
    uint32_t kept = w->kept && count > w->kept ? w->kept : count, serial = ++w->serial;
    return page_by_shingles(shingles, count, kept, sp_hash128(&serial, sizeof serial));
}

static uint32_t shingle(uint32_t of, uint32_t place)
{
    return (uint32_t)sp_mix64((uint64_t)of << 32 | place);
}

static struct sp_signature *chain(struct index_world *w, uint32_t *ret_kind)
{
    uint32_t shingles[SHINGLES_MAX], first = rnd_below(&w->rnd, w->span);
    uint32_t count = w->size - rnd_below(&w->rnd, w->size / 8 + 1);
    for (uint32_t i = 0; i < count; i++)
        shingles[i] = shingle(1, first + i);
    if (rnd_chance(&w->rnd, 50))
        shingles[0] = shingle(2, ++w->serial);
    *ret_kind = first * KINDS / w->span;
    return signature_of(w, shingles, count);
}

static struct sp_signature *relative(struct index_world *w, uint32_t *ret_kind)
{
    uint32_t shingles[SHINGLES_MAX], family = rnd_below(&w->rnd, w->span % 5 + 1);
    uint32_t shared = w->size * (30 + family * 7 % 50) / 100;
    for (uint32_t i = 0; i < w->size; i++)
        shingles[i] = shingle(i < shared ? 3 : 4 + family, i);
    uint32_t changes = rnd_below(&w->rnd, w->most + 1);
    for (uint32_t i = 0; i < changes; i++)
        shingles[rnd_below(&w->rnd, w->size)] = rnd_chance(&w->rnd, 66)
                                                    ? shingle(100, rnd_below(&w->rnd, 40))
                                                    : shingle(101, ++w->serial);
    *ret_kind = changes * (KINDS - 1) / (w->most + 1);
    return signature_of(w, shingles, w->size - rnd_below(&w->rnd, w->size / 10 + 1));
}

static struct sp_signature *templated(struct index_world *w, uint32_t *ret_kind)
{
    uint32_t shingles[SHINGLES_MAX], document = rnd_below(&w->rnd, w->span);
    uint32_t frame = w->size * (78 + rnd_below(&w->rnd, 3) * 4) / 100;
    uint32_t changed = rnd_below(&w->rnd, w->most + 1) % (w->size - frame);
    for (uint32_t i = 0; i < w->size; i++)
        shingles[i] = i < frame ? shingle(5, i) : shingle(1000 + document, i);
    for (uint32_t i = 0; i < changed; i++)
        shingles[w->size - 1 - i] = shingle(102, ++w->serial);
    *ret_kind = document % KINDS;
    return signature_of(w, shingles, w->size);
}

/* An order in which a star grows, gets kids that its pivot does not resemble, and then children
 * that resemble these: one of them becomes a pivot. The pivot and the few of kind 3 stay where they
 * are. */
static uint32_t kind_in_turn(struct index_world *w)
{
    /* Past 64 children, at which a star chooses among all of its members, and 32 other kids. */
    enum { GROWN = 70, FILLED = GROWN + 45 };
    if (w->count > w->target)
        return rnd_below(&w->rnd, KINDS);
    if (rnd_chance(&w->rnd, 2))
        return 3;
    return w->count < GROWN ? 0 : w->count == GROWN ? 1 : w->count < FILLED ? 4 : 1;
}

/* Kinds 0 and 1 are near one centre each; 2 near both; 3 and 4 near one, in a way of their own. */
static struct sp_signature *centred(struct index_world *w, uint32_t *ret_kind)
{
    uint32_t kind = *ret_kind = w->in_turn ? kind_in_turn(w) : rnd_below(&w->rnd, KINDS);
    uint32_t shingles[SHINGLES_MAX], beside = w->size / 20, own = w->size / (w->in_turn ? 14 : 11);
    for (uint32_t i = 0; i < w->size; i++)
        shingles[i] = shingle(6, i);
    for (uint32_t i = 0; i < beside && (kind == 1 || kind == 4); i++)
        shingles[i] = shingle(7, i);
    for (uint32_t i = 0; i < own && kind >= 3; i++)
        shingles[beside + (kind - 3) * own + i] = shingle(8 + kind, i);
    uint32_t changes = 1 + rnd_below(&w->rnd, w->most / 4 + 1);
    for (uint32_t i = 0; i < changes; i++)
        shingles[w->size - 1 - i] = shingle(103, ++w->serial);
    return signature_of(w, shingles, w->size);
}

static struct sp_signature *draw(struct index_world *w, uint32_t *ret_kind)
{
    enum texts texts = w->texts == TEXTS_MIXED ? rnd_below(&w->rnd, TEXTS_MIXED) : w->texts;
    if (w->k.similarity.method != SP_METHOD_SHINGLES) {
        uint32_t first = rnd_below(&w->rnd, w->span), words = 10 + rnd_below(&w->rnd, w->most + 1);
        *ret_kind = first * KINDS / w->span;
        struct sp_signature *x = page_by_builder(w->k.similarity.method, first, words);
        uint32_t serial = ++w->serial;
        x->content_hash = sp_hash128(&serial, sizeof serial);
        return x;
    }
    switch (texts) {
    case TEXTS_CHAIN:
        return chain(w, ret_kind);
    case TEXTS_FAMILIES:
        return relative(w, ret_kind);
    case TEXTS_TEMPLATES:
        return templated(w, ret_kind);
    case TEXTS_CENTRES:
    case TEXTS_MIXED:
        break;
    }
    return centred(w, ret_kind);
}

/* ---- from scratch ---- */

static uint32_t find(uint32_t *set, uint32_t i)
{
    while (set[i] != i)
        i = set[i] = set[set[i]];
    return i;
}

static void join_got(void *arg, uint32_t a, uint32_t b)
{
    struct index_world *w = arg;
    if (!w->k.rows[a].live || !w->k.rows[b].live)
        w->why = "an edge to a row that has left";
    else if (!w->similar[a][b] && w->k.keeper == KEEPS_EDGES)
        w->why = "an edge to a row that is not similar";
    w->got[find(w->got, a)] = find(w->got, b);
}

/* A search finds a part only if it starts in it. */
static void check_doubts(struct index_world *w)
{
    bool doubted[ROWS_MAX] = {false};
    for (uint32_t i = 0; i < w->k.row_count; i++)
        if (w->k.rows[i].live && w->k.rows[i].doubted)
            doubted[find(w->want, i)] = true;
    for (uint32_t i = 0; i < w->k.row_count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (w->k.rows[i].live && w->k.rows[j].live && w->before[i] == w->before[j] &&
                find(w->want, i) != find(w->want, j) &&
                !(doubted[find(w->want, i)] && doubted[find(w->want, j)]))
                w->why = "rows that came apart without a doubt";
}

static void check(struct index_world *w)
{
    uint32_t rows = w->k.row_count;
    for (uint32_t i = 0; i < rows; i++)
        w->want[i] = w->got[i] = i;
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < i && w->k.rows[i].live; j++)
            if (w->k.rows[j].live && w->similar[i][j])
                w->want[find(w->want, i)] = find(w->want, j);
    keeping_connect(&w->k, join_got, w);
    for (uint32_t i = 0; i < rows && !w->why; i++)
        for (uint32_t j = 0; j < i && w->k.rows[i].live; j++)
            if (w->k.rows[j].live &&
                (find(w->want, i) == find(w->want, j)) != (find(w->got, i) == find(w->got, j)))
                w->why = "what is kept does not connect what similarity connects";
    if (w->k.keeper == KEEPS_BONDS && !w->why)
        check_doubts(w);
    for (uint32_t i = 0; i < rows; i++) {
        w->before[i] = find(w->want, i);
        w->k.rows[i].doubted = false;
    }
    w->checks++;
}

/* ---- steps ---- */

static void add(struct index_world *w, struct sp_signature *x, uint32_t kind)
{
    uint32_t cell = w->k.cells > 1 ? x->shingle_total % w->k.cells : 0;
    uint32_t row = keeping_add(&w->k, x, cell);
    if (row == SP_STARS_NONE) {
        sp_signature_unref(x);
        return;
    }
    w->kind[row] = kind;
    w->before[row] = row;
    for (uint32_t i = 0; i < w->k.row_count; i++)
        if (w->k.rows[i].live)
            w->similar[i][row] = w->similar[row][i] =
                sp_similar(&w->k.similarity, x, w->k.rows[i].signature, NULL);
    w->count++;
}

static void add_new(struct index_world *w)
{
    uint32_t kind;
    struct sp_signature *x = draw(w, &kind);
    add(w, x, kind);
}

static void remove_row(struct index_world *w, uint32_t row)
{
    sp_signature_unref(w->last);
    w->last = sp_signature_ref(w->k.rows[row].signature);
    keeping_remove(&w->k, row);
    w->count--;
}

static uint32_t some_row(struct index_world *w)
{
    uint32_t row = rnd_below(&w->rnd, w->k.row_count);
    while (!w->k.rows[row].live)
        row = (row + 1) % w->k.row_count;
    return row;
}

static bool is_pivot(const struct index_world *w, uint32_t row)
{
    return sp_stars_pivot(w->k.stars, row) == row && sp_stars_members(w->k.stars, row) > 1;
}

static void remove_pivots(struct index_world *w)
{
    uint32_t most = 1 + rnd_below(&w->rnd, BURST);
    for (uint32_t i = 0; i < w->k.row_count && most > 0; i++)
        if (w->k.rows[i].live && w->count > 1 && is_pivot(w, i) && rnd_chance(&w->rnd, 70)) {
            remove_row(w, i);
            most--;
        }
}

/* Only pivots are left: a bond from a kid no longer connects them. */
static void remove_kids(struct index_world *w)
{
    for (uint32_t i = 0; i < w->k.row_count; i++)
        if (w->k.rows[i].live && w->count > 1 && !is_pivot(w, i))
            remove_row(w, i);
}

/* All rows of a kind leave, or most of them. */
static void remove_kind(struct index_world *w)
{
    uint32_t kind = rnd_below(&w->rnd, KINDS), share = rnd_chance(&w->rnd, 50) ? 100 : 90;
    for (uint32_t i = 0; i < w->k.row_count; i++)
        if (w->k.rows[i].live && w->count > 1 && w->kind[i] == kind && rnd_chance(&w->rnd, share))
            remove_row(w, i);
}

/* The row that left last returns: the spokesman of its content changed, or the hub had left. */
static void return_last(struct index_world *w)
{
    if (w->last)
        add(w, sp_signature_ref(w->last), 0);
    sp_signature_unref(w->last);
    w->last = NULL;
}

static void churn(struct index_world *w)
{
    uint32_t x = rnd_below(&w->rnd, 100);
    if (x < 2)
        remove_pivots(w);
    else if (x < 3)
        remove_kind(w);
    else if (x < 45 && w->count > 1)
        remove_row(w, some_row(w));
    else if (x < 50)
        return_last(w);
    else if (w->count < w->target + BURST)
        add_new(w);
    if (rnd_chance(&w->rnd, 50))
        keeping_work(&w->k, rnd_below(&w->rnd, 5));
}

static void rest(struct index_world *w)
{
    keeping_rest(&w->k);
    check(w);
}

/* ---- worlds ---- */

/* Only a large star moves its pivot, and in few worlds drawn at random does one. */
static void build_in_turn(struct index_world *w, struct sp_similarity_options *o)
{
    static const uint32_t sizes[] = {60, 100, 150};
    sp_similarity_options_default(o);
    w->texts = TEXTS_CENTRES;
    w->in_turn = true;
    w->size = sizes[rnd_below(&w->rnd, 3)];
    w->most = rnd_below(&w->rnd, 8);
    w->kept = 0;
    w->target = 200 + rnd_below(&w->rnd, 100);
}

static void build(struct index_world *w, uint64_t seed)
{
    static const uint32_t sizes[] = {12, 40, 60, 100, 150}, targets[] = {30, 90, 150, 300},
                          rests[] = {1, 5, 40};
    static const double thresholds[SP_METHOD_COUNT] = {0.8, 57.0 / 64, 0.7, 0.6, 0.5, 0.5};
    struct sp_similarity_options o;
    w->rnd.state = seed * 0x9e3779b97f4a7c15ull + 1;
    sp_similarity_options_default(&o);
    o.method = rnd_chance(&w->rnd, 75) ? SP_METHOD_SHINGLES
                                       : (enum sp_method)rnd_below(&w->rnd, SP_METHOD_COUNT);
    o.threshold = thresholds[o.method];
    w->texts = rnd_below(&w->rnd, TEXTS_MIXED + 1);
    w->size = sizes[rnd_below(&w->rnd, 5)];
    w->span = 10 + rnd_below(&w->rnd, rnd_chance(&w->rnd, 50) ? 20 : 150);
    w->most = 1 + w->size * (1 + rnd_below(&w->rnd, 16)) / 100;
    w->kept = rnd_chance(&w->rnd, 20) ? w->size * 3 / 4 : 0;
    w->target = targets[rnd_below(&w->rnd, 4)];
    w->rested = rests[rnd_below(&w->rnd, 3)];
    w->k.keeper = seed % KEEPER_COUNT;
    w->k.cells = w->k.keeper == KEEPS_EDGES && rnd_chance(&w->rnd, 30) ? CELLS_MAX : 1;
    if (seed % 16 >= 14)
        build_in_turn(w, &o);
    keeping_open(&w->k, &o, w->k.keeper == KEEPS_BONDS || rnd_chance(&w->rnd, 50));
}

/* Returns why it failed, or NULL. */
static const char *run(uint64_t seed, enum left_out left_out, uint64_t *checks)
{
    struct index_world *w = sp_calloc(1, sizeof *w);
    w->k.left_out = left_out;
    build(w, seed);
    uint32_t together = rnd_chance(&w->rnd, 30) ? w->target : w->rested;
    for (uint32_t i = 1; i <= w->target && !w->why; i++) {
        add_new(w);
        if (i % together == 0)
            rest(w);
    }
    if (w->in_turn && !w->why) {
        rest(w);
        remove_kids(w);
        rest(w);
    }
    for (uint32_t i = 0; i < w->target && !w->why; i++) {
        churn(w);
        if (rnd_below(&w->rnd, w->rested) == 0)
            rest(w);
    }
    while (w->count > 1 && !w->why) {
        if (rnd_chance(&w->rnd, 10))
            remove_pivots(w);
        else if (rnd_chance(&w->rnd, 5))
            remove_kind(w);
        else
            remove_row(w, some_row(w));
        if (rnd_below(&w->rnd, w->rested) == 0)
            rest(w);
    }
    const char *why = w->why;
    *checks += w->checks;
    keeping_close(&w->k);
    sp_signature_unref(w->last);
    sp_free(w);
    return why;
}

static const char *const left_out_names[] = {"nothing", "risen", "moved", "reliance",
                                             "doubt",   "star",  "anchor"};

static enum left_out left_out_by_name(const char *name)
{
    for (size_t i = 1; i < sizeof left_out_names / sizeof *left_out_names; i++)
        if (strcmp(left_out_names[i], name) == 0)
            return (enum left_out)i;
    fprintf(stderr, "simulate_index: no rule %s\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    if (argc != 3 && (argc != 5 || strcmp(argv[3], "--leave-out") != 0)) {
        fprintf(stderr, "usage: simulate_index FIRST LAST [--leave-out NAME]\n");
        return 2;
    }
    uint64_t first = strtoull(argv[1], NULL, 10), last = strtoull(argv[2], NULL, 10);
    if (last <= first) {
        fprintf(stderr, "simulate_index: no seed is from %s on and before %s\n", argv[1], argv[2]);
        return 2;
    }
    enum left_out left_out = argc == 5 ? left_out_by_name(argv[4]) : LEFT_OUT_NOTHING;
    uint64_t failed = 0, checks = 0;
    for (uint64_t seed = first; seed < last && !(left_out && failed); seed++) {
        const char *why = run(seed, left_out, &checks);
        if (!why)
            continue;
        failed++;
        printf("seed %llu: %s\n", (unsigned long long)seed, why);
        fflush(stdout);
    }
    printf("%llu seeds, %llu failed, %llu checks\n", (unsigned long long)(last - first),
           (unsigned long long)failed, (unsigned long long)checks);
    return left_out ? failed == 0 : failed > 0;
}
