/* Settings from files, arguments and the environment; see config.h. print.c prints them. */
#include "config/config.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "config/options.h"

enum { VALUE_MAX = 128 };

void sp_config_default(struct sp_config *ret_config)
{
    struct sp_fault fault;
    *ret_config = (struct sp_config){0};
    for (size_t i = 0; i < sp_option_count; i++) {
        enum sp_err err = sp_config_set(ret_config, sp_view_str(sp_options[i].key),
                                        sp_view_str(sp_options[i].initial), &fault);
        SP_ASSERT(err == SP_OK);
    }
}

/* ---- values ---- */

static uint64_t *count_at(struct sp_config *c, const struct sp_option *o)
{
    return (uint64_t *)(void *)((char *)c + o->offset);
}

static double *real_at(struct sp_config *c, const struct sp_option *o)
{
    return (double *)(void *)((char *)c + o->offset);
}

static double unit_of(const char *suffix)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"", 1},
                 {"KiB", 1024.0},
                 {"MiB", 1024.0 * 1024},
                 {"GiB", 1024.0 * 1024 * 1024},
                 {"K", 1024.0},
                 {"M", 1024.0 * 1024},
                 {"G", 1024.0 * 1024 * 1024}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(suffix, units[i].name) == 0)
            return units[i].bytes;
    return 0;
}

static enum sp_err set_number(struct sp_config *c, const struct sp_option *o, const char *value,
                              struct sp_fault *fault)
{
    char *end = NULL;
    double x = strtod(value, &end);
    while (isspace((unsigned char)*end))
        end++;
    double unit = o->type == SP_OPTION_BYTES ? unit_of(end) : *end ? 0 : 1;
    x *= unit;
    if (end == value || unit == 0 || !isfinite(x))
        return sp_fault_set(fault, SP_INVALID, "%s: \"%s\" is not a %s", o->key, value,
                            o->type == SP_OPTION_BYTES
                                ? "size; write a number of bytes, or one with KiB, MiB or GiB"
                                : "number");
    if (o->type != SP_OPTION_REAL && x != floor(x))
        return sp_fault_set(fault, SP_INVALID, "%s: \"%s\" is not a whole number", o->key, value);
    bool left_open = x == 0 && strcmp(o->initial, "0") == 0;
    if ((x < o->least && !left_open) || x > o->most)
        return sp_fault_set(
            fault, SP_INVALID, "%s: %s is out of range; it must be %sfrom %.15g to %.15g", o->key,
            value, o->least > 0 && strcmp(o->initial, "0") == 0 ? "0, or " : "", o->least, o->most);
    if (o->type == SP_OPTION_REAL)
        *real_at(c, o) = x;
    else
        *count_at(c, o) = (uint64_t)x;
    return SP_OK;
}

/* The number of the word in "a|b|c", or -1. */
static int choice_number(const char *choices, const char *word)
{
    for (int number = 0;; number++) {
        size_t n = strcspn(choices, "|");
        if (strlen(word) == n && strncmp(choices, word, n) == 0)
            return number;
        if (!choices[n])
            return -1;
        choices += n + 1;
    }
}

/* ---- keys ---- */

size_t sp_config_distance(const char *a, const char *b)
{
    size_t row[64], n = strlen(b);
    if (n >= 64)
        return 64;
    for (size_t k = 0; k <= n; k++)
        row[k] = k;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t k = 0; k < n; k++) {
            size_t best = diagonal + (a[i] != b[k]);
            diagonal = row[k + 1];
            best = row[k] + 1 < best ? row[k] + 1 : best;
            row[k + 1] = diagonal + 1 < best ? diagonal + 1 : best;
        }
    }
    return row[n];
}

const char *sp_config_key_ending(const char *name)
{
    for (size_t i = 0; i < sp_option_count; i++) {
        const char *dot = strrchr(sp_options[i].key, '.');
        const char *last = dot ? dot + 1 : sp_options[i].key;
        size_t n = 0;
        while (name[n] && (last[n] == name[n] || (last[n] == '_' && name[n] == '-')))
            n++;
        if (!name[n] && !last[n])
            return sp_options[i].key;
    }
    return NULL;
}

