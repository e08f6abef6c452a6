# Every library from outside, found once. tools/setup installs them.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(ROCKSDB REQUIRED IMPORTED_TARGET rocksdb)
pkg_check_modules(AVRO REQUIRED IMPORTED_TARGET avro-c)
pkg_check_modules(SIMDJSON REQUIRED IMPORTED_TARGET simdjson)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(CUNIT REQUIRED IMPORTED_TARGET cunit)
pkg_check_modules(GUMBO IMPORTED_TARGET gumbo) # tests only
pkg_check_modules(RDKAFKA REQUIRED IMPORTED_TARGET rdkafka)
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(CAIRO REQUIRED IMPORTED_TARGET cairo cairo-svg fontconfig)
pkg_check_modules(JEMALLOC REQUIRED IMPORTED_TARGET jemalloc)
pkg_check_modules(SQLITE IMPORTED_TARGET sqlite3) # examples only
find_path(CLD2_INCLUDE cld2/public/compact_lang_det.h REQUIRED)
find_library(CLD2_LIBRARY cld2 REQUIRED)
add_library(CLD2::CLD2 INTERFACE IMPORTED)
set_target_properties(CLD2::CLD2 PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES ${CLD2_INCLUDE} INTERFACE_LINK_LIBRARIES ${CLD2_LIBRARY})
find_path(STEMMER_INCLUDE libstemmer.h REQUIRED)
find_library(STEMMER_LIBRARY stemmer REQUIRED)
add_library(Stemmer::Stemmer INTERFACE IMPORTED)
set_target_properties(Stemmer::Stemmer PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES ${STEMMER_INCLUDE} INTERFACE_LINK_LIBRARIES ${STEMMER_LIBRARY})
