{
LC_ALL=C
export LC_ALL
process=
# Orders are sent when all of this was read: a shell may read its script ahead, and would take them for a part of it.
printf '\n==> dyno end 0 <==\n'
while read -r order number words; do
  case $order in
  begin)
    for found in $words; do
      case $found in
      session:*)
        # The parent of a session's process is the server.
        line=$(cat "/proc/${found#session:}/stat" 2>/dev/null) && set -- ${line##*)} && process=$2 ;;
      file:*)
        [ -n "$process" ] || process=$(head -n 1 "${found#file:}" 2>/dev/null) ;;
      name:*)
        if [ -z "$process" ]; then
          set -- $(pidof "${found#name:}" 2>/dev/null)
          [ $# -ne 1 ] || process=$1
        fi ;;
      esac
    done
    case $process in *[!0-9]*) process= ;; esac
    printf '\n==> dyno process <==\n%s\n==> dyno ticks <==\n' "$process"
    getconf CLK_TCK
    printf '==> dyno devices <==\n'
    for device in /sys/block/*; do printf '%s\n' "${device##*/}"; done ;;
  look|more)
    set -- /proc/stat /proc/meminfo /proc/vmstat /proc/diskstats /proc/net/dev /proc/pressure/cpu /proc/pressure/io \
      /proc/pressure/memory
    if [ -n "$process" ]; then
      children=
      [ "$words" != children ] || read -r children 2>/dev/null < "/proc/$process/task/$process/children"
      for one in $children $process; do
        set -- "$@" "/proc/$one/stat" "/proc/$one/io"
        [ $order = look ] || set -- "$@" "/proc/$one/status"
      done
    fi
    printf '\n'
    head -n 9999 "$@" 2>/dev/null ;;
  esac
  printf '\n==> dyno times <==\n'
  times
  printf '==> dyno end %s <==\n' "$number"
done
exit
}
