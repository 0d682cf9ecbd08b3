# shellcheck shell=bash
# Steps that are counted, and what could not be checked, by name. Sourced by
# .ci/run and .ci/cuda; tests/ci_test.go tests it.

case ${CI_STRICT:-0} in
  0 | 1) ;;
  *) echo "CI_STRICT is \"$CI_STRICT\"; 1 makes a failure of what cannot be checked, 0 does not" >&2; exit 2 ;;
esac

CI_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The folder of the outermost script: the list of what is not checked, and what
# the tests of all steps reported.
if [ -z "${CI_WORK:-}" ]; then
  CI_WORK=$(mktemp -d)
  CI_UNCHECKED=$CI_WORK/unchecked
  trap 'rm -rf "$CI_WORK"' EXIT
  mkdir "$CI_WORK/events"
  : >"$CI_WORK/unchecked"
  : >"$CI_WORK/seconds"
fi
export CI_WORK CI_UNCHECKED

passed=0 failed=0

# timed NAME COMMAND...: runs a command, and puts the seconds it took on the list of
# which finish prints the ten longest: by the clock, and of the processors. A shell of
# its own has waited for nothing else.
timed() {
  local name=$1 start=$SECONDS status=0 spent times=$CI_WORK/times.$BASHPID
  shift
  (
    trap 'times >"$times"' EXIT
    "$@"
  ) || status=$?
  spent=$(awk -F '[ms ]+' '{ s += 60 * ($1 + $3) + $2 + $4 } END { printf "%.0f", s }' "$times")
  took="$((SECONDS - start)) s, of the processors $spent s"
  printf '%d\t%d\t%s\n' $((SECONDS - start)) "$spent" "$name" >>"$CI_WORK/seconds"
  return $status
}

# step NAME COMMAND...: runs a check; its output is shown, and counted. Status 75
# says that something is missing that the check needs, and is neither.
step() {
  local name=$1 status=0 before took
  shift
  before=$(not_checked)
  printf '\n=== %s\n' "$name"
  CI_STEP=$name timed "$name" "$@" || status=$?
  case $status in
    0) passed=$((passed + 1)) ;;
    75) [ "$(not_checked)" -gt "$before" ] || unchecked "$name" "no reason given" ;;
    *)
      failed=$((failed + 1))
      printf '%s\n' "$name" >>"$CI_WORK/failures"
      ;;
  esac
  printf -- '--- %s: %s (%s)\n' "$(verdict $status)" "$name" "$took"
}
verdict() { case $1 in 0) echo ok ;; 75) echo "not checked" ;; *) echo FAILED ;; esac; }

# aside FUNCTION: runs a function with steps in it beside the steps that follow, where
# each has one core's work and none measures time or memory. join waits for it, and then
# shows and counts its steps.
aside() {
  tally >/dev/null 2>&1 # which both may need, is built once
  aside_work=$CI_WORK/aside
  mkdir "$aside_work"
  : >"$aside_work/unchecked"
  (
    trap - EXIT
    passed=0 failed=0 CI_UNCHECKED=$aside_work/unchecked
    export CI_UNCHECKED
    "$@"
    printf '%d %d\n' $passed $failed >"$aside_work/counts"
  ) >"$aside_work/output" 2>&1 &
  aside_process=$!
}
join() {
  local more_passed=0 more_failed=1 # where it did not come to its end
  wait "$aside_process"
  cat "$aside_work/output"
  cat "$aside_work/unchecked" >>"$CI_UNCHECKED"
  [ ! -s "$aside_work/counts" ] || read -r more_passed more_failed <"$aside_work/counts"
  passed=$((passed + more_passed)) failed=$((failed + more_failed))
  rm -r "$aside_work"
}

# unchecked NAME REASON: puts a check on the list of those that were not made.
unchecked() {
  printf '%s: %s\n' "$1" "$2" >>"$CI_UNCHECKED"
  printf 'not checked: %s: %s\n' "$1" "$2"
}
not_checked() { wc -l <"$CI_UNCHECKED"; }

# cannot REASON: what a step returns where it lacks what it needs.
cannot() { unchecked "${CI_STEP:-$0}" "$1"; return 75; }

# missing NAME REASON: a step that is not begun.
missing() { echo; unchecked "$@"; }

tally() {
  [ -x "$CI_WORK/tally" ] || go -C "$CI_ROOT" build -o "$CI_WORK/tally" ./tests/tally || return 1
  "$CI_WORK/tally" "$@"
}

# tests ARGUMENTS...: go test. It fails, too, where every test was skipped, and
# where -run names a test that there is not.
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

# scanned GOVULNCHECK ARGUMENT...: a search for known vulnerabilities. One that is
# found fails; a database that cannot be had is no failure.
scanned() {
  local printed status=0
  printed=$(timeout 600 "$@" 2>&1) || status=$?
  printf '%s\n' "$printed"
  case $status in
    0) ;;
    124) cannot "the database of vulnerabilities did not answer in ten minutes" ;;
    *)
      if grep -q '^govulncheck: fetching vulnerabilities:' <<<"$printed"; then
        cannot "the database of vulnerabilities cannot be reached"
      else
        return 1
      fi
      ;;
  esac
}

# slowest: the ten steps that took longest.
slowest() {
  [ -s "$CI_WORK/seconds" ] || return 0
  printf '\nSlowest steps, of %d s:\n   time  processors\n' "$SECONDS"
  sort -t "$(printf '\t')" -k 1,1nr -k 2,2nr "$CI_WORK/seconds" | head -n 10 |
    awk -F '\t' '{ printf "%5d s  %8d s  %s\n", $1, $2, $3 }'
}

# failures: the steps that failed, and the tests in them, where the end of a long output is
# looked at first.
failures() {
  [ -s "$CI_WORK/failures" ] || return 0
  printf '\nFailed:\n'
  sed 's/^/  /' "$CI_WORK/failures"
  cat "$CI_WORK"/events/* 2>/dev/null | grep '"Action":"fail"' |
    sed -nE 's/.*"Package":"([^"]*)","Test":"([^"]*)".*/    \1 \2/p' | sort -u | head -n 40
}

# finish: the slowest steps, the list of what was not checked, what failed, and the last line.
# Tests that one step skipped and none passed are on that list.
finish() {
  local count
  slowest
  if [ -n "$(ls -A "$CI_WORK/events")" ]; then
    tally unchecked "$CI_WORK"/events/* >>"$CI_WORK/unchecked" || failed=$((failed + 1))
  fi
  count=$(not_checked)
  if [ "$count" -gt 0 ]; then
    printf '\nNot checked:\n'
    sed 's/^/  /' "$CI_WORK/unchecked"
    printf '%d not checked\n' "$count"
    [ "${CI_STRICT:-0}" = 0 ] || failed=$((failed + count))
  fi
  failures
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" = 0 ]
}
