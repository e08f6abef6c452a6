/* The stored row of a task, and the marker of a changelog; see task.h. */
#include "kafka/task.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "local/layout.h"

enum { FORMAT = 3, MARKER_FORMAT = 4 };
static const char KEY[] = SP_ROW_OF_STAGE;

/* Not a secret: lives must only differ, and a start must not wait for entropy. */
void sp_task_live(struct sp_task *t)
{
    if (!sp_id_is_zero(t->life))
        return;
    uint64_t drawn[2] = {0, 0};
    if (getrandom(drawn, sizeof drawn, GRND_NONBLOCK) != (ssize_t)sizeof drawn ||
        (!drawn[0] && !drawn[1])) {
        drawn[0] = sp_mix64((uint64_t)sp_clock_us());
        drawn[1] = (uint64_t)getpid();
    }
    t->life = (struct sp_id){drawn[0], drawn[1]};
}

static void put_life(struct sp_buf *out, struct sp_id life)
{
    sp_buf_put(out, &life, sizeof life);
}

static struct sp_id read_life(struct sp_reader *r)
{
    struct sp_id life = {0};
    struct sp_view bytes = sp_read_bytes(r, sizeof life);
    if (bytes.len == sizeof life)
        memcpy(&life, bytes.data, sizeof life);
    return life;
}

void sp_marker_put(struct sp_buf *out, const struct sp_marker *m)
{
    sp_buf_put_u8(out, MARKER_FORMAT);
    sp_buf_put_zigzag(out, m->input_next);
    sp_buf_put_varint(out, m->batch);
    put_life(out, m->life);
}

bool sp_marker_read(struct sp_view value, struct sp_marker *ret_marker)
{
    struct sp_reader r = sp_reader(value);
    if (sp_read_u8(&r) != MARKER_FORMAT)
        return false;
    struct sp_marker m = {.input_next = sp_read_zigzag(&r), .batch = sp_read_varint(&r)};
    m.life = read_life(&r);
    if (r.failed || sp_reader_left(&r) > 0)
        return false;
    *ret_marker = m;
    return true;
}

enum sp_err sp_task_load(struct sp_task *t)
{
    struct sp_view value;
    t->input_next = -1;
    t->changelog_next = 0;
    t->batch = 0;
    t->life = (struct sp_id){0};
    t->partial = false;
    enum sp_err err =
        sp_store_get(sp_db_store(t->db, SP_TASK_STORE_META), sp_view_str(KEY), &value);
    if (err == SP_NOT_FOUND)
        return SP_OK;
    if (err != SP_OK)
        return err;
    struct sp_reader r = sp_reader(value);
    uint8_t format = sp_read_u8(&r);
    t->input_next = sp_read_zigzag(&r);
    t->changelog_next = sp_read_zigzag(&r);
    t->batch = sp_read_varint(&r);
    t->life = read_life(&r);
    t->partial = sp_read_u8(&r) != 0;
    return r.failed || format != FORMAT ? SP_CORRUPT : SP_OK;
}

void sp_task_save(struct sp_task *t)
{
    struct sp_buf value = {0};
    sp_buf_put_u8(&value, FORMAT);
    sp_buf_put_zigzag(&value, t->input_next);
    sp_buf_put_zigzag(&value, t->changelog_next);
    sp_buf_put_varint(&value, t->batch);
    put_life(&value, t->life);
    sp_buf_put_u8(&value, t->partial);
    sp_store_put(sp_db_store(t->db, SP_TASK_STORE_META), sp_view_str(KEY), sp_buf_view(&value));
    sp_buf_done(&value);
}
