/* See state.h. The file consists of lines of words. The last line is "end", so that a truncated
 * copy is detected. */
#include "archive/state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };
static const char head[] = "samepage archive 2\n", head_of_version_1[] = "samepage archive 1\n";

void sp_archive_state_done(struct sp_archive_state *state)
{
    sp_map_free_objects(&state->inputs);
    sp_free(state->reading_name);
    sp_buf_done(&state->input_log);
    sp_free(state->ends);
    *state = (struct sp_archive_state){0};
}

void sp_archive_state_ended(struct sp_archive_state *state, struct sp_place end)
{
    sp_grow(&state->ends, &state->end_cap, state->end_count + 1);
    state->ends[state->end_count++] = end;
}

/* ---- inputs ---- */

struct sp_archive_input *sp_archive_state_input(struct sp_archive_state *state, struct sp_id id)
{
    struct sp_archive_input *input = sp_map_get(&state->inputs, id);
    if (input)
        return input;
    input = sp_alloc(sizeof *input);
    *input = (struct sp_archive_input){.id = id};
    sp_map_add(&state->inputs, input);
    return input;
}

static void put_reading(struct sp_buf *out, const struct sp_archive_state *state)
{
    const struct sp_archive_input *input = state->reading;
    char text[96];
    int n = snprintf(text, sizeof text, "input %016" PRIx64 "%016" PRIx64 " %" PRIu64 " ",
                     input->id.hi, input->id.lo, input->records);
    sp_buf_put(out, text, (size_t)n);
    sp_buf_put_str(out, state->reading_name);
    sp_buf_put_u8(out, '\n');
}

void sp_archive_state_leave(struct sp_archive_state *state)
{
    if (state->reading)
        put_reading(&state->input_log, state);
    sp_free(state->reading_name);
    state->reading_name = NULL;
    state->reading = NULL;
}

void sp_archive_state_read(struct sp_archive_state *state, struct sp_archive_input *input,
                           const char *name, uint64_t records)
{
    if (state->reading != input) {
        sp_archive_state_leave(state);
        state->reading = input;
        state->reading_name = sp_strdup(name);
        for (char *at = state->reading_name; *at; at++)
            if (*at == '\n')
                *at = '?'; /* names are only for people */
    }
    input->records = records;
}

/* Returns where the name begins; 0: it is another line. */
static size_t parse_input(const char *line, struct sp_id *ret_id, uint64_t *ret_records)
{
    int at = 0;
    bool is = sscanf(line, "input %16" SCNx64 "%16" SCNx64 " %" SCNu64 "%n", &ret_id->hi,
                     &ret_id->lo, ret_records, &at) == 3;
    return is && line[at] == ' ' ? (size_t)at + 1 : 0;
}

static void load_reading(struct sp_archive_state *state, const char *line)
{
    struct sp_id id;
    uint64_t records = 0;
    size_t name = parse_input(line, &id, &records);
    if (name)
        sp_archive_state_read(state, sp_archive_state_input(state, id), line + name, records);
}

enum sp_err sp_archive_state_load_inputs(struct sp_archive_state *state, struct sp_view log)
{
    struct sp_buf line = {0};
    enum sp_err err = SP_OK;
    for (size_t at = 0; at < log.len && err == SP_OK; at += line.len) {
        const char *newline = memchr(log.data + at, '\n', log.len - at);
        struct sp_id id;
        uint64_t records = 0;
        sp_buf_reset(&line);
        sp_buf_put(&line, log.data + at, newline ? (size_t)(newline - log.data) - at : 0);
        sp_buf_put_u8(&line, 0); /* in place of the newline */
        if (!newline || !parse_input(line.data, &id, &records)) {
            err = SP_CORRUPT;
            break;
        }
        struct sp_archive_input *input = sp_archive_state_input(state, id);
        if (input != state->reading) /* of which `state` knows more */
            input->records = records;
    }
    sp_buf_done(&line);
    return err;
}

/* ---- the file ---- */

static void load_end(struct sp_archive_state *state, const char *line)
{
    struct sp_place end;
    if (sscanf(line, "ended %" SCNu32 " %" SCNu64, &end.segment, &end.offset) == 2)
        sp_archive_state_ended(state, end);
}

