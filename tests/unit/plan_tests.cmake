thimble_test(plan_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/plan_test.cpp
  DEPS test_graphs thimble_plan thimble_ir
  LABELS unit fast)

thimble_test(overlap_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/overlap_test.cpp
  DEPS test_graphs thimble_emit thimble_engines thimble_plan thimble_ir
  LABELS unit fast)

thimble_test(order_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/order_test.cpp
  DEPS test_graphs thimble_plan thimble_ir
  LABELS unit fast)

thimble_test(memories_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/memories_test.cpp
  DEPS thimble_plan
  LABELS unit fast)
