/* What the two users of the star index keep of its reports (stars/stars.h): as little as they do,
 * so that a report that is missing shows. Each rule of theirs can be left out.
 *
 *   bonds   a large group (group/bonds.c): rows are connected by their stars and by bonds. A row
 *           has bonds to rows of other stars only, and loses them whenever it is probed again
 *   edges   the cells of tier 2 (compare/near.c, relied.c, debt.c): rows are connected by the edges
 *           that were reported between present rows, and by nothing else */
#ifndef SP_TESTS_SIMULATION_KEEPERS_H
#define SP_TESTS_SIMULATION_KEEPERS_H

#include "stars/stars.h"

enum { ROWS_MAX = 1024, CELLS_MAX = 2 };

enum keeper { KEEPS_BONDS, KEEPS_EDGES, KEEPER_COUNT };

enum left_out {
    LEFT_OUT_NOTHING,
    LEFT_OUT_RISEN,    /* a kid that rose while a row was inserted is not heard of */
    LEFT_OUT_MOVED,    /* nor are rows that moved to another star */
    LEFT_OUT_RELIANCE, /* rows are not probed again when a row that they rely on leaves its star */
    LEFT_OUT_DOUBT,    /* a row that leaves a large group leaves no doubt about its star */
    LEFT_OUT_STAR,  /* a row is not probed again if nobody knows where the members of the star are
                     * on which it relied */
    LEFT_OUT_ANCHOR /* a cell does not report the row that another one is attached to */
};

struct row_list {
    uint32_t *rows;
    uint32_t count;
    uint32_t cap;
};

struct kept_row {
    struct sp_signature *signature; /* owned; NULL: the number is free */
    uint32_t cell;
    bool live; /* else a ghost, or a number that is free from the next rest on */
    bool ghost;
    bool asking;            /* bonds: it waits to be probed again */
    bool doubted;           /* bonds: a search would start from it */
    uint32_t anchor;        /* edges: the row that it was last linked to */
    struct row_list edges;  /* bonds: to rows of other stars; edges: all that were reported */
    struct row_list relied; /* edges: rows that rely on it */
};

struct recall {
    uint32_t at; /* the cell to probe, or SP_STARS_NONE: all */
    uint32_t row;
    uint32_t mark; /* of the star to probe; 0: all */
};

struct keeping {
    enum keeper keeper;
    enum left_out left_out;
    struct sp_similarity_options similarity;
    struct sp_stars *stars;
    struct sp_stars_domain *domains[CELLS_MAX];
    uint32_t cells;
    struct kept_row rows[ROWS_MAX];
    uint32_t row_count; /* numbers that have been used */
    struct row_list free;
    struct row_list changed; /* edges: as the index reported them */
    struct recall *queue;    /* edges: rows that must probe again */
    uint32_t queue_count;
    uint32_t queue_cap;
};

/* `small`: the index begins with stars that are not posted. */
void keeping_open(struct keeping *k, const struct sp_similarity_options *similarity, bool small);
void keeping_close(struct keeping *k);

/* Adds a row to a cell, taking ownership of the signature; returns its number, or SP_STARS_NONE if
 * there is none left. */
uint32_t keeping_add(struct keeping *k, struct sp_signature *signature, uint32_t cell);
void keeping_remove(struct keeping *k, uint32_t row);
/* edges: does so many units of deferred work; bonds: nothing, as a large group does all or none. */
void keeping_work(struct keeping *k, uint32_t units);
/* Does all deferred work. Numbers of removed rows become free. */
void keeping_rest(struct keeping *k);

/* Joins all rows that what is kept connects. */
void keeping_connect(const struct keeping *k, void (*join)(void *arg, uint32_t a, uint32_t b),
                     void *arg);

#endif