static enum sp_err unknown_key(const char *key, struct sp_fault *fault)
{
    const struct sp_option *nearest = &sp_options[0];
    for (size_t i = 1; i < sp_option_count; i++)
        if (sp_config_distance(key, sp_options[i].key) < sp_config_distance(key, nearest->key))
            nearest = &sp_options[i];
    return sp_fault_set(fault, SP_INVALID, "there is no setting \"%s\"; the nearest is \"%s\"", key,
                        nearest->key);
}

static const char KAFKA[] = "kafka.";

/* librdkafka checks keys and values itself, when a handle is made. */
static enum sp_err set_property(struct sp_config *config, struct sp_view key, struct sp_view value)
{
    struct sp_config_property *p = NULL;
    for (size_t i = 0; i < config->kafka_count && !p; i++)
        if (sp_view_eq(key, sp_view_str(config->kafka[i].key)))
            p = &config->kafka[i];
    if (!p) {
        config->kafka =
            sp_realloc(config->kafka, (config->kafka_count + 1) * sizeof *config->kafka);
        p = &config->kafka[config->kafka_count++];
        *p = (struct sp_config_property){sp_view_dup(key), NULL};
    }
    sp_free(p->value);
    p->value = sp_view_dup(value);
    return SP_OK;
}

static enum sp_err set_text(struct sp_config *config, const struct sp_option *o,
                            struct sp_view value, struct sp_fault *fault)
{
    char *at = (char *)config + o->offset;
    if (value.len >= (size_t)o->most || (value.len && memchr(value.data, 0, value.len)))
        return sp_fault_set(fault, SP_INVALID, "%s: the value is longer than %.0f bytes", o->key,
                            o->most - 1);
    memset(at, 0, (size_t)o->most);
    if (value.len)
        memcpy(at, value.data, value.len);
    return SP_OK;
}

void sp_config_done(struct sp_config *config)
{
    for (size_t i = 0; i < config->kafka_count; i++) {
        sp_free(config->kafka[i].key);
        sp_free(config->kafka[i].value);
    }
    sp_free(config->kafka);
    config->kafka = NULL;
    config->kafka_count = 0;
}

enum sp_err sp_config_set(struct sp_config *config, struct sp_view key, struct sp_view value,
                          struct sp_fault *fault)
{
    char key_text[VALUE_MAX], value_text[VALUE_MAX];
    snprintf(key_text, sizeof key_text, "%.*s", (int)(key.len < 100 ? key.len : 100), key.data);
    snprintf(value_text, sizeof value_text, "%.*s", (int)(value.len < 100 ? value.len : 100),
             value.data);
    const struct sp_option *o = NULL;
    for (size_t i = 0; i < sp_option_count && !o; i++)
        if (sp_view_eq(key, sp_view_str(sp_options[i].key)))
            o = &sp_options[i];
    if (!o && key.len > sizeof KAFKA - 1 && memcmp(key.data, KAFKA, sizeof KAFKA - 1) == 0)
        return set_property(
            config, sp_view(key.data + sizeof KAFKA - 1, key.len - sizeof KAFKA + 1), value);
    if (!o)
        return unknown_key(key_text, fault);
    if (o->type == SP_OPTION_TEXT)
        return set_text(config, o, value, fault);
    if (value.len > 100)
        return sp_fault_set(fault, SP_INVALID, "%s: the value \"%s...\" is too long", o->key,
                            value_text);
    if (o->type != SP_OPTION_CHOICE)
        return set_number(config, o, value_text, fault);
    int number = choice_number(o->choices, value_text);
    if (number < 0)
        return sp_fault_set(fault, SP_INVALID, "%s: \"%s\" is none of %s", o->key, value_text,
                            o->choices);
    *count_at(config, o) = (uint64_t)number;
    return SP_OK;
}

static struct sp_view trimmed(struct sp_view v)
{
    while (v.len && isspace((unsigned char)v.data[0]))
        v = sp_view(v.data + 1, v.len - 1);
    while (v.len && isspace((unsigned char)v.data[v.len - 1]))
        v.len--;
    return v;
}

