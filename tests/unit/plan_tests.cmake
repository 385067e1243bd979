thimble_test(plan_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/plan_test.cpp ${CMAKE_CURRENT_LIST_DIR}/ir_random_graph.cpp
  DEPS thimble_plan thimble_ir)
