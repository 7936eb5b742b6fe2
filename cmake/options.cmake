# Language, warnings and sanitizers: what every target of the tree is built with.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug" FORCE)
endif()

option(CUBEWAY_TESTS "build the tests" ON)
option(CUBEWAY_WERROR "warnings are errors" OFF)
option(CUBEWAY_FUZZ "build the libFuzzer programs (clang only)" OFF)
set(CUBEWAY_SANITIZE "" CACHE STRING "comma list for -fsanitize=, empty for none")

add_compile_options(
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wpointer-arith
  -Wcast-qual -Wwrite-strings -Wundef -Wvla -Wimplicit-fallthrough -fno-common -fvisibility=hidden)
if(CUBEWAY_WERROR)
  add_compile_options(-Werror)
endif()

# CHECK_SLOW (runtime/base/check.h) walks structures: in every build that is not a release.
add_compile_definitions($<$<CONFIG:Debug>:CW_CHECK_SLOW>)

if(CUBEWAY_SANITIZE)
  add_compile_options(-fsanitize=${CUBEWAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CUBEWAY_SANITIZE})
endif()
if(CUBEWAY_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "CUBEWAY_FUZZ needs clang: use `cmake --preset fuzz`")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
endif()
