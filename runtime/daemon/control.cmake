# How operators' requests come in and answers go out; it knows no node.
pkg_check_modules(JANSSON IMPORTED_TARGET jansson)
pkg_check_modules(LIBEVENT IMPORTED_TARGET GLOBAL libevent)
if(NOT JANSSON_FOUND OR NOT LIBEVENT_FOUND)
  message(FATAL_ERROR "cubewayd needs jansson and libevent: apt-get install libjansson-dev libevent-dev (tests/packages.txt has all that is needed)")
endif()
cubeway_folder(cw_control PREFIX daemon
  SOURCES control.c control_json.c control_socket.c request.c
  LINKS cw_keyspace cw_base cw_contracts
  PRIVATE_LINKS PkgConfig::LIBEVENT PkgConfig::JANSSON)


# What they can ask for: over the daemon's host, and all of the node below it.
cubeway_folder(cw_commands PREFIX daemon
  SOURCES
    cmd_capture.c
    cmd_daemon.c
    cmd_fault.c
    cmd_file.c
    cmd_key.c
    cmd_node.c
    cmd_service.c
    cmd_view.c
    cmd_wiring.c
    commands.c
    kvdoor.c
    metrics.c
    metrics_text.c
    path.c
  LINKS cw_control cw_daemon cw_boot cw_kvcache_gateway
  PRIVATE_LINKS PkgConfig::LIBEVENT)
