/* See keeper.h. */
#include "local/keeper.h"

#include "local/layout.h"

static const struct {
    const char *row;
    const char *what;
} keepers[SP_KEEPERS] = {
    [SP_KEEPER_RUN] = {SP_ROW_OF_RUN, "the state of a `samepage run`"},
    [SP_KEEPER_STAGE] = {SP_ROW_OF_STAGE, "a part of the state of a stage on Kafka"},
    [SP_KEEPER_COPY] = {SP_ROW_OF_COPY, "the copy that a `serve --kafka --state` keeps"}};

/* SP_OK: this one does not keep the database. */
static enum sp_err refuse(struct sp_db *db, enum sp_keeper keeper, const char *directory,
                          struct sp_fault *fault)
{
    struct sp_view value;
    enum sp_err err =
        sp_store_get(sp_db_store(db, SP_BUS_STORE_META), sp_view_str(keepers[keeper].row), &value);
    if (err == SP_NOT_FOUND)
        return SP_OK;
    if (err != SP_OK)
        return sp_fault_set(fault, err, "%s: %s", directory, sp_db_message(db));
    return sp_fault_set(fault, SP_INVALID, "%s holds %s; use another directory", directory,
                        keepers[keeper].what);
}

enum sp_err sp_keeper_check(struct sp_db *db, enum sp_keeper keeper, const char *directory,
                            struct sp_fault *fault)
{
    enum sp_err err = SP_OK;
    for (int other = 0; other < SP_KEEPERS && err == SP_OK; other++)
        if (other != (int)keeper)
            err = refuse(db, (enum sp_keeper)other, directory, fault);
    return err;
}

enum sp_err sp_keeper_check_read(struct sp_db *db, const char *directory, struct sp_fault *fault)
{
    return refuse(db, SP_KEEPER_STAGE, directory, fault);
}
