# shellcheck shell=bash
# Counting, for the scripts that run tests: parts are run, recorded, and summed
# up in one table and one closing line. Sourced, never run.

work=$(mktemp -d)
# What still runs beside is of no use to anybody then.
trap 'jobs -p | xargs -r kill 2>/dev/null; rm -rf "$work"' EXIT
log=$work/log
rows=()
total_passed=0
total_failed=0
total_skipped=0

# What begins, and how far the run is, in minutes and seconds.
headline() { printf '\n== %s (%d:%02d)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }

# record NAME PASSED FAILED SKIPPED [NOTE]
record() {
  rows+=("$(printf '%-34s %7d %7d %8d  %s' "$1" "$2" "$3" "$4" "${5:-}")")
  total_passed=$((total_passed + $2))
  total_failed=$((total_failed + $3))
  total_skipped=$((total_skipped + $4))
}

# judge NAME STATUS PASSED FAILED SKIPPED: records a part that ran. One that
# ended badly without counting a failure, or that ran nothing, has failed.
judge() {
  local name=$1 status=$2 passed=$3 failed=$4 skipped=$5 note=
  if ((status != 0 && failed == 0)); then
    failed=1 note="ended with status $status"
  elif ((passed + failed == 0)); then
    failed=1 note='ran no test'
  fi
  record "$name" "$passed" "$failed" "$skipped" "$note"
}

# logged COMMAND...: runs it before the reader's eyes and into $log; its own status.
logged() { "$@" </dev/null 2>&1 | tee "$log"; }

# rust_part NAME COMMAND...: anything that closes the way Rust's test programs do, once or often.
rust_part() {
  local name=$1 status=0
  shift
  headline "$name"
  logged "$@" || status=$?
  judge_rust "$name" "$status"
}

# judge_rust NAME STATUS: records what $log tells of Rust's test programs.
judge_rust() {
  local name=$1 status=$2 counts
  counts=$(sed -nE 's/^test result: .* ([0-9]+) passed; ([0-9]+) failed; ([0-9]+) ignored;.*/\1 \2 \3/p' "$log" |
    awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }')
  # shellcheck disable=SC2086  # three numbers
  judge "$name" "$status" $counts
}

# rust_tests: cargo's options for all tests but those that are for the stand-in for CUDA alone, or for the packages.
rust_tests() {
  printf -- '--lib\n'
  sed -n '/^\[\[test\]\]/,/^$/ s/^name = "\(.*\)"/\1/p' Cargo.toml |
    grep -vxE 'cuda_stand_in|faults|nested|gpu_arrays|portable' | sed 's/^/--test=/'
}

# on_stand_in KIND COMMAND...: with the stand-in of that kind (tests/stand_in/cuda) in place of the CUDA driver.
on_stand_in() {
  local kind=$1
  shift
  env STAND_IN_KIND="$kind" LD_LIBRARY_PATH="$PWD/target/cuda-stand-in/$kind${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@"
}

# build_stand_in KIND [modules]: true if it is there now; with all modules compiled.
build_stand_in() { logged make --no-print-directory -s -C tests/stand_in/cuda -j"$(nproc)" KIND="$1" "${@:2}"; }

# into FILE COMMAND...: runs it, with what it says in FILE and its status beside it.
into() {
  local file=$1 status=0
  shift
  "$@" </dev/null >"$file" 2>&1 || status=$?
  printf '%d\n' "$status" >"$file.status"
}

# shown FILE: what such a command wrote, as if it had run now.
shown() {
  cat "$1"
  return "$(cat "$1.status")"
}

# octave_part NAME COMMAND...: a run of tests/run-octave, which closes with its own count.
octave_part() {
  local name=$1 status=0 line counts='0 0 0'
  shift
  headline "$name"
  logged "$@" || status=$?
  line=$(grep -E '^octave [^ ]+ \((cpu|cuda)\): [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" |
    tail -n 1) || true
  if [[ $line =~ ^octave\ ([^ ]+).*:\ ([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+) ]]; then
    name=${name/#Octave/Octave ${BASH_REMATCH[1]}}
    counts="${BASH_REMATCH[2]} ${BASH_REMATCH[3]} ${BASH_REMATCH[4]}"
  fi
  # shellcheck disable=SC2086  # three numbers
  judge "$name" "$status" $counts
}

# octave_parts OCTAVE: both engines.
octave_parts() {
  octave_part 'Octave (cpu)' tests/run-octave --backend cpu "$1"
  octave_gpu_part "$1"
}

# octave_gpu_part OCTAVE: on the GPU, where the library finds one.
octave_gpu_part() {
  local octave=$1 answer backend reason
  headline 'Octave (cuda)'
  if ! answer=$(env -u STENCIL_BACKEND "$octave" --norc --no-history --quiet --path matlab </dev/null --eval \
    'd = ConstantMemoryDevice_CUDA (); printf ("device: %s %s\n", d.Backend, d.BackendReason)' 2>"$log"); then
    cat "$log"
    record 'Octave (cuda)' 0 1 0 'ConstantMemoryDevice_CUDA failed'
    return
  fi
  read -r backend reason < <(sed -n 's/^device: //p' <<<"$answer") || true
  if [[ $backend == cuda ]]; then
    octave_part 'Octave (cuda)' tests/run-octave --backend cuda "$octave"
  else
    printf 'skipped: %s\n' "$reason"
    record 'Octave (cuda)' 0 0 1 "$reason"
  fi
}

# bench_part OCTAVE: benches/bench.py on arrays of next to nothing. That it measures, counts what it skips and writes,
# never how fast anything is.
bench_part() {
  local octave=$1 passed=0 failed=0 key label out=$work/bench python=${PYTHON:-python3}
  headline 'Bench'
  if ! command -v "$python" >/dev/null 2>&1; then
    printf 'skipped: there is no %s\n' "$python"
    record 'Bench' 0 0 1 "there is no $python"
    return
  fi
  expect() {
    local what=$1
    shift
    if "$@"; then
      printf 'ok: %s\n' "$what"
      passed=$((passed + 1))
    else
      printf 'FAILED: %s\n' "$what"
      failed=$((failed + 1))
    fi
  }
  # has_or_says KEY LABEL: times at both sizes, or a reason.
  has_or_says() {
    [[ $(grep -c "^time,5,[0-9]*,$1,,[1-9]" "$out/results.csv") == 2 ]] ||
      grep -qE "^skipped,,,\"?$2\"?,.*[a-z]" "$out/results.csv"
  }
  expect 'it runs' logged "$python" benches/bench.py --quick --seconds 3 --sizes 1,20 --taps 5 --octave "$octave" \
    --out "$out"
  for key in ours_cpu filter conv; do
    expect "it times $key" test "$(grep -c "^time,5,[0-9]*,$key,,[1-9]" "$out/results.csv")" = 2
  done
  expect 'it has ratios' test "$(grep -c '^ratio,5,[0-9]*,filter,ours_cpu,[1-9]' "$out/results.csv")" = 2
  expect 'it knows what is inside mexFunction' \
    test "$(grep -c '^inside,5,[0-9]*,ours_cpu,,[1-9]' "$out/results.csv")" = 2
  while IFS=: read -r key label; do
    expect "it times $key or says why not" has_or_says "$key" "$label"
  done <<<$'ours_cuda:ours, CUDA\nscipy:SciPy\ncupy:CuPy\ntorch:PyTorch\nlaunch:one thread a block'
  expect 'it counts what it skipped' \
    grep -qE "^Skipped: $(grep -c '^skipped,' "$out/results.csv")(, namely)?\$" "$out/table.txt"
  expect 'it draws, or says why not' \
    eval "test -s '$out/throughput.png' || grep -q '^skipped,,,the plot,' '$out/results.csv'"
  expect 'the driver of all benchmarks runs' logged "$python" benches/tables.py measure --quick --parts levels \
    --octave "$octave" --out "$out/tables"
  expect 'it writes what was measured' grep -q '^levels,9,' "$out/tables/levels.csv"
  expect "BENCHMARKS.md has the measurements' tables" logged "$python" benches/tables.py write --check
  record 'Bench' "$passed" "$failed" 0
}

# fuzz_part NAME BACKEND SECONDS [COMMAND...]: so long of tests/fuzz, other calls each time; a call is a test. By
# COMMAND, if there is one.
fuzz_part() {
  local name=$1 backend=$2 seconds=$3 status=0 line
  shift 3
  headline "$name"
  logged "$@" tests/fuzz --backend "$backend" --seconds "$seconds" "${octave:-octave-cli}" || status=$?
  line=$(grep -E '^fuzz \(.*\): [0-9]+ calls, [0-9]+ passed, [0-9]+ failed, seed [0-9]+$' "$log" | tail -n 1) || true
  if [[ $line =~ calls,\ ([0-9]+)\ passed,\ ([0-9]+)\ failed,\ (seed\ [0-9]+)$ &&
    (${BASH_REMATCH[2]} -gt 0 || $status -eq 0) ]]; then
    record "$name" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" 0 "${BASH_REMATCH[3]}"
  else
    judge "$name" "$status" 0 0 0
  fi
}

# launched_part NAME: that each module of cuda/ was launched by some test on the stand-in; a module is a test.
launched_part() {
  local name=$1 module missing=0 modules
  headline "$name"
  mapfile -t modules < <(sed -n 's/^module \([^ ]*\) .*/\1/p' cuda/kernels.lock)
  for module in "${modules[@]}"; do
    grep -q "^$module/" "$CUDA_STAND_IN_KERNELS" 2>/dev/null && continue
    printf 'not launched: %s\n' "$module"
    missing=$((missing + 1))
  done
  printf '%d of %d modules were launched\n' $((${#modules[@]} - missing)) ${#modules[@]}
  record "$name" $((${#modules[@]} - missing)) "$missing" 0
}

# assembled_part NAME FOLDER...: that NVIDIA's assembler takes each text of PTX in these folders, which the library wrote
# while it was tested; a text is a test. In a folder `examples` are the steps that documents show: all values of these must
# stay in registers.
assembled_part() {
  local name=$1 program=${PTXAS:-} status=0 failed folder texts=()
  shift
  headline "$name"
  if [[ -z $program ]]; then
    if ! logged "${PYTHON:-python3}" packaging/ptxas --version; then
      printf 'skipped\n'
      record "$name" 0 0 1 "NVIDIA's assembler cannot be installed"
      return
    fi
    program=$(compgen -G 'target/ptxas-*/nvidia/cuda_nvcc/bin/ptxas' | head -n 1)
  fi
  for folder; do
    # The pattern of an empty folder stays, and is refused.
    texts+=("$folder"/*.ptx)
  done
  printf '%s\0' "${texts[@]}" >"$work/texts"
  # For the oldest chip that the texts are for. What is wrong stays where a reader finds it.
  # shellcheck disable=SC2016  # words of the inner shell
  logged xargs -0 -a "$work/texts" -n 8 -P "$(nproc)" bash -c 'for text in "${@:2}"; do
      if ! told=$("$1" -arch=sm_60 --verbose --output-file /dev/null "$text" 2>&1); then
        told="refused: $told"
      elif [[ $text == */examples/* && $told =~ [1-9][0-9]*\ bytes\ spill ]]; then
        told="spilled: $told"
      else
        continue
      fi
      mkdir -p target/assembled && cp "$text" target/assembled
      printf "%s\nin target/assembled/%s\n" "$told" "${text##*/}"
    done' - "$program" || status=$?
  failed=$(grep -cE '^(refused|spilled): ' "$log") || true
  printf '%d of %d texts are as they should be\n' $((${#texts[@]} - failed)) ${#texts[@]}
  judge "$name" "$status" $((${#texts[@]} - failed)) "$failed" 0
}

# kernels_part NAME OPTION: compiles cuda/ again, all of it (--check) or a module of each source (--check-some), and
# compares; a module is a test. It needs the package index only once.
kernels_part() {
  local name=$1 option=$2 status=0 python=${PYTHON:-python3} line modules differ reason
  headline "$name"
  if ! command -v "$python" >/dev/null 2>&1; then
    printf 'skipped: there is no %s\n' "$python"
    record "$name" 0 0 1 "there is no $python"
    return
  fi
  logged "$python" cuda/make-ptx "$option" || status=$?
  if ((status == 3)); then
    reason=$(sed -n 's/^unavailable: //p' "$log" | head -n 1)
    # The detail after the colon stands in the log.
    printf 'skipped\n'
    record "$name" 0 0 1 "${reason%%: *}"
    return
  fi
  line=$(grep -E '^kernels: [0-9]+ modules compiled and compared, [0-9]+ differences$' "$log" | tail -n 1) || true
  read -r _ modules _ _ _ _ differ _ <<<"${line:-kernels: 0 modules compiled and compared, 0 differences}"
  # What is left over is a difference too, but of no module.
  judge "$name" "$status" $((modules > differ ? modules - differ : 0)) "$differ" 0
}

# build_packages [OPTION...]: the packages of packaging/dist, unpacked side by side in $work/packages, the Octave
# package's archive with them; false where that cannot be done.
build_packages() {
  local status=0 python=${PYTHON:-python3} reason
  headline 'Packages: build'
  if ! command -v "$python" >/dev/null 2>&1; then
    printf 'skipped: there is no %s\n' "$python"
    record 'Packages' 0 0 1 "there is no $python"
    return 1
  fi
  logged "$python" packaging/dist "$@" || status=$?
  if ((status == 3)); then
    reason=$(sed -n 's/^unavailable: //p' "$log" | head -n 1)
    printf 'skipped\n'
    record 'Packages' 0 0 1 "${reason%%: *}"
    return 1
  elif ((status != 0)); then
    record 'Packages' 0 1 0 'they cannot be built'
    return 1
  fi
  mkdir "$work/packages"
  cp dist/stencil-mex-*.tar.gz "$work/packages/"
  tar -xzf dist/stencil-mex-*.tar.gz -C "$work/packages"
  "$python" -m zipfile -e dist/stencil-mex-*-matlab.zip "$work/packages"
}

# package_parts OCTAVE RELEASE: builds the packages and tries them: the Octave package as a user installs it, the MATLAB
# toolbox in Octave and in the stand-in for MATLAB. With the library for all machines, if RELEASE is not empty, which is
# tried, too; else around the one that `make build` has placed.
package_parts() {
  local octave=$1 release=$2 folder options=()
  [[ -n $release ]] || options=(--library matlab/libstencil_mex.so)
  build_packages "${options[@]}" || return 0
  folder=$(echo "$work"/packages/stencil-mex-*/)
  [[ -z $release ]] || rust_part 'Packages: library' env STENCIL_MEX_LIBRARY="${folder}toolbox/libstencil_mex.so" \
    cargo test --no-fail-fast --features matlab-stand-in --test portable --test exports
  rust_part 'Packages: stand-in for MATLAB' env \
    STENCIL_MEX_LIBRARY="${folder}toolbox/StencilConstantMemory_CUDA.mexa64" \
    cargo test --no-fail-fast --features matlab-stand-in --test matlab
  octave_part 'Octave, packages' tests/run-octave --packages "$work/packages" "$octave"
  [[ -z $release ]] || octave_part "Octave, portable" tests/run-octave --path "${folder}inst" --only errors --only hostile "$octave"
}

# finish: the table and the closing line; fails when anything did.
finish() {
  headline 'Summary'
  printf '%-34s %7s %7s %8s\n' part passed failed skipped
  printf '%s\n' "${rows[@]}" | sed 's/ *$//'
  printf '\n%d passed, %d failed, %d skipped\n' "$total_passed" "$total_failed" "$total_skipped"
  ((total_failed == 0))
}
