# One target a folder. A folder may use only folders above it in src/CMakeLists.txt; links and a test enforce that.

# Flags every target of ours is built with.
add_library(emplace_flags INTERFACE)
target_compile_options(emplace_flags INTERFACE -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual)
# Only of local names: files that are compiled as one see the names of each other's anonymous namespaces.
target_compile_options(emplace_flags INTERFACE $<IF:$<CXX_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow>)
target_compile_definitions(emplace_flags INTERFACE EIGEN_DONT_PARALLELIZE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
# g++ collects its garbage only above 512 MB, not 128 MB: a fifth less time, and at most 1.3 GB for one file.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(emplace_flags INTERFACE "SHELL:--param ggc-min-heapsize=524288")
endif()
# g++ 12 sees overlapping copies in plain std::string concatenation (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(emplace_flags INTERFACE -Wno-restrict)
endif()
# Results must not depend on how the compiler fuses multiply-adds.
target_compile_options(emplace_flags INTERFACE -ffp-contract=off)
if(EMPLACE_ARCH)
  target_compile_options(emplace_flags INTERFACE -march=${EMPLACE_ARCH})
endif()
if(EMPLACE_WERROR)
  target_compile_options(emplace_flags INTERFACE -Werror)
endif()
if(EMPLACE_SANITIZE)
  target_compile_options(emplace_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(emplace_flags INTERFACE -fsanitize=address,undefined)
endif()

# What programs of ours allocate with: graphs and problems are millions of small pieces, and glibc's malloc takes a third
# of the time to build them. Sanitizers bring their own; smpirun loads programs in a way that jemalloc does not allow.
add_library(emplace_allocator INTERFACE)
if(NOT EMPLACE_SANITIZE AND NOT EMPLACE_SIMGRID)
  target_link_libraries(emplace_allocator INTERFACE -Wl,--no-as-needed PkgConfig::jemalloc -Wl,--as-needed)
endif()

# Precompiled headers, one for each set of flags and heavy headers; emplace_folder(... JSON) takes the second.
function(emplace_precompiled name)
  add_library(${name} OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
  target_compile_features(${name} PUBLIC cxx_std_20)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PRIVATE emplace_flags fmt::fmt nlohmann_json::nlohmann_json)
  target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp ${ARGN})
endfunction()
emplace_precompiled(emplace_precompiled_plain)
emplace_precompiled(emplace_precompiled_json <nlohmann/json.hpp>)

# For code that is never busy for long: it compiles in half of the time.
set(EMPLACE_QUICK_FLAGS $<$<CONFIG:Release>:-O1>)

# emplace_folder(NAME [JSON] [QUICK] [OWN_FLAGS] USES folder... LINKS library...): LINKS stay private to the folder's sources.
# OWN_FLAGS: it adds compile options, so that it cannot share a precompiled header.
function(emplace_folder name)
  cmake_parse_arguments(ARG "JSON;QUICK;OWN_FLAGS" "" "USES;LINKS;INCLUDES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/subreaper/|/app/(main|cpu_check)\\.cpp$")
  list(TRANSFORM ARG_USES PREPEND emplace_ OUTPUT_VARIABLE uses)
  add_library(emplace_${name} STATIC ${sources})
  add_library(emplace::${name} ALIAS emplace_${name})
  set_target_properties(emplace_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(emplace_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_include_directories(emplace_${name} SYSTEM PRIVATE ${ARG_INCLUDES})
  target_compile_features(emplace_${name} PUBLIC cxx_std_20)
  target_link_libraries(emplace_${name} PUBLIC ${uses} fmt::fmt PRIVATE $<BUILD_INTERFACE:emplace_flags> ${ARG_LINKS})
  if(ARG_QUICK)
    target_compile_options(emplace_${name} PRIVATE ${EMPLACE_QUICK_FLAGS})
  endif()
  if(ARG_OWN_FLAGS)
    target_precompile_headers(emplace_${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp)
  elseif(ARG_JSON)
    target_precompile_headers(emplace_${name} REUSE_FROM emplace_precompiled_json)
  else()
    target_precompile_headers(emplace_${name} REUSE_FROM emplace_precompiled_plain)
  endif()
  set_property(GLOBAL APPEND PROPERTY EMPLACE_FOLDERS emplace_${name})
endfunction()

# embed_texts(TARGET HEADER file TYPE struct FUNCTION name NAMES NAME|NAME_WE FILES file...): the program carries copies, so
# that it needs no files beside it. HEADER, in the current folder, declares `std::span<const TYPE> FUNCTION()`, and TYPE
# begins with a file's name (with NAME_WE without its extension) and its text.
function(embed_texts target)
  cmake_parse_arguments(ARG "" "HEADER;TYPE;FUNCTION;NAMES" "FILES" ${ARGN})
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  get_filename_component(namespace ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(namespace emplace::${namespace})
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/${ARG_FUNCTION}.cpp)
  add_custom_command(
    OUTPUT ${embedded}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${ARG_FILES}" -DNAMES=${ARG_NAMES} -DHEADER=${ARG_HEADER} -DTYPE=${ARG_TYPE}
      -DFUNCTION=${ARG_FUNCTION} -DNAMESPACE=${namespace} -DOUTPUT=${embedded} -P ${script}
    DEPENDS ${ARG_FILES} ${script}
    VERBATIM)
  target_sources(${target} PRIVATE ${embedded})
  # A target without dependencies that uses the command too: without it, CMake would delay the command, and with it all
  # files of `target`, until the libraries that `target` links are built.
  add_custom_target(${target}_${ARG_FUNCTION} DEPENDS ${embedded})
endfunction()

# emplace_kernels(STEM): STEM_plain.cpp, STEM_avx2.cpp and STEM_avx512.cpp of this folder are the same code for three
# instruction sets; which one runs is chosen at run time.
function(emplace_kernels stem)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    return()
  endif()
  set_source_files_properties(${stem}_plain.cpp ${stem}_avx2.cpp ${stem}_avx512.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  set_source_files_properties(${stem}_plain.cpp PROPERTIES COMPILE_OPTIONS "-march=x86-64;-Wno-psabi")
  set_source_files_properties(${stem}_avx2.cpp PROPERTIES COMPILE_OPTIONS "-march=x86-64-v3")
  set_source_files_properties(${stem}_avx512.cpp PROPERTIES COMPILE_OPTIONS "-march=x86-64-v4")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 takes the undefined register that its own intrinsics start from for a mistake (GCC bug 105593).
    set_property(SOURCE ${stem}_avx512.cpp APPEND PROPERTY COMPILE_OPTIONS -Wno-uninitialized -Wno-maybe-uninitialized)
  endif()
endfunction()

# The tested code is in the libraries; optimising the tests themselves would only make the build slower.
set(EMPLACE_TEST_FLAGS $<$<CONFIG:Release>:-Og>)

# emplace_tests(FOLDER LINKS library...): every *_test.cpp here becomes part of build/.../tests/test_FOLDER.
# Each file has a namespace of its own, named after it, because the files of a folder are compiled as one.
function(emplace_tests name)
  cmake_parse_arguments(ARG "" "" "USES;LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT sources)
    return()
  endif()
  list(TRANSFORM ARG_USES PREPEND emplace_ OUTPUT_VARIABLE uses)
  add_executable(test_${name} ${sources})
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(test_${name} PRIVATE ${uses} emplace_${name} emplace_flags GTest::gmock GTest::gtest_main rapidcheck ${ARG_LINKS})
  target_precompile_headers(test_${name} REUSE_FROM tests_precompiled)
  target_compile_options(test_${name} PRIVATE ${EMPLACE_TEST_FLAGS})
  # Tests run in the source tree: they read configs/ and docs/, and the outside files where there are any.
  gtest_discover_tests(test_${name} TEST_PREFIX ${name}/ WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
endfunction()

# tests/support/allocations.hpp for one test program.
function(counts_allocations target)
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/allocations.cpp)
endfunction()
