/* A program that has only what is installed, in C and C++. */
#include <samepage/status.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    const char *wrong[] = {"no.such.property", "1", NULL};
    const char *half[] = {"client.id", NULL};
    char error[256] = "";
    struct samepage_status_client *client =
        samepage_status_open(wrong, "status", "group", error, sizeof error);
    if (client || !strstr(error, "no.such.property"))
        return 1;
    client = samepage_status_open(half, "status", "group", error, sizeof error);
    if (client || !strstr(error, "client.id"))
        return 2;
    if (samepage_status_open(wrong, "status", NULL, NULL, 0))
        return 3;
    samepage_status_close(NULL);
    if (strcmp(samepage_status_name(SAMEPAGE_STATUS_LOSER), "loser") != 0 ||
        strcmp(samepage_reason_name(SAMEPAGE_REASON_EXACT), "exact") != 0 ||
        samepage_reason_name(SAMEPAGE_REASON_NONE))
        return 4;
    printf("good\n");
    return 0;
}
