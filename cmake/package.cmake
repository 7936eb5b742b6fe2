# The package that `cmake --install` leaves: headers, a CMake package and a pkg-config file, for services that are built
# out of this tree (docs/writing-a-service.md). tests/unit/services/package.cmake builds one against it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cubeway)
set(service_dir ${CMAKE_INSTALL_LIBDIR}/cubeway)

set_target_properties(cw_contracts PROPERTIES EXPORT_NAME service)
install(TARGETS cw_contracts EXPORT cubeway COMPONENT devel INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/cubeway TYPE INCLUDE COMPONENT devel FILES_MATCHING PATTERN "*.h")

# The fake host that this tree tests its own services on (tests/kit/fake/fake_host.h), as a library with what it is made
# of.
set(kit ${PROJECT_SOURCE_DIR}/tests/kit)
add_library(cubeway_testing STATIC ${kit}/fake/fake_host.c ${kit}/fake/fake_net.c
  $<TARGET_OBJECTS:cw_keyspace> $<TARGET_OBJECTS:cw_base>)
target_include_directories(cubeway_testing
  PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/cubeway-testing>
  PRIVATE ${kit_folders} $<TARGET_PROPERTY:cw_keyspace,INTERFACE_INCLUDE_DIRECTORIES>
  $<TARGET_PROPERTY:cw_base,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(cubeway_testing PUBLIC cw_contracts PRIVATE crypto)
set_target_properties(cubeway_testing PROPERTIES EXPORT_NAME testing OUTPUT_NAME cubeway-testing)
install(TARGETS cubeway_testing EXPORT cubeway COMPONENT devel ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${kit}/fake/fake_host.h ${kit}/fake/fake_net.h ${kit}/fake/fake_result.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cubeway-testing COMPONENT devel)
install(FILES ${PROJECT_SOURCE_DIR}/keyspace/torus.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cubeway-testing/keyspace COMPONENT devel)
install(FILES ${PROJECT_SOURCE_DIR}/runtime/base/histogram.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cubeway-testing/base COMPONENT devel)
install(EXPORT cubeway NAMESPACE cubeway:: FILE cubeway-targets.cmake DESTINATION ${package_dir} COMPONENT devel)

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/cubeway-config.cmake.in ${PROJECT_BINARY_DIR}/cubeway-config.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS service_dir NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cubeway-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cubeway-config.cmake ${PROJECT_BINARY_DIR}/cubeway-config-version.cmake
  DESTINATION ${package_dir} COMPONENT devel)

# The package may be moved: its prefix is said from where the file lies.
file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/cubeway.pc.in ${PROJECT_BINARY_DIR}/cubeway.pc @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/cubeway-testing.pc.in ${PROJECT_BINARY_DIR}/cubeway-testing.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cubeway.pc ${PROJECT_BINARY_DIR}/cubeway-testing.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT devel)
