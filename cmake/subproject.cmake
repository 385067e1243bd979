# Thimble in another project, usually firmware: the device sources and thimble_add_model. The compiler is a program for the
# build machine. It is taken from THIMBLE_PROGRAM, PATH or this tree's build/, or built there once. Projects that cannot
# use add_subdirectory on this tree, because they have redefined project(), include this file.
get_filename_component(THIMBLE_DEVICE_DIR ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
set(THIMBLE_DEVICE_DIR ${THIMBLE_DEVICE_DIR} CACHE INTERNAL "")
find_program(THIMBLE_PROGRAM thimble HINTS ${THIMBLE_DEVICE_DIR}/build NO_CMAKE_FIND_ROOT_PATH)
if(NOT THIMBLE_PROGRAM)
  message(STATUS "Building the thimble program in ${THIMBLE_DEVICE_DIR}/build")
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=CC --unset=CXX --unset=CFLAGS --unset=CXXFLAGS make build
                  WORKING_DIRECTORY ${THIMBLE_DEVICE_DIR} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "the thimble program could not be built; set THIMBLE_PROGRAM")
  endif()
  set(THIMBLE_PROGRAM ${THIMBLE_DEVICE_DIR}/build/thimble CACHE FILEPATH "" FORCE)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/thimble_model.cmake)
