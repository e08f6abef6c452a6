/* One axis of a plot: which values its ticks have, and where a value lies. Private to this folder.
 */
#ifndef SP_REPORT_AXIS_H
#define SP_REPORT_AXIS_H

#include <stdbool.h>
#include <stddef.h>

enum { SP_TICKS_MAX = 32 };

struct sp_axis {
    bool log;
    double lo; /* values at the ends */
    double hi;
    double from; /* and where they are drawn */
    double to;
    double ticks[SP_TICKS_MAX];
    size_t tick_count;
};

/* Over the values lo … hi, ends moved outwards to ticks. */
void sp_axis_init(struct sp_axis *a, double lo, double hi, bool log);
/* Over the values themselves: each is a tick, where they are few. */
void sp_axis_init_values(struct sp_axis *a, const double *values, size_t count, bool log);
double sp_axis_place(const struct sp_axis *a, double value);
/* "2,000", "0.05", "316M", "10⁻⁵": the text of a tick, in the style of this axis and with enough
 * digits to distinguish neighbouring ticks. */
void sp_axis_label(const struct sp_axis *a, double value, char *ret_text, size_t size);
/* Into a whole number, a comma before each three digits, where there is room. */
void sp_digits_group(char *text, size_t size);

#endif
