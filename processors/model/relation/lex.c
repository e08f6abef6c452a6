/* The lexer of the relation language. Any bytes are allowed as input; bytes that it does not
 * understand are an error with a position. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "relation/parse.h"

void sp_lexer_fail(struct sp_lexer *l, size_t at, size_t len, const char *format, ...)
{
    if (l->failed)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(l->error, sizeof l->error, format, args);
    va_end(args);
    l->failed = true;
    l->error_at = at;
    l->error_len = len ? len : 1;
}

static char peek(const struct sp_lexer *l, size_t ahead)
{
    return l->next + ahead < l->len ? l->source[l->next + ahead] : 0;
}

static bool is_digit(char c)
{
    return (unsigned)(c - '0') < 10u;
}

static bool is_name(char c)
{
    return (unsigned)((c | 0x20) - 'a') < 26u || is_digit(c) || c == '_';
}

/* `digits` digits at l->next + *ahead. */
static bool read_digits(const struct sp_lexer *l, size_t *ahead, int digits, int *ret_number)
{
    int n = 0;
    for (int i = 0; i < digits; i++) {
        char c = peek(l, *ahead + (size_t)i);
        if (!is_digit(c))
            return false;
        n = n * 10 + (c - '0');
    }
    *ahead += (size_t)digits;
    *ret_number = n;
    return true;
}

static bool is_date(const struct sp_lexer *l)
{
    size_t ahead = 0;
    int n;
    return read_digits(l, &ahead, 4, &n) && peek(l, ahead) == '-' && is_digit(peek(l, ahead + 1)) &&
           is_digit(peek(l, ahead + 2)) && peek(l, ahead + 3) == '-';
}

static bool good_date(const struct tm *t)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = t->tm_year + 1900;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return t->tm_mon >= 0 && t->tm_mon < 12 && t->tm_mday >= 1 &&
           t->tm_mday <= days[t->tm_mon] + (leap && t->tm_mon == 1) && t->tm_hour < 24 &&
           t->tm_min < 60 && t->tm_sec < 60;
}

/* 2024-05-01, 2024-05-01T12:30 or 2024-05-01T12:30:59; a time may end in Z. All are UTC. */
static void lex_date(struct sp_lexer *l)
{
    struct tm t = {0};
    size_t ahead = 0;
    bool good = read_digits(l, &ahead, 4, &t.tm_year) && peek(l, ahead++) == '-' &&
                read_digits(l, &ahead, 2, &t.tm_mon) && peek(l, ahead++) == '-' &&
                read_digits(l, &ahead, 2, &t.tm_mday);
    if (good && (peek(l, ahead) | 0x20) == 't') {
        ahead++;
        good = read_digits(l, &ahead, 2, &t.tm_hour) && peek(l, ahead++) == ':' &&
               read_digits(l, &ahead, 2, &t.tm_min);
        if (good && peek(l, ahead) == ':') {
            ahead++;
            good = read_digits(l, &ahead, 2, &t.tm_sec);
        }
        ahead += good && (peek(l, ahead) | 0x20) == 'z';
    }
    t.tm_year -= 1900;
    t.tm_mon -= 1;
    if (!good || !good_date(&t) || is_name(peek(l, ahead))) {
        while (is_name(peek(l, ahead)) || peek(l, ahead) == '-' || peek(l, ahead) == ':')
            ahead++;
        sp_lexer_fail(l, l->next, ahead,
                      "this is not a date; dates are 2024-05-01 or 2024-05-01T12:30:00Z");
        l->token = SP_TOKEN_BAD;
    } else {
        l->token = SP_TOKEN_TIME;
        l->number = 1000.0 * (double)timegm(&t);
    }
    l->next += ahead;
}

static void lex_number(struct sp_lexer *l)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"ms", 1},     {"s", 1e3},     {"m", 60e3},
                 {"h", 3600e3}, {"d", 86400e3}, {"w", 7 * 86400e3}};
    char digits[64];
    size_t n = 0, start = l->next, end = start;
    while (end < l->len && (is_digit(l->source[end]) || l->source[end] == '.'))
        end++;
    for (size_t i = start; i < end && n < sizeof digits - 1; i++)
        digits[n++] = l->source[i];
    digits[n] = 0;
    char *stop;
    l->number = strtod(digits, &stop);
    bool good = *stop == 0 && end - start < sizeof digits;
    size_t unit = end;
    while (end < l->len && is_name(l->source[end]))
        end++;
    l->token = SP_TOKEN_NUMBER;
    if (end > unit) {
        size_t u = 0, count = sizeof units / sizeof *units;
        while (u < count &&
               !sp_view_eq(sp_view_str(units[u].name), sp_view(l->source + unit, end - unit)))
            u++;
        good &= u < count;
        l->number *= u < count ? units[u].ms : 0;
        l->token = SP_TOKEN_DURATION;
    }
    l->next = end;
    if (!good) {
        sp_lexer_fail(l, start, end - start,
                      end > unit
                          ? "this is neither a number nor a duration; durations end in ms, s, "
                            "m, h, d or w"
                          : "this is not a number");
        l->token = SP_TOKEN_BAD;
    }
}

