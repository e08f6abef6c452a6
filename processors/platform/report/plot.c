/* Plots, drawn once onto cairo, for three targets: a file SVG and a PNG on white, and the page's
 * own SVG without a background.
 *
 * Axes and text are black (svg.c makes that the page's text colour); the colours of the series are
 * the set of Okabe and Ito, which colour-blind readers can tell apart and which stand out on white
 * and on near-black. Fonts are fontconfig's choice of "sans-serif"; an SVG has its letters as
 * paths.
 */
#include <cairo-svg.h>
#include <cairo.h>
#include <fontconfig/fontconfig.h>
#include <math.h>
#include <stdio.h>

#include "base/assert.h"
#include "report/axis.h"
#include "report/internal.h"

enum { WIDTH = 760, HEIGHT = 400, PNG_SCALE = 2, LABEL_BYTES = 48 };

static const double PI = 3.14159265358979323846;
static const double FONT = 12;
static const double LEFT = 66, TOP = 14, BOTTOM = 52, GAP = 14, LEGEND_MOST = 230;

static const double colours[][3] = {{0.00, 0.45, 0.70}, {0.84, 0.37, 0.00}, {0.00, 0.62, 0.45},
                                    {0.80, 0.47, 0.65}, {0.90, 0.62, 0.00}, {0.34, 0.71, 0.91},
                                    {0.55, 0.55, 0.55}, {0.60, 0.40, 0.20}};
enum { COLOURS = sizeof colours / sizeof *colours };

struct canvas {
    cairo_t *c;
    const struct sp_plot *plot;
    struct sp_axis x;
    struct sp_axis y;
};

static void ink(const struct canvas *v, double alpha)
{
    cairo_set_source_rgba(v->c, 0, 0, 0, alpha);
}

static void colour(const struct canvas *v, size_t series)
{
    const double *rgb = colours[series % COLOURS];
    cairo_set_source_rgb(v->c, rgb[0], rgb[1], rgb[2]);
}

/* A label as cairo can draw it: UTF-8, one line, not endless. */
static struct sp_buf label(const char *text)
{
    struct sp_buf clean = {0};
    sp_clean_put(&clean, sp_view_str(text));
    size_t end = clean.len;
    if (end > LABEL_BYTES) {
        end = LABEL_BYTES - 3;
        while (end > 0 && ((uint8_t)clean.data[end] & 0xc0) == 0x80)
            end--;
        clean.len = end;
        sp_buf_put_str(&clean, "…");
    }
    for (size_t i = 0; i < clean.len; i++)
        if (clean.data[i] == '\n' || clean.data[i] == '\t')
            clean.data[i] = ' ';
    sp_buf_put_u8(&clean, 0);
    return clean;
}

static double text_width(const struct canvas *v, const char *text)
{
    cairo_text_extents_t e;
    struct sp_buf clean = label(text);
    cairo_text_extents(v->c, clean.data, &e);
    sp_buf_done(&clean);
    return e.x_advance;
}

/* `align`: 0 begins at x, 0.5 is centred, 1 ends there. */
static void put_text(const struct canvas *v, double x, double y, double align, const char *text)
{
    struct sp_buf clean = label(text);
    cairo_move_to(v->c, x - align * text_width(v, text), y);
    cairo_show_text(v->c, clean.data);
    sp_buf_done(&clean);
}

/* ---- frame ----------------------------------------------------------------------------------- */

static bool usable(double y, bool log)
{
    return isfinite(y) && (!log || y > 0);
}

static void y_axis(struct canvas *v)
{
    const struct sp_plot *p = v->plot;
    double lo = INFINITY, hi = -INFINITY;
    for (size_t s = 0; s < p->series_count; s++)
        for (size_t i = 0; i < p->x_count; i++)
            if (usable(p->series[s].y[i], p->y_log)) {
                lo = fmin(lo, p->series[s].y[i]);
                hi = fmax(hi, p->series[s].y[i]);
            }
    bool zero = (p->y_from_zero || p->kind == SP_PLOT_BARS) && !p->y_log && lo <= hi;
    sp_axis_init(&v->y, zero ? fmin(lo, 0) : lo, zero ? fmax(hi, 0) : hi, p->y_log);
}

