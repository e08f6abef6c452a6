/* See keepers.h. */
#include "keepers.h"

#include "base/assert.h"
#include "base/mem.h"

enum { NO_ROW = SP_STARS_NONE };

static void list_add(struct row_list *list, uint32_t row)
{
    sp_grow(&list->rows, &list->cap, list->count + 1);
    list->rows[list->count++] = row;
}

static void list_drop(struct row_list *list, uint32_t row)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->rows[i] != row)
            list->rows[kept++] = list->rows[i];
    list->count = kept;
}

static bool list_has(const struct row_list *list, uint32_t row)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->rows[i] == row)
            return true;
    return false;
}

static void list_add_once(struct row_list *list, uint32_t row)
{
    if (!list_has(list, row))
        list_add(list, row);
}

static struct row_list list_of(const uint32_t *rows, size_t count)
{
    struct row_list list = {0};
    for (size_t i = 0; i < count; i++)
        list_add(&list, rows[i]);
    return list;
}

static struct sp_stars_domain *domain_of(const struct keeping *k, uint32_t row)
{
    return k->domains[k->rows[row].cell];
}

static void must(enum sp_err err)
{
    SP_ASSERT(err == SP_OK);
}

/* ---- the index ---- */

static enum sp_err signature_of(void *arg, uint32_t row, const struct sp_signature **ret_signature)
{
    struct keeping *k = arg;
    SP_ASSERT(row < k->row_count && (k->rows[row].live || k->rows[row].ghost));
    *ret_signature = k->rows[row].signature;
    return SP_OK;
}

static uint64_t name_of(void *arg, uint32_t row)
{
    const struct keeping *k = arg;
    SP_ASSERT(row < k->row_count && (k->rows[row].live || k->rows[row].ghost));
    return k->rows[row].signature->content_hash.lo;
}

static void on_changed(void *arg, uint32_t row)
{
    struct keeping *k = arg;
    list_add(&k->changed, row);
}

void keeping_open(struct keeping *k, const struct sp_similarity_options *similarity, bool small)
{
    k->similarity = *similarity;
    k->stars = sp_stars_new(&(struct sp_stars_options){.similarity = *similarity,
                                                       .signature = signature_of,
                                                       .name = name_of,
                                                       .changed = on_changed,
                                                       .arg = k,
                                                       .twins = k->keeper == KEEPS_EDGES,
                                                       .orphans_apart = k->keeper == KEEPS_EDGES,
                                                       .marks = k->keeper == KEEPS_EDGES});
    for (uint32_t i = 0; i < k->cells; i++)
        k->domains[i] = sp_stars_domain_new(k->stars, 1 + i, small);
}

void keeping_close(struct keeping *k)
{
    for (uint32_t i = 0; i < k->row_count; i++) {
        sp_signature_unref(k->rows[i].signature);
        sp_free(k->rows[i].edges.rows);
        sp_free(k->rows[i].relied.rows);
    }
    sp_stars_free(k->stars);
    for (uint32_t i = 0; i < k->cells; i++)
        sp_stars_domain_free(k->domains[i]);
    sp_free(k->free.rows);
    sp_free(k->changed.rows);
    sp_free(k->queue);
}

/* ---- bonds ---- */

static void ask_again(struct keeping *k, uint32_t row)
{
    k->rows[row].asking = true;
}

static void ask_reliers(struct keeping *k, uint32_t row)
{
    if (k->left_out == LEFT_OUT_RELIANCE)
        return;
    for (uint32_t i = 0; i < k->row_count; i++)
        if (k->rows[i].live && list_has(&k->rows[i].edges, row))
            ask_again(k, i);
}

static void moved(struct keeping *k, uint32_t row)
{
    ask_again(k, row);
    ask_reliers(k, row);
}

static void note_bonds(struct keeping *k, uint32_t row, const struct sp_touches *touches)
{
    uint32_t star = sp_stars_pivot(k->stars, row);
    for (size_t i = 0; i < touches->count; i++) {
        uint32_t touched = touches->items[i].row;
        if (touched != row && sp_stars_pivot(k->stars, touched) != star)
            list_add(&k->rows[row].edges, touched);
    }
}

