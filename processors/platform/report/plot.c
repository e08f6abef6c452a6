/* Draws plots with cairo, each once, for three targets: an SVG file and a PNG file on white, and
 * the page's own SVG without a background.
 *
 * Axes and text are black (svg.c replaces that by the page's text colour). Fonts are fontconfig's
 * choice of "sans-serif"; an SVG contains its letters as paths. The margins are as wide as their
 * labels, and the plot is higher if its legend is. */
#include <cairo-svg.h>
#include <cairo.h>
#include <fontconfig/fontconfig.h>
#include <math.h>
#include <stdio.h>

#include "base/assert.h"
#include "report/axis.h"
#include "report/canvas.h"
#include "report/internal.h"

enum { PNG_SCALE = 2 };

static const double PI = 3.14159265358979323846;
static const double FONT = 12, WIDTH = 760, HEIGHT = 400;
static const double EDGE = 8, GAP = 14, TICK = 10, KEY = 28; /* KEY: the line in the legend */
static const double LEGEND_MOST = 230;

static void ink(const struct sp_canvas *v, double alpha)
{
    cairo_set_source_rgba(v->c, 0, 0, 0, alpha);
}

static double text_width(const struct sp_canvas *v, const char *text)
{
    struct sp_label l;
    sp_label_init(&l, v->c, text, INFINITY);
    double width = l.width;
    sp_label_done(&l);
    return width;
}

/* Draws a short text in one line. */
static void put_text(const struct sp_canvas *v, double x, double y, double align, const char *text)
{
    struct sp_label l;
    sp_label_init(&l, v->c, text, INFINITY);
    sp_label_draw(&l, v->c, x, y, align);
    sp_label_done(&l);
}

/* ---- layout ---- */

static void y_axis(struct sp_canvas *v)
{
    const struct sp_plot *p = v->plot;
    double lo = INFINITY, hi = -INFINITY;
    for (size_t s = 0; s < p->series_count; s++)
        for (size_t i = 0; i < p->x_count; i++)
            if (sp_curve_usable(p->series[s].y[i], p->y_log)) {
                lo = fmin(lo, p->series[s].y[i]);
                hi = fmax(hi, p->series[s].y[i]);
            }
    if ((p->y_from_zero || p->kind == SP_PLOT_BARS) && !p->y_log && lo <= hi) {
        lo = fmin(lo, 0);
        hi = fmax(hi, 0);
        if (lo == hi) /* nothing but zeros: not below zero */
            hi = 1;
    }
    sp_axis_init(&v->y, lo, hi, p->y_log);
}

static void x_axis(struct sp_canvas *v)
{
    const struct sp_plot *p = v->plot;
    if (p->kind == SP_PLOT_LINES || p->x) {
        sp_axis_init_values(&v->x, p->x, p->x_count, p->x_log);
        if (p->kind == SP_PLOT_LINES)
            return;
    }
    v->x.log = false;
    v->x.lo = 0;
    v->x.hi = p->x_count ? (double)p->x_count : 1;
}

static double ticks_width(const struct sp_canvas *v)
{
    double most = 0;
    char text[64];
    for (size_t i = 0; i < v->y.tick_count; i++) {
        sp_axis_label(&v->y, v->y.ticks[i], text, sizeof text);
        most = fmax(most, text_width(v, text));
    }
    return most;
}

static double legend_height(const struct sp_canvas *v)
{
    double height = 0;
    for (size_t s = 0; s < v->plot->series_count; s++)
        height += fmax(sp_label_height(&v->legend[s]), SP_LABEL_LINE) + 5;
    return height;
}

static void lay_out(struct sp_canvas *v)
{
    const struct sp_plot *p = v->plot;
    double legend = 0, top = v->note ? EDGE + 2 * SP_LABEL_LINE : GAP;
    y_axis(v);
    x_axis(v);
    for (size_t s = 0; s < p->series_count; s++) {
        sp_label_init(&v->legend[s], v->c, p->series[s].label, LEGEND_MOST);
        legend = fmax(legend, v->legend[s].width);
    }
    sp_label_init(&v->y_label, v->c, p->y_label, HEIGHT - 4 * GAP);
    v->x.from = EDGE + sp_label_height(&v->y_label) + ticks_width(v) + 2 * TICK;
    v->x.to = WIDTH - GAP - KEY - legend - EDGE;
    sp_label_init(&v->x_label, v->c, p->x_label, v->x.to - v->x.from);
    v->y.to = top;
    v->height = fmax(HEIGHT, top + legend_height(v) + EDGE);
    v->y.from = v->height - EDGE - sp_label_height(&v->x_label) - SP_LABEL_LINE - TICK;
}

