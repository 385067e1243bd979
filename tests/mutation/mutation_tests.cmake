# The mutation tool on a sample, and the tables of its README. `make mutants` runs the tool on the tree.
if(NOT WIN32)
  add_test(NAME mutation_tool COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/tool_test.py ${CMAKE_BINARY_DIR}/mutation_tool)
  add_test(NAME mutation_sites COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/tool_test.py ${CMAKE_BINARY_DIR}/mutation_tool sites)
  add_test(NAME mutation_tables COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/report.py --check)
  set_tests_properties(mutation_tool mutation_sites mutation_tables PROPERTIES LABELS "unit;fast" SKIP_RETURN_CODE 77)
endif()
