# sp_module(NAME [HEADERS header...] SOURCES file... [DEPENDS target...])
#
# One folder of processors/ is one static library sp_NAME. HEADERS are its contract: they
# are included as "NAME/header.h" by the modules that name sp_NAME in their DEPENDS, and by
# nobody else. Links are private and do not pass on what they link, so a module sees
# neither a header of a module it does not name nor another's private header: either one
# does not compile (tests/lint/rooms.py).
#
# How: a folder of links for each module in the build tree, one with the headers of HEADERS
# for the others, one with the whole folder for the module itself and for tests that name
# it in INTERNALS.
function(sp_module name)
  cmake_parse_arguments(ARG "" "" "HEADERS;SOURCES;DEPENDS" ${ARGN})
  sp_link_headers(${name} ${ARG_HEADERS})
  add_library(sp_${name} STATIC ${ARG_SOURCES})
  sp_see_internals(sp_${name} ${name})
  target_include_directories(sp_${name} INTERFACE ${CMAKE_BINARY_DIR}/headers/${name})
  target_link_libraries(sp_${name} PRIVATE ${ARG_DEPENDS})
  set_property(GLOBAL PROPERTY sp_${name}_depends ${ARG_DEPENDS})
endfunction()

function(sp_link_headers name)
  set(public ${CMAKE_BINARY_DIR}/headers/${name})
  set(private ${CMAKE_BINARY_DIR}/internals/${name})
  file(REMOVE_RECURSE ${public} ${private})
  file(MAKE_DIRECTORY ${public}/${name} ${private})
  foreach(header IN LISTS ARGN)
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${header})
      message(FATAL_ERROR "${name}: there is no ${header}")
    endif()
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${header} ${public}/${name}/${header} SYMBOLIC)
  endforeach()
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${private}/${name} SYMBOLIC)
endfunction()

# Lets a target include all headers of these modules, as their own files do.
function(sp_see_internals target)
  foreach(name IN LISTS ARGN)
    target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/internals/${name})
  endforeach()
endfunction()

# Links these targets and all modules below them: what a module's tests and benchmarks need.
function(sp_link_with_all_below target)
  set(found)
  set(left ${ARGN})
  while(left)
    list(POP_FRONT left next)
    if(next IN_LIST found)
      continue()
    endif()
    list(APPEND found ${next})
    get_property(depends GLOBAL PROPERTY ${next}_depends)
    foreach(below IN LISTS depends)
      if(below MATCHES "^sp_")
        list(APPEND left ${below})
      endif()
    endforeach()
  endwhile()
  target_link_libraries(${target} PRIVATE ${found})
endfunction()
