thimble_test(cycles_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/cycles_test.cpp DEPS thimble_cycles LABELS unit fast)
