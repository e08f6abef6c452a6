/* links: sp_cover sp_relation */
/* Any text as a relation and as a filter: accepted, or refused with the position of the error;
 * never a crash. An accepted relation prints as a text of the same meaning, can be planned, and can
 * be evaluated. The plan loses no pair: where the relation holds, all atoms of one of its paths
 * hold. */
#include <math.h>

#include "base/assert.h"
#include "cover/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool print(const char *source, enum sp_relation_kind kind, struct sp_buf *out)
{
    struct sp_relation *r = NULL;
    struct sp_fault fault = {""};
    sp_buf_reset(out);
    if (sp_relation_parse(source, kind, &r, &fault) != SP_OK) {
        SP_ASSERT(strncmp(fault.text, "column ", 7) == 0 && strchr(fault.text, '^'));
        return false;
    }
    sp_relation_put(r->root, kind, out);
    sp_buf_put_u8(out, 0);
    sp_relation_free(r);
    return true;
}

static bool path_allows(const struct sp_path *path, const struct sp_relation_pair *pair)
{
    double overlap = pair->overlap + 1e-6;
    for (unsigned side = 0; side < 2; side++) {
        if (overlap < path->share[side] * pair->size[side])
            return false;
        for (size_t i = 0; i < path->sided_count[side]; i++)
            if (!sp_atom_holds(&path->sided[side][i], pair))
                return false;
    }
    for (size_t i = 0; i < path->range_count; i++) {
        const struct sp_plan_range *r = &path->ranges[i];
        double f = sp_relation_number(r->of_a, pair), g = sp_relation_number(r->of_b, pair);
        double rounding = 1e-9 * (fabs(f) + fabs(g) + fabs(r->offset));
        if (isfinite(rounding) && r->sign * f > r->sign * g + r->offset + rounding)
            return false;
    }
    for (size_t i = 0; i < path->atom_count; i++)
        if (!sp_atom_holds(&path->atoms[i], pair))
            return false;
    return true;
}

static void check_plan(const char *source)
{
    struct sp_relation *r = NULL;
    struct sp_plan plan;
    struct sp_buf out = {0};
    struct sp_fault fault = {""};
    struct sp_view texts[2] = {sp_view_str("x.example"), sp_view_str("y.example")};
    union sp_cell cells[2][SP_FIELD_COUNT];
    if (sp_relation_parse(source, SP_RELATION, &r, &fault) != SP_OK)
        return;
    sp_plan_make(r, &plan);
    sp_plan_put(&plan, &out);
    for (uint32_t trial = 0; trial < 8; trial++) {
        for (uint32_t d = 0; d < 2; d++)
            for (size_t f = 0; f < SP_FIELD_COUNT; f++) {
                bool number = f == SP_FIELD_timestamp || f >= SP_FIELD_popularity;
                uint32_t value = d & trial & 1;
                cells[d][f] = number ? (union sp_cell){.number = value * 1e12}
                                     : (union sp_cell){.text = &texts[value]};
            }
        struct sp_relation_pair pair = {.document = {cells[0], cells[1]},
                                        .size = {10, trial & 2 ? 10 : 40},
                                        .overlap = trial & 4 ? 10 : 7};
        bool allowed = !sp_relation_holds(r->root, &pair);
        for (size_t p = 0; p < plan.path_count && !allowed; p++)
            allowed = path_allows(&plan.paths[p], &pair);
        SP_ASSERT(allowed);
    }
    sp_buf_done(&out);
    sp_plan_done(&plan);
    sp_relation_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *source = sp_view_dup(sp_view(data, size));
    struct sp_buf once = {0}, twice = {0};
    for (unsigned kind = SP_RELATION; kind <= SP_FILTER; kind++)
        if (print(source, (enum sp_relation_kind)kind, &once)) {
            SP_ASSERT(print(once.data, (enum sp_relation_kind)kind, &twice));
            SP_ASSERT(sp_view_eq(sp_buf_view(&once), sp_buf_view(&twice)));
        }
    check_plan(source);
    sp_buf_done(&once);
    sp_buf_done(&twice);
    sp_free(source);
    return 0;
}