static void lay_out_done(struct sp_canvas *v)
{
    for (size_t s = 0; s < v->plot->series_count; s++)
        sp_label_done(&v->legend[s]);
    sp_label_done(&v->x_label);
    sp_label_done(&v->y_label);
}

/* ---- frame ---- */

static void line(const struct sp_canvas *v, double x0, double y0, double x1, double y1)
{
    cairo_move_to(v->c, x0, y0);
    cairo_line_to(v->c, x1, y1);
    cairo_stroke(v->c);
}

/* Leaves out labels that would overlap their left neighbour; their ticks stay. */
static void draw_x_labels(const struct sp_canvas *v)
{
    const struct sp_plot *p = v->plot;
    char text[64];
    bool bars = p->kind == SP_PLOT_BARS;
    size_t count = bars ? p->x_count : v->x.tick_count;
    double last_end = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        double at = sp_axis_place(&v->x, bars ? (double)i + 0.5 : v->x.ticks[i]);
        const char *shown = text;
        if (bars && p->x_names)
            shown = p->x_names[i];
        else
            sp_axis_label(&v->x, bars ? p->x[i] : v->x.ticks[i], text, sizeof text);
        double half = text_width(v, shown) / 2;
        ink(v, 0.5);
        if (!bars)
            line(v, at, v->y.from, at, v->y.from + 4);
        if (at - half < last_end + 4)
            continue;
        ink(v, 1);
        put_text(v, at, v->y.from + TICK + FONT - 2, 0.5, shown);
        last_end = at + half;
    }
}

static void draw_frame(const struct sp_canvas *v)
{
    char text[64];
    cairo_set_line_width(v->c, 1);
    for (size_t i = 0; i < v->y.tick_count; i++) {
        double at = sp_axis_place(&v->y, v->y.ticks[i]);
        ink(v, 0.14);
        line(v, v->x.from, at, v->x.to, at);
        sp_axis_label(&v->y, v->y.ticks[i], text, sizeof text);
        ink(v, 1);
        put_text(v, v->x.from - TICK, at + 4, 1, text);
    }
    ink(v, 0.5);
    line(v, v->x.from, v->y.from, v->x.to, v->y.from);
    line(v, v->x.from, v->y.from, v->x.from, v->y.to);
    draw_x_labels(v);
    ink(v, 1);
    sp_label_draw(&v->x_label, v->c, (v->x.from + v->x.to) / 2,
                  v->y.from + TICK + SP_LABEL_LINE + FONT, 0.5);
    if (v->note)
        put_text(v, v->x.from, EDGE + FONT, 0, v->note);
    cairo_save(v->c);
    cairo_translate(v->c, EDGE + FONT - 2, (v->y.from + v->y.to) / 2);
    cairo_rotate(v->c, -PI / 2);
    sp_label_draw(&v->y_label, v->c, 0, 0, 0.5);
    cairo_restore(v->c);
}

/* ---- series ---- */

static void draw_bars(const struct sp_canvas *v, size_t series)
{
    const struct sp_plot *p = v->plot;
    double slot = (v->x.to - v->x.from) / (p->x_count ? (double)p->x_count : 1);
    double width = slot * 0.8 / (double)p->series_count;
    double base = p->y_log ? v->y.from : sp_axis_place(&v->y, 0);
    sp_curve_colour(v, series);
    cairo_set_line_width(v->c, 1.5);
    for (size_t i = 0; i < p->x_count; i++) {
        if (!sp_curve_usable(p->series[series].y[i], p->y_log))
            continue;
        double top = sp_axis_place(&v->y, p->series[series].y[i]);
        double left = v->x.from + slot * ((double)i + 0.1) + width * (double)series;
        cairo_rectangle(v->c, left + 1, fmin(top, base), width - 2, fabs(base - top));
        sp_curve_dashes(v, series);
        if (p->series[series].printed)
            cairo_stroke(v->c);
        else
            cairo_fill(v->c);
        cairo_set_dash(v->c, NULL, 0, 0);
    }
}

