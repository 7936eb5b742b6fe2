foreach(source control_json control_socket request)
  cubeway_unit(daemon ${source} LINKS cw_control)
endforeach()
cubeway_unit(daemon control LINKS cw_control PkgConfig::LIBEVENT)