static void insert_bonds(struct keeping *k, uint32_t row)
{
    struct sp_touches touches;
    k->rows[row].edges.count = 0;
    k->rows[row].live = true;
    must(sp_stars_insert(domain_of(k, row), row, k->rows[row].signature, &touches));
    note_bonds(k, row, &touches);
    k->rows[row].doubted = true;
    if (touches.risen != NO_ROW && k->left_out != LEFT_OUT_RISEN)
        moved(k, touches.risen);
}

static void doubt_row(void *arg, uint32_t row)
{
    struct keeping *k = arg;
    k->rows[row].doubted = true;
}

static void doubt_what_hangs_on(struct keeping *k, uint32_t row)
{
    const struct row_list *out = &k->rows[row].edges;
    uint32_t pivot = sp_stars_pivot(k->stars, row);
    for (uint32_t i = 0; i < out->count; i++)
        k->rows[out->rows[i]].doubted = true;
    for (uint32_t i = 0; i < k->row_count; i++)
        k->rows[i].doubted |= k->rows[i].live && list_has(&k->rows[i].edges, row);
    if (k->left_out == LEFT_OUT_DOUBT)
        return;
    if (pivot == row)
        sp_stars_each_member(k->stars, row, doubt_row, k);
    else if (pivot != NO_ROW)
        k->rows[pivot].doubted = true;
}

static void remove_bonds(struct keeping *k, uint32_t row)
{
    doubt_what_hangs_on(k, row);
    ask_reliers(k, row);
    for (uint32_t i = 0; i < k->row_count; i++)
        list_drop(&k->rows[i].edges, row);
    k->rows[row].edges.count = 0;
    must(sp_stars_remove(domain_of(k, row), row, &k->rows[row].ghost));
    k->rows[row].live = false;
}

static void probe_bonds(struct keeping *k, uint32_t row)
{
    struct sp_touches touches;
    must(sp_stars_probe(domain_of(k, row), k->rows[row].signature, row, &touches));
    k->rows[row].edges.count = 0;
    note_bonds(k, row, &touches);
    k->rows[row].doubted = true;
}

static void rest_bonds(struct keeping *k)
{
    enum { KIDS = 1 << 20 };
    struct sp_stars_left left;
    while (sp_stars_owes(k->domains[0])) {
        must(sp_stars_work(k->domains[0], KIDS, &left));
        struct row_list again = list_of(left.rows, left.count);
        for (size_t i = 0; i < left.moved_count && k->left_out != LEFT_OUT_MOVED; i++)
            moved(k, left.moved[i]);
        for (size_t i = 0; i < left.ghost_count; i++)
            k->rows[left.ghosts[i]].ghost = false;
        for (uint32_t i = 0; i < again.count; i++) {
            ask_reliers(k, again.rows[i]);
            insert_bonds(k, again.rows[i]);
        }
        sp_free(again.rows);
    }
    for (uint32_t row = 0; row < k->row_count; row++) {
        if (k->rows[row].asking && k->rows[row].live)
            probe_bonds(k, row);
        k->rows[row].asking = false;
    }
}

/* ---- edges ---- */

static void queue_add(struct keeping *k, struct recall recall)
{
    if (k->left_out == LEFT_OUT_RELIANCE)
        return;
    sp_grow(&k->queue, &k->queue_cap, k->queue_count + 1);
    k->queue[k->queue_count++] = recall;
}

/* `mark`: of the star that the row has left, or 0. */
static void end_reliance(struct keeping *k, uint32_t row, uint32_t mark)
{
    struct row_list *relied = &k->rows[row].relied;
    uint32_t cell = k->rows[row].cell;
    for (uint32_t i = 0; i < relied->count; i++) {
        uint32_t by = relied->rows[i];
        queue_add(k, (struct recall){cell, by, k->rows[by].cell == cell ? mark : 0});
    }
    relied->count = 0;
}

static void left_star(struct keeping *k, uint32_t row)
{
    k->rows[row].anchor = NO_ROW;
    end_reliance(k, row, 0);
    queue_add(k, (struct recall){NO_ROW, row, 0});
}

