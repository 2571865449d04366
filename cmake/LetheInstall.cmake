# What `cmake --install` leaves: the program with its man page and completions, the networks, and the library with its
# headers for programs of others, found by CMake's find_package(Lethe) or by pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS train)
# install_written(FILE WORDS...): what `train WORDS` prints becomes the FILE when it is installed.
function(install_written file)
  cmake_path(GET file PARENT_PATH folder)
  list(JOIN ARGN " " words)
  install(CODE "file(MAKE_DIRECTORY \"${PROJECT_BINARY_DIR}/${folder}\")
    execute_process(COMMAND \"$<TARGET_FILE:train>\" ${words} OUTPUT_FILE \"${PROJECT_BINARY_DIR}/${file}\" COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES "${PROJECT_BINARY_DIR}/${file}" DESTINATION "${folder}")
endfunction()
install_written(share/man/man1/train.1 man)
install_written(share/bash-completion/completions/train completion bash)
install_written(share/zsh/site-functions/_train completion zsh)
install_written(share/fish/vendor_completions.d/train.fish completion fish)
install(DIRECTORY models/ DESTINATION share/lethe/models FILES_MATCHING PATTERN "*.json")

# One archive of all that a program of ours is linked from, without commands and guests. Ops register themselves before main, so whoever links it
# takes all of it.
set(LETHE_PARTS ops optimizer train models onnx memopt kernels framework)
list(TRANSFORM LETHE_PARTS REPLACE "(.+)" "$<TARGET_OBJECTS:lethe_\\1>" OUTPUT_VARIABLE LETHE_OBJECTS)
add_library(lethe STATIC ${LETHE_OBJECTS})
set_target_properties(lethe PROPERTIES LINKER_LANGUAGE CXX)
install(TARGETS lethe ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(folder framework kernels memopt optimizer train/data train/session)
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lethe/${folder} FILES_MATCHING PATTERN "*.h")
endforeach()

install(FILES models/network.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lethe/models)   # the others read JSON by a library

# What else is linked, as a linker is told.
set(LETHE_LINKS -fopenmp -pthread)
list(APPEND LETHE_LINKS -lz)
if(LETHE_HAS_ONEDNN)
  list(APPEND LETHE_LINKS "${LETHE_DNNL_LIBRARY}")
endif()
if(LETHE_HAS_MPI)
  list(APPEND LETHE_LINKS ${MPI_CXX_LIBRARIES})
endif()
if(LETHE_HAS_CUDA)
  get_target_property(cudart CUDA::cudart_static IMPORTED_LOCATION)
  list(APPEND LETHE_LINKS "${cudart}" -lrt)
endif()
list(APPEND LETHE_LINKS ${CMAKE_DL_LIBS})
list(TRANSFORM LETHE_LINKS REPLACE "^dl$" "-ldl")
list(JOIN LETHE_LINKS " " LETHE_LINK_LINE)
set(LETHE_ARCHIVE "${CMAKE_INSTALL_LIBDIR}/${CMAKE_STATIC_LIBRARY_PREFIX}lethe${CMAKE_STATIC_LIBRARY_SUFFIX}")
set(LETHE_PACKAGE "${CMAKE_INSTALL_LIBDIR}/cmake/Lethe")
configure_package_config_file(cmake/LetheConfig.cmake.in "${PROJECT_BINARY_DIR}/LetheConfig.cmake"
  INSTALL_DESTINATION "${LETHE_PACKAGE}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR LETHE_ARCHIVE)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/LetheConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/LetheConfig.cmake" "${PROJECT_BINARY_DIR}/LetheConfigVersion.cmake"
        DESTINATION "${LETHE_PACKAGE}")
configure_file(cmake/lethe.pc.in "${PROJECT_BINARY_DIR}/lethe.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/lethe.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
