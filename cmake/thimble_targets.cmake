# thimble_library(NAME DEPS...): a static library of every *.cpp of the calling folder tree.
# A new file is picked up without an edit here: the folder is the list.
function(thimble_library name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC thimble_options ${ARGN})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE thimble_options ${ARGN})
  endif()
endfunction()

# thimble_device_library(NAME DEPS...): as above, with the rules of device code.
function(thimble_device_library name)
  thimble_library(${name} ${ARGN})
  get_target_property(type ${name} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY" AND NOT MSVC)
    target_compile_options(${name} PRIVATE -fno-exceptions -fno-rtti)
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
endfunction()

# thimble_test(NAME SOURCES... DEPS deps... LABELS labels...): a GoogleTest program under one ctest entry.
# CONTRIBUTING.md lists the labels.
# Its working data is found through THIMBLE_SOURCE_DIR and THIMBLE_BINARY_DIR.
function(thimble_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT arg_LABELS)
    message(FATAL_ERROR "thimble_test(${name}): no LABELS; expected at least one of CONTRIBUTING.md, \"Build and test\"")
  endif()
  if(NOT THIMBLE_TESTS)
    return()
  endif()
  find_package(GTest REQUIRED)
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE thimble_options ${arg_DEPS} GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE THIMBLE_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                             THIMBLE_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 600)
endfunction()
