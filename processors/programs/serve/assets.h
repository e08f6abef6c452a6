/* Files that are part of the program: the page and its description of the API. Private to this
 * folder. */
#ifndef SP_SERVE_ASSETS_H
#define SP_SERVE_ASSETS_H

#include "base/bytes.h"

/* page.html with page.css and page.js in it; "@NONCE@" wherever a response's own goes. */
struct sp_view sp_asset_page(void);
/* docs/openapi.json */
struct sp_view sp_asset_openapi(void);

#endif
