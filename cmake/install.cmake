# The files of `cmake --install`: the libraries and their headers, the binary, and the package files for
# find_package(hapax) and pkg-config.
include(CMakePackageConfigHelpers)

set(hapax_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hapax)

set(hapax_installed_libraries hapax)
if(TARGET hapax_shared)
  list(APPEND hapax_installed_libraries hapax_shared)
endif()
install(TARGETS ${hapax_installed_libraries} EXPORT hapaxTargets FILE_SET HEADERS)
install(EXPORT hapaxTargets NAMESPACE hapax:: DESTINATION ${hapax_package_dir})

# A separate export, so that only users of the compliance suite need GoogleTest.
if(TARGET hapax_compliance)
  install(TARGETS hapax_compliance EXPORT hapaxComplianceTargets FILE_SET HEADERS)
  install(EXPORT hapaxComplianceTargets NAMESPACE hapax:: DESTINATION ${hapax_package_dir})
endif()

if(TARGET hapax_cli)
  install(TARGETS hapax_cli)
endif()

configure_package_config_file(cmake/hapaxConfig.cmake.in ${PROJECT_BINARY_DIR}/hapaxConfig.cmake
                              INSTALL_DESTINATION ${hapax_package_dir}
                              NO_SET_AND_CHECK_MACRO)
# Before 1.0 a new minor version may change the API.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hapaxConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hapaxConfig.cmake
              ${PROJECT_BINARY_DIR}/hapaxConfigVersion.cmake
        DESTINATION ${hapax_package_dir})

# The prefix is relative to hapax.pc, so that an installed tree can be moved.
set(hapax_pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
foreach(name IN ITEMS PREFIX FULL_LIBDIR FULL_INCLUDEDIR)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_${name} BASE_DIRECTORY ${hapax_pc_dir}
             OUTPUT_VARIABLE hapax_pc_${name})
endforeach()
configure_file(cmake/hapax.pc.in ${PROJECT_BINARY_DIR}/hapax.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/hapax.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
