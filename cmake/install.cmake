# Installation: both libraries, one header, package files, the tool with what it starts, examples as sources.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Gradus)
install(TARGETS gradus EXPORT GradusTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS gradus_static EXPORT GradusStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${one_header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(GRADUS_PROGRAMS)
  install(TARGETS gradus_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY ${PROJECT_BINARY_DIR}/install/share/ DESTINATION ${CMAKE_INSTALL_DATADIR}) # man pages, completion
  install(FILES examples/published.csv DESTINATION ${CMAKE_INSTALL_DATADIR}/gradus)
  install(DIRECTORY examples/puzzles examples/models DESTINATION ${CMAKE_INSTALL_DATADIR}/gradus)
  install(PROGRAMS scripts/plot_sweep.py scripts/plot_landscape.py scripts/compare_sweeps.py scripts/slurm_sweep.py
          scripts/bench_torch.py scripts/torch_operations.py
          DESTINATION ${CMAKE_INSTALL_DATADIR}/gradus)
endif()
file(GLOB example_sources CONFIGURE_DEPENDS examples/*.c)
install(FILES ${example_sources} DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

file(RELATIVE_PATH include_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(cmake/gradus.pc.in install/gradus.pc @ONLY) # relative: the installed tree can be moved
install(FILES ${PROJECT_BINARY_DIR}/install/gradus.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(EXPORT GradusTargets NAMESPACE Gradus:: DESTINATION ${package_dir})
install(EXPORT GradusStaticTargets NAMESPACE Gradus:: DESTINATION ${package_dir})
configure_package_config_file(cmake/GradusConfig.cmake.in install/GradusConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(install/GradusConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/install/GradusConfig.cmake ${PROJECT_BINARY_DIR}/install/GradusConfigVersion.cmake
        DESTINATION ${package_dir})
