# `cmake --install`, find_package(emplace), and with `cpack` two Debian packages: the program, and what other programs
# need to be built with it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
get_property(folders GLOBAL PROPERTY EMPLACE_FOLDERS)
install(TARGETS emplace emplace-measure-onnx RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(DIRECTORY configs launch DESTINATION ${CMAKE_INSTALL_DATADIR}/emplace USE_SOURCE_PERMISSIONS COMPONENT program)
install(FILES cmake/debian-copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/emplace RENAME copyright COMPONENT program)
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

# emplace_VERSION_ARCHITECTURE.deb and emplace-dev_...; scripts/prove-deb tries them in a bare system.
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_VENDOR "The emplace developers")
set(CPACK_PACKAGE_CONTACT "The emplace developers")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "Given a model (PyTorch, ONNX, OpenVINO IR, TensorFlow) and a heterogeneous machine, emplace
finds a placement of the model's operations on the machine's devices, by
reinforcement learning over MPI or by classical and exact methods, and says how far
it can be from the best one. Placements are timed on a simulator.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME emplace)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers, static libraries and CMake package of emplace, for programs that simulate
placements, train policies, or add placers, policies, evaluators and readers.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME emplace-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "emplace (= ${PROJECT_VERSION}), cmake, pkg-config, libopenmpi-dev, libhdf5-dev, \
libboost-serialization-dev, libcli11-dev, libtomlplusplus-dev, nlohmann-json3-dev, libspdlog-dev, libfmt-dev, libonnx-dev, \
libprotobuf-dev, protobuf-compiler, libpugixml-dev, libzip-dev, coinor-libcbc-dev, libscotch-dev, libmetis-dev")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS openmpi-bin)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "bash-completion, openssh-client, slurm-client")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
include(CPack)
