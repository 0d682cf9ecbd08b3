# shellcheck shell=bash
# Steps that are counted, and checks that could not be made, by name. Sourced by run, nightly and
# cuda; tests/ci_test.go tests it.

case ${CI_STRICT:-0} in
  0 | 1) ;;
  *) echo "CI_STRICT is \"$CI_STRICT\"; 1 makes a failure of each check that cannot be made, 0 does not" >&2; exit 2 ;;
esac
CI_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ -z "${CI_WORK:-}" ]; then # the outermost script's: steps, reported tests, checks not made
  CI_WORK=$(mktemp -d)
  trap 'rm -rf "$CI_WORK"' EXIT
  mkdir "$CI_WORK/events"
  : >"$CI_WORK/steps" >"$CI_WORK/unchecked" >"$CI_WORK/events/none"
fi
export CI_WORK
golangci_lint=github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
[ -n "${PRIVKERN_DATA:-}" ] || ! [ -d "$CI_ROOT/../shared/data" ] || CI_DATA=$CI_ROOT/../shared/data
CI_DATA=${PRIVKERN_DATA:-${CI_DATA:-}} # the folder of real data, if there is one

# step NAME COMMAND...: runs a check; its output is shown, its result and times are kept. Status 75
# stands for a check that lacks something, which is neither passed nor failed.
step() {
  local name=$1 start=$SECONDS status=0 verdict=FAILED spent times=$CI_WORK/times.$BASHPID
  shift
  printf '\n=== %s\n' "$name"
  (
    trap 'times >"$times"' EXIT
    export CI_STEP=$name
    "$@"
  ) || status=$?
  spent=$(awk -F '[ms ]+' '{ s += 60 * ($1 + $3) + $2 + $4 } END { printf "%.0f", s }' "$times")
  case $status in
    0) verdict=ok ;;
    75)
      verdict="not checked"
      grep -qF "$name: " "$CI_WORK/unchecked" || missing "$name" "no reason given"
      ;;
  esac
  printf '%s\t%d\t%d\t%s\n' "$verdict" $((SECONDS - start)) "$spent" "$name" >>"$CI_WORK/steps"
  printf -- '--- %s: %s (%d s, of the processors %d s)\n' "$verdict" "$name" $((SECONDS - start)) "$spent"
}

# cannot REASON: the result of a step that lacks something. missing NAME REASON: of one not begun.
cannot() {
  printf '%s: %s\n' "${CI_STEP:-$0}" "$1" >>"$CI_WORK/unchecked"
  printf 'not checked: %s: %s\n' "${CI_STEP:-$0}" "$1"
  return 75
}
missing() { CI_STEP=$1 cannot "$2" || true; }

# aside COMMAND...: runs steps of one core's work at the same time as the steps that follow, until
# join, which shows their output.
aside() {
  "$@" >"$CI_WORK/aside" 2>&1 &
  aside=$!
}
join() {
  wait "$aside" || step "an end of the steps aside" false
  cat "$CI_WORK/aside"
}

tally() {
  [ -x "$CI_WORK/tally" ] || go -C "$CI_ROOT" build -o "$CI_WORK/tally" ./tests/tally || return 1
  "$CI_WORK/tally" "$@"
}

# tests ARGUMENT...: go test, which here fails, too, where every test was skipped, and where -run
# names a test that does not exist.
tests() {
  local events status=0 run='' previous='' argument
  for argument in "$@"; do
    [ "$previous" != -run ] || run=$argument
    previous=$argument
  done
  events=$(mktemp "$CI_WORK/events/XXXXXX")
  go test -json "$@" >"$events" 2>&1 || status=1
  tally step -run "$run" "$events" || status=1
  return $status
}

# again REASON: the tests that were skipped so far for a reason with these words.
again() {
  local chosen
  chosen=$(tally again "$1" "$CI_WORK"/events/*) || return 1
  set -f # below are a regular expression without spaces, and packages
  tests -count=1 -timeout 20m -run $chosen
}

# install COMMAND PACKAGE...: Debian's packages, where the command is missing.
install() {
  local command=$1
  shift
  ! command -v "$command" >/dev/null || return 0
  command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || { cannot "it is missing and cannot be installed here"; return; }
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# finish: the slowest steps, checks not made, failures, and the last line. Tests that one step skipped and
# none passed are checks not made.
finish() {
  local passed failed
  tally unchecked "$CI_WORK"/events/* >>"$CI_WORK/unchecked" || printf 'FAILED\t0\t0\ttally\n' >>"$CI_WORK/steps"
  printf '\nSteps, of %d s:\n   time  processors\n' "$SECONDS"
  sort -t $'\t' -k 2,2nr "$CI_WORK/steps" | awk -F '\t' '{ printf "%5d s  %8d s  %s\n", $2, $3, $4 }'
  ! [ -s "$CI_WORK/unchecked" ] || { printf '\nNot checked:\n'; sed 's/^/  /' "$CI_WORK/unchecked"; }
  passed=$(grep -c '^ok' "$CI_WORK/steps")
  failed=$(grep -c '^FAILED' "$CI_WORK/steps")
  if [ "$failed" -gt 0 ]; then
    printf '\nFailed:\n'
    awk -F '\t' '$1 == "FAILED" { print "  " $4 }' "$CI_WORK/steps"
    grep -h '"Action":"fail"' "$CI_WORK"/events/* | sed -nE 's/.*"Package":"([^"]*)","Test":"([^"]*)".*/    \1 \2/p' | sort -u | head -n 40
  fi
  [ "${CI_STRICT:-0}" = 0 ] || failed=$((failed + $(wc -l <"$CI_WORK/unchecked")))
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" = 0 ]
}
