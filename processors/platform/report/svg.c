/* Turns cairo's SVG file into an element of a page.
 *
 * Every file uses the same ids (of glyphs and clips), so the plot's number is added to each. Axes
 * and text are drawn in black (plot.c), so black is replaced by the page's text colour, light or
 * dark. */
#include "report/internal.h"

/* What precedes an id. */
static const char *const before_ids[] = {"id=\"", "href=\"#", "url(#"};

static const char black[] = "rgb(0%,0%,0%)";

static bool starts(struct sp_view v, const char *text)
{
    size_t n = strlen(text);
    return v.len >= n && memcmp(v.data, text, n) == 0;
}

void sp_svg_unnumber(struct sp_buf *svg, size_t from)
{
    static const char name[] = " id=\"surface";
    size_t kept = from;
    for (size_t i = from; i < svg->len;) {
        if (starts(sp_view(svg->data + i, svg->len - i), name)) {
            i += sizeof name - 1;
            while (i < svg->len && svg->data[i++] != '"')
                ;
            continue;
        }
        svg->data[kept++] = svg->data[i++];
    }
    svg->len = kept;
}

/* Where the element begins: after the XML declaration. */
static struct sp_view element(struct sp_view svg)
{
    while (svg.len > 0 && !starts(svg, "<svg")) {
        svg.data++;
        svg.len--;
    }
    return svg;
}

void sp_svg_inline(struct sp_view file, unsigned number, struct sp_buf *out)
{
    struct sp_view in = element(file);
    while (in.len > 0) {
        size_t taken = 0;
        for (size_t i = 0; i < sizeof before_ids / sizeof *before_ids && !taken; i++)
            if (starts(in, before_ids[i])) {
                sp_buf_put_str(out, before_ids[i]);
                sp_html_putf(out, "p%u-", number);
                taken = strlen(before_ids[i]);
            }
        if (!taken && starts(in, black)) {
            sp_buf_put_str(out, "currentColor");
            taken = strlen(black);
        }
        if (!taken) {
            sp_buf_put_u8(out, (uint8_t)in.data[0]);
            taken = 1;
        }
        in.data += taken;
        in.len -= taken;
    }
}
