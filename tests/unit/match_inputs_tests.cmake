# SPDX-License-Identifier: Apache-2.0
thimble_test(match_inputs_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/match_inputs_test.cpp DEPS thimble_tools thimble_engine_cli LABELS unit fast)
thimble_test(local_error_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/local_error_test.cpp
  DEPS test_graphs thimble_tools thimble_engine_cli
  LABELS unit fast)
