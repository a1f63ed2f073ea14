#!/usr/bin/env bash
# The tour: real rows through two nodes, two buckets and a writer that is killed at every step. What it prints is docs/tour.md.
#
#   scripts/tour/tour.sh > docs/tour.md      # all of the index; ten to thirty minutes, most of it kills
#   scripts/tour/tour.sh --small             # 500 rows of each file and three kills for each verb; a minute
#
# Needed: make build, Go, a Debian package index (apt-get update). MinIO (PATH or build/images/bin) and strace are used where they
# are; where one is not, the page says so in capitals.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
small=
[[ ${1:-} == --small ]] && small=yes

bin=$(cd "${TOUR_BIN:-build/bin}" && pwd) # where the two binaries are
for name in contextful contextful-conform; do
  [[ -x $bin/$name ]] || { echo "tour: $bin/$name is not there (make build)" >&2; exit 1; }
done
export PATH=$bin:$PATH:$root/build/images/bin
export TOUR_ACCESS_KEY=tour TOUR_SECRET_KEY=tour-secret
mkdir -p build/tour
dir=$(mktemp -d "$root/build/tour/run-XXXXXX")
servers=()
finish() {
  for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true; done
  rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM

say() { printf '%s\n' "$@"; }
block() { say '```console'; }
end() { say '```' ''; }
# on <node> <command…>: shows a command as its node's, and what it printed on both streams.
on() {
  local node=$1 shown
  shift
  printf -v shown ' %s' "$@"
  if [[ $1 == contextful ]]; then
    shown=" contextful"
    for word in "${@:2}"; do
      [[ $word == *[\ \'\(\*]* ]] && shown+=" \"$word\"" || shown+=" $word"
    done
  fi
  say "$node\$${shown//"$dir"\//}"
  (cd "$dir/$node" && CONTEXTFUL_NODE_ID=$node "$@" 2>&1) | sed "s|$dir/||g"
}
# node <name> [<sync section>]: a directory with the declaration.
node() {
  mkdir -p "$dir/$1/.contextful/context/debian"
  cp "$dir/contextful.toml" "$dir/$1/"
}
reach() { # reach <node> <endpoint>
  cat > "$dir/$1/.contextful/context/debian/config.toml" <<END
[sync]
endpoint = "$2"
bucket = "tour"
prefix = "team"
access_key_id = "env://TOUR_ACCESS_KEY"
secret_access_key = "env://TOUR_SECRET_KEY"
END
}
# serve <log> <argv…>: a server in the background; answers <url> waits for it.
serve() {
  local log=$1
  shift
  "$@" > "$dir/$log.log" 2>&1 &
  servers+=($!)
}
answers() {
  for _ in $(seq 200); do
    if (exec 3<> "/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
    sleep 0.1
  done
  echo "tour: no server at port $1" >&2
  return 1
}
port() { go run "$root/scripts/tour/port"; }

cat > "$dir/contextful.toml" <<'END'
[project]
name = "debian"

[[pipeline.tables]]
name = "packages"
primary_key = ["name", "architecture"]
END
all="SELECT count(*) AS packages, sha256(string_agg(CAST(ROW(name, architecture, version, section, priority, installed_size, size, maintainer, description, sha256, _run_id) AS VARCHAR), chr(10) ORDER BY name, architecture)) AS digest FROM packages"
# digest <node>: every column of every row, as one line.
digest() {
  say "$1\$ contextful query --csv \"\$ALL\""
  (cd "$dir/$1" && CONTEXTFUL_NODE_ID=$1 contextful --quiet query --csv "$all" | tail -1 | tee "$dir/$1.digest")
}
same() {
  if ! cmp -s "$dir/$1.digest" "$dir/$2.digest"; then
    say "$1 and $2 DIFFER"
    echo "tour: $1 and $2 read different rows" >&2
    exit 1
  fi
}

say "# A tour on real rows" "" \
  "This page is what \`scripts/tour/tour.sh${small:+ --small}\` printed on $(date -u +%Y-%m-%d) ($(nproc) CPUs, $(. /etc/os-release && echo "$PRETTY_NAME")); run it to see it again." "" \
  "## The rows" "The package index of this machine becomes JSON Lines: four files of packages, and one in which every tenth comes again with its priority raised." ""
block
say '$ apt-cache dumpavail | go run ./scripts/debpackages -out rows -runs 4'
apt-cache dumpavail | go run ./scripts/debpackages -out "$dir/rows" -runs 4 | sed "s|$dir/||g"
if [[ -n $small ]]; then
  for f in "$dir"/rows/*.jsonl; do head -500 "$f" > "$f.cut" && mv "$f.cut" "$f"; done
  say "(--small: the first 500 of each file)"
fi
say '$ head -1 rows/packages-0.jsonl'
head -1 "$dir/rows/packages-0.jsonl"
end

say "## One writer" "A keyed table: a package of an architecture is one row, the newest." ""
block
say '$ cat contextful.toml'
cat "$dir/contextful.toml"
node alpha
on alpha contextful init debian
for i in 0 1 2 3; do on alpha contextful context land packages --rows "$dir/rows/packages-$i.jsonl" --run-id "index-$i" --site-id here; done
on alpha contextful context compact packages
on alpha contextful context land packages --rows "$dir/rows/updates.jsonl" --run-id updates --site-id here
on alpha contextful query "SELECT priority, count(*) AS packages FROM packages GROUP BY priority ORDER BY 2 DESC"
on alpha contextful context runs packages
end
say "Four runs are folded, the updates are not yet: the read is the snapshot and the run that came after it, one row for each key. The same run" \
  "again writes nothing, and other rows under its name are refused:" ""
block
on alpha contextful context land packages --rows "$dir/rows/updates.jsonl" --run-id updates --site-id here
on alpha contextful context land packages --rows "$dir/rows/packages-0.jsonl" --run-id updates --site-id here || true
end

say "## Two nodes and the fake bucket" "\`s3cas\` is the kit's own S3 server. Everything every row holds goes into one digest, so that two nodes are easily compared." ""
p=$(port)
serve s3cas contextful-conform s3cas --listen "127.0.0.1:$p" --access-key "$TOUR_ACCESS_KEY" --secret-key "$TOUR_SECRET_KEY"
answers "$p"
fake=http://127.0.0.1:$p
reach alpha "$fake"
node beta
reach beta "$fake"
block
say "\$ contextful-conform s3cas --listen 127.0.0.1:$p --access-key $TOUR_ACCESS_KEY --secret-key $TOUR_SECRET_KEY &"
say '$ cat alpha/.contextful/context/debian/config.toml      # and the same for beta'
cat "$dir/alpha/.contextful/context/debian/config.toml"
on alpha contextful sync probe
on alpha contextful sync push
on beta contextful sync pull
say "\$ ALL=\"$all\""
digest alpha
digest beta
same alpha beta
on alpha contextful sync compact packages
on beta contextful sync pull
on beta contextful context snapshots packages
digest beta
same alpha beta
on beta contextful context check
end
say "Equal before the fold and after it. The second fold was made under the table's lease in the bucket." ""

say "## The same with MinIO" ""
if minio=$(command -v minio); then
  p=$(port)
  mkdir -p "$dir/minio"
  MINIO_ROOT_USER=$TOUR_ACCESS_KEY MINIO_ROOT_PASSWORD=$TOUR_SECRET_KEY MINIO_BROWSER=off HOME=$dir/minio serve minio "$minio" server --quiet --address "127.0.0.1:$p" "$dir/minio/data"
  answers "$p"
  real=http://127.0.0.1:$p
  for _ in $(seq 100); do curl -sf "$real/minio/health/live" && break || sleep 0.1; done
  curl -sf -X PUT --aws-sigv4 "aws:amz:us-east-1:s3" --user "$TOUR_ACCESS_KEY:$TOUR_SECRET_KEY" "$real/tour"
  reach alpha "$real"
  node gamma
  reach gamma "$real"
  block
  say "\$ minio server --address 127.0.0.1:$p data &"
  on alpha contextful sync probe
  on alpha contextful sync push
  on gamma contextful sync pull
  digest alpha
  digest gamma
  same alpha gamma
  end
else
  say "NOT SHOWN: minio is neither in PATH nor in build/images/bin, where \`make images\` leaves it." ""
fi

say "## A writer killed at every call" \
  "\`scripts/tour/kill\` counts the calls by which a command makes something durable or visible (rename, link, fsync, unlink, rmdir, mkdir, ftruncate)," \
  "then kills one fresh copy of the store right after each of them: strace stops the process there, SIGKILL ends it. After each kill nobody repairs anything:" \
  "\`context check\` must find no damage; what is read (after a push or a bucket fold: by a clone that pulls now) must be a state of whole runs; the same command" \
  "again must succeed; then every node must read the final digest." ""
block
if strace -qq -f -o /dev/null -e trace=renameat true 2>/dev/null; then
  few=()
  [[ -n $small ]] && few=(-most 3)
  say "\$ go run ./scripts/tour/kill ${few[*]:+${few[*]} }-rows rows                          # the bucket is a directory: its writes are calls too"
  go run ./scripts/tour/kill -bin "$bin/contextful" "${few[@]}" -dir "$dir/kill" -rows "$dir/rows" | sed "s|$dir/||g"
  say "\$ go run ./scripts/tour/kill ${few[*]:+${few[*]} }-rows rows -bucket $fake   # the calls that are left when it is a server"
  go run ./scripts/tour/kill -bin "$bin/contextful" "${few[@]}" -dir "$dir/kill" -rows "$dir/rows" -bucket "$fake" | sed "s|$dir/||g"
  end
else
  say "NOT SHOWN: strace cannot trace processes here."
  end
fi
say "OLD, BETWEEN and NEW say which state was read after the kill: the one before the command, one of whole runs between the two (a pull brings runs one by one), or the one after." \
  "A fold changes no answer, so for \`compact\` they say whether its snapshot is there. A pass killed while it holds the bucket's lease leaves it held until it expires;" \
  "its own node goes on with \`sync compact --held\`, then gives it back with \`sync lease release\`." "" \
  "Kills at each request to the bucket, and a writer paused between its check and its commit, are scenarios of the kit: \`contextful-conform list\`."
