# What turning texts into signatures needs, and no more: python/ is built with these.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
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
find_package(ZLIB REQUIRED) # CRC32 of sentences
