# SPDX-License-Identifier: Apache-2.0
# Accuracy that examples/qat and examples/ethos_u state; the scripts train, so they need PyTorch.
if(THIMBLE_PYTHON AND THIMBLE_TORCH_PYTHON)
  foreach(example qat recover recurrent ethos_u)
    add_test(NAME peers_example_${example}
             COMMAND ${THIMBLE_TORCH_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/torch_test.py ${CMAKE_SOURCE_DIR} $<TARGET_FILE:thimble>
                     ${example})
    set_tests_properties(peers_example_${example} PROPERTIES LABELS peers TIMEOUT 900 SKIP_RETURN_CODE 77
                         ENVIRONMENT PYTHONPATH=${CMAKE_BINARY_DIR}/python)
  endforeach()
endif()
