/* The names of the kinds, and mixes of them: see skew.h. */
#include "synth/skew.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define NAME(id, name) [SP_SKEW_##id] = (name),
    SP_SKEW_LIST(NAME)
#undef NAME
};

/* A guess at the shares of these kinds in a large crawl of many sites. */
static const char default_mix[] = "same=10,near=15,chainlike=2,template=15,zipf=20,redirects=5,"
                                  "die=6,recover=2,flap=3,outrank=2";

const char *sp_skew_name(enum sp_skew_kind kind)
{
    return names[kind];
}

/* Whether a name that the user gave means that kind. */
static bool means(const char *name, size_t len, const char *kind)
{
    return strncmp(name, kind, len) == 0 && (kind[len] == 0 || kind[len] == '-');
}

static enum sp_err no_such_kind(const char *name, size_t len, struct sp_fault *fault)
{
    sp_fault_set(fault, SP_INVALID, "there is no skew \"%.*s\"; there are", (int)len, name);
    for (size_t i = 0; i < SP_SKEW_KINDS; i++)
        sp_fault_set(fault, SP_INVALID, "%s%s %s", fault->text, i ? "," : "", names[i]);
    return SP_INVALID;
}

/* Adds a part, divided equally among the kinds that the name means. */
static enum sp_err add(uint32_t *parts, const char *name, size_t len, uint64_t part,
                       struct sp_fault *fault)
{
    uint32_t count = 0, seen = 0;
    for (size_t i = 0; i < SP_SKEW_KINDS; i++)
        count += len > 0 && means(name, len, names[i]);
    if (count == 0)
        return no_such_kind(name, len < 100 ? len : 100, fault);
    for (size_t i = 0; i < SP_SKEW_KINDS; i++)
        if (means(name, len, names[i])) {
            parts[i] += (uint32_t)(part * (seen + 1) / count - part * seen / count);
            seen++;
        }
    return SP_OK;
}

/* Parses "near=20", up to the comma or the end. */
static enum sp_err parse_share(const char *at, size_t len, uint32_t *parts, uint64_t *left,
                               struct sp_fault *fault)
{
    const char *equals = memchr(at, '=', len);
    char *end = NULL;
    double percent = equals ? strtod(equals + 1, &end) : -1;
    if (!equals || end == equals + 1 || end != at + len || !(percent >= 0 && percent <= 100))
        return sp_fault_set(
            fault, SP_INVALID,
            "\"%.*s\" is not a kind of skew with its percentage of the fetches, such as near=20",
            len < 100 ? (int)len : 100, at);
    uint64_t part = (uint64_t)(percent * (SP_SKEW_WHOLE / 100.0) + 0.5);
    if (part > *left)
        return sp_fault_set(fault, SP_INVALID, "the kinds of skew add up to more than 100 %%");
    *left -= part;
    return add(parts, at, (size_t)(equals - at), part, fault);
}

enum sp_err sp_skew_parse(const char *mix, struct sp_skew *ret_skew, struct sp_fault *fault)
{
    uint32_t parts[SP_SKEW_KINDS] = {0};
    uint64_t left = SP_SKEW_WHOLE;
    enum sp_err err = SP_OK;
    const char *at = mix && strcmp(mix, "mix") != 0 ? mix : default_mix;
    if (!strpbrk(at, "=,")) {
        left = 0;
        err = add(parts, at, strlen(at), SP_SKEW_WHOLE, fault);
        at = NULL;
    }
    while (at && err == SP_OK) {
        size_t len = strcspn(at, ",");
        err = parse_share(at, len, parts, &left, fault);
        at = at[len] ? at + len + 1 : NULL;
    }
    if (err != SP_OK)
        return err;
    parts[SP_SKEW_UNLIKE] += (uint32_t)left;
    memcpy(ret_skew->parts, parts, sizeof parts);
    return SP_OK;
}