static bool load_line(struct sp_archive_state *state, char *line)
{
    static const struct {
        const char *name;
        size_t offset;
    } numbers[] = {{"segment_bytes ", offsetof(struct sp_archive_state, segment_bytes)},
                   {"known_bytes ", offsetof(struct sp_archive_state, known_bytes)},
                   {"line_bytes ", offsetof(struct sp_archive_state, line_bytes)},
                   {"input_bytes ", offsetof(struct sp_archive_state, input_bytes)},
                   {"indexed_bytes ", offsetof(struct sp_archive_state, indexed_bytes)}};
    line[strcspn(line, "\n")] = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strncmp(line, numbers[i].name, strlen(numbers[i].name)) == 0) {
            uint64_t number = strtoull(line + strlen(numbers[i].name), NULL, 10);
            memcpy((char *)state + numbers[i].offset, &number, sizeof number);
        }
    if (strncmp(line, "segment ", 8) == 0)
        state->segment = (uint32_t)strtoul(line + 8, NULL, 10);
    load_end(state, line);
    load_reading(state, line);
    return strcmp(line, "end") == 0;
}

enum sp_err sp_archive_state_load(const char *dir, struct sp_archive_state *ret_state,
                                  struct sp_fault *fault)
{
    char path[PATH_BYTES], *line = NULL;
    struct sp_archive_state state = {.found = true};
    enum sp_err err = SP_OK;
    size_t cap = 0;
    bool end = false;
    snprintf(path, sizeof path, "%s/state", dir);
    FILE *in = fopen(path, "r");
    if (!in && errno == ENOENT) {
        *ret_state = (struct sp_archive_state){0};
        return SP_OK;
    }
    if (!in)
        return sp_fault_set(fault, SP_IO, "%s: cannot be read: %s", path, strerror(errno));
    if (getline(&line, &cap, in) < 0 ||
        (strcmp(line, head) != 0 && strcmp(line, head_of_version_1) != 0))
        err = sp_fault_set(fault, SP_STATE_FORMAT,
                           "%s: is not the state of an archive of this version", path);
    while (err == SP_OK && !end && getline(&line, &cap, in) >= 0)
        end = load_line(&state, line);
    if (err == SP_OK && !end)
        err = sp_fault_set(fault, SP_CORRUPT, "%s: ends too early", path);
    free(line); /* allocated by getline */
    fclose(in);
    if (err == SP_OK)
        *ret_state = state;
    else
        sp_archive_state_done(&state);
    return err;
}

static void put_number(struct sp_buf *out, const char *name, uint64_t number)
{
    char text[64];
    int n = snprintf(text, sizeof text, "%s %" PRIu64 "\n", name, number);
    sp_buf_put(out, text, (size_t)n);
}

static void put_end(struct sp_buf *out, struct sp_place end)
{
    char text[64];
    int n = snprintf(text, sizeof text, "ended %" PRIu32 " %" PRIu64 "\n", end.segment, end.offset);
    sp_buf_put(out, text, (size_t)n);
}

static void put_state(struct sp_buf *out, const struct sp_archive_state *s)
{
    sp_buf_put_str(out, head);
    put_number(out, "segment", s->segment);
    put_number(out, "segment_bytes", s->segment_bytes);
    put_number(out, "known_bytes", s->known_bytes);
    put_number(out, "line_bytes", s->line_bytes);
    put_number(out, "input_bytes", s->input_bytes);
    put_number(out, "indexed_bytes", s->indexed_bytes);
    for (size_t i = 0; i < s->end_count; i++)
        put_end(out, s->ends[i]);
    if (s->reading)
        put_reading(out, s);
    sp_buf_put_str(out, "end\n");
}

enum sp_err sp_archive_state_save(const char *dir, const struct sp_archive_state *state,
                                  struct sp_fault *fault)
{
    char path[PATH_BYTES], beside[PATH_BYTES];
    struct sp_buf text = {0};
    snprintf(path, sizeof path, "%s/state", dir);
    snprintf(beside, sizeof beside, "%s/state.new", dir);
    int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    FILE *out = fopen(beside, "w");
    put_state(&text, state);
    bool good = out && fwrite(text.data, 1, text.len, out) == text.len && fflush(out) == 0 &&
                fsync(fileno(out)) == 0;
    if (out)
        good = fclose(out) == 0 && good;
    good = good && rename(beside, path) == 0 && folder >= 0 && fsync(folder) == 0;
    if (!good)
        sp_fault_set(fault, SP_IO, "%s: cannot be written: %s", path, strerror(errno));
    if (folder >= 0)
        close(folder);
    sp_buf_done(&text);
    return good ? SP_OK : SP_IO;
}
