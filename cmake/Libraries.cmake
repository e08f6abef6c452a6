# Every library from outside, found once. tools/setup installs them.
include(TextLibraries)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(BROTLI REQUIRED IMPORTED_TARGET libbrotlidec)
pkg_check_modules(BROTLIENC REQUIRED IMPORTED_TARGET libbrotlienc) # tests only
pkg_check_modules(ROCKSDB REQUIRED IMPORTED_TARGET rocksdb)
pkg_check_modules(AVRO REQUIRED IMPORTED_TARGET avro-c)
pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat)
pkg_check_modules(SIMDJSON REQUIRED IMPORTED_TARGET simdjson)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(CUNIT REQUIRED IMPORTED_TARGET cunit)
pkg_check_modules(GUMBO IMPORTED_TARGET gumbo) # tests only
pkg_check_modules(RDKAFKA REQUIRED IMPORTED_TARGET rdkafka)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(CAIRO REQUIRED IMPORTED_TARGET cairo cairo-svg fontconfig)
pkg_check_modules(JEMALLOC REQUIRED IMPORTED_TARGET jemalloc)
pkg_check_modules(SQLITE IMPORTED_TARGET sqlite3) # examples only
find_path(CSV_INCLUDE csv.h REQUIRED)
find_library(CSV_LIBRARY csv REQUIRED)
add_library(CSV::CSV INTERFACE IMPORTED)
set_target_properties(CSV::CSV PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES ${CSV_INCLUDE} INTERFACE_LINK_LIBRARIES ${CSV_LIBRARY})