static void lex_text(struct sp_lexer *l)
{
    char quote = peek(l, 0);
    size_t start = l->next++;
    sp_buf_reset(&l->text);
    for (; l->next < l->len && l->source[l->next] != quote; l->next++) {
        if (l->source[l->next] == '\\' && l->next + 1 < l->len)
            l->next++;
        sp_buf_put(&l->text, l->source + l->next, 1);
    }
    l->token = SP_TOKEN_TEXT;
    if (l->next == l->len) {
        sp_lexer_fail(l, start, l->len - start, "this text has no closing %c", quote);
        l->token = SP_TOKEN_BAD;
        return;
    }
    l->next++;
}

static const struct {
    const char *text;
    enum sp_op op;
} operators[] = {/* the longer ones first */
                 {"==", SP_OP_EQUAL},
                 {"!=", SP_OP_UNEQUAL},
                 {"<=", SP_OP_AT_MOST},
                 {">=", SP_OP_AT_LEAST},
                 {"&&", SP_OP_AND},
                 {"||", SP_OP_OR},
                 {"=", SP_OP_EQUAL},
                 {"<", SP_OP_LESS},
                 {">", SP_OP_GREATER},
                 {"+", SP_OP_ADD},
                 {"-", SP_OP_SUBTRACT},
                 {"*", SP_OP_MULTIPLY},
                 {"/", SP_OP_DIVIDE},
                 {"!", SP_OP_NOT},
                 {"and", SP_OP_AND},
                 {"or", SP_OP_OR},
                 {"not", SP_OP_NOT},
                 {"starts_with", SP_OP_STARTS_WITH},
                 {"ends_with", SP_OP_ENDS_WITH},
                 {"matches", SP_OP_MATCHES},
                 {"in", SP_OP_IN}};

const char *sp_op_text(enum sp_op op)
{
    static const char *const functions[] = {"containment", "jaccard", "dice"};
    if (sp_op_measures(op))
        return functions[op - SP_OP_CONTAINMENT];
    if (op == SP_OP_ABS)
        return "abs";
    if (op == SP_OP_CONTAINS)
        return "contains";
    if (op == SP_OP_MINUS)
        return "-";
    if (op == SP_OP_EQUAL)
        return "=";
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].op == op)
            return operators[i].text;
    return "";
}

static bool lex_operator(struct sp_lexer *l)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        size_t n = strlen(operators[i].text);
        if (l->len - l->next < n || memcmp(l->source + l->next, operators[i].text, n) != 0)
            continue;
        if (is_name(operators[i].text[0]) && is_name(peek(l, n)))
            continue;
        l->token = SP_TOKEN_OP;
        l->op = operators[i].op;
        l->next += n;
        return true;
    }
    return false;
}

void sp_lexer_next(struct sp_lexer *l)
{
    while (l->next < l->len && isspace((unsigned char)l->source[l->next]))
        l->next++;
    l->at = l->next;
    char c = peek(l, 0);
    if (l->next == l->len) {
        l->token = SP_TOKEN_END;
    } else if (is_date(l)) {
        lex_date(l);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(l, 1)))) {
        lex_number(l);
    } else if (c == '"' || c == '\'') {
        lex_text(l);
    } else if (lex_operator(l)) {
        return;
    } else if (is_name(c)) {
        l->token = SP_TOKEN_NAME;
        while (is_name(peek(l, 0)))
            l->next++;
    } else if (c == '(' || c == ')' || c == ',' || c == '.') {
        l->token = SP_TOKEN_PUNCT;
        l->next++;
    } else {
        sp_lexer_fail(l, l->next, 1, "this character has no meaning here");
        l->token = SP_TOKEN_BAD;
        l->next++;
    }
}
