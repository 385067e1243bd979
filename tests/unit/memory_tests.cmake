# SPDX-License-Identifier: Apache-2.0
thimble_test(placement_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/placement_test.cpp
  DEPS test_graphs thimble_memory thimble_ir
  LABELS unit fast)

thimble_test(lead_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/lead_test.cpp
  DEPS test_graphs thimble_emit thimble_engines thimble_memory thimble_ir
  LABELS unit fast)

thimble_test(order_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/order_test.cpp
  DEPS test_graphs thimble_memory thimble_ir
  LABELS unit fast)

thimble_test(memories_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/memories_test.cpp
  DEPS thimble_memory
  LABELS unit fast)

thimble_test(budget_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/budget_test.cpp
  DEPS thimble_driver
  LABELS unit fast)

thimble_test(delegate_overlap_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/delegate_overlap_test.cpp
  DEPS test_graphs thimble_memory thimble_ir
  LABELS unit fast)

thimble_test(buffer_aliasing_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/buffer_aliasing_test.cpp
  DEPS thimble_memory thimble_ir
  LABELS unit fast)

thimble_test(accesses_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/accesses_test.cpp
  DEPS thimble_memory thimble_ir
  LABELS unit fast)

thimble_test(row_tiling_rules_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/row_tiling_rules_test.cpp
  DEPS thimble_memory thimble_ir
  LABELS unit fast)
