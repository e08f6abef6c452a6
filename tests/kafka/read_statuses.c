/* Reads the status topic through samepage/status.h alone.
 *
 *     read_statuses BROKER TOPIC GROUP COUNT SECONDS commit|leave [KEY VALUE]...
 *
 * Prints one event a line, with fields separated by tabs, until COUNT events are read (0: no
 * limit) or none arrives for SECONDS; then commits, or does not. GROUP "-": no consumer group. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samepage/status.h"

static int failed(const char *what)
{
    fprintf(stderr, "read_statuses: %s\n", what);
    return 1;
}

static void print_event(const struct samepage_status_event *e)
{
    const char *reason = samepage_reason_name(e->reason);
    const char *rule = samepage_rule_name(e->rule);
    printf("%s\t%" PRId64 "\t%s\t%s\t%.9g\t%s\t%s\t%" PRId64 "\t%" PRId64 "\t%s\t%s\t%.9g\n",
           e->url, e->version_ms, samepage_status_name(e->status),
           e->winner_url ? e->winner_url : "", (double)e->similarity, reason ? reason : "",
           e->group_id, e->group_size, e->epoch, rule ? rule : "",
           e->contained_in ? e->contained_in : "", (double)e->containment);
}

int main(int argc, char **argv)
{
    char error[512] = "";
    struct samepage_status_event event;
    enum { GIVEN = 7, OWN = 4, MOST = 16 };
    if (argc < GIVEN || argc > GIVEN + MOST || (argc - GIVEN) % 2)
        return failed("wrong usage");
    const char *properties[OWN + MOST + 1] = {"bootstrap.servers", argv[1], "session.timeout.ms",
                                              "6000"};
    for (int i = GIVEN; i < argc; i++)
        properties[OWN + i - GIVEN] = argv[i];
    const char *group = strcmp(argv[3], "-") == 0 ? NULL : argv[3];
    long count = strtol(argv[4], NULL, 10);
    int wait_ms = (int)(1000 * strtol(argv[5], NULL, 10));
    struct samepage_status_client *client =
        samepage_status_open(properties, argv[2], group, error, sizeof error);
    if (!client)
        return failed(error);
    for (long got = 0; count == 0 || got < count; got++) {
        int result = samepage_status_next(client, wait_ms, &event);
        if (result == SAMEPAGE_NONE)
            break;
        if (result != SAMEPAGE_EVENT)
            return failed(samepage_status_error(client));
        print_event(&event);
    }
    int result = SAMEPAGE_NONE;
    if (strcmp(argv[6], "commit") == 0)
        result = samepage_status_commit(client, error, sizeof error);
    samepage_status_close(client);
    if (result != (group || strcmp(argv[6], "commit") != 0 ? SAMEPAGE_NONE : SAMEPAGE_INVALID))
        return failed(error);
    return 0;
}