static void follow_row(struct keeping *k, uint32_t row)
{
    struct kept_row *r = &k->rows[row];
    if (!r->live || !sp_stars_has(k->stars, row))
        return;
    uint32_t anchor = sp_stars_anchor(k->stars, row);
    if (anchor == r->anchor || (anchor == row && r->anchor == NO_ROW))
        return;
    if (anchor == row || anchor == NO_ROW) {
        if (r->anchor != NO_ROW && k->left_out != LEFT_OUT_MOVED)
            left_star(k, row);
        return;
    }
    r->anchor = anchor;
    if (k->left_out != LEFT_OUT_ANCHOR)
        list_add_once(&r->edges, anchor);
}

static void follow(struct keeping *k)
{
    for (uint32_t i = 0; i < k->changed.count; i++)
        follow_row(k, k->changed.rows[i]);
    k->changed.count = 0;
}

static bool are_linked(const struct keeping *k, uint32_t a, uint32_t b)
{
    uint32_t anchor = sp_stars_anchor(k->stars, a);
    return sp_stars_together(k->stars, a, b) && (anchor == a || anchor == k->rows[a].anchor) &&
           sp_stars_anchor(k->stars, b) != NO_ROW;
}

/* `own`: the row was probed in its own cell. */
static void note_edges(struct keeping *k, uint32_t row, bool own, const struct sp_touches *touches)
{
    struct kept_row *r = &k->rows[row];
    for (size_t i = 0; i < touches->count; i++) {
        uint32_t touched = touches->items[i].row;
        if (own && are_linked(k, row, touched))
            continue;
        list_add_once(&r->edges, touched);
        if (own && sp_stars_anchor(k->stars, row) == touched)
            r->anchor = touched;
        else if (!own || !sp_stars_together(k->stars, row, touched))
            list_add_once(&k->rows[touched].relied, row);
    }
    if (touches->twin != NO_ROW)
        list_add_once(&k->rows[touches->twin].relied, row);
}

static void probe_cell(struct keeping *k, uint32_t row, uint32_t cell)
{
    struct sp_touches touches;
    if (cell == k->rows[row].cell)
        must(sp_stars_probe_row(k->domains[cell], row, k->rows[row].signature, &touches));
    else
        must(sp_stars_probe(k->domains[cell], k->rows[row].signature, NO_ROW, &touches));
    note_edges(k, row, cell == k->rows[row].cell, &touches);
}

static bool probe_star(struct keeping *k, uint32_t row, uint32_t mark)
{
    struct sp_touches touches;
    bool known;
    must(sp_stars_probe_marked(domain_of(k, row), mark, row, k->rows[row].signature, &touches,
                               &known));
    if (known)
        note_edges(k, row, true, &touches);
    return known;
}

static void probe_others(struct keeping *k, uint32_t row)
{
    for (uint32_t cell = 0; cell < k->cells; cell++)
        if (cell != k->rows[row].cell)
            probe_cell(k, row, cell);
}

static void enter(struct keeping *k, uint32_t row)
{
    struct sp_touches touches;
    k->rows[row].live = true;
    k->rows[row].anchor = NO_ROW;
    must(sp_stars_insert(domain_of(k, row), row, k->rows[row].signature, &touches));
    note_edges(k, row, true, &touches);
    follow(k);
    probe_others(k, row);
}

static void remove_edges(struct keeping *k, uint32_t row)
{
    if (sp_stars_members(k->stars, row) > 1 || sp_stars_ghost(k->stars, row) != NO_ROW)
        end_reliance(k, row, sp_stars_mark(k->stars, row));
    k->rows[row].relied.count = 0;
    must(sp_stars_remove(domain_of(k, row), row, &k->rows[row].ghost));
    k->rows[row].live = false;
    k->rows[row].anchor = NO_ROW;
    k->rows[row].edges.count = 0;
    for (uint32_t i = 0; i < k->row_count; i++) {
        list_drop(&k->rows[i].edges, row);
        list_drop(&k->rows[i].relied, row);
    }
    follow(k);
}

static void pay_recall(struct keeping *k, struct recall recall)
{
    if (!k->rows[recall.row].live)
        return;
    if (recall.mark && (probe_star(k, recall.row, recall.mark) || k->left_out == LEFT_OUT_STAR))
        return;
    if (recall.at != NO_ROW) {
        probe_cell(k, recall.row, recall.at);
        return;
    }
    probe_cell(k, recall.row, k->rows[recall.row].cell);
    probe_others(k, recall.row);
}

