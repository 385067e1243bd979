# SPDX-License-Identifier: Apache-2.0
# Tests of the interface to Nordic's SDK, with Thimble's stand-ins. If SDK_EDGE_AI_PATH is set when the
# tests run, they also use the SDK.
if(NOT THIMBLE_TESTS)
  return()
endif()
set(standins ${CMAKE_CURRENT_LIST_DIR}/../axon_vendor)

# Stand-ins for Nordic's compiler library and for the driver.
add_library(axon_standin_compiler MODULE ${standins}/standin_compiler.c)
target_compile_options(axon_standin_compiler PRIVATE -Wall -Wextra)
set_target_properties(axon_standin_compiler PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY
                                                       ${CMAKE_CURRENT_BINARY_DIR})
add_library(axon_standin_driver STATIC ${standins}/standin_driver.c)
target_compile_options(axon_standin_driver PRIVATE -Wall -Wextra)

add_library(axon_vendor_support STATIC
  ${CMAKE_CURRENT_LIST_DIR}/axon_list.cpp
  ${CMAKE_CURRENT_LIST_DIR}/axon_sample.cpp
  ${CMAKE_CURRENT_LIST_DIR}/axon_vendor_support.cpp
  ${CMAKE_CURRENT_LIST_DIR}/runtime_support.cpp)
find_package(GTest REQUIRED)
target_link_libraries(axon_vendor_support PUBLIC thimble_emit thimble_engines thimble_axon_delegate
                                                 thimble_axon_model GTest::gtest)
target_include_directories(axon_vendor_support PUBLIC ${CMAKE_SOURCE_DIR}/tests)
target_compile_definitions(axon_vendor_support PUBLIC
  THIMBLE_AXON_HELPER="$<TARGET_FILE:thimble-axon-sdk>"
  THIMBLE_AXON_STANDIN="$<TARGET_FILE:axon_standin_compiler>")
add_dependencies(axon_vendor_support thimble-axon-sdk axon_standin_compiler)

foreach(part format program sdk simulator)
  thimble_test(axon_vendor_${part}_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/axon_vendor_${part}_test.cpp
    DEPS axon_vendor_support axon_standin_driver
    LABELS unit fast)
endforeach()
