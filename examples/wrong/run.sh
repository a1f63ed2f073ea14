#!/usr/bin/env bash
# Asks three deliberately wrong implementations everything and shows what the kit tells their authors: docs/wrong.md has its output.
#
#   examples/wrong/run.sh                                   # all three, a few minutes each
#   examples/wrong/run.sh any-digest --clause 'store.pull.*'   # one, and more arguments for the kit
#
# It exits 0 when each of them was found wrong, and 1 when one was not.
set -euo pipefail
cd "$(dirname "$0")/../.."
kit=${KIT:-build/bin/contextful-conform}
[[ -x $kit ]] || { echo "wrong: $kit is not there (make build)" >&2; exit 1; }
programs=(pointer-first ignores-the-fence any-digest)
if [[ $# -gt 0 && $1 != -* ]]; then
  programs=("$1")
  shift
fi
go run -buildvcs=false ./scripts/wrong
missed=0
for p in "${programs[@]}"; do
  printf '\n══ %s ══\n' "$p"
  code=0
  "$kit" run --sut "examples/wrong/$p.toml" --services none --require-services=false --out "build/wrong/report-$p" "$@" 2> "build/wrong/$p.progress" || code=$?
  [[ $code == 1 ]] || { echo "wrong: $p was to be found wrong (exit 1), and the kit ended with $code" >&2; missed=1; }
done
exit $missed
