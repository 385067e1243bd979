thimble_test(cortex_m_forms_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/cortex_m_forms_test.cpp
  DEPS test_graphs thimble_target
  LABELS unit fast)
