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
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Our asserts stay on in release builds (docs/ARCHITECTURE.md, Errors).
set(CMAKE_C_FLAGS_RELEASE "-O3")
set(CMAKE_CXX_FLAGS_RELEASE "-O3")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O3 -g")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O3 -g")

add_compile_options(-Wall -Wextra -fno-omit-frame-pointer)
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
# Tables that the loader fills in are read-only from the first instruction on.
add_link_options(-pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
# For modules that read what strangers send: bounds and stacks are checked. The compares read none.
function(sp_hardened target)
  target_compile_options(${target} PRIVATE -fstack-protector-strong -fcf-protection)
  if(NOT SP_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(${target} PRIVATE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  endif()
endfunction()
add_compile_definitions(_GNU_SOURCE)
if(SP_WERROR)
  add_compile_options(-Werror)
endif()
if(SP_SANITIZE)
  add_compile_options(-fsanitize=${SP_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SP_SANITIZE})
endif()
if(SP_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
