# Build type, language standards, warnings, sanitizers and fuzzers: everything
# that changes how every target is compiled.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "build type" FORCE)
endif()
option(SP_WERROR "treat warnings as errors" OFF)
option(SP_FUZZERS "build the libFuzzer programs (clang only)" OFF)
set(SP_SANITIZE "" CACHE STRING "sanitizers, as for -fsanitize= (address,undefined or thread)")

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
# Without extensions CMake names the standard to every compiler, also where it is the compiler's default:
# clang-tidy reads these commands and has another default.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Our asserts stay on in release builds (docs/ARCHITECTURE.md, Errors).
set(CMAKE_C_FLAGS_RELEASE "-O3")
set(CMAKE_CXX_FLAGS_RELEASE "-O3")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O3 -g")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O3 -g")
if(SP_SANITIZE) # a fifth less to compile; reports need lines, but no types: the preset `clang` is the one for gdb
  set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g1")
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
endif()

# The same source gives the same bytes in whatever folder it is built.
# But debuggers and gcov look for the folder.
if(NOT SP_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT CMAKE_C_FLAGS MATCHES "coverage")
  add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=build)
  # Also where ccache makes paths relative to the build folder: so what it has stored is what would be compiled.
  file(RELATIVE_PATH up ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
  string(REGEX REPLACE "/$" "" up "${up}")
  if(up)
    add_compile_options(-ffile-prefix-map=${up}=. -ffile-prefix-map=headers=build/headers
      -ffile-prefix-map=internals=build/internals)
  endif()
endif()
add_compile_options(-Wall -Wextra -fno-omit-frame-pointer)
# The same input gives the same output on every machine: some would multiply and add with one rounding.
add_compile_options(-ffp-contract=off)
# A text from outside is no format, and no object depends on when it was compiled.
add_compile_options(-Werror=format-security -Werror=date-time)
# GCC 12 guesses the type of a function nobody declared, takes any pointer for another, and goes on.
foreach(mistake implicit-function-declaration incompatible-pointer-types int-conversion)
  add_compile_options($<$<COMPILE_LANGUAGE:C>:-Werror=${mistake}>)
endforeach()
# A switch names every value of its enum, so that one that is added does not compile until each
# switch handles it. What is not to be listed (the enum of a library) is switched over as an int.
add_compile_options(-Werror=switch -Werror=switch-enum)
foreach(warning shadow strict-prototypes missing-prototypes)
  add_compile_options($<$<COMPILE_LANGUAGE:C>:-W${warning}>)
endforeach()
# The shims include our C headers, which name a constructor as the struct it makes.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-field-initializers>)
# Hardening, for all that is built (tests/lint/hardened.py reads it off the objects; SECURITY.md has what
# it costs): programs lie anywhere in memory, tables that the loader fills in are read-only from the
# first instruction on, sizes and stacks are checked, indirect calls land where a function begins.
include(CheckPIESupported)
check_pie_supported() # lets CMake link programs, and only programs, with -pie
add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
add_compile_options(-fstack-protector-strong)
include(CheckCCompilerFlag)
check_c_compiler_flag(-fcf-protection SP_HAS_CF_PROTECTION) # x86 only
if(SP_HAS_CF_PROTECTION)
  add_compile_options(-fcf-protection)
endif()
# Sanitizers bring checks of their own; without optimisation there is nothing to fortify.
if(NOT SP_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
endif()
add_compile_definitions(_GNU_SOURCE)
if(SP_WERROR)
  add_compile_options(-Werror)
endif()
if(SP_SANITIZE)
  find_program(SP_LLD ld.lld) # takes a fifth of the time of the default one, with the runtimes in each program
  if(SP_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
  add_compile_options(-fsanitize=${SP_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SP_SANITIZE})
  add_compile_definitions(SP_SANITIZED) # tests of memory ask for it
endif()
if(SP_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
