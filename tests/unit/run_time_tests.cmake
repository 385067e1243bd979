# SPDX-License-Identifier: Apache-2.0
thimble_test(run_time_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/code_waits_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/integer_ranges_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/run_time_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/runtime_work_test.cpp
  DEPS thimble_driver thimble_kernels
  APART code_waits_test.cpp
  LABELS unit fast)
