# CUBEWAY_RELAY: is the relay's program (shim/relay.bpf.c) in this build? auto: where clang, bpftool and libbpf are.
# Gives CUBEWAY_RELAY_BUILT, and the target PkgConfig::BPF with it.
set(CUBEWAY_RELAY auto CACHE STRING "the relay in the kernel: auto, on, off")
set_property(CACHE CUBEWAY_RELAY PROPERTY STRINGS auto on off)
if(NOT CUBEWAY_RELAY MATCHES "^(auto|on|off)$")
  message(FATAL_ERROR "CUBEWAY_RELAY is auto, on or off, and not ${CUBEWAY_RELAY}")
endif()
set(CUBEWAY_RELAY_BUILT OFF)
if(NOT CUBEWAY_RELAY STREQUAL "off")
  find_package(PkgConfig REQUIRED)
  find_program(CUBEWAY_BPF_CLANG NAMES clang clang-14)
  find_program(CUBEWAY_BPFTOOL NAMES bpftool PATHS /usr/sbin)
  mark_as_advanced(CUBEWAY_BPF_CLANG CUBEWAY_BPFTOOL)
  pkg_check_modules(BPF IMPORTED_TARGET libbpf>=1.1)
  if(CUBEWAY_BPF_CLANG AND CUBEWAY_BPFTOOL AND BPF_FOUND)
    set(CUBEWAY_RELAY_BUILT ON)
  elseif(CUBEWAY_RELAY STREQUAL "on")
    message(FATAL_ERROR "the relay needs clang, bpftool and libbpf: apt-get install clang bpftool libbpf-dev, "
      "or -DCUBEWAY_RELAY=off")
  else()
    message(STATUS "no relay: it needs clang, bpftool and libbpf (CUBEWAY_RELAY)")
  endif()
endif()

# cubeway_relay_program(<target> <source>): compiles the program for the kernel, and gives the target <relay.skel.h>,
# which holds it.
function(cubeway_relay_program target source)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/relay)
  set(ordered "")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i[3-6]86)$")
    set(ordered -DRELAY_ORDERED) # the processor keeps the order of loads (runtime/wire/relay_state.h)
  endif()
  set(include -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/runtime)
  if(CMAKE_LIBRARY_ARCHITECTURE)
    list(APPEND include -isystem /usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
  endif()
  file(MAKE_DIRECTORY ${made})
  add_custom_command(OUTPUT ${made}/relay.skel.h
    COMMAND ${CUBEWAY_BPF_CLANG} -target bpf -mcpu=v3 -O2 -g -ffreestanding -Wall -Wextra -Werror ${ordered} ${include}
      -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -MD -MF ${made}/relay.d -MT ${made}/relay.skel.h
      -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${made}/relay.o
    COMMAND sh -c "$0 gen skeleton $1.o name relay_program >$1.skel.h" ${CUBEWAY_BPFTOOL} ${made}/relay
    DEPENDS ${source} DEPFILE ${made}/relay.d
    COMMENT "Building the relay's program" VERBATIM)
  set_source_files_properties(relay.c PROPERTIES OBJECT_DEPENDS ${made}/relay.skel.h)
  target_include_directories(${target} SYSTEM PRIVATE ${made})
  target_compile_definitions(${target} PRIVATE CUBEWAY_RELAY)
  target_link_libraries(${target} PRIVATE PkgConfig::BPF)
endfunction()
