/* Markdown to blocks of text, line by line.
 *
 * Source: CommonMark 0.30, as far as words depend on it. Emphasis, list marks, quotes and
 * table bars are punctuation, which separates words anyway, so that only what hides words
 * needs care: front matter, targets of links, HTML tags and comments, escapes, entities,
 * link definitions, '_' around words. Code keeps its words.
 *
 * Invariant: linear time: searches for the end of a link or tag stay within a thousand bytes
 * and within the paragraph, and are not repeated for each byte (ends.h). Nothing here can fail. */
#include "text/markdown.h"

#include "text/ends.h"
#include "text/entities.h"

struct scanner {
    const char *at;
    const char *end;
    struct sp_buf *text;
    bool no_comment_end; /* no "-->" follows; remembered, so that it is searched for only once */
    struct sp_ends tags;
    struct sp_ends targets;
};

static bool is_letter(char c)
{
    return (unsigned)((c | 0x20) - 'a') < 26u;
}

static bool is_word(char c)
{
    return is_letter(c) || (unsigned)(c - '0') < 10u || (c & 0x80);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Returns the place after a "<tag …>", "</tag>" or comment at s->at; NULL if there is no markup. An
 * autolink is markup too: its URL is dropped. */
static const char *skip_tag(struct scanner *s)
{
    const char *p = s->at + 1;
    if (s->end - p >= 3 && memcmp(p, "!--", 3) == 0) {
        const char *close =
            s->no_comment_end ? NULL : memmem(p + 1, (size_t)(s->end - p - 1), "-->", 3);
        s->no_comment_end = !close;
        return close ? close + 3 : NULL;
    }
    if (p < s->end && (*p == '/' || *p == '!'))
        p++;
    if (p >= s->end || !is_letter(*p))
        return NULL;
    return sp_ends_tag(&s->tags, s->at, p, s->end);
}

/* Whether the line is "[label]: target", which is not shown. */
static bool is_definition(const char *p, const char *line_end)
{
    if (p >= line_end || *p != '[' || (p + 1 < line_end && p[1] == '^'))
        return false;
    const char *close = memchr(p, ']', (size_t)(line_end - p));
    return close && close + 1 < line_end && close[1] == ':';
}

static void put(struct scanner *s, char c)
{
    s->text->data[s->text->len++] = c;
}

/* Handles one character of inline text, or the markup at s->at. */
static void inline_step(struct scanner *s)
{
    const char *next = NULL;
    switch (*s->at) {
    case '<':
        next = skip_tag(s);
        break;
    case ']':
        if (s->at + 1 < s->end && s->at[1] == '(')
            next = sp_ends_target(&s->targets, s->at, s->at + 1, s->end);
        break;
    case '&': {
        size_t n = 0;
        size_t used =
            sp_entity_decode(s->at, (size_t)(s->end - s->at), s->text->data + s->text->len, &n);
        s->text->len += n;
        s->at += used;
        if (used)
            return;
        break;
    }
    case '_': {
        /* It is emphasis only if the word does not continue on both sides (snake_case). */
        bool before = s->text->len && is_word(s->text->data[s->text->len - 1]);
        bool after = s->at + 1 < s->end && is_word(s->at[1]);
        if (!(before && after)) {
            s->at++;
            return;
        }
        break;
    }
    case '*':
    case '`':
        s->at++; /* within a word the marks join: **b**old is bold */
        return;
    case '\\':
        if (s->at + 1 < s->end && !is_word(s->at[1]) && (uint8_t)s->at[1] > ' ') {
            put(s, s->at[1]);
            s->at += 2;
            return;
        }
        break;
    default:
        break;
    }
    if (next) {
        if (*s->at == ']')
            put(s, ' ');
        s->at = next;
        return;
    }
    put(s, *s->at++);
}

/* Returns the place after the YAML front matter, or the beginning if there is none. */
static const char *skip_front_matter(const char *p, const char *end)
{
    if (end - p < 4 || memcmp(p, "---", 3) != 0 || (p[3] != '\n' && p[3] != '\r'))
        return p;
    for (const char *line = p;;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        if (!newline)
            return p;
        line = newline + 1;
        if (end - line >= 3 && (memcmp(line, "---", 3) == 0 || memcmp(line, "...", 3) == 0) &&
            (end - line == 3 || line[3] == '\n' || line[3] == '\r'))
            return line + 3;
    }
}

/* Returns the length of a code fence's run of ` or ~ at p; 0 if there is none. */
static size_t fence(const char *p, const char *end)
{
    size_t n = 0;
    while (p + n < end && p[n] == p[0] && (p[0] == '`' || p[0] == '~'))
        n++;
    return n >= 3 ? n : 0;
}

/* Whether a line starts a new block: heading, item, quote, table row. */
static bool starts_block(const char *p, const char *end)
{
    if (*p == '#' || *p == '>' || *p == '|')
        return true;
    if (*p == '-' || *p == '+' || *p == '*')
        return p + 1 < end && is_blank(p[1]);
    const char *digit = p;
    while (digit < end && (unsigned)(*digit - '0') < 10u)
        digit++;
    return digit > p && digit + 1 < end && (*digit == '.' || *digit == ')') && is_blank(digit[1]);
}

static void end_block(struct sp_blocks *blocks, uint32_t *start)
{
    sp_blocks_add(blocks, *start, 0, 0);
    *start = (uint32_t)blocks->text.len;
}

void sp_markdown_scan(struct sp_view text, struct sp_blocks *ret_blocks)
{
    sp_blocks_reset(ret_blocks);
    if (text.len == 0)
        return;
    sp_buf_reserve(&ret_blocks->text, text.len + text.len / 4 + 64);
    struct scanner s = {text.data, text.data + text.len, &ret_blocks->text, false, {0}, {0}};
    s.at = skip_front_matter(s.at, s.end);
    uint32_t start = 0;
    size_t fence_len = 0; /* of the code block that is open */
    char fence_char = 0;
    while (s.at < s.end) {
        const char *line = s.at;
        while (s.at < s.end && is_blank(*s.at))
            s.at++;
        const char *newline = s.at < s.end ? memchr(s.at, '\n', (size_t)(s.end - s.at)) : NULL;
        const char *line_end = newline ? newline : s.end;
        size_t run = fence(s.at, line_end);
        if (run && (fence_len ? run >= fence_len && *s.at == fence_char : true)) {
            end_block(ret_blocks, &start);
            fence_char = *s.at;
            fence_len = fence_len ? 0 : run;
            s.at = line_end; /* the language's name is not text */
        } else if (fence_len) {
            sp_buf_put(&ret_blocks->text, line, (size_t)(line_end - line));
            s.at = line_end;
        } else if (s.at == line_end) {
            end_block(ret_blocks, &start);
        } else if (is_definition(s.at, line_end)) {
            s.at = line_end;
        } else {
            if (starts_block(s.at, line_end))
                end_block(ret_blocks, &start);
            bool heading = *s.at == '#';
            while (s.at < line_end) /* a tag or link may end after the line */
                inline_step(&s);
            if (heading)
                end_block(ret_blocks, &start);
        }
        if (s.at < s.end && *s.at == '\n')
            put(&s, *s.at++);
    }
    end_block(ret_blocks, &start);
}
