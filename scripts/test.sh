#!/usr/bin/env bash
# test.sh [--full] - installs what is missing, builds, runs the tests. The short form takes at most 6 minutes on 2 cores;
# --full adds the slow tests, some mutants, both sanitizers and the check of the scripts: at most 20 minutes.
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
cmake --preset release -DGRADUS_TESTS=ON >/dev/null
cmake --build --preset release
if ! $full; then
    step "tests"
    ctest --preset release --label-exclude slow
    step "done"
    exit 0
fi

step "tests, slow ones included"
ctest --preset release
step "mutants, one from each kernel file"
python3 scripts/mutants.py --sample 1
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
# test_resnet and the trajectories take minutes each and run no code that others do not.
ctest --preset asan --parallel 2 --label-exclude "slow|install" --exclude-regex "test_resnet|trajectory"
step "done: all tests passed"
