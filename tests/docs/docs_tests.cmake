# SPDX-License-Identifier: Apache-2.0
# The documents as a site, and the notebooks. Both need packages from PyPI, which the tests install into a virtual
# environment of the build folder; without a network they are reported as skipped.
set(THIMBLE_DOCS_PYTHON "" CACHE STRING "A Python with mkdocs-material and mkdocstrings[python]")
find_program(CHROMIUM NAMES chromium chromium-browser google-chrome)
set(chromium)
if(CHROMIUM)
  set(chromium ${CHROMIUM})
endif()
add_test(NAME docs_site
         COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/site_test.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}
                 "${THIMBLE_DOCS_PYTHON}" "${chromium}")
set_tests_properties(docs_site PROPERTIES LABELS docs TIMEOUT 600 SKIP_RETURN_CODE 77)
add_test(NAME docs_notebooks
         COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/notebooks_test.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} --static)
set_tests_properties(docs_notebooks PROPERTIES LABELS "docs;fast")
# The module of the package is for one version of Python: THIMBLE_TORCH_PYTHON must have the same.
if(THIMBLE_PYTHON)
  set(notebooks)
  if(NOT (ARM_CXX AND QEMU_ARM AND UNIX)) # otherwise wheel_notebook executes it, with the installed wheel
    set(notebooks which_chip)
    set(notebook_python_which_chip ${Python_EXECUTABLE})
  endif()
  if(THIMBLE_TORCH_PYTHON)
    foreach(notebook keyword_spotting quantization_aware_training transformer your_model)
      list(APPEND notebooks ${notebook})
      set(notebook_python_${notebook} ${THIMBLE_TORCH_PYTHON})
    endforeach()
  endif()
  foreach(notebook ${notebooks})
    add_test(NAME notebook_${notebook}
             COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/notebooks_test.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}
                     ${notebook_python_${notebook}} ${notebook})
    set_tests_properties(notebook_${notebook} PROPERTIES LABELS notebooks TIMEOUT 900 SKIP_RETURN_CODE 77)
  endforeach()
endif()
