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
