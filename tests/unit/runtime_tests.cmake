# SPDX-License-Identifier: Apache-2.0
thimble_test_library(test_runtime_files SOURCES ${CMAKE_CURRENT_LIST_DIR}/runtime_support.cpp
                     DEPS thimble_runtime thimble_formats)
thimble_test(runtime_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/boxes_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/runtime_malformed_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/runtime_methods_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/runtime_records_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/runtime_run_test.cpp
  DEPS test_runtime_files thimble_runtime thimble_formats
  APART runtime_methods_test.cpp runtime_run_test.cpp
  LABELS unit fast)
