# `cpack -G DEB` in the build folder makes three Debian packages; their dependencies are read from the programs.
#   cubeway      cubewayd, cwctl, cwlab, the unit, the configuration        components daemon runtime testbed system
#   cubeway-sim  cwsim                                                      component sim
#   cubeway-dev  headers, CMake package, pkg-config, fake host, examples    components devel example
# tests/net/test_package.py installs and uses them. What has its place outside of any prefix is in the components system
# and example, which `cmake --install` leaves out unless they are named.
set(packaging ${PROJECT_SOURCE_DIR}/packaging)

install(FILES ${packaging}/cubewayd.conf DESTINATION /etc/cubeway COMPONENT system EXCLUDE_FROM_ALL)
install(FILES ${packaging}/cubeway.sysusers RENAME cubeway.conf DESTINATION /usr/lib/sysusers.d COMPONENT system
  EXCLUDE_FROM_ALL)
install(FILES ${packaging}/cubeway.tmpfiles RENAME cubeway.conf DESTINATION /usr/lib/tmpfiles.d COMPONENT system
  EXCLUDE_FROM_ALL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/ DESTINATION /usr/share/doc/cubeway-dev/examples COMPONENT example
  EXCLUDE_FROM_ALL)
foreach(package IN ITEMS system:cubeway sim:cubeway-sim example:cubeway-dev)
  string(REPLACE ":" ";" package ${package})
  list(GET package 0 component)
  list(GET package 1 name)
  install(FILES ${packaging}/debian/copyright DESTINATION /usr/share/doc/${name} COMPONENT ${component}
    EXCLUDE_FROM_ALL)
endforeach()

set(CPACK_PACKAGE_NAME cubeway)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "the cubeway authors <cubeway@localhost>")
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL daemon runtime testbed system sim devel example)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

# cpack asks for this target first: where only the programs were built (testbed/demo.sh), it makes what is missing.
add_custom_target(packaged)
add_dependencies(packaged cubewayd cwctl cwlab cwsim witness cubeway_testing)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_COMMANDS "\"${CMAKE_COMMAND}\" --build \"${PROJECT_BINARY_DIR}\" --target packaged")

set(CPACK_DEBIAN_SERVER_PACKAGE_NAME cubeway)
set(CPACK_DEBIAN_SERVER_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_SERVER_PACKAGE_DEPENDS "systemd | passwd")
set(CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_EXTRA
  ${packaging}/debian/conffiles ${packaging}/debian/postinst ${packaging}/debian/prerm ${packaging}/debian/postrm)
set(CPACK_DEBIAN_SIM_PACKAGE_NAME cubeway-sim)
set(CPACK_DEBIAN_SIM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_SIM_PACKAGE_SUGGESTS gnuplot-nox)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME cubeway-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libssl-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "cubeway, cmake, pkg-config")

set(CPACK_DEBIAN_SERVER_DESCRIPTION "key-based networking for clusters wired as a 3D torus
cubewayd, the daemon that each server runs; cwctl, which talks to it; cwlab, which
makes a whole torus on one machine.")
set(CPACK_DEBIAN_SIM_DESCRIPTION "simulator of clusters wired as a 3D torus
cwsim runs every server of a cluster in one process, with the code of cubewayd.")
set(CPACK_DEBIAN_DEV_DESCRIPTION "headers for services of cubeway
What a service is built against: headers, a CMake package, pkg-config files, a
library for its tests, examples.")

include(CPack)
foreach(component IN ITEMS daemon runtime testbed system)
  cpack_add_component(${component} GROUP server)
endforeach()
cpack_add_component(sim GROUP sim)
foreach(component IN ITEMS devel example)
  cpack_add_component(${component} GROUP dev)
endforeach()
