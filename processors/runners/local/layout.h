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

#endif
