/* The position as one row of the meta store: "position" -> version byte, then the fields. */
#include "local/position.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/names.h"
#include "input/source.h"
#include "local/layout.h"

enum { FORMAT = 3, HEAD_BYTES = 4096 };
static const char KEY[] = SP_ROW_OF_RUN;

static void put_text(struct sp_buf *out, const char *text)
{
    size_t len = text ? strlen(text) : 0;
    sp_buf_put_varint(out, text ? len + 1 : 0);
    sp_buf_put(out, text, len);
}

static char *read_text(struct sp_reader *r)
{
    uint64_t len = sp_read_varint(r);
    if (len == 0)
        return NULL;
    return sp_view_dup(sp_read_bytes(r, len - 1));
}

/* The place of an input in the array. */
struct input_name {
    struct sp_id hash; /* key of the map: first */
    size_t place;
};

void sp_position_done(struct sp_position *p)
{
    for (size_t i = 0; i < p->input_count; i++)
        sp_free(p->inputs[i].name);
    sp_map_free_objects(&p->names);
    sp_free(p->inputs);
    sp_free(p->output);
    sp_free(p->dead_letter);
    *p = (struct sp_position){0};
}

static struct sp_input_position *find_input(const struct sp_position *p, const char *name)
{
    const struct input_name *found = sp_map_get(&p->names, sp_hash128(name, strlen(name)));
    return found ? &p->inputs[found->place] : NULL;
}

/* Takes the name. */
static struct sp_input_position *add_input(struct sp_position *p, char *name)
{
    if (!find_input(p, name)) {
        struct input_name *n = sp_alloc(sizeof *n);
        *n = (struct input_name){sp_hash128(name, strlen(name)), p->input_count};
        sp_map_add(&p->names, n);
    }
    sp_grow(&p->inputs, &p->input_cap, p->input_count + 1);
    p->inputs[p->input_count] = (struct sp_input_position){.name = name};
    return &p->inputs[p->input_count++];
}

bool sp_position_is_due(const struct sp_position *p, uint64_t records)
{
    return records >= p->input_count;
}

enum sp_err sp_position_load(struct sp_store *store, struct sp_position *ret_position)
{
    struct sp_view value;
    *ret_position = (struct sp_position){0};
    enum sp_err err = sp_store_get(store, sp_view_str(KEY), &value);
    if (err == SP_NOT_FOUND)
        return SP_OK;
    if (err != SP_OK)
        return err;
    struct sp_position p = {0};
    struct sp_reader r = sp_reader(value);
    if (sp_read_u8(&r) != FORMAT)
        return SP_STATE_FORMAT;
    p.output = read_text(&r);
    p.output_bytes = sp_read_varint(&r);
    p.dead_letter = read_text(&r);
    p.dead_letter_bytes = sp_read_varint(&r);
    p.clock.latest_ms = (int64_t)sp_read_varint(&r);
    p.clock.refused = sp_read_varint(&r);
    p.barriers = sp_read_varint(&r);
    for (uint64_t n = sp_read_varint(&r); n > 0 && !r.failed; n--) {
        char *name = read_text(&r);
        r.failed |= !name;
        if (!name)
            break;
        struct sp_input_position *in = add_input(&p, name);
        in->head = sp_read_u64(&r);
        in->head_bytes = sp_read_varint(&r);
        in->records = sp_read_varint(&r);
        in->ended = sp_read_u8(&r) != 0;
    }
    if (r.failed || sp_reader_left(&r)) {
        sp_position_done(&p);
        return SP_CORRUPT;
    }
    *ret_position = p;
    return SP_OK;
}

void sp_position_save(struct sp_store *store, const struct sp_position *p)
{
    struct sp_buf out = {0};
    sp_buf_put_u8(&out, FORMAT);
    put_text(&out, p->output);
    sp_buf_put_varint(&out, p->output_bytes);
    put_text(&out, p->dead_letter);
    sp_buf_put_varint(&out, p->dead_letter_bytes);
    sp_buf_put_varint(&out, (uint64_t)p->clock.latest_ms);
    sp_buf_put_varint(&out, p->clock.refused);
    sp_buf_put_varint(&out, p->barriers);
    sp_buf_put_varint(&out, p->input_count);
    for (size_t i = 0; i < p->input_count; i++) {
        const struct sp_input_position *in = &p->inputs[i];
        put_text(&out, in->name);
        sp_buf_put_u64(&out, in->head);
        sp_buf_put_varint(&out, in->head_bytes);
        sp_buf_put_varint(&out, in->records);
        sp_buf_put_u8(&out, in->ended);
    }
    sp_store_put(store, sp_view_str(KEY), sp_buf_view(&out));
    sp_buf_done(&out);
}

