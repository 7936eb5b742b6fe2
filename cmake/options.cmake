# Language, warnings, hardening and sanitizers: what every target of the tree is built with.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON) # the house tests read it
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

# Where ccache is installed it compiles: paths are hashed from the top of the tree, so that worktrees of one repository
# share what they built. CUBEWAY_CCACHE=OFF, or a launcher of your own (CMAKE_C_COMPILER_LAUNCHER), goes before.
option(CUBEWAY_CCACHE "compile by ccache where it is installed" ON)
find_program(CUBEWAY_CCACHE_PROGRAM ccache)
mark_as_advanced(CUBEWAY_CCACHE_PROGRAM)
if(CUBEWAY_CCACHE AND CUBEWAY_CCACHE_PROGRAM AND NOT CMAKE_C_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    ${CUBEWAY_CCACHE_PROGRAM})
endif()

# Every static library may end up in a program or in a service's .so; programs are position-independent too.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

option(CUBEWAY_TESTS "build the tests" ON)
option(CUBEWAY_WERROR "warnings are errors" OFF)
option(CUBEWAY_FUZZ "build the libFuzzer programs (clang only)" OFF)
set(CUBEWAY_SANITIZE "" CACHE STRING "comma list for -fsanitize=, empty for none")
set(CUBEWAY_TIMEOUT_FACTOR 1 CACHE STRING "every test's time limit is multiplied by this")

if(NOT CMAKE_C_COMPILER_ID MATCHES "^(GNU|Clang)$")
  message(FATAL_ERROR "cubeway is C17 with GNU extensions: gcc or clang, not ${CMAKE_C_COMPILER_ID}")
endif()

# No -Wall variant is left to taste: what one compiler can prove and the other cannot is still said.
add_compile_options(
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wnested-externs
  -Wredundant-decls -Wpointer-arith -Wcast-qual -Wcast-align -Wwrite-strings -Wundef -Wvla -Wimplicit-fallthrough
  -Wformat=2 -Wconversion -Wno-sign-conversion -fno-common -fvisibility=hidden)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wjump-misses-init -Wtrampolines)
else()
  add_compile_options(-Wcomma -Wshorten-64-to-32)
endif()
if(CUBEWAY_WERROR)
  add_compile_options(-Werror)
endif()

# Messages and assertions name files from the top of the tree, so a program does not depend on where it was built.
# (ccache passes paths of the tree on as relative ones.)
file(RELATIVE_PATH source_from_build ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
string(REGEX REPLACE "/$" "" source_from_build "${source_from_build}")
add_compile_options(-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/= -fmacro-prefix-map=${source_from_build}/=)

# A daemon that parses what neighbours send is built hardened; it costs nothing that the benches can see.
if(NOT CUBEWAY_SANITIZE AND NOT CUBEWAY_FUZZ)
  add_compile_options(-fstack-protector-strong -fstack-clash-protection)
  add_compile_options("$<$<CONFIG:Release>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
  add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)
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
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

# Libraries hold both machine code and what link-time optimisation wants; only cubeway_whole_program() uses the latter
# (docs/architecture.md, "How it is built").
set(CUBEWAY_WHOLE_PROGRAMS OFF)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CUBEWAY_SANITIZE)
  set(CUBEWAY_WHOLE_PROGRAMS ON)
  add_link_options(-fno-lto)
endif()
