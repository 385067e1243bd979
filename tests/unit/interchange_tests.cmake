# SPDX-License-Identifier: Apache-2.0
thimble_test(interchange_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/function_tables.cpp
    ${CMAKE_CURRENT_LIST_DIR}/interchange_core_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/interchange_function_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/interchange_multiplier_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/interchange_tflite_neutron_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/interchange_tflite_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/interchange_tosa_test.cpp
  DEPS test_graphs thimble_interchange thimble_formats thimble_ir thimble_tosa_schema
    thimble_tflite_schema
  APART interchange_tflite_test.cpp
  LABELS unit fast)
