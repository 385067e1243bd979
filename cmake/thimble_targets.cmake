# SPDX-License-Identifier: Apache-2.0
# thimble_unity(NAME): with THIMBLE_UNITY, the sources of each folder are one translation unit, and the
# sources of small folders together, so headers are read once. This more than halves the time of a full
# build. Generated sources are excluded.
function(thimble_unity name)
  if(NOT THIMBLE_UNITY)
    return()
  endif()
  # Relative paths (CMake 4.0): the compiler cache finds objects of a clone in another folder.
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP UNITY_BUILD_RELOCATABLE ON)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A source may define a class with members from its anonymous namespace; it is not a header.
    target_compile_options(${name} PRIVATE -Wno-subobject-linkage)
  endif()
  set(small_bytes 25000)
  get_target_property(sources ${name} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_registry/")
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER ${folder} group)
    file(SIZE ${source} bytes)
    math(EXPR bytes_${group} "0${bytes_${group}} + ${bytes}")
  endforeach()
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER ${folder} group)
    if(bytes_${group} LESS small_bytes)
      set(unit small)
    else()
      file(RELATIVE_PATH unit ${CMAKE_SOURCE_DIR} ${folder})
      string(MAKE_C_IDENTIFIER ${unit} unit)
    endif()
    set_property(SOURCE ${source} TARGET_DIRECTORY ${name} PROPERTY UNITY_GROUP ${unit})
  endforeach()
endfunction()

# thimble_optimize(NAME [FLAG]): compiles the library or program with FLAG (-O2) instead of -Og in Release.
function(thimble_optimize name)
  if(NOT MSVC)
    list(APPEND ARGN -O2)
    list(GET ARGN 0 flag)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:${flag}>)
  endif()
endfunction()

# thimble_library(NAME DEPS...): a static library of all *.cpp files of the calling folder and its
# subfolders, except for subfolders with a CMakeLists.txt. A new file needs no edit here.
function(thimble_library name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  file(GLOB_RECURSE others ${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt)
  foreach(other ${others})
    get_filename_component(folder ${other} DIRECTORY)
    list(FILTER sources EXCLUDE REGEX "^${folder}/")
  endforeach()
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC thimble_options ${ARGN})
    thimble_unity(${name})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE thimble_options ${ARGN})
  endif()
endfunction()

# thimble_device_library(NAME DEPS...): as thimble_library, with the compiler flags of device code.
function(thimble_device_library name)
  thimble_library(${name} ${ARGN})
  get_target_property(type ${name} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
    if(NOT MSVC)
      target_compile_options(${name} PRIVATE -fno-exceptions -fno-rtti)
      thimble_optimize(${name})
    endif()
  endif()
endfunction()

# thimble_header_sum(HEADER): writes HEADER.gch.sum, the hash of the preprocessed header. ccache reads it
# in place of HEADER.gch (CCACHE_PCH_EXTSUM in build.sh), which contains absolute paths, so that objects of
# another clone are found.
function(thimble_header_sum header)
  set(text ${CMAKE_BINARY_DIR}/generated/test_header.i)
  set(folders $<TARGET_PROPERTY:thimble_test_header,INCLUDE_DIRECTORIES>)
  add_custom_command(
    OUTPUT ${header}.gch.sum
    COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -w -E -P -x c++-header ${header} -o ${text}
            -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. "$<$<BOOL:${folders}>:-I$<JOIN:${folders},;-I>>"
            -MD -MF ${text}.d -MT ${header}.gch.sum
    COMMAND ${CMAKE_COMMAND} -E sha256sum test_header.i > ${header}.gch.sum
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/generated
    DEPFILE ${text}.d
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(thimble_test_header_sum DEPENDS ${header}.gch.sum)
endfunction()

# thimble_test_headers(NAME): with THIMBLE_UNITY, the headers that most tests include are precompiled
# once for all tests; they are half of the compile time of a small test.
function(thimble_test_headers name)
  if(NOT THIMBLE_UNITY OR MSVC)
    return()
  endif()
  if(NOT TARGET thimble_test_header)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/test_header.cpp CONTENT "")
    add_library(thimble_test_header OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/generated/test_header.cpp)
    target_link_libraries(thimble_test_header PRIVATE thimble_ir GTest::gtest)
    target_precompile_headers(thimble_test_header PRIVATE <gtest/gtest.h> <algorithm> <filesystem> <fstream>
                              <functional> <map> <optional> <random> <set> <span> <sstream> <string> <vector>
                              ${CMAKE_SOURCE_DIR}/src/base/result.h)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(thimble_test_header PRIVATE -fpch-preprocess) # for ccache
      thimble_header_sum(${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/thimble_test_header.dir/cmake_pch.hxx)
    endif()
  endif()
  target_link_libraries(${name} PRIVATE thimble_base)
  # GCC rejects the precompiled header if -fPIC and -fPIE differ.
  set_target_properties(thimble_test_header ${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_precompile_headers(${name} REUSE_FROM thimble_test_header)
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  if(TARGET thimble_test_header_sum)
    add_dependencies(${name} thimble_test_header_sum)
  endif()
endfunction()

# thimble_test_folders: the library of tests/folders.h.
function(thimble_test_folders)
  if(NOT TARGET thimble_test_folders)
    add_library(thimble_test_folders STATIC EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/folders.cpp)
    target_link_libraries(thimble_test_folders PUBLIC thimble_options)
    target_compile_definitions(thimble_test_folders PRIVATE THIMBLE_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                                            THIMBLE_BINARY_DIR="${CMAKE_BINARY_DIR}")
  endif()
endfunction()

# thimble_test_library(NAME SOURCES... DEPS deps...): sources that several tests share, compiled once.
function(thimble_test_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  if(NOT THIMBLE_TESTS)
    return()
  endif()
  find_package(GTest REQUIRED)
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC thimble_options ${arg_DEPS} GTest::gtest)
  thimble_test_headers(${name})
endfunction()

# thimble_test(NAME SOURCES... DEPS deps... LABELS labels... [APART file...]): a GoogleTest program with
# one ctest entry. CONTRIBUTING.md lists the labels. The program finds its data through
# tests/folders.h.
function(thimble_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LABELS;APART" ${ARGN})
  if(NOT arg_LABELS)
    message(FATAL_ERROR "thimble_test(${name}): no LABELS; expected at least one of CONTRIBUTING.md, \"Build and test\"")
  endif()
  if(NOT THIMBLE_TESTS)
    return()
  endif()
  find_package(GTest REQUIRED)
  add_executable(${name} ${arg_SOURCES})
  thimble_test_folders()
  target_link_libraries(${name} PRIVATE thimble_options ${arg_DEPS} thimble_test_folders GTest::gtest_main)
  if(THIMBLE_UNITY)
    # The sources of a test program are one translation unit. The files of APART are excluded, because
    # their helpers have the same names as helpers of other files.
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0 UNITY_BUILD_RELOCATABLE ON)
    foreach(file ${arg_APART})
      set(apart ${arg_SOURCES})
      list(FILTER apart INCLUDE REGEX "/${file}$")
      set_property(SOURCE ${apart} TARGET_DIRECTORY ${name} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
    endforeach()
    target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
  thimble_test_headers(${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 600)
endfunction()
