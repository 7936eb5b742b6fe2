# Before project(): what would otherwise fail later, with words that do not help.

if(CMAKE_SOURCE_DIR STREQUAL CMAKE_BINARY_DIR)
  message(FATAL_ERROR
    "cubeway does not build inside its own sources. Remove what this attempt left, then use a preset:\n"
    "    rm -rf CMakeCache.txt CMakeFiles\n    cmake --preset release && cmake --build --preset release")
endif()

if(CMAKE_GENERATOR STREQUAL "Ninja" AND NOT CMAKE_MAKE_PROGRAM)
  find_program(CUBEWAY_NINJA NAMES ninja ninja-build)
  mark_as_advanced(CUBEWAY_NINJA)
  if(NOT CUBEWAY_NINJA)
    message(FATAL_ERROR
      "the presets build with Ninja, and there is no `ninja` on the PATH:\n    apt-get install ninja-build\n"
      "tests/run.sh installs all that is needed (tests/packages.txt). "
      "Without Ninja: cmake -S . -B build -G 'Unix Makefiles'")
  endif()
endif()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug" FORCE)
endif()

# CMake's own -O3, and no link-time optimisation: docs/architecture.md, "How it is built", has the figures.
# -g costs nothing at run time and makes the first core dump useful.
set(CMAKE_C_FLAGS_RELEASE "-O3 -g -DNDEBUG" CACHE STRING "flags of a Release build")
