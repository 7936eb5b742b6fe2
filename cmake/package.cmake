# The package that `cmake --install` leaves: headers, a CMake package and a pkg-config file, for services that are built
# out of this tree (docs/writing-a-service.md). tests/unit/services/package.cmake builds one against it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cubeway)
set(service_dir ${CMAKE_INSTALL_LIBDIR}/cubeway)

set_target_properties(cw_contracts PROPERTIES EXPORT_NAME service)
install(TARGETS cw_contracts EXPORT cubeway COMPONENT devel INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/cubeway TYPE INCLUDE COMPONENT devel FILES_MATCHING PATTERN "*.h")
install(EXPORT cubeway NAMESPACE cubeway:: FILE cubeway-targets.cmake DESTINATION ${package_dir} COMPONENT devel)

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/cubeway-config.cmake.in ${PROJECT_BINARY_DIR}/cubeway-config.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS service_dir NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cubeway-config-version.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/cubeway-config.cmake ${PROJECT_BINARY_DIR}/cubeway-config-version.cmake
  DESTINATION ${package_dir} COMPONENT devel)

# The package may be moved: its prefix is said from where the file lies.
file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/cubeway.pc.in ${PROJECT_BINARY_DIR}/cubeway.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cubeway.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT devel)
