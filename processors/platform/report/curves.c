/* Draws the series of a plot of lines.
 *
 * Curves often coincide: two lossless maps, or the paper's numbers and ours. The later curve would
 * hide the earlier one, so there the earlier one is drawn wider, with larger points, and is visible
 * on both sides of the later one, like the border of a road. */
#include <math.h>

#include "report/canvas.h"

static const double PI = 3.14159265358979323846;
static const double WIDTH = 1.8;
static const double BORDER = 2.2; /* added to the width for each curve on top of it */
static const double CLOSE = 2;    /* points nearer to each other than this coincide */
enum { COVERED_MOST = 3 };        /* a border grows no further than for this many curves */

/* The colours of Okabe and Ito, with two changes: brown instead of black, which is the text's
 * colour, and grey instead of yellow, which is hard to see on white. */
static const double colours[][3] = {{0.00, 0.45, 0.70}, {0.84, 0.37, 0.00}, {0.00, 0.62, 0.45},
                                    {0.80, 0.47, 0.65}, {0.90, 0.62, 0.00}, {0.34, 0.71, 0.91},
                                    {0.55, 0.55, 0.55}, {0.60, 0.40, 0.20}};
enum { COLOURS = sizeof colours / sizeof *colours, SHAPES = 5 };

bool sp_curve_usable(double value, bool log)
{
    return isfinite(value) && (!log || value > 0);
}

void sp_curve_colour(const struct sp_canvas *v, size_t series)
{
    const double *rgb = colours[series % COLOURS];
    cairo_set_source_rgb(v->c, rgb[0], rgb[1], rgb[2]);
}

void sp_curve_dashes(const struct sp_canvas *v, size_t series)
{
    static const double pattern[] = {5, 4};
    cairo_set_dash(v->c, pattern, v->plot->series[series].printed ? 2 : 0, 0);
}

static void polygon(cairo_t *c, const double (*corners)[2], size_t count, double x, double y,
                    double r)
{
    for (size_t i = 0; i < count; i++)
        cairo_line_to(c, x + r * corners[i][0], y + r * corners[i][1]);
}

/* The numbers of shapes and colours have no common divisor, so no two of the first 40 series look
 * alike. */
void sp_curve_marker(const struct sp_canvas *v, size_t series, double x, double y, size_t covered)
{
    static const double square[][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    static const double up[][2] = {{0, -1.3}, {1.3, 1}, {-1.3, 1}};
    static const double diamond[][2] = {{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}};
    static const double down[][2] = {{0, 1.3}, {1.3, -1}, {-1.3, -1}};
    const double r = 3.6 + BORDER / 2 * (double)covered;
    cairo_new_path(v->c);
    switch (series % SHAPES) {
    case 0:
        cairo_arc(v->c, x, y, r, 0, 2 * PI);
        break;
    case 1:
        polygon(v->c, square, 4, x, y, r);
        break;
    case 2:
        polygon(v->c, up, 3, x, y, r);
        break;
    case 3:
        polygon(v->c, diamond, 4, x, y, r);
        break;
    default:
        polygon(v->c, down, 3, x, y, r);
    }
    cairo_close_path(v->c);
    if (v->plot->series[series].printed)
        cairo_stroke(v->c);
    else
        cairo_fill(v->c);
}

static bool there(const struct sp_plot *p, size_t series, size_t i)
{
    return sp_curve_usable(p->series[series].y[i], p->y_log) && sp_curve_usable(p->x[i], p->x_log);
}

static double height_of(const struct sp_canvas *v, size_t series, size_t i)
{
    return sp_axis_place(&v->y, v->plot->series[series].y[i]);
}

static bool hides(const struct sp_canvas *v, size_t upper, size_t lower, size_t i)
{
    return there(v->plot, upper, i) && there(v->plot, lower, i) &&
           fabs(height_of(v, upper, i) - height_of(v, lower, i)) < CLOSE;
}

/* Counts the later series that coincide with this one between the points from and to. */
static size_t covered(const struct sp_canvas *v, size_t series, size_t from, size_t to)
{
    size_t count = 0;
    for (size_t s = series + 1; s < v->plot->series_count; s++)
        count += hides(v, s, series, from) && hides(v, s, series, to);
    return count < COVERED_MOST ? count : COVERED_MOST;
}

void sp_curve_draw(const struct sp_canvas *v, size_t series)
{
    enum { MARKED = 40 }; /* with more points than this, none is marked */
    const struct sp_plot *p = v->plot;
    size_t last = SIZE_MAX, width = 0;
    sp_curve_colour(v, series);
    sp_curve_dashes(v, series);
    cairo_set_line_join(v->c, CAIRO_LINE_JOIN_ROUND);
    cairo_new_path(v->c);
    for (size_t i = 0; i < p->x_count; i++) {
        if (!there(p, series, i))
            continue; /* the line continues at the next point that has a value */
        double x = sp_axis_place(&v->x, p->x[i]), y = height_of(v, series, i);
        size_t now = last == SIZE_MAX ? 0 : covered(v, series, last, i);
        if (last != SIZE_MAX && now != width && cairo_has_current_point(v->c)) {
            cairo_set_line_width(v->c, WIDTH + BORDER * (double)width);
            cairo_stroke(v->c);
            cairo_move_to(v->c, sp_axis_place(&v->x, p->x[last]), height_of(v, series, last));
        }
        cairo_line_to(v->c, x, y); /* at the start of a path, this only moves */
        width = now;
        last = i;
    }
    cairo_set_line_width(v->c, WIDTH + BORDER * (double)width);
    cairo_stroke(v->c);
    cairo_set_dash(v->c, NULL, 0, 0);
    cairo_set_line_width(v->c, WIDTH);
    for (size_t i = 0; i < p->x_count && p->x_count <= MARKED; i++)
        if (there(p, series, i))
            sp_curve_marker(v, series, sp_axis_place(&v->x, p->x[i]), height_of(v, series, i),
                            covered(v, series, i, i));
}
