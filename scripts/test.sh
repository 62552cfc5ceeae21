#!/usr/bin/env bash
# test.sh [--full] - installs what is missing, builds, runs the tests. The short form takes at most 6 minutes on 2
# cores; --full adds the slow tests, some mutants, both sanitizers and the check of the scripts: half an hour.
# Tests on real images run where GRADUS_DATA names a data root; the others say that they were skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
full=false
case ${1:-} in
    "") ;;
    --full) full=true ;;
    *) echo "usage: scripts/test.sh [--full]" >&2; exit 2 ;;
esac

begin=$SECONDS
step() {
    echo "== $* ($((SECONDS - begin)) s)"
}

scripts/setup.sh
step "build, release"
cuda=(-DGRADUS_CUDA=AUTO -DGRADUS_PTX=) # where there is a GPU
if $full && command -v nvcc >/dev/null; then
    # Without one, what nvcc says to the kernels is a test as well, and what it makes of them is interpreted.
    cuda=(-DGRADUS_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=80 -DGRADUS_PTX=80)
fi
cmake --preset release -DGRADUS_TESTS=ON "${cuda[@]}" >/dev/null
cmake --build --preset release
if ! $full; then
    step "tests"
    ctest --preset release --parallel 2 --label-exclude "slow|long"
    step "done"
    exit 0
fi

step "tests, slow ones included"
# Left out: what others have, too. simt's rows come below with every access checked; PTX has its own step.
ctest --preset release --parallel 2 --label-exclude long \
    --exclude-regex '^(table_small|table_simt_small|ptx_(table|small|train)_80)$'
step "scripts"
if command -v shellcheck >/dev/null; then
    shellcheck scripts/*.sh tests/install/*.sh .ci/run
else
    echo "shellcheck is not installed: scripts are not checked"
fi
step "build, with AddressSanitizer and UndefinedBehaviorSanitizer"
cmake --preset asan >/dev/null
cmake --build --preset asan
step "tests with sanitizers"
# Those left out take minutes each and run little code that others do not; long_check.sh has some of them.
left_out="test_(resnet|accumulation|find_batch|amp|ladder)|trajectory|example_c|nvtx"
left_out+="|cli_(emulated|real_data|train|bench|sweep|find_batch|profile|checkpoint|augment|plot)"
left_out+="|cli_(tensorboard|transfer|recipes|new_optimizer|ranks|predict|reproduce|manual|report|draw|landscape)"
left_out+="|^table_simt" # below every access of simt's is checked
left_out+="|^table_(amx|bf16)_emulated" # table runs these kernels, too
left_out+="|includes|hooks|readmes|docs_"
ctest --preset asan --parallel 2 --label-exclude "slow|long|install" --exclude-regex "$left_out"
step "mutants of kernels whose rows are quick; long_check.sh has all"
quick=(kernels/cpu/{windows,updates,reductions,elementwise,batch_norm,dropout,normalise}.c)
quick+=(kernels/ref/{losses,windows}.c)
python3 scripts/mutants.py --sample 24 "${quick[@]}"
step "programs that check every access of the emulated CUDA kernels"
cmake --build --preset release --target checked_tests
printf 'build/release/tests/%s_checked\n' test_ladder simt/test_simt test_step_graph test_staging \
    wrappers/test_wrappers | xargs -P 2 -n 1 env
table() { # PROGRAM DEVICE; operations with many rows first
    "$1" --list | cut -d' ' -f1 | sort | uniq -c | sort -rn | sed 's/^ *[0-9]* /--op /' |
        xargs -P 2 -L 1 "$1" --device "$2"
}
table build/release/tests/table/test_table_checked simt
if command -v nvcc >/dev/null; then
    step "what nvcc makes of the CUDA kernels, interpreted"
    cover=build/release/ptx_coverage.jsonl
    rm -f "$cover"
    GRADUS_PTX="cover=$cover" table build/release/tests/ptx/test_table_ptx cuda
    python3 -B tests/ptx/coverage.py --reasons tests/ptx/unreached.csv "$cover"
else
    echo "nvcc is not installed: what it makes of the kernels is not looked at"
fi
step "done: all tests passed"
