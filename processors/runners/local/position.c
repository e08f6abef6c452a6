/* The position as one row of the meta store: "position" -> version byte, then the fields. */
#include "local/position.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"

enum { FORMAT = 2, HEAD_BYTES = 4096 };
static const char KEY[] = "position";

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

void sp_position_done(struct sp_position *p)
{
    for (size_t i = 0; i < p->input_count; i++)
        sp_free(p->inputs[i].name);
    sp_free(p->inputs);
    sp_free(p->output);
    sp_free(p->dead_letter);
    *p = (struct sp_position){0};
}

static struct sp_input_position *add_input(struct sp_position *p)
{
    p->inputs = sp_realloc(p->inputs, (p->input_count + 1) * sizeof *p->inputs);
    p->inputs[p->input_count] = (struct sp_input_position){0};
    return &p->inputs[p->input_count++];
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
    for (uint64_t n = sp_read_varint(&r); n > 0 && !r.failed; n--) {
        struct sp_input_position *in = add_input(&p);
        in->name = read_text(&r);
        r.failed |= !in->name;
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

/* The first bytes of the file; 0 where it is none. */
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
    struct sp_input_position *in = NULL;
    char head[HEAD_BYTES];
    bool is_stdin = strcmp(name, "-") == 0;
    size_t len = is_stdin ? 0 : read_head(name, head, sizeof head);
    for (size_t i = 0; i < p->input_count && !in; i++)
        if (strcmp(p->inputs[i].name, name) == 0)
            in = &p->inputs[i];
    bool same = in && len >= in->head_bytes && sp_hash64(head, in->head_bytes) == in->head;
    if (same && !(is_stdin && in->ended))
        return in;
    if (!in) {
        in = add_input(p);
        in->name = sp_strdup(name);
    }
    in->records = 0;
    in->ended = false;
    in->head_bytes = len;
    in->head = sp_hash64(head, len);
    return in;
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
