# Thimble inside another project, usually one for a microcontroller: the device sources and thimble_add_model. The compiler
# is a program for this machine; it is taken from THIMBLE_PROGRAM, PATH or this tree's build/, or built there once.
set(THIMBLE_DEVICE_DIR ${CMAKE_CURRENT_SOURCE_DIR} CACHE INTERNAL "")
find_program(THIMBLE_PROGRAM thimble HINTS ${CMAKE_CURRENT_SOURCE_DIR}/build NO_CMAKE_FIND_ROOT_PATH)
if(NOT THIMBLE_PROGRAM)
  message(STATUS "Building the thimble program in ${CMAKE_CURRENT_SOURCE_DIR}/build")
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=CC --unset=CXX --unset=CFLAGS --unset=CXXFLAGS make build
                  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "the thimble program could not be built; set THIMBLE_PROGRAM")
  endif()
  set(THIMBLE_PROGRAM ${CMAKE_CURRENT_SOURCE_DIR}/build/thimble CACHE FILEPATH "" FORCE)
endif()
include(cmake/thimble_model.cmake)
