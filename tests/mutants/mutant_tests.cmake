# SPDX-License-Identifier: Apache-2.0
# The tool that makes mutants, on a sample, and the tables of its README. `make mutants` runs the tool on the tree.
if(NOT WIN32)
  add_test(NAME mutant_tool COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/tool_test.py ${CMAKE_BINARY_DIR}/mutant_tool)
  add_test(NAME mutant_sites COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/tool_test.py ${CMAKE_BINARY_DIR}/mutant_tool sites)
  add_test(NAME mutant_tables COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/report.py --check)
  set_tests_properties(mutant_tool mutant_sites mutant_tables PROPERTIES LABELS "unit;fast" SKIP_RETURN_CODE 77)
endif()
