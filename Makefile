# A list of short names for what is done often; each line says it in full.
SHELL := /bin/sh
OCTAVE ?= octave-cli
PYTHON ?= python3
# What tests/fuzz is told, such as --backend cuda --seconds 600.
FUZZ ?=
# What bench.py is told, such as --quick, and where its results lie.
BENCH ?=
RESULTS ?= target/bench/results.csv
# What the hosts call their MEX files. The library is the same; MATLAB's name is made where MATLAB is.
MEXEXT ?= mex$(if $(MATLAB_ROOT), mexa64)
# What CUDA and C++ are formatted by, and what is: .clang-format says how.
CLANG_FORMAT ?= "$(PYTHON)" packaging/clang-format
CXX_SOURCES = $(shell git ls-files '*.cu' '*.cuh' '*.cc' '*.cpp' '*.hpp' '*.c')
# Without a locale, gnuplot complains of signs it was not asked for.
LANG ?= C.UTF-8
export OCTAVE LANG
DEMOS := StencilConstantMemory_Demo DerivativeConstantMemory_Demo ConvolutionConstantMemory_Demo HeatEquation_Demo Advection_Demo \
         GrayScott_Demo WaveEquation_Demo GameOfLife_Demo StandingWaves_Demo Diffusion_Demo AcousticWave_Demo \
         ConjugateGradients_Demo
PICTURES := stencil_demo_1.png stencil_demo_2.png derivative_demo.png convolution_demo.png heat_demo.png advection_demo.png \
            grayscott_demo.png wave_demo.png life_demo.png standing_demo.png diffusion_demo.png \
            acoustic_demo.png gradients_demo.png
# Where rustup puts cargo, for a shell that has not read its profile.
export PATH := $(PATH):$(HOME)/.cargo/bin

.DEFAULT_GOAL := help
.PHONY: help build demo test test-all lint format bench bench-plot bench-engines kernels check-kernels fuzz sanitize test-hosts dist dist-check licenses clean

help:
	@echo 'make build       build the MEX functions into matlab/'
	@echo 'make demo        build, run the worked examples, write their pictures here'
	@echo 'make test        build, test every function, engine and host: a selection of all cases (9 minutes on two cores)'
	@echo 'make test-all    the same with every case, all kernels, and packages as they are released (hours)'
	@echo 'make sanitize    run the kernels under AddressSanitizer, UBSan and a check for races, without a GPU (10 minutes)'
	@echo 'make test-hosts  build, run the Octave tests in Octave 9 and 11, and try the packages in Octave 7, 9, 11 and on'
	@echo '                 aarch64 (as root; keeps 5 GB in .hosts/)'
	@echo 'make fuzz        build, call all functions at random for a minute (FUZZ="--backend cuda --seconds 600 --seed 1")'
	@echo 'make lint        check formats, the lints of the Rust code and its documentation'
	@echo 'make format      format Rust, CUDA and C++'
	@echo 'make bench       time ours beside Octave, SciPy, CuPy and PyTorch, as ratios: a table, CSV and a plot in'
	@echo '                 target/bench/ (5 minutes; BENCH=--quick for 40 s, BENCH_SECONDS, PYTHON=one with the peers)'
	@echo 'make bench-plot  draw RESULTS=results.csv of a bench that ran elsewhere'
	@echo 'make bench-engines  time the Rust engines, the kernels and the memory'
	@echo 'make kernels     compile cuda/ to the PTX that is embedded, cuda/kernels.bin (after a change there)'
	@echo 'make check-kernels  compile cuda/ again, compare with that PTX (as make test does)'
	@echo 'make dist        write the Octave package and the MATLAB toolbox into dist/, and try them (10 minutes)'
	@echo 'make dist-check  build the packages of the last commit twice, in two folders, and compare their bytes'
	@echo 'make licenses    list the crates inside and their licenses again (after a change of Cargo.lock)'
	@echo 'make clean       remove what was built; .hosts/ stays'
	@echo
	@echo 'MATLAB without Octave: set MATLAB_ROOT to its folder, or run compile_mex in MATLAB.'

build:
	@.ci/setup build
	@matlab/build-mex $(MEXEXT)

demo:
	@.ci/setup demo
	@matlab/build-mex $(MEXEXT)
	@set -e; for demo in $(DEMOS); do \
	  "$(OCTAVE)" --norc --no-history --quiet --path matlab --eval "$$demo (pwd ())"; \
	  echo; \
	done
	@echo "The pictures are $(PICTURES) in $$PWD"

test:
	@.ci/setup test
	@tests/run

test-all:
	@.ci/setup test
	@tests/run all

lint:
	@.ci/setup lint
	cargo fmt --all --check
	$(CLANG_FORMAT) --dry-run --Werror $(CXX_SOURCES)
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --no-deps --document-private-items

format:
	@.ci/setup lint
	cargo fmt --all
	$(CLANG_FORMAT) -i $(CXX_SOURCES)

bench:
	@.ci/setup bench
	@matlab/build-mex mex
	@command -v "$(PYTHON)" >/dev/null || { echo 'make bench: there is no $(PYTHON): install Python 3, or name it with PYTHON=' >&2; exit 1; }
	@"$(PYTHON)" benches/bench.py $(BENCH)

bench-plot:
	@"$(OCTAVE)" --norc --no-history --quiet --path benches --eval "plot_bench ('$(RESULTS)')"
	@echo "The picture is $(dir $(RESULTS))throughput.png"

bench-engines:
	@.ci/setup build
	cargo bench -p stencil-mex-benches

kernels:
	@"$(PYTHON)" cuda/make-ptx

check-kernels:
	@"$(PYTHON)" cuda/make-ptx --check

fuzz:
	@.ci/setup test
	@matlab/build-mex mex
	@tests/fuzz $(FUZZ)

sanitize:
	@.ci/setup test
	@tests/run sanitized

test-hosts:
	@tests/run hosts

dist:
	@.ci/setup dist
	@tests/run packages

dist-check:
	@.ci/setup dist
	@packaging/dist-check

licenses:
	@packaging/third-party/update

clean:
	cargo clean
	rm -rf dist
	rm -f matlab/*.mex matlab/*.mexa64 matlab/libstencil_mex.so* matlab/libstencil_lend-*.so* matlab/libstencil_object-*.so* matlab/libstencil_mpi.so* $(PICTURES)
