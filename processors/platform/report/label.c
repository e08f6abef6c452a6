/* Texts in plots. A label that is too wide continues on the next line. Only a label of more than 12
 * lines is cut, with an ellipsis; the CSV has all of it. */
#include "report/canvas.h"

static const char *const ellipsis = "…";

static double width_of(cairo_t *c, struct sp_view text)
{
    struct sp_buf line = {0};
    cairo_text_extents_t e;
    sp_buf_put_view(&line, text);
    sp_buf_put_u8(&line, 0);
    cairo_text_extents(c, line.data, &e);
    sp_buf_done(&line);
    return e.x_advance;
}

static struct sp_view head_of(struct sp_view text, size_t len)
{
    return sp_view(text.data, len);
}

static size_t next_letter(struct sp_view text, size_t at)
{
    for (at++; at < text.len && ((uint8_t)text.data[at] & 0xc0) == 0x80; at++)
        ;
    return at;
}

/* Returns how much of the text, which has no line breaks, fits into one line: all of it, or up to a
 * space, or at least one letter. */
static size_t fitting(cairo_t *c, struct sp_view text, double most)
{
    if (width_of(c, text) <= most)
        return text.len;
    size_t end = 0, at_space = 0;
    for (size_t next; end < text.len; end = next) {
        next = next_letter(text, end);
        if (end > 0 && width_of(c, head_of(text, next)) > most)
            break;
        if (text.data[end] == ' ')
            at_space = end;
    }
    return at_space > 0 ? at_space : end;
}

static void add_line(struct sp_label *l, cairo_t *c, struct sp_view line)
{
    double width = width_of(c, line);
    l->width = width > l->width ? width : l->width;
    sp_buf_put_view(&l->text, line);
    sp_buf_put_u8(&l->text, 0);
    l->count++;
}

void sp_label_init(struct sp_label *l, cairo_t *c, const char *text, double most)
{
    struct sp_buf clean = {0};
    memset(l, 0, sizeof *l);
    sp_clean_put(&clean, sp_view_str(text));
    for (size_t i = 0; i < clean.len; i++)
        if (clean.data[i] == '\n' || clean.data[i] == '\t')
            clean.data[i] = ' ';
    struct sp_view rest = sp_buf_view(&clean);
    while (rest.len > 0 && l->count < SP_LABEL_LINES) {
        size_t n = fitting(c, rest, most);
        if (n < rest.len && l->count == SP_LABEL_LINES - 1) {
            add_line(l, c, sp_view_str(ellipsis));
            break;
        }
        add_line(l, c, head_of(rest, n));
        while (n < rest.len && rest.data[n] == ' ')
            n++;
        rest = sp_view(rest.data + n, rest.len - n);
    }
    const char *at = l->text.data; /* the buffer does not move any more */
    for (size_t i = 0; i < l->count; i++, at += strlen(at) + 1)
        l->lines[i] = at;
    sp_buf_done(&clean);
}

void sp_label_done(struct sp_label *l)
{
    sp_buf_done(&l->text);
}

double sp_label_height(const struct sp_label *l)
{
    return SP_LABEL_LINE * (double)l->count;
}

void sp_label_draw(const struct sp_label *l, cairo_t *c, double x, double y, double align)
{
    for (size_t i = 0; i < l->count; i++) {
        cairo_text_extents_t e;
        cairo_text_extents(c, l->lines[i], &e);
        cairo_move_to(c, x - align * e.x_advance, y + SP_LABEL_LINE * (double)i);
        cairo_show_text(c, l->lines[i]);
    }
}
