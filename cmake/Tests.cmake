# The interpreter itself: where `python3` is a script that chooses one, as pyenv's, each start of it takes as long as
# two of the interpreter, and there are hundreds of tests in Python.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable, end='')"
  OUTPUT_VARIABLE Python3_EXECUTABLE COMMAND_ERROR_IS_FATAL ANY)

# sp_unit_test(NAME SOURCES file... [DEPENDS target...] [INTERNALS module...] [LABELS label...]
#              [TIMEOUT seconds])
# Builds one CUnit program and registers each of its cases, written TEST(name), as
# a CTest "NAME.name"; INTERNALS names modules whose private headers they include. Cases are found by reading the sources when CMake runs.
# "NAME.whole" runs all cases in one process, where what one leaves behind can disturb the next; not of
# programs that mostly wait (faults) or need a broker.
function(sp_unit_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPENDS;INTERNALS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS fast)
  endif()
  add_executable(test_${name} ${ARG_SOURCES})
  sp_link_with_all_below(test_${name} ${ARG_DEPENDS})
  target_link_libraries(test_${name} PRIVATE harness)
  sp_see_internals(test_${name} ${ARG_INTERNALS})
  if(ARG_LABELS STREQUAL "fast")
    add_test(NAME ${name}.whole COMMAND test_${name})
    set_tests_properties(${name}.whole PROPERTIES LABELS whole TIMEOUT 600)
  endif()
  foreach(source IN LISTS ARG_SOURCES)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    file(STRINGS ${source} cases REGEX "^TEST\\(")
    foreach(line IN LISTS cases)
      string(REGEX REPLACE "^TEST\\(([A-Za-z0-9_]+)\\).*" "\\1" case "${line}")
      add_test(NAME ${name}.${case} COMMAND test_${name} ${case})
      set_tests_properties(${name}.${case} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
        SKIP_RETURN_CODE 77)
    endforeach()
  endforeach()
endfunction()

# Tests of counts and figures, whose code other tests reach as well: sanitizers, with which these are among the slowest
# tests, have nothing to add to them.
function(sp_costs)
  set_property(TEST ${ARGN} APPEND PROPERTY LABELS costs)
endfunction()
