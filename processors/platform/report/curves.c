/* The series of a plot of lines.
 *
 * Curves often coincide: a lossless map and another, the paper's number and ours. The later one
 * would hide the earlier, so the earlier one is drawn wider there, with larger points: it is seen
 * on both sides of the later one, like a road and its border. */
#include <math.h>

#include "report/canvas.h"

static const double PI = 3.14159265358979323846;
static const double WIDTH = 1.8;
static const double BORDER = 2.2; /* that much wider for each curve on top of it */
static const double CLOSE = 2;    /* points nearer than that hide each other */
enum { COVERED_MOST = 3 };        /* borders are no wider than that many of them */

/* The colours of Okabe and Ito, but that black, which is the text's, is a brown, and that yellow,
 * which is hard to see on white, is a grey. */
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

/* There are fewer shapes than colours, and their counts have no common divisor: no two series look
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

/* How many later series lie on this one at the points from and to. */
static size_t covered(const struct sp_canvas *v, size_t series, size_t from, size_t to)
{
    size_t count = 0;
    for (size_t s = series + 1; s < v->plot->series_count; s++)
        count += hides(v, s, series, from) && hides(v, s, series, to);
    return count < COVERED_MOST ? count : COVERED_MOST;
}

void sp_curve_draw(const struct sp_canvas *v, size_t series)
{
    enum { MARKED = 40 }; /* more points than that are a curve */
    const struct sp_plot *p = v->plot;
    size_t last = SIZE_MAX, width = 0;
    sp_curve_colour(v, series);
    sp_curve_dashes(v, series);
    cairo_set_line_join(v->c, CAIRO_LINE_JOIN_ROUND);
    cairo_new_path(v->c);
    for (size_t i = 0; i < p->x_count; i++) {
        if (!there(p, series, i))
            continue; /* the line goes on to the next point there is */
        double x = sp_axis_place(&v->x, p->x[i]), y = height_of(v, series, i);
        size_t now = last == SIZE_MAX ? 0 : covered(v, series, last, i);
        if (last != SIZE_MAX && now != width && cairo_has_current_point(v->c)) {
            cairo_set_line_width(v->c, WIDTH + BORDER * (double)width);
            cairo_stroke(v->c);
            cairo_move_to(v->c, sp_axis_place(&v->x, p->x[last]), height_of(v, series, last));
        }
        cairo_line_to(v->c, x, y); /* of a new path: a move */
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