static enum sp_err assign(struct sp_config *config, struct sp_view line, struct sp_fault *fault)
{
    const char *equals = line.len ? memchr(line.data, '=', line.len) : NULL;
    if (!equals)
        return sp_fault_set(fault, SP_INVALID, /* the text is not shown: it may be a password */
                            "a setting is not of the form key=value: it has no \"=\"");
    if (memchr(line.data, 0, line.len))
        return sp_fault_set(fault, SP_INVALID,
                            "a setting contains a NUL byte: this is not a text file");
    size_t key_len = (size_t)(equals - line.data);
    return sp_config_set(config, trimmed(sp_view(line.data, key_len)),
                         trimmed(sp_view(equals + 1, line.len - key_len - 1)), fault);
}

enum sp_err sp_config_assign(struct sp_config *config, const char *assignment,
                             struct sp_fault *fault)
{
    return assign(config, sp_view_str(assignment), fault);
}

static enum sp_err read_file(const char *file, struct sp_buf *bytes, struct sp_fault *fault)
{
    enum { FILE_MOST = 1 << 20 }; /* a device, or a wrong name, may have no end */
    FILE *in = fopen(file, "r");
    if (in)
        bytes->len = fread(sp_buf_reserve(bytes, FILE_MOST + 1), 1, FILE_MOST + 1, in);
    bool good = in && !ferror(in);
    int error = errno;
    if (in)
        fclose(in);
    if (!good)
        return sp_fault_set(fault, SP_INVALID, "%s: the configuration cannot be read: %s", file,
                            strerror(error));
    if (bytes->len > FILE_MOST)
        return sp_fault_set(fault, SP_INVALID,
                            "%s: it is longer than %d bytes, so it is no file of settings", file,
                            FILE_MOST);
    return SP_OK;
}

enum sp_err sp_config_load(struct sp_config *config, const char *file, struct sp_fault *fault)
{
    struct sp_buf bytes = {0};
    size_t number = 0;
    enum sp_err err = read_file(file, &bytes, fault);
    size_t at = sp_utf8_mark_bytes(bytes.data, bytes.len);
    while (err == SP_OK && at < bytes.len) {
        const char *line = bytes.data + at, *end = memchr(line, '\n', bytes.len - at);
        size_t len = end ? (size_t)(end - line) : bytes.len - at;
        at += len + 1;
        number++;
        struct sp_view text = trimmed(sp_view(line, len));
        if (text.len == 0 || text.data[0] == '#')
            continue;
        err = assign(config, text, fault);
        if (err != SP_OK)
            sp_fault_set(fault, err, "%s:%zu: %s", file, number, fault->text);
    }
    sp_buf_done(&bytes);
    return err;
}

/* Whether a setting's key, or "kafka." and what follows, is the variable's name. */
static bool matches_variable(const char *key, struct sp_view name)
{
    size_t i = 0;
    for (; i < name.len && key[i]; i++) {
        char c = key[i] == '.' ? '_' : (char)toupper((unsigned char)key[i]);
        if (c != name.data[i])
            return false;
    }
    return i == name.len && !key[i];
}

static enum sp_err set_from_variable(struct sp_config *config, struct sp_view name,
                                     struct sp_view value, struct sp_fault *fault)
{
    char key[VALUE_MAX];
    for (size_t i = 0; i < sp_option_count; i++)
        if (matches_variable(sp_options[i].key, name))
            return sp_config_set(config, sp_view_str(sp_options[i].key), value, fault);
    size_t n = name.len < sizeof key - 1 ? name.len : sizeof key - 1;
    for (size_t i = 0; i < n; i++)
        key[i] = name.data[i] == '_' ? '.' : (char)tolower((unsigned char)name.data[i]);
    return sp_config_set(config, sp_view(key, n), value, fault);
}

enum sp_err sp_config_environment(struct sp_config *config, const char *const *environment,
                                  struct sp_fault *fault)
{
    static const char prefix[] = "SAMEPAGE_SET_";
    enum sp_err err = SP_OK;
    for (; *environment && err == SP_OK; environment++) {
        const char *name = *environment + sizeof prefix - 1, *equals = strchr(*environment, '=');
        if (strncmp(*environment, prefix, sizeof prefix - 1) != 0 || !equals || equals <= name)
            continue;
        err = set_from_variable(config, sp_view(name, (size_t)(equals - name)),
                                sp_view_str(equals + 1), fault);
    }
    return err;
}
