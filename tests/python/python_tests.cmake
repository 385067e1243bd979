# SPDX-License-Identifier: Apache-2.0
# Tests of the C API and of the Python package.
if(THIMBLE_TESTS)
  set(digits ${CMAKE_SOURCE_DIR}/models/digits_cnn)
  add_executable(capi_test ${CMAKE_CURRENT_LIST_DIR}/capi_test.c)
  set_target_properties(capi_test PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
  target_include_directories(capi_test PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_options(capi_test PRIVATE $<$<NOT:$<C_COMPILER_ID:MSVC>>:-Wall -Wextra -Wpedantic -Werror>)
  target_link_libraries(capi_test PRIVATE thimble_c)
  add_test(NAME capi_test COMMAND capi_test ${digits}/digits_cnn.pt2 ${digits}/calibrate.npz ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(capi_test PROPERTIES LABELS "python;fast")
endif()

# The package is built by `make test` with nanobind and NumPy of a virtual environment in the build folder
# (cmake/python_venv.sh).
if(NOT THIMBLE_PYTHON)
  add_test(NAME python_api COMMAND ${CMAKE_COMMAND} -E echo
           "skipped: built without THIMBLE_PYTHON: no Python with nanobind (cmake/python_venv.sh)")
  set_tests_properties(python_api PROPERTIES LABELS python SKIP_REGULAR_EXPRESSION "^skipped:")
  return()
endif()
set(here ${CMAKE_CURRENT_LIST_DIR})
set(environment PYTHONPATH=${CMAKE_BINARY_DIR}/python PYTHONDONTWRITEBYTECODE=1)
foreach(name api bytes hostile)
  add_test(NAME python_${name}
           COMMAND ${Python_EXECUTABLE} ${here}/${name}_test.py $<TARGET_FILE:thimble> ${CMAKE_SOURCE_DIR})
  set_tests_properties(python_${name} PROPERTIES LABELS python ENVIRONMENT "${environment}" TIMEOUT 600)
endforeach()
add_test(NAME python_messages COMMAND ${Python_EXECUTABLE} ${here}/messages_test.py ${CMAKE_SOURCE_DIR})
set_tests_properties(python_messages PROPERTIES LABELS python ENVIRONMENT "${environment}" TIMEOUT 600)
add_test(NAME python_delegates COMMAND ${Python_EXECUTABLE} ${here}/delegates_test.py ${CMAKE_SOURCE_DIR})
set_tests_properties(python_delegates PROPERTIES LABELS python ENVIRONMENT "${environment}" TIMEOUT 600)
add_test(NAME python_sweep COMMAND ${Python_EXECUTABLE} ${here}/sweep_test.py ${CMAKE_SOURCE_DIR}/models)
set_tests_properties(python_sweep PROPERTIES LABELS python ENVIRONMENT "${environment}" TIMEOUT 600)
# torchvision, timm and transformers: only with a Python that has them, of the version of the module.
if(THIMBLE_TORCH_PYTHON)
  add_test(NAME python_torch COMMAND ${THIMBLE_TORCH_PYTHON} ${here}/torch_test.py)
  set_tests_properties(python_torch PROPERTIES LABELS "python;peers" ENVIRONMENT "${environment}" TIMEOUT 1800
                                               SKIP_RETURN_CODE 77)
  # Executors of Dask and Ray, if they are installed.
  add_test(NAME python_sweep_executors
           COMMAND ${THIMBLE_TORCH_PYTHON} ${here}/sweep_executors_test.py ${CMAKE_SOURCE_DIR}/models
                   ${CMAKE_SOURCE_DIR}/examples)
  set_tests_properties(python_sweep_executors PROPERTIES LABELS "python;peers" ENVIRONMENT "${environment}" TIMEOUT 1800
                                                         SKIP_RETURN_CODE 77)
endif()
# Type checkers: those that are installed.
add_test(NAME python_types
         COMMAND ${Python_EXECUTABLE} ${here}/types_test.py ${CMAKE_SOURCE_DIR} ${THIMBLE_TORCH_PYTHON})
set_tests_properties(python_types PROPERTIES LABELS python ENVIRONMENT "${environment}" TIMEOUT 600 SKIP_RETURN_CODE 77)
