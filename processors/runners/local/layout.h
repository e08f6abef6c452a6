/* Which store of a state directory holds what. */
#ifndef SP_LOCAL_LAYOUT_H
#define SP_LOCAL_LAYOUT_H

enum {
    SP_BUS_STORE_META = 0,     /* for the runner's own rows */
    SP_BUS_STORE_TIER1 = 1,    /* + partition */
    SP_BUS_STORE_TIER2 = 1024, /* + partition */
    SP_BUS_STORE_CONTAIN = 65534,
    SP_BUS_STORE_CONTENTS = 65535 /* the signatures that all stages share */
};

/* Of a content in that store (contents.h): a page without duplicates is one member of a group and
 * owns one row of a cell. */
enum { SP_BUS_USUAL_HOLDERS = 2 };

/* The row of the meta store that the keeper of a database has in it (keeper.h). A stage on Kafka
 * has a layout of its own, but its meta store is the same one. */
#define SP_ROW_OF_RUN "position"
#define SP_ROW_OF_STAGE "task"
#define SP_ROW_OF_COPY "replica"

#endif
