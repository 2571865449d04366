# Debian packages by CPack (scripts/packages.sh builds them in bare systems and tries them): lethe, liblethe-dev, and of
# a build with device code lethe-cuda alone.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_VENDOR "Lethe")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "trains neural networks in planned memory")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CMAKE_SKIP_INSTALL_RPATH ON)   # where this machine has CUDA
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE "${LETHE_PACKAGE_RELEASE}")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The Lethe maintainers <maintainers@lethe.example>")
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

# Components of one package are a group; others than these are in none.
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
if(LETHE_HAS_DEVICE_CODE)
  set(CPACK_COMPONENTS_ALL levels)
else()
  set(CPACK_COMPONENTS_ALL levels program development)
endif()
set(CPACK_COMPONENT_DEVELOPMENT_GROUP development)
set(CPACK_COMPONENT_PROGRAM_GROUP program)
set(CPACK_COMPONENT_LEVELS_GROUP program)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME lethe)
set(section)   # NVIDIA's runtime is linked into what plans for its GPUs
set(for_gpus)
if(LETHE_HAS_CUDA)
  set(section non-free/)
  set(for_gpus " GPUs can be planned for;\nlethe-cuda trains on them.")
endif()
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION ${section}science)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "Lethe trains neural networks on CPUs and says beforehand, to the byte, how
much memory that takes; it finds the least, or what fits a budget. Networks
are JSON files, or ONNX models and checkpoints of Hugging Face, with LoRA and
weights in few bits. It needs no Python.${for_gpus}")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "lethe-cuda, openmpi-bin")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/cmake/debian/postinst;${PROJECT_SOURCE_DIR}/cmake/debian/prerm")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME liblethe-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION ${section}libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "The library that lethe is made of, to be linked statically: programs, memory
plans, sessions of training. CMake finds it by find_package(Lethe), others by
pkg-config.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "zlib1g-dev")
if(LETHE_HAS_ONEDNN)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libdnnl-dev")
endif()
if(LETHE_HAS_MPI)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libopenmpi-dev")
endif()

if(LETHE_HAS_DEVICE_CODE)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME lethe-cuda)
  set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "The program of lethe with device code for NVIDIA's GPUs; lethe starts it
instead of its own. Their driver is needed, and cuBLASLt and cuDNN 9.8 or
later.")
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "lethe (= ${PROJECT_VERSION}-${LETHE_PACKAGE_RELEASE})")
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA)
endif()

# What Debian's policy wants in /usr/share/doc of each package.
function(lethe_package_docs component package)
  set(made "${PROJECT_BINARY_DIR}/debian/${package}")
  install(CODE "
    file(READ \"${PROJECT_SOURCE_DIR}/CHANGELOG.md\" changes)
    string(REGEX MATCH \"\\n## .${PROJECT_VERSION}. - ([0-9]+-[0-9]+-[0-9]+)\" found \"\${changes}\")
    if(NOT found)
      message(FATAL_ERROR \"CHANGELOG.md says nothing of ${PROJECT_VERSION}\")
    endif()
    execute_process(COMMAND date -R -u -d \"\${CMAKE_MATCH_1}\" OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    file(WRITE \"${made}/changelog.Debian\" \"lethe (${PROJECT_VERSION}-${LETHE_PACKAGE_RELEASE}) unstable; urgency=medium\\n\\n  * Version ${PROJECT_VERSION}; changelog.gz says what is new.\\n\\n -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  \${date}\\n\")
    file(COPY_FILE \"${PROJECT_SOURCE_DIR}/CHANGELOG.md\" \"${made}/changelog\")
    execute_process(COMMAND \"${LETHE_GZIP}\" -9nf \"${made}/changelog\" \"${made}/changelog.Debian\" COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT ${component})
  install(FILES "${made}/changelog.gz" "${made}/changelog.Debian.gz" "${PROJECT_SOURCE_DIR}/cmake/debian/copyright"
          DESTINATION "share/doc/${package}" COMPONENT ${component})
  foreach(library nlohmann-json3-dev libcli11-dev libeigen3-dev libstb-dev)   # whose headers are compiled in
    install(FILES "/usr/share/doc/${library}/copyright" DESTINATION "share/doc/${package}/compiled-in" RENAME "${library}"
            COMPONENT ${component})
  endforeach()
endfunction()
if(LETHE_HAS_DEVICE_CODE)
  lethe_package_docs(levels lethe-cuda)
else()
  lethe_package_docs(program lethe)
  lethe_package_docs(development liblethe-dev)
endif()
include(CPack)
