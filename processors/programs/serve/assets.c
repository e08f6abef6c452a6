/* See assets.h. The assembler reads the files: CMakeLists.txt names them, and puts the page
 * together from web/. */
#include "serve/assets.h"

#define ASSET(name, file)                                                                          \
    __asm__(".section .rodata\n"                                                                   \
            ".global sp_asset_" name "_start\n.global sp_asset_" name "_end\n"                     \
            "sp_asset_" name "_start:\n.incbin \"" file "\"\n"                                     \
            "sp_asset_" name "_end:\n.byte 0\n.text\n")

ASSET("page", SP_PAGE_FILE);
ASSET("openapi", SP_OPENAPI_FILE);

extern const char sp_asset_page_start[], sp_asset_page_end[];
extern const char sp_asset_openapi_start[], sp_asset_openapi_end[];

struct sp_view sp_asset_page(void)
{
    return sp_view(sp_asset_page_start, (size_t)(sp_asset_page_end - sp_asset_page_start));
}

struct sp_view sp_asset_openapi(void)
{
    return sp_view(sp_asset_openapi_start, (size_t)(sp_asset_openapi_end - sp_asset_openapi_start));
}