static double legend_width(const struct canvas *v)
{
    double most = 0;
    for (size_t s = 0; s < v->plot->series_count; s++)
        most = fmax(most, text_width(v, v->plot->series[s].label));
    return fmin(most, LEGEND_MOST) + 34;
}

static void lay_out(struct canvas *v)
{
    const struct sp_plot *p = v->plot;
    y_axis(v);
    if (p->kind == SP_PLOT_BARS) {
        sp_axis_init(&v->x, 0, 1, false);
        v->x.lo = 0;
        v->x.hi = p->x_count ? (double)p->x_count : 1;
    } else {
        sp_axis_init_values(&v->x, p->x, p->x_count, p->x_log);
    }
    v->x.from = LEFT;
    v->x.to = WIDTH - GAP - legend_width(v);
    v->y.from = HEIGHT - BOTTOM;
    v->y.to = TOP;
}

static void line(const struct canvas *v, double x0, double y0, double x1, double y1)
{
    cairo_move_to(v->c, x0, y0);
    cairo_line_to(v->c, x1, y1);
    cairo_stroke(v->c);
}

static void draw_x_labels(const struct canvas *v)
{
    const struct sp_plot *p = v->plot;
    char text[32];
    bool bars = p->kind == SP_PLOT_BARS;
    size_t count = bars ? p->x_count : v->x.tick_count;
    double last_end = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        double value = bars ? (double)i + 0.5 : v->x.ticks[i], at = sp_axis_place(&v->x, value);
        const char *shown = text;
        if (bars && p->x_names)
            shown = p->x_names[i];
        else if (bars)
            snprintf(text, sizeof text, "%g", p->x[i]);
        else
            sp_axis_label(&v->x, value, text, sizeof text);
        double half = text_width(v, shown) / 2;
        ink(v, 0.5);
        if (!bars)
            line(v, at, v->y.from, at, v->y.from + 4);
        if (at - half < last_end + 4)
            continue;
        ink(v, 1);
        put_text(v, at, v->y.from + 18, 0.5, shown);
        last_end = at + half;
    }
}

static void draw_frame(const struct canvas *v)
{
    char text[32];
    cairo_set_line_width(v->c, 1);
    for (size_t i = 0; i < v->y.tick_count; i++) {
        double at = sp_axis_place(&v->y, v->y.ticks[i]);
        ink(v, 0.14);
        line(v, v->x.from, at, v->x.to, at);
        sp_axis_label(&v->y, v->y.ticks[i], text, sizeof text);
        ink(v, 1);
        put_text(v, v->x.from - 8, at + 4, 1, text);
    }
    ink(v, 0.5);
    line(v, v->x.from, v->y.from, v->x.to, v->y.from);
    line(v, v->x.from, v->y.from, v->x.from, v->y.to);
    draw_x_labels(v);
    ink(v, 1);
    put_text(v, (v->x.from + v->x.to) / 2, HEIGHT - 12, 0.5, v->plot->x_label);
    cairo_save(v->c);
    cairo_translate(v->c, 14, (v->y.from + v->y.to) / 2);
    cairo_rotate(v->c, -PI / 2);
    put_text(v, 0, 0, 0.5, v->plot->y_label);
    cairo_restore(v->c);
}

/* ---- series ---------------------------------------------------------------------------------- */

static void marker(const struct canvas *v, size_t series, double x, double y)
{
    const double r = 3.6;
    cairo_new_path(v->c);
    switch (series % 4) {
    case 0:
        cairo_arc(v->c, x, y, r, 0, 2 * PI);
        break;
    case 1:
        cairo_rectangle(v->c, x - r, y - r, 2 * r, 2 * r);
        break;
    case 2:
        cairo_move_to(v->c, x, y - r - 1);
        cairo_line_to(v->c, x + r + 1, y + r);
        cairo_line_to(v->c, x - r - 1, y + r);
        break;
    default:
        cairo_move_to(v->c, x, y - r - 1);
        cairo_line_to(v->c, x + r + 1, y);
        cairo_line_to(v->c, x, y + r + 1);
        cairo_line_to(v->c, x - r - 1, y);
    }
    cairo_close_path(v->c);
    if (v->plot->series[series].printed)
        cairo_stroke(v->c);
    else
        cairo_fill(v->c);
}

