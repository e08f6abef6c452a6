/* One axis of a plot: the values of its ticks, and where a value is drawn. Ticks are at 1, 2 or 5
 * times a power of ten (Heckbert, "Nice Numbers for Graph Labels", Graphics Gems, 1990), on a
 * logarithmic axis at powers of ten or two. Private to this folder. */
#ifndef SP_REPORT_AXIS_H
#define SP_REPORT_AXIS_H

#include <stdbool.h>
#include <stddef.h>

enum { SP_TICKS_MAX = 32 };

struct sp_axis {
    bool log;
    double lo; /* values at the ends */
    double hi;
    double from; /* where lo and hi are drawn; the caller sets these */
    double to;
    double ticks[SP_TICKS_MAX];
    size_t tick_count;
};

/* An axis that holds the values from lo to hi, extended to the next tick on both sides. */
void sp_axis_init(struct sp_axis *a, double lo, double hi, bool log);
/* An axis that holds these values. If they are few, each is a tick. */
void sp_axis_init_values(struct sp_axis *a, const double *values, size_t count, bool log);
/* Where the value is drawn, between `from` and `to` for values of the axis. */
double sp_axis_place(const struct sp_axis *a, double value);
/* "2,000", "0.05", "316M", "10⁻⁵": the text of a tick, in the style of this axis and with enough
 * digits to distinguish neighbouring ticks. */
void sp_axis_label(const struct sp_axis *a, double value, char *ret_text, size_t size);
/* Inserts a comma before each group of three digits of a whole number, if `size` bytes are enough.
 */
void sp_digits_group(char *text, size_t size);

#endif
