# SPDX-License-Identifier: Apache-2.0
thimble_test(accuracy_warning_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/accuracy_warning_test.cpp DEPS thimble_driver LABELS unit fast)
thimble_test(wide_inputs_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/wide_inputs_test.cpp
  DEPS test_graphs thimble_driver
  LABELS unit fast)
