# What `cmake --install` leaves: the program as `lethe` (and `train`, where that name is free) with its man page and
# completions, the networks, and the library with its headers for programs of others, found by CMake's
# find_package(Lethe) or by pkg-config. Components are packages (cmake/LethePackages.cmake).
include(CMakePackageConfigHelpers)

set(LETHE_LEVEL_KIND)
if(LETHE_HAS_DEVICE_CODE)
  set(LETHE_LEVEL_KIND cuda-)
endif()
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBEXECDIR BASE_DIRECTORY "${CMAKE_INSTALL_FULL_BINDIR}" OUTPUT_VARIABLE from_bin)
target_compile_definitions(launcher PRIVATE LETHE_LEVELS_FROM_BIN="${from_bin}/lethe")
install(PROGRAMS "$<TARGET_FILE:launcher>" DESTINATION "${CMAKE_INSTALL_BINDIR}" RENAME lethe COMPONENT program)
# Of levels that an earlier version has left the launcher would start one.
install(CODE "file(REMOVE_RECURSE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBEXECDIR}/lethe\")" COMPONENT levels)
install(TARGETS train DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/lethe/${LETHE_LEVEL_KIND}${LETHE_LEVEL_NAME}" COMPONENT levels)
foreach(level IN LISTS LETHE_FURTHER_LEVELS)
  install(TARGETS train_${level} DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/lethe/${LETHE_LEVEL_KIND}${level}" COMPONENT levels)
endforeach()
install(CODE "set(name \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/train\")
  if(NOT EXISTS \"\${name}\" AND NOT IS_SYMLINK \"\${name}\")
    file(CREATE_LINK lethe \"\${name}\" SYMBOLIC)
  else()
    message(STATUS \"\${name} is there already and stays as it is\")
  endif()" COMPONENT train_name)

# install_written(FILE WORDS...): what `lethe WORDS` prints becomes the FILE when it is installed; compressed, if it is
# called *.gz.
find_program(LETHE_GZIP gzip REQUIRED)
function(install_written file)
  cmake_path(GET file PARENT_PATH folder)
  list(JOIN ARGN " " words)
  set(compressed)
  if(file MATCHES "[.]gz$")
    set(compressed COMMAND "${LETHE_GZIP}" -9n)
    list(JOIN compressed " " compressed)
  endif()
  install(CODE "file(MAKE_DIRECTORY \"${PROJECT_BINARY_DIR}/${folder}\" \"${PROJECT_BINARY_DIR}/as-installed\")
    file(CREATE_LINK \"$<TARGET_FILE:train>\" \"${PROJECT_BINARY_DIR}/as-installed/lethe\" SYMBOLIC)
    execute_process(COMMAND \"${PROJECT_BINARY_DIR}/as-installed/lethe\" ${words} ${compressed} OUTPUT_FILE \"${PROJECT_BINARY_DIR}/${file}\" COMMAND_ERROR_IS_FATAL ANY)"
          COMPONENT program)
  install(FILES "${PROJECT_BINARY_DIR}/${file}" DESTINATION "${folder}" COMPONENT program)
endfunction()
install_written(share/man/man1/lethe.1.gz man)
install_written(share/bash-completion/completions/lethe completion bash)
install_written(share/zsh/site-functions/_lethe completion zsh)
install_written(share/fish/vendor_completions.d/lethe.fish completion fish)
install(DIRECTORY models/ DESTINATION share/lethe/models COMPONENT program FILES_MATCHING PATTERN "*.json")

# One archive of all that a program of ours is linked from, without commands and guests. Ops register themselves before
# main, so whoever links it takes all of it.
set(LETHE_OBJECTS ${LETHE_LEVEL_PARTS} ${LETHE_COMMON_PARTS})
list(TRANSFORM LETHE_OBJECTS REPLACE "(.+)" "$<TARGET_OBJECTS:lethe_\\1>")
add_library(lethe STATIC ${LETHE_OBJECTS})
set_target_properties(lethe PROPERTIES LINKER_LANGUAGE CXX)
install(TARGETS lethe ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
foreach(folder framework kernels memopt optimizer train/data train/session)
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lethe/${folder} COMPONENT development
          FILES_MATCHING PATTERN "*.h")
endforeach()

# Of models/ alone: the others read JSON by a library.
install(FILES models/network.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lethe/models COMPONENT development)

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
  if(LETHE_PACKAGE_RELEASE)   # it is for machines without CUDA
    install(FILES "${cudart}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/lethe" COMPONENT development)
    cmake_path(GET cudart FILENAME cudart)
    set(cudart "${CMAKE_INSTALL_FULL_LIBDIR}/lethe/${cudart}")
  endif()
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
        DESTINATION "${LETHE_PACKAGE}" COMPONENT development)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" OUTPUT_VARIABLE LETHE_PREFIX_FROM_PC)
configure_file(cmake/lethe.pc.in "${PROJECT_BINARY_DIR}/lethe.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/lethe.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)

if(LETHE_PACKAGE_RELEASE)
  include(LethePackages)
endif()
