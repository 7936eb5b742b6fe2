# Two more builds of the daemon, for test_upgrade.py: a later release with the same wire, and one with the next wire.
#
# They are what the next release will be, cheaply: the sources that name a version are compiled again, with headers in
# front of ours that give another one, and the linker takes them before those of the libraries. The product has no
# switch for that.
set(next ${CMAKE_CURRENT_BINARY_DIR}/next)
file(CONFIGURE OUTPUT ${next}/release/cubeway/version.h CONTENT [[
#include_next "cubeway/version.h"
#undef CW_VERSION
#define CW_VERSION "99.0.0"
]])
file(CONFIGURE OUTPUT ${next}/wire/wire/limits.h CONTENT [[
#include_next "wire/limits.h"
#define WIRE_VERSION_NOW 15
]])
set(name_release daemon/main.c daemon/host/nodes.c daemon/doctor/doctor.c daemon/doctor/doctor_boot.c
  daemon/commands/cmd_node.c)
set(name_wire runtime/wire/frame.c runtime/wire/packet.c runtime/wire/control.c runtime/boot/boot_rx.c
  daemon/host/viewlog.c daemon/host/serve.c daemon/commands/cmd_wiring.c)

# later_daemon(<name> INCLUDES <folders, first of all> SOURCES <files>)
function(later_daemon name)
  cmake_parse_arguments(ARG "" "" "INCLUDES;SOURCES" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/)
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} BEFORE PRIVATE ${ARG_INCLUDES})
  target_link_libraries(${name} PRIVATE cw_daemon_start cw_daemon_listeners cw_daemon_commands cw_daemon_doctor
    cw_daemon_host cw_commandline)
endfunction()
later_daemon(cubewayd_later INCLUDES ${next}/release SOURCES ${name_release})
later_daemon(cubewayd_wire INCLUDES ${next}/release ${next}/wire SOURCES ${name_release} ${name_wire})

cubeway_test(net.upgrade LABEL net TIMEOUT 240 COMMAND ${Python3_EXECUTABLE} -B
  ${CMAKE_CURRENT_SOURCE_DIR}/test_upgrade.py
  --cubewayd $<TARGET_FILE:cubewayd> --cwctl $<TARGET_FILE:cwctl>
  --later $<TARGET_FILE:cubewayd_later> --wire $<TARGET_FILE:cubewayd_wire>)
