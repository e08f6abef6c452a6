/* The surface that the parts of a plot draw on. Lengths are in points of cairo's surface. Private
 * to this folder. */
#ifndef SP_REPORT_CANVAS_H
#define SP_REPORT_CANVAS_H

#include <cairo.h>

#include "report/axis.h"
#include "report/internal.h"

enum { SP_LABEL_LINES = 12 }; /* of one label, at most */

static const double SP_LABEL_LINE = 15; /* from one line of a label to the next */

/* A text in lines, ready to draw: valid UTF-8 without control characters. */
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

/* Breaks the text into lines no wider than `most`: between words, or within a word that is wider
 * itself. */
void sp_label_init(struct sp_label *l, cairo_t *c, const char *text, double most);
void sp_label_done(struct sp_label *l);
/* The first line's baseline is at y. `align`: 0 if lines begin at x, 0.5 if they are centred there,
 * 1 if they end there. */
void sp_label_draw(const struct sp_label *l, cairo_t *c, double x, double y, double align);
double sp_label_height(const struct sp_label *l);

/* ---- curves.c ---- */

/* Whether the value can be drawn: it is finite, and positive if the axis is logarithmic. */
bool sp_curve_usable(double value, bool log);
/* Sets the colour of the series. */
void sp_curve_colour(const struct sp_canvas *v, size_t series);
/* Sets dashes for a series whose values are printed in the paper, and a solid line for others. */
void sp_curve_dashes(const struct sp_canvas *v, size_t series);
/* Draws the mark of one point; larger if `covered` later series have a point at the same place. */
void sp_curve_marker(const struct sp_canvas *v, size_t series, double x, double y, size_t covered);
/* Draws the line of a series and its points. A line that later series cover is drawn wider than
 * they are, so that all of them can be seen. */
void sp_curve_draw(const struct sp_canvas *v, size_t series);

#endif
