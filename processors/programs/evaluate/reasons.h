/* The words of Table 1 (table1.c). Private to this folder. */
#ifndef SP_EVALUATE_REASONS_H
#define SP_EVALUATE_REASONS_H

#include "evaluate/accuracy.h"
#include "report/report.h"

/* Errors of group pairs, of a way at a milestone. */
double sp_rep_of(const struct sp_accuracy *a, size_t variant, size_t milestone);
double sp_rer_of(const struct sp_accuracy *a, size_t variant, size_t milestone);

void sp_reasons_put_definitions(struct sp_report *report);
/* Of one trace. */
void sp_reasons_put(const struct sp_accuracy *a, const char *name, struct sp_report *report);

#endif
