/* See ends.h. A splay tree for each path, its order from the root outwards. */
#include "group/ends.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/mem.h"

struct sp_end *sp_end_new(struct sp_member *member)
{
    struct sp_end *x = sp_calloc(1, sizeof *x);
    x->member = member;
    x->size = 1;
    return x;
}

static bool is_splay_root(const struct sp_end *x)
{
    SP_ASSERT(x);
    return !x->above || (x->above->left != x && x->above->right != x);
}

static uint32_t size(const struct sp_end *x)
{
    return x ? x->size : 0;
}

static void count(struct sp_end *x)
{
    x->size = 1 + x->behind + size(x->left) + size(x->right);
}

static void rotate(struct sp_end *x)
{
    struct sp_end *y = x->above;
    SP_ASSERT(y);
    struct sp_end *z = y->above;
    if (!is_splay_root(y)) {
        if (z->left == y)
            z->left = x;
        else
            z->right = x;
    }
    x->above = z;
    struct sp_end **inner = y->left == x ? &x->right : &x->left;
    if (y->left == x)
        y->left = *inner;
    else
        y->right = *inner;
    if (*inner)
        (*inner)->above = y;
    *inner = y;
    y->above = x;
    count(y);
    count(x);
}

static void splay(struct sp_end *x)
{
    while (!is_splay_root(x)) {
        struct sp_end *y = x->above;
        if (!is_splay_root(y))
            rotate((y->left == x) == (y->above->left == y) ? y : x);
        rotate(x);
    }
}

/* Afterwards the path from the root to x is one splay tree, of which x is the root and the last. */
static void access(struct sp_end *x)
{
    struct sp_end *below = NULL;
    for (struct sp_end *y = x; y; y = y->above) {
        splay(y);
        y->behind += size(y->right);
        y->behind -= size(below);
        y->right = below;
        count(y);
        below = y;
    }
    splay(x);
}

struct sp_end *sp_end_root(struct sp_end *x)
{
    access(x);
    while (x->left)
        x = x->left;
    splay(x);
    return x;
}

void sp_end_link(struct sp_end *x, struct sp_end *y)
{
    access(x);
    SP_ASSERT(!x->left);
    access(y);
    x->above = y;
    y->behind += x->size;
    count(y);
}

void sp_end_cut(struct sp_end *x)
{
    access(x);
    SP_ASSERT(x->left);
    x->left->above = NULL;
    x->left = NULL;
    count(x);
}

uint32_t sp_end_size(struct sp_end *x)
{
    access(x);
    return 1 + x->behind;
}
