# sp_pkg_config(NAME LIBRARY library DESCRIPTION text [REQUIRES_PRIVATE packages])
#
# Writes and installs NAME.pc, with which others find an installed library. `cmake --install
# --prefix` may put it elsewhere, so the file names its prefix from where it lies.
include(GNUInstallDirs)
function(sp_pkg_config pc_name)
  cmake_parse_arguments(pc "" "LIBRARY;DESCRIPTION;REQUIRES_PRIVATE" "" ${ARGN})
  file(RELATIVE_PATH up_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" up_to_prefix "${up_to_prefix}")
  configure_file(${CMAKE_SOURCE_DIR}/cmake/library.pc.in ${pc_name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${pc_name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT client)
endfunction()
