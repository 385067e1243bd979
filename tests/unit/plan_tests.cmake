thimble_test(plan_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/plan_test.cpp
  DEPS test_graphs thimble_plan thimble_ir)
