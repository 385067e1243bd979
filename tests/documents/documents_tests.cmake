# SPDX-License-Identifier: Apache-2.0
add_test(NAME documents_limits COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/limits_test.py ${CMAKE_SOURCE_DIR})
set_tests_properties(documents_limits PROPERTIES LABELS "docs;fast")
# Outputs and tables of README.md and docs/ that no other test has.
if(TARGET firmware AND TARGET thimble AND QEMU_ARM)
  add_test(NAME documents
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/documents_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  set_tests_properties(documents PROPERTIES LABELS "e2e;firmware" SKIP_RETURN_CODE 77 TIMEOUT 600)
  if(THIMBLE_TORCH_PYTHON)
    add_test(NAME peers_documents
             COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/documents_test.py $<TARGET_FILE:thimble>
                     ${CMAKE_SOURCE_DIR} --torch)
    set_tests_properties(peers_documents PROPERTIES LABELS peers SKIP_RETURN_CODE 77 TIMEOUT 900)
  endif()
endif()
# The commands in docs/switching.md.
if(TARGET firmware AND TARGET thimble AND QEMU_ARM)
  add_test(NAME switching_tools
           COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/switching_tools_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  set_tests_properties(switching_tools PROPERTIES LABELS docs TIMEOUT 600)
endif()
# The tests that the feature table of docs/executorch.md names exist.
add_test(NAME documents_features
         COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/features_test.py ${CMAKE_SOURCE_DIR})
set_tests_properties(documents_features PROPERTIES LABELS "docs;fast")
