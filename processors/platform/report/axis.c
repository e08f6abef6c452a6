/* Ticks at round numbers: 1, 2 or 5 times a power of ten (P. Heckbert, "Nice Numbers for Graph
 * Labels", Graphics Gems, 1990); powers of ten, or of two where those are few, on a logarithmic
 * axis. */
#include "report/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double nice_step(double range)
{
    double rough = range / 5, power = pow(10, floor(log10(rough))), digit = rough / power;
    return power * (digit < 1.5 ? 1 : digit < 3 ? 2 : digit < 7 ? 5 : 10);
}

static void add_tick(struct sp_axis *a, double value)
{
    if (a->tick_count < SP_TICKS_MAX)
        a->ticks[a->tick_count++] = value;
}

static void init_log(struct sp_axis *a, double lo, double hi)
{
    double base = hi / lo > 300 ? 10 : 2;
    int first = (int)floor(log(lo) / log(base) + 1e-9);
    int last = (int)ceil(log(hi) / log(base) - 1e-9);
    if (last <= first)
        last = first + 1;
    int by = (last - first) / 10 + 1;
    for (int i = first; i < last + by; i += by)
        add_tick(a, pow(base, i));
}

static void init_linear(struct sp_axis *a, double lo, double hi)
{
    double step = nice_step(hi - lo);
    long first = (long)floor(lo / step + 1e-9), last = (long)ceil(hi / step - 1e-9);
    for (long i = first; i <= last; i++)
        add_tick(a, (double)i * step);
}

void sp_axis_init(struct sp_axis *a, double lo, double hi, bool log_scale)
{
    memset(a, 0, sizeof *a);
    a->log = log_scale;
    if (!(lo <= hi)) /* no value at all */
        lo = hi = 1;
    if (!log_scale && hi - lo < 1e-12 * fmax(fabs(lo), 1e-300)) {
        double around = lo != 0 ? fabs(lo) * 0.1 : 1;
        lo -= around;
        hi += around;
    }
    if (log_scale)
        init_log(a, lo, hi);
    else
        init_linear(a, lo, hi);
    a->lo = a->ticks[0];
    a->hi = a->ticks[a->tick_count - 1];
}

void sp_axis_init_values(struct sp_axis *a, const double *values, size_t count, bool log_scale)
{
    enum { FEW = 12 };
    size_t first = 0;
    while (log_scale && first < count && !(values[first] > 0))
        first++;
    sp_axis_init(a, first < count ? values[first] : 1, first < count ? values[count - 1] : 1,
                 log_scale);
    if (count - first < 2)
        return;
    a->lo = values[first];
    a->hi = values[count - 1];
    if (count - first <= FEW) {
        a->tick_count = 0;
        for (size_t i = first; i < count; i++)
            add_tick(a, values[i]);
        return;
    }
    size_t kept = 0;
    for (size_t i = 0; i < a->tick_count; i++)
        if (a->ticks[i] >= a->lo && a->ticks[i] <= a->hi)
            a->ticks[kept++] = a->ticks[i];
    a->tick_count = kept;
}

double sp_axis_place(const struct sp_axis *a, double value)
{
    double share =
        a->log ? log(value / a->lo) / log(a->hi / a->lo) : (value - a->lo) / (a->hi - a->lo);
    return a->from + share * (a->to - a->from);
}

static void group_digits(char *text, size_t size)
{
    size_t n = strlen(text), digits = text[0] == '-' ? n - 1 : n;
    if (digits < 5 || n + digits / 3 + 1 > size)
        return;
    for (size_t left = 3; left < digits; left += 3) {
        size_t at = n - left;
        size_t moved = strlen(text) - at;
        memmove(text + at + 1, text + at, moved + 1);
        text[at] = ',';
    }
}

void sp_axis_label(const struct sp_axis *a, double value, char *ret_text, size_t size)
{
    double least = INFINITY;
    for (size_t i = 0; i + 1 < a->tick_count; i++)
        least = fmin(least, fabs(a->ticks[i + 1] - a->ticks[i]));
    if (a->log)
        least = fabs(value);
    if (fabs(value) >= 1e9) {
        snprintf(ret_text, size, "%.3g", value);
        return;
    }
    int decimals = 0;
    while (decimals < 6 && fabs(remainder(value, pow(10, -decimals))) > 1e-6 * least)
        decimals++;
    if (!a->log) /* all labels alike */
        for (size_t i = 0; i < a->tick_count; i++)
            while (decimals < 6 && fabs(remainder(a->ticks[i], pow(10, -decimals))) > 1e-6 * least)
                decimals++;
    snprintf(ret_text, size, "%.*f", decimals, value);
    if (decimals == 0)
        group_digits(ret_text, size);
}
