/* The queue of recalls: rows that must probe again, because a row that they relied on has left its
 * star (relied.c). It outlasts a restart. */
#include "base/mem.h"
#include "compare/cell.h"

static void enqueue(struct sp_compare_stage *c, struct sp_recall recall)
{
    if (c->queue_first > 0 && c->queue_first * 2 >= c->queue_count) {
        c->queue_count -= c->queue_first;
        memmove(c->queue, c->queue + c->queue_first, c->queue_count * sizeof *c->queue);
        c->queue_first = 0;
    }
    sp_grow(&c->queue, &c->queue_cap, c->queue_count + 1);
    c->queue[c->queue_count++] = recall;
}

void sp_recalls_add(struct sp_compare_stage *c, struct sp_recall recall)
{
    if (c->options.canary == SP_COMPARE_NO_RELIANCE)
        return;
    enqueue(c, recall);
    sp_recall_note(c, true, &recall);
}

static bool is_last(const struct sp_compare_stage *c, const struct sp_recall *recall)
{
    if (c->queue_count == 0)
        return false;
    const struct sp_recall *last = &c->queue[c->queue_count - 1];
    return last->at == recall->at && last->home == recall->home &&
           sp_id_eq(last->content, recall->content);
}

void sp_recalls_restore(struct sp_compare_stage *c, struct sp_recall recall)
{
    struct sp_recall all = {recall.at, recall.home, recall.content, 0};
    if (recall.mark == 0) {
        enqueue(c, recall);
        return;
    }
    sp_recall_note(c, false, &recall);
    if (!is_last(c, &recall))
        sp_recalls_add(c, all);
}

bool sp_recalls_take(struct sp_compare_stage *c, struct sp_recall *ret_recall)
{
    if (c->queue_first == c->queue_count) {
        sp_stars_forget_marks(c->stars);
        return false;
    }
    *ret_recall = c->queue[c->queue_first++];
    sp_recall_note(c, false, ret_recall);
    return true;
}
