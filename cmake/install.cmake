# `cmake --install` and find_package(emplace).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
get_property(folders GLOBAL PROPERTY EMPLACE_FOLDERS)
install(TARGETS emplace emplace-measure-onnx RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS ${folders} EXPORT emplace-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/emplace DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY configs launch DESTINATION ${CMAKE_INSTALL_DATADIR}/emplace USE_SOURCE_PERMISSIONS)
install(EXPORT emplace-targets NAMESPACE emplace:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/emplace)
configure_package_config_file(cmake/emplace-config.cmake.in ${PROJECT_BINARY_DIR}/emplace-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/emplace)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/emplace-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/emplace-config.cmake ${PROJECT_BINARY_DIR}/emplace-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/emplace)
