thimble_test(run_time_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/run_time_test.cpp DEPS thimble_driver LABELS unit fast)
