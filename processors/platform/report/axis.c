/* Ticks at round numbers: 1, 2 or 5 times a power of ten (P. Heckbert, "Nice Numbers for Graph
 * Labels", Graphics Gems, 1990); powers of ten, or of two where those are few, on a logarithmic
 * axis. */
#include "report/axis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
    if (!(lo <= hi)) /* there are no values */
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

void sp_digits_group(char *text, size_t size)
{
    size_t n = strlen(text), digits = text[0] == '-' ? n - 1 : n;
    if (n + digits / 3 + 1 > size)
        return;
    for (size_t left = 3; left < digits; left += 3) {
        size_t at = n - left;
        size_t moved = strlen(text) - at;
        memmove(text + at + 1, text + at, moved + 1);
        text[at] = ',';
    }
}

/* All ticks of an axis are written in one style: as plain numbers if the largest is below a million
 * and the smallest at least 0.0001; else with units, or with powers of ten. */
enum style { PLAIN, UNITS, POWERS };

static enum style style_of(const struct sp_axis *a)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < a->tick_count; i++) {
        most = fmax(most, fabs(a->ticks[i]));
        if (a->ticks[i] != 0)
            least = fmin(least, fabs(a->ticks[i]));
    }
    return most >= 1e6 ? UNITS : least < 1e-4 ? POWERS : PLAIN;
}

static void put_plain(const struct sp_axis *a, double value, char *ret_text, size_t size)
{
    double least = INFINITY;
    for (size_t i = 0; i + 1 < a->tick_count; i++)
        least = fmin(least, fabs(a->ticks[i + 1] - a->ticks[i]));
    if (a->log)
        least = fabs(value);
    int decimals = 0;
    while (decimals < 6 && fabs(remainder(value, pow(10, -decimals))) > 1e-6 * least)
        decimals++;
    if (!a->log) /* so that all labels have the same number of digits */
        for (size_t i = 0; i < a->tick_count; i++)
            while (decimals < 6 && fabs(remainder(a->ticks[i], pow(10, -decimals))) > 1e-6 * least)
                decimals++;
    snprintf(ret_text, size, "%.*f", decimals, value);
    if (decimals == 0)
        sp_digits_group(ret_text, size);
}

static void put_units(double value, int digits, char *ret_text, size_t size)
{
    static const char *const units[] = {"", "k", "M", "G", "T", "P"};
    size_t unit = 0;
    char rounded[32];
    /* Rounding first, because it may change the unit: 999,999 becomes 1M. */
    snprintf(rounded, sizeof rounded, "%.*e", digits - 1, value);
    value = strtod(rounded, NULL);
    while (unit + 1 < sizeof units / sizeof *units && fabs(value) >= 1000) {
        value /= 1000;
        unit++;
    }
    snprintf(ret_text, size, "%.*g%s", digits, value, units[unit]);
}

static void put_power(double value, int digits, char *ret_text, size_t size)
{
    static const char *const figures[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char text[48];
    if (value == 0) {
        snprintf(ret_text, size, "0");
        return;
    }
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    double mantissa = strtod(text, NULL) / pow(10, exponent);
    char raised[32];
    size_t n = 0;
    snprintf(text, sizeof text, "%d", exponent);
    for (const char *c = text; *c && n + 4 < sizeof raised; c++)
        n += (size_t)snprintf(raised + n, sizeof raised - n, "%s",
                              *c == '-' ? "⁻" : figures[*c - '0']);
    if (fabs(mantissa - 1) < 1e-9)
        snprintf(ret_text, size, "10%s", raised);
    else
        snprintf(ret_text, size, "%.*g·10%s", digits, mantissa, raised);
}

static void put_rounded(enum style style, double value, int digits, char *ret_text, size_t size)
{
    if (style == UNITS)
        put_units(value, digits, ret_text, size);
    else
        put_power(value, digits, ret_text, size);
}

void sp_axis_label(const struct sp_axis *a, double value, char *ret_text, size_t size)
{
    /* More than DIGITS only where neighbouring ticks would have equal labels. */
    enum { DIGITS = 3, DIGITS_MOST = 9 };
    enum style style = style_of(a);
    char one[64], next[64];
    int digits = DIGITS;
    if (style == PLAIN) {
        put_plain(a, value, ret_text, size);
        return;
    }
    for (size_t i = 0; i + 1 < a->tick_count && digits < DIGITS_MOST;) {
        put_rounded(style, a->ticks[i], digits, one, sizeof one);
        put_rounded(style, a->ticks[i + 1], digits, next, sizeof next);
        if (strcmp(one, next) == 0)
            digits++;
        else
            i++;
    }
    put_rounded(style, value, digits, ret_text, size);
}
