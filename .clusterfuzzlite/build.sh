#!/usr/bin/env bash
# Builds all fuzz targets as ClusterFuzzLite and OSS-Fuzz expect them: in $OUT, each with its seed corpus, its dictionary and
# its options. Those services set SRC and OUT, and have a nightly toolchain and cargo-fuzz. To try it without them:
#   mkdir -p target/fuzz/src target/fuzz/out && ln -sfn "$PWD" target/fuzz/src/queryport
#   SRC=$PWD/target/fuzz/src OUT=$PWD/target/fuzz/out RUSTUP_TOOLCHAIN=nightly .clusterfuzzlite/build.sh
set -euo pipefail
cd "$SRC/queryport"

cargo fuzz build -O
built=fuzz/target/$(rustc -vV | sed -n 's/^host: //p')/release
for target in $(cargo fuzz list); do
    cp "$built/$target" "$OUT/"
    # Each input under the hash of its bytes: services take the name for that, and the same bytes only once.
    rm -f "$OUT/${target}_seed_corpus.zip"
    zip -q -j "$OUT/${target}_seed_corpus.zip" "fuzz/corpus/$target"/*
    dictionary=fuzz/dict/${target%%_*}.dict
    [ ! -f "$dictionary" ] || cp "$dictionary" "$OUT/$target.dict"
    # The longest datagram over IPv4, and as long as one input may take in fuzz/run.
    printf '[libfuzzer]\nmax_len = 65507\ntimeout = 20\n' > "$OUT/$target.options"
done