static void dashes(const struct canvas *v, size_t series)
{
    static const double pattern[] = {5, 4};
    cairo_set_dash(v->c, pattern, v->plot->series[series].printed ? 2 : 0, 0);
}

static void draw_line(const struct canvas *v, size_t series)
{
    enum { MARKED = 40 }; /* more points than that are a curve */
    const struct sp_plot *p = v->plot;
    const double *y = p->series[series].y;
    bool drawing = false;
    colour(v, series);
    dashes(v, series);
    cairo_set_line_width(v->c, 1.8);
    for (size_t i = 0; i < p->x_count; i++) {
        if (!usable(y[i], p->y_log) || !usable(p->x[i], p->x_log))
            continue; /* the line goes on to the next point there is */
        double at_x = sp_axis_place(&v->x, p->x[i]), at_y = sp_axis_place(&v->y, y[i]);
        if (drawing)
            cairo_line_to(v->c, at_x, at_y);
        else
            cairo_move_to(v->c, at_x, at_y);
        drawing = true;
    }
    cairo_stroke(v->c);
    cairo_set_dash(v->c, NULL, 0, 0);
    for (size_t i = 0; i < p->x_count && p->x_count <= MARKED; i++)
        if (usable(y[i], p->y_log) && usable(p->x[i], p->x_log))
            marker(v, series, sp_axis_place(&v->x, p->x[i]), sp_axis_place(&v->y, y[i]));
}

static void draw_bars(const struct canvas *v, size_t series)
{
    const struct sp_plot *p = v->plot;
    double slot = (v->x.to - v->x.from) / (p->x_count ? (double)p->x_count : 1);
    double width = slot * 0.8 / (double)p->series_count;
    double base = p->y_log ? v->y.from : sp_axis_place(&v->y, 0);
    colour(v, series);
    cairo_set_line_width(v->c, 1.5);
    for (size_t i = 0; i < p->x_count; i++) {
        if (!usable(p->series[series].y[i], p->y_log))
            continue;
        double top = sp_axis_place(&v->y, p->series[series].y[i]);
        double left = v->x.from + slot * ((double)i + 0.1) + width * (double)series;
        cairo_rectangle(v->c, left + 1, fmin(top, base), width - 2, fabs(base - top));
        dashes(v, series);
        if (p->series[series].printed)
            cairo_stroke(v->c);
        else
            cairo_fill(v->c);
        cairo_set_dash(v->c, NULL, 0, 0);
    }
}

static void draw_legend(const struct canvas *v)
{
    const double x = v->x.to + GAP;
    for (size_t s = 0; s < v->plot->series_count; s++) {
        double y = TOP + 8 + 20 * (double)s;
        colour(v, s);
        cairo_set_line_width(v->c, 1.8);
        if (v->plot->kind == SP_PLOT_LINES) {
            dashes(v, s);
            line(v, x, y, x + 22, y);
            cairo_set_dash(v->c, NULL, 0, 0);
        }
        marker(v, s, x + 11, y);
        ink(v, 1);
        put_text(v, x + 28, y + 4, 0, v->plot->series[s].label);
    }
}

