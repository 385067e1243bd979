# The wheel, built once and installed in a bare virtual environment. The tools that build it are downloaded by name.
# THIMBLE_WHEEL_SDIST: also builds the wheel from the source distribution, without compiler cache (10 minutes).
option(THIMBLE_WHEEL_SDIST "Test that the source distribution gives the same wheel" OFF)
if(TARGET thimble AND ARM_CXX AND QEMU_ARM AND UNIX)
  set(sdist)
  if(THIMBLE_WHEEL_SDIST)
    set(sdist --sdist)
  endif()
  add_test(NAME wheel COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/wheel_test.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}
                              ${CMAKE_COMMAND} ${sdist})
  set_tests_properties(wheel PROPERTIES LABELS wheel TIMEOUT 3600 COST 1000 SKIP_REGULAR_EXPRESSION "skipped: the tools")
endif()