/* Reads the first bytes of the file; 0 if there is no file. */
static size_t read_head(const char *name, char *head, size_t wanted)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    while (fd >= 0 && len < wanted) {
        ssize_t n = read(fd, head + len, wanted - len);
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    if (fd >= 0)
        close(fd);
    return len;
}

struct sp_input_position *sp_position_input(struct sp_position *p, const char *name)
{
    struct sp_input_position *in = find_input(p, name);
    char head[HEAD_BYTES];
    bool is_stream = sp_source_is_stream(name);
    size_t len = is_stream ? 0 : read_head(name, head, sizeof head);
    bool same = in && len >= in->head_bytes && sp_hash64(head, in->head_bytes) == in->head;
    if (same && !(is_stream && in->ended))
        return in;
    if (!in)
        in = add_input(p, sp_strdup(name));
    in->records = 0;
    in->ended = false;
    in->head_bytes = len;
    in->head = sp_hash64(head, len);
    return in;
}

enum sp_err sp_position_end_input(struct sp_input_position *in, uint64_t unskipped,
                                  struct sp_fault *fault)
{
    if (unskipped)
        return sp_fault_set(fault, SP_INVALID,
                            "%s: %" PRIu64 " records were read from it before, and now it has only "
                            "%" PRIu64 ": it was cut or replaced. Put it back, or give a new file "
                            "another name, to be read from its start",
                            in->name, in->records, in->records - unskipped);
    in->ended = true;
    return SP_OK;
}

enum { REFUSED_IN_A_ROW = 100 };

bool sp_fetch_clock_accepts(struct sp_fetch_clock *clock, int64_t time_ms, uint64_t future_ms)
{
    if (time_ms <= 0)
        return true;
    bool ahead = clock->latest_ms > 0 && future_ms > 0 && time_ms > clock->latest_ms &&
                 (uint64_t)(time_ms - clock->latest_ms) > future_ms;
    if (ahead && ++clock->refused < REFUSED_IN_A_ROW)
        return false;
    clock->refused = 0;
    if (time_ms > clock->latest_ms)
        clock->latest_ms = time_ms;
    return true;
}

/* ---- DIR/BARRIER ---- */

#define BARRIER_LINE "samepage barrier "
#define ENDED ", ended"
_Static_assert(sizeof ENDED == 8, "as in the format that reads it");

static bool write_synced(const char *file, const char *text)
{
    size_t len = strlen(text);
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good = fd >= 0 && write(fd, text, len) == (ssize_t)len && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

enum sp_err sp_position_reached(const struct sp_position *position, const char *directory,
                                struct sp_fault *fault)
{
    struct sp_buf from = {0}, to = {0};
    char text[64];
    snprintf(text, sizeof text, BARRIER_LINE "%" PRIu64 "%s\n", position->barriers,
             position->ended ? ENDED : "");
    int dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = dir >= 0 && write_synced(sp_names_join(&from, directory, "BARRIER.new"), text) &&
                rename(from.data, sp_names_join(&to, directory, "BARRIER")) == 0 && fsync(dir) == 0;
    enum sp_err err = SP_OK;
    if (!good)
        err = sp_fault_set(fault, SP_STORE,
                           "cannot write %s/BARRIER: %s; free space, or give this "
                           "user the right to write there, and run again",
                           directory, strerror(errno));
    if (dir >= 0)
        close(dir);
    sp_buf_done(&from);
    sp_buf_done(&to);
    return err;
}

enum sp_err sp_position_check(struct sp_position *position, const char *directory,
                              struct sp_fault *fault)
{
    char ended[sizeof ENDED] = "";
    struct sp_buf file = {0};
    uint64_t reached = 0;
    FILE *in = fopen(sp_names_join(&file, directory, "BARRIER"), "re");
    bool known = in || errno != ENOENT;
    bool good = in && fscanf(in, BARRIER_LINE "%" SCNu64 "%7[, a-z]", &reached, ended) >= 1;
    if (in)
        fclose(in);
    sp_buf_done(&file);
    position->ended = good && position->barriers == reached && strcmp(ended, ENDED) == 0;
    if (!known || (good && position->barriers >= reached))
        return SP_OK;
    if (!good)
        return sp_fault_set(
            fault, SP_STORE,
            "%s/BARRIER cannot be read: restore the whole directory from a copy, or "
            "use another --state directory",
            directory);
    return sp_fault_set(
        fault, SP_STORE,
        "the state in %s is older than it was: it is at barrier %" PRIu64 ", and barrier %" PRIu64
        " was reached. Files of it were lost, cut or put back. Restore the whole directory from one "
        "copy, or use another --state directory. To continue from the older state, delete %s/BARRIER: "
        "outputs are truncated to it, and later input is read again",
        directory, position->barriers, reached, directory);
}
