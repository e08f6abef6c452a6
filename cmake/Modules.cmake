# sp_module(NAME SOURCES file... [DEPENDS target...]): one folder of processors/
# is one static library sp_NAME. Its headers are included as "NAME/file.h"; only
# what DEPENDS names can be linked, so a dependency nobody declared breaks the link.
function(sp_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(sp_${name} STATIC ${ARG_SOURCES})
  target_include_directories(sp_${name} PUBLIC ${CMAKE_SOURCE_DIR}/processors ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(sp_${name} PUBLIC ${ARG_DEPENDS})
endfunction()