static void draw(cairo_t *c, const struct sp_plot *plot, bool paper)
{
    struct canvas v = {.c = c, .plot = plot};
    cairo_select_font_face(c, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(c, FONT);
    if (paper) {
        cairo_set_source_rgb(c, 1, 1, 1);
        cairo_paint(c);
    }
    lay_out(&v);
    draw_frame(&v);
    for (size_t s = 0; s < plot->series_count; s++)
        if (plot->kind == SP_PLOT_BARS)
            draw_bars(&v, s);
        else
            draw_line(&v, s);
    draw_legend(&v);
}

/* What cairo and fontconfig keep for the next plot, so that nothing is left at the end. */
void sp_plots_done(void)
{
    cairo_debug_reset_static_data();
    FcFini();
}

static cairo_status_t append(void *buf, const unsigned char *data, unsigned length)
{
    sp_buf_put(buf, data, length);
    return CAIRO_STATUS_SUCCESS;
}

enum surface { SURFACE_SVG, SURFACE_PNG };

/* Draws onto a file's bytes. With `paper` on white; else on nothing, for the page's own colours. */
static enum sp_err draw_file(const struct sp_plot *plot, enum surface surface, bool paper,
                             struct sp_buf *out)
{
    bool png = surface == SURFACE_PNG;
    size_t from = out->len;
    cairo_surface_t *s =
        png ? cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH * PNG_SCALE, HEIGHT * PNG_SCALE)
            : cairo_svg_surface_create_for_stream(append, out, WIDTH, HEIGHT);
    cairo_t *c = cairo_create(s);
    if (png)
        cairo_scale(c, PNG_SCALE, PNG_SCALE);
    draw(c, plot, paper);
    cairo_status_t status = cairo_status(c);
    cairo_destroy(c);
    if (png && status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png_stream(s, append, out);
    cairo_surface_finish(s);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(s);
    cairo_surface_destroy(s);
    if (!png)
        sp_svg_unnumber(out, from);
    return status == CAIRO_STATUS_SUCCESS     ? SP_OK
           : status == CAIRO_STATUS_NO_MEMORY ? SP_NO_MEMORY
                                              : SP_INVALID;
}

/* ---- into the report ------------------------------------------------------------------------- */

static void put_csv(const struct sp_plot *p, struct sp_buf *out)
{
    sp_csv_put(out, sp_view_str(p->x_label));
    for (size_t s = 0; s < p->series_count; s++) {
        sp_buf_put_u8(out, ',');
        sp_csv_put(out, sp_view_str(p->series[s].label));
    }
    sp_buf_put_str(out, "\r\n");
    for (size_t i = 0; i < p->x_count; i++) {
        if (p->x_names)
            sp_csv_put(out, sp_view_str(p->x_names[i]));
        else
            sp_csv_put_number(out, p->x[i]);
        for (size_t s = 0; s < p->series_count; s++) {
            sp_buf_put_u8(out, ',');
            sp_csv_put_number(out, p->series[s].y[i]);
        }
        sp_buf_put_str(out, "\r\n");
    }
}

static void put_figure(struct sp_report *r, const struct sp_plot *p, struct sp_view svg)
{
    sp_buf_put_str(&r->body, "<figure>\n<div role=\"img\" aria-label=\"");
    sp_html_put_str(&r->body, p->caption);
    sp_buf_put_str(&r->body, "\">\n");
    sp_svg_inline(svg, ++r->plots, &r->body);
    sp_buf_put_str(&r->body, "</div>\n<figcaption>");
    sp_html_put_str(&r->body, p->caption);
    sp_html_putf(&r->body,
                 " (<a href=\"%s.svg\">SVG</a>, <a href=\"%s.png\">PNG</a>, "
                 "<a href=\"%s.csv\">CSV</a>)</figcaption>\n</figure>\n",
                 p->name, p->name, p->name);
}

void sp_report_plot(struct sp_report *r, const struct sp_plot *p)
{
    struct sp_buf csv = {0}, svg = {0}, png = {0}, page = {0};
    sp_report_check_name(p->name);
    SP_ASSERT(p->series_count >= 1 && p->series_count <= SP_SERIES_MAX);
    SP_ASSERT(p->x || (p->kind == SP_PLOT_BARS && p->x_names));
    enum sp_err err = draw_file(p, SURFACE_SVG, true, &svg);
    if (err == SP_OK)
        err = draw_file(p, SURFACE_PNG, true, &png);
    if (err == SP_OK)
        err = draw_file(p, SURFACE_SVG, false, &page);
    if (err == SP_OK) {
        put_csv(p, &csv);
        sp_report_file(r, p->name, ".csv", &csv);
        sp_report_file(r, p->name, ".svg", &svg);
        sp_report_file(r, p->name, ".png", &png);
        put_figure(r, p, sp_buf_view(&page));
    } else {
        sp_report_fail(r, err, p->name);
    }
    sp_buf_done(&csv);
    sp_buf_done(&svg);
    sp_buf_done(&png);
    sp_buf_done(&page);
}