static void pay_stars(struct keeping *k, uint32_t cell, uint32_t kids)
{
    struct sp_stars_left left;
    must(sp_stars_work(k->domains[cell], kids, &left));
    struct row_list again = list_of(left.rows, left.count);
    for (size_t i = 0; i < left.ghost_count; i++)
        k->rows[left.ghosts[i]].ghost = false;
    for (size_t i = 0; i < left.heir_count; i++)
        k->rows[left.heirs[i]].anchor = NO_ROW;
    for (size_t i = 0; i < left.moved_count && k->left_out != LEFT_OUT_MOVED; i++) {
        end_reliance(k, left.moved[i], left.moved_marks[i]);
        queue_add(k, (struct recall){NO_ROW, left.moved[i], 0});
    }
    struct row_list marks = list_of(left.row_marks, left.count);
    follow(k);
    for (uint32_t i = 0; i < again.count; i++) {
        end_reliance(k, again.rows[i], marks.rows[i]);
        enter(k, again.rows[i]);
    }
    sp_free(again.rows);
    sp_free(marks.rows);
}

static bool owes(const struct keeping *k)
{
    bool owes = k->queue_count > 0;
    for (uint32_t cell = 0; cell < k->cells; cell++)
        owes |= sp_stars_owes(k->domains[cell]);
    return owes;
}

static void work_edges(struct keeping *k, uint32_t units)
{
    uint32_t recalls = k->queue_count < units ? k->queue_count : units;
    for (uint32_t i = 0; i < recalls; i++)
        pay_recall(k, k->queue[i]);
    k->queue_count -= recalls;
    for (uint32_t i = 0; i < k->queue_count; i++)
        k->queue[i] = k->queue[recalls + i];
    units -= recalls;
    if (k->queue_count == 0)
        sp_stars_forget_marks(k->stars);
    for (uint32_t cell = 0; cell < k->cells && units > 0; cell++)
        if (sp_stars_owes(k->domains[cell]))
            pay_stars(k, cell, units);
}

/* ---- both ---- */

uint32_t keeping_add(struct keeping *k, struct sp_signature *signature, uint32_t cell)
{
    if (!k->free.count && k->row_count == ROWS_MAX)
        return NO_ROW;
    uint32_t row = k->free.count ? k->free.rows[--k->free.count] : k->row_count++;
    struct kept_row *r = &k->rows[row];
    r->signature = signature;
    r->cell = cell;
    r->asking = false;
    if (k->keeper == KEEPS_BONDS)
        insert_bonds(k, row);
    else
        enter(k, row);
    return row;
}

void keeping_remove(struct keeping *k, uint32_t row)
{
    if (k->keeper == KEEPS_BONDS)
        remove_bonds(k, row);
    else
        remove_edges(k, row);
}

void keeping_work(struct keeping *k, uint32_t units)
{
    if (k->keeper == KEEPS_EDGES)
        work_edges(k, units);
}

void keeping_rest(struct keeping *k)
{
    if (k->keeper == KEEPS_BONDS)
        rest_bonds(k);
    while (k->keeper == KEEPS_EDGES && owes(k))
        work_edges(k, 16);
    k->changed.count = 0;
    for (uint32_t row = 0; row < k->row_count; row++) {
        struct kept_row *r = &k->rows[row];
        if (r->live || r->ghost || !r->signature)
            continue;
        sp_signature_unref(r->signature);
        r->signature = NULL;
        list_add(&k->free, row);
    }
}

void keeping_connect(const struct keeping *k, void (*join)(void *arg, uint32_t a, uint32_t b),
                     void *arg)
{
    for (uint32_t row = 0; row < k->row_count; row++) {
        const struct kept_row *r = &k->rows[row];
        if (!r->live)
            continue;
        for (uint32_t i = 0; i < r->edges.count; i++)
            join(arg, row, r->edges.rows[i]);
        uint32_t pivot = sp_stars_pivot(k->stars, row);
        if (k->keeper == KEEPS_BONDS && pivot != NO_ROW)
            join(arg, row, pivot);
    }
}
