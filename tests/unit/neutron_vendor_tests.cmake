# SPDX-License-Identifier: Apache-2.0
# Tests with a stand-in for NXP's eIQ Neutron SDK.
if(NOT THIMBLE_TESTS)
  return()
endif()
add_executable(neutron_standin_converter
               ${CMAKE_CURRENT_LIST_DIR}/../neutron_vendor/standin_converter.cpp)
target_link_libraries(neutron_standin_converter PRIVATE thimble_tflite_schema)
thimble_test(neutron_vendor_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/neutron_vendor_test.cpp
  DEPS thimble_engines thimble_formats
  LABELS unit fast)
target_compile_definitions(neutron_vendor_test PRIVATE
  THIMBLE_NEUTRON_STANDIN="$<TARGET_FILE:neutron_standin_converter>")
add_dependencies(neutron_vendor_test neutron_standin_converter)
# Tests the command line with the stand-in.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME neutron_vendor_cli_test
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/../neutron_vendor/cli_test.py
            $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR} $<TARGET_FILE:neutron_standin_converter>)
  set_tests_properties(neutron_vendor_cli_test PROPERTIES LABELS unit TIMEOUT 300)
endif()
# Runs the stand-in's output in the runtime; the loader has a driver of its own for the delegate.
find_package(GTest REQUIRED)
add_executable(neutron_microcode_loader
               ${CMAKE_CURRENT_LIST_DIR}/../neutron_vendor/load_test.cpp
               ${CMAKE_CURRENT_LIST_DIR}/neutron_test_driver.cpp
               ${CMAKE_CURRENT_LIST_DIR}/runtime_support.cpp)
target_link_libraries(neutron_microcode_loader PRIVATE thimble_options thimble_neutron_delegate
                                                       thimble_neutron_formats
                                                       GTest::gtest_main)
if(Python3_FOUND)
  add_test(NAME neutron_vendor_load_test
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/../neutron_vendor/load_test.py
            $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR} $<TARGET_FILE:neutron_standin_converter>
            $<TARGET_FILE:neutron_microcode_loader>)
  set_tests_properties(neutron_vendor_load_test PROPERTIES LABELS "unit;fast" TIMEOUT 300)
endif()