static void draw_legend(const struct sp_canvas *v)
{
    const double x = v->x.to + GAP;
    double y = v->y.to + FONT / 2;
    for (size_t s = 0; s < v->plot->series_count; s++) {
        sp_curve_colour(v, s);
        cairo_set_line_width(v->c, 1.8);
        if (v->plot->kind == SP_PLOT_LINES) {
            sp_curve_dashes(v, s);
            line(v, x, y, x + KEY - 6, y);
            cairo_set_dash(v->c, NULL, 0, 0);
        }
        sp_curve_marker(v, s, x + (KEY - 6) / 2, y, 0);
        ink(v, 1);
        sp_label_draw(&v->legend[s], v->c, x + KEY, y + 4, 0);
        y += fmax(sp_label_height(&v->legend[s]), SP_LABEL_LINE) + 5;
    }
}

/* So that letters have the same width on every target. */
static void choose_font(cairo_t *c)
{
    cairo_font_options_t *o = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(o, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(o, CAIRO_HINT_STYLE_NONE);
    cairo_set_font_options(c, o);
    cairo_font_options_destroy(o);
    cairo_select_font_face(c, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(c, FONT);
}

static void draw(struct sp_canvas *v, bool paper)
{
    if (paper) {
        cairo_set_source_rgb(v->c, 1, 1, 1);
        cairo_paint(v->c);
    }
    draw_frame(v);
    for (size_t s = 0; s < v->plot->series_count; s++)
        if (v->plot->kind == SP_PLOT_BARS)
            draw_bars(v, s);
        else
            sp_curve_draw(v, s);
    draw_legend(v);
}

/* Frees what cairo and fontconfig keep for the next plot, so that leak checkers find nothing. */
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

/* Computes the layout on a surface of its own, because the target's size depends on it. */
static void measure(struct sp_canvas *v)
{
    cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    v->c = cairo_create(s);
    choose_font(v->c);
    lay_out(v);
    cairo_destroy(v->c);
    cairo_surface_destroy(s);
}

/* Appends the plot as the bytes of a file. `paper`: on white; otherwise without a background, in
 * the page's colours. */
static enum sp_err draw_file(struct sp_canvas *v, enum surface surface, bool paper,
                             struct sp_buf *out)
{
    bool png = surface == SURFACE_PNG;
    size_t from = out->len;
    cairo_surface_t *s =
        png ? cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)WIDTH * PNG_SCALE,
                                         (int)ceil(v->height) * PNG_SCALE)
            : cairo_svg_surface_create_for_stream(append, out, WIDTH, ceil(v->height));
    v->c = cairo_create(s);
    if (png)
        cairo_scale(v->c, PNG_SCALE, PNG_SCALE);
    choose_font(v->c);
    draw(v, paper);
    cairo_status_t status = cairo_status(v->c);
    cairo_destroy(v->c);
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

/* ---- into the report ---- */

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
    sp_buf_put_str(&r->body, "<figure>\n");
    sp_report_begin_wide(r, p->caption);
    sp_buf_put_str(&r->body, "<div role=\"img\" aria-label=\"");
    sp_html_put_str(&r->body, p->caption);
    sp_buf_put_str(&r->body, "\">\n");
    sp_svg_inline(svg, ++r->plots, &r->body);
    sp_buf_put_str(&r->body, "</div></div>\n<figcaption>");
    sp_html_put_str(&r->body, p->caption);
    sp_html_putf(&r->body,
                 " (<a href=\"%s.svg\">SVG</a>, <a href=\"%s.png\">PNG</a>, "
                 "<a href=\"%s.csv\">CSV</a>)",
                 p->name, p->name, p->name);
    sp_report_put_note(r);
    sp_buf_put_str(&r->body, "</figcaption>\n</figure>\n");
}

void sp_report_plot(struct sp_report *r, const struct sp_plot *p)
{
    struct sp_buf csv = {0}, svg = {0}, png = {0}, page = {0};
    sp_report_check_name(p->name);
    SP_ASSERT(p->series_count >= 1 && p->series_count <= SP_SERIES_MAX);
    SP_ASSERT(p->x || (p->kind == SP_PLOT_BARS && p->x_names));
    struct sp_canvas v = {.plot = p, .note = r->note[0] ? r->note : NULL};
    measure(&v);
    enum sp_err err = draw_file(&v, SURFACE_SVG, true, &svg);
    if (err == SP_OK)
        err = draw_file(&v, SURFACE_PNG, true, &png);
    if (err == SP_OK)
        err = draw_file(&v, SURFACE_SVG, false, &page);
    lay_out_done(&v);
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
