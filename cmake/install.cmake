# `cmake --install` and find_package(emplace).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
get_property(folders GLOBAL PROPERTY EMPLACE_FOLDERS)
install(TARGETS emplace emplace-measure-onnx RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(DIRECTORY configs launch DESTINATION ${CMAKE_INSTALL_DATADIR}/emplace USE_SOURCE_PERMISSIONS COMPONENT program)
if(NOT EMPLACE_SIMGRID AND NOT CMAKE_CROSSCOMPILING)
  install(FILES ${EMPLACE_MANUAL}/emplace.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
  install(FILES ${EMPLACE_MANUAL}/emplace.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME emplace COMPONENT program)
  install(FILES ${EMPLACE_MANUAL}/emplace.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
  # zsh looks in the first below /usr/local, Debian's in the second below /usr.
  foreach(folder site-functions vendor-completions)
    install(FILES ${EMPLACE_MANUAL}/emplace.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${folder} RENAME _emplace COMPONENT program)
  endforeach()
endif()

install(TARGETS ${folders} EXPORT emplace-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY include/emplace DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.hpp")
install(EXPORT emplace-targets NAMESPACE emplace:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/emplace COMPONENT development)
configure_package_config_file(cmake/emplace-config.cmake.in ${PROJECT_BINARY_DIR}/emplace-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/emplace)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/emplace-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/emplace-config.cmake ${PROJECT_BINARY_DIR}/emplace-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/emplace COMPONENT development)
