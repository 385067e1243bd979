# With THIMBLE_FAST_BUILD: the standard and third-party headers that most host sources include are
# parsed once for the libraries, and once more, with GoogleTest, for the tests. No header of ours is
# among them. Device code is compiled as it is everywhere.
if(THIMBLE_FAST_BUILD)
  find_package(fmt REQUIRED)
  find_package(GTest REQUIRED)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/precompiled.cpp
       CONTENT "// No source of its own.\n")
  set(precompiled_headers <algorithm> <array> <cmath> <cstdint> <cstring> <filesystem> <functional>
      <limits> <map> <memory> <numeric> <optional> <set> <span> <string> <string_view> <tuple>
      <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
  add_library(thimble_precompiled OBJECT ${CMAKE_BINARY_DIR}/generated/precompiled.cpp)
  target_link_libraries(thimble_precompiled PRIVATE thimble_options fmt::fmt)
  target_precompile_headers(thimble_precompiled PRIVATE ${precompiled_headers})
  # An executable, like those that use it: position independence is compiled in.
  add_executable(thimble_precompiled_tests ${CMAKE_BINARY_DIR}/generated/precompiled.cpp)
  target_link_libraries(thimble_precompiled_tests PRIVATE thimble_options fmt::fmt
                                                          GTest::gtest_main)
  target_precompile_headers(thimble_precompiled_tests PRIVATE ${precompiled_headers}
                             <gtest/gtest.h>)
endif()

# The precompiled headers of OWNER, which were compiled with {fmt}'s options; not for device code.
function(thimble_precompiled name owner)
  if(THIMBLE_FAST_BUILD AND NOT device_code)
    target_link_libraries(${name} PRIVATE fmt::fmt)
    target_precompile_headers(${name} REUSE_FROM ${owner})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # ccache asks for the first; without the second, other macros would end the build.
      target_compile_options(${name} PRIVATE -fpch-preprocess -Wno-error=invalid-pch)
    endif()
  endif()
endfunction()

# thimble_library(NAME DEPS...): a static library of every *.cpp of the calling folder tree.
# A new file is picked up without an edit here: the folder is the list.
function(thimble_library name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC thimble_options ${ARGN})
    thimble_precompiled(${name} thimble_precompiled)
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE thimble_options ${ARGN})
  endif()
endfunction()

# thimble_device_library(NAME DEPS...): as above, with the rules of device code.
function(thimble_device_library name)
  set(device_code ON)
  thimble_library(${name} ${ARGN})
  get_target_property(type ${name} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY" AND NOT MSVC)
    target_compile_options(${name} PRIVATE -fno-exceptions -fno-rtti)
  endif()
endfunction()

# What a test judges is in the libraries: its own sources may be compiled with less effort.
function(thimble_test_sources name)
  if(THIMBLE_FAST_BUILD AND NOT MSVC)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
  endif()
endfunction()

# thimble_test_library(NAME SOURCES... DEPS deps...): what several tests share, compiled once.
function(thimble_test_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  if(NOT THIMBLE_TESTS)
    return()
  endif()
  find_package(GTest REQUIRED)
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC thimble_options ${arg_DEPS} GTest::gtest)
  thimble_precompiled(${name} thimble_precompiled)
  thimble_test_sources(${name})
endfunction()

# thimble_test(NAME SOURCES... DEPS deps...): a GoogleTest program under one ctest entry.
# Its working data is found through THIMBLE_SOURCE_DIR and THIMBLE_BINARY_DIR.
function(thimble_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT THIMBLE_TESTS)
    return()
  endif()
  find_package(GTest REQUIRED)
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE thimble_options ${arg_DEPS} GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE THIMBLE_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                             THIMBLE_BINARY_DIR="${CMAKE_BINARY_DIR}")
  thimble_precompiled(${name} thimble_precompiled_tests)
  thimble_test_sources(${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 600)
endfunction()
