/* What the parts of a plot draw on. Private to this folder. */
#ifndef SP_REPORT_CANVAS_H
#define SP_REPORT_CANVAS_H

#include <cairo.h>

#include "report/axis.h"
#include "report/internal.h"

enum { SP_LABEL_LINES = 12 }; /* of one label, at most */

static const double SP_LABEL_LINE = 15; /* from one line of a label to the next */

/* A text as it is drawn: clean UTF-8, in lines. */
struct sp_label {
    struct sp_buf text; /* the lines, each followed by a 0 byte */
    const char *lines[SP_LABEL_LINES];
    size_t count;
    double width; /* of the widest */
};

struct sp_canvas {
    cairo_t *c;
    const struct sp_plot *plot;
    const char *note; /* above the plot; NULL: none */
    struct sp_axis x;
    struct sp_axis y;
    struct sp_label x_label;
    struct sp_label y_label;
    struct sp_label legend[SP_SERIES_MAX];
    double height;
};

/* ---- label.c ---- */

/* Broken between words so that no line is wider than `most`; within a word where it alone is. */
void sp_label_init(struct sp_label *l, cairo_t *c, const char *text, double most);
void sp_label_done(struct sp_label *l);
/* The first line's base line is at y. `align`: 0 begins at x, 0.5 is centred, 1 ends there. */
void sp_label_draw(const struct sp_label *l, cairo_t *c, double x, double y, double align);
double sp_label_height(const struct sp_label *l);

/* ---- curves.c ---- */

bool sp_curve_usable(double value, bool log);
void sp_curve_colour(const struct sp_canvas *v, size_t series);
/* Dashed where the series is printed in the paper, else whole. */
void sp_curve_dashes(const struct sp_canvas *v, size_t series);
void sp_curve_marker(const struct sp_canvas *v, size_t series, double x, double y, size_t covered);
/* A line with its points. Where later series lie on it, it is wider than they are, so that all of
 * them are seen. */
void sp_curve_draw(const struct sp_canvas *v, size_t series);

#endif
