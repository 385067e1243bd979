# The house rules, on every tracked file; and every header by itself.
add_test(NAME tidy COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/tidy.py)
add_test(NAME tidy_headers
         COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/headers.py --compiler ${CMAKE_CXX_COMPILER}
                 --include ${CMAKE_BINARY_DIR}/generated/pte --cache ${CMAKE_BINARY_DIR}/tidy_headers.txt)
set_tests_properties(tidy tidy_headers PROPERTIES LABELS tidy TIMEOUT 600)
