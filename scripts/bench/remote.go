package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const bucketName = "bench"

// small: 1 KiB objects, one request after the other over one connection, in turn at both servers.
func small(ctx context.Context, b *bench) error {
	const n = 500
	minio, err := b.startMinIO(ctx)
	if errors.Is(err, errNoPeer) {
		b.add(result{what: "s3cas, PUT and GET of 1 KiB", ours: "–", peer: "MinIO", theirs: "UNAVAILABLE", note: "NOT MEASURED: " + err.Error()})
		return nil
	}
	if err != nil {
		return err
	}
	fake, err := b.startFake(ctx)
	if err != nil {
		return err
	}
	defer fake.stop()
	clients := []*client{newClient(fake), newClient(minio)}
	body := make([]byte, 1024)
	for i := range body {
		body[i] = byte(i * 7)
	}
	took := map[string][2][]time.Duration{}
	for _, c := range clients {
		if _, err := c.send(ctx, "PUT", "/small", nil); err != nil {
			return err
		}
	}
	for round := range b.rounds {
		for _, method := range []string{"PUT", "GET"} {
			for side, c := range clients {
				for i := range n {
					content := body
					if method == "GET" {
						content = nil
					}
					begin := wall()
					if _, err := c.send(ctx, method, fmt.Sprintf("/small/%d/object-%04d", round, i), content); err != nil {
						return err
					}
					t := took[method]
					t[side] = append(t[side], wall().Sub(begin))
					took[method] = t
				}
			}
		}
	}
	for _, method := range []string{"PUT", "GET"} {
		b.pair("s3cas "+method+" of 1 KiB", took[method][0], "MinIO "+method, took[method][1], 0,
			fmt.Sprintf("medians of %d requests, one at a time; s3cas keeps objects in memory, MinIO writes and syncs files", n*b.rounds))
	}
	return nil
}

// pull: a fresh node brings home a table of about 1,000 runs, each a part and a manifest, in turn with rclone copy of the same prefix.
func pull(ctx context.Context, b *bench) error {
	minio, err := b.startMinIO(ctx)
	if errors.Is(err, errNoPeer) {
		b.add(result{what: "cold pull of 2,000 objects", ours: "–", peer: "rclone copy from MinIO", theirs: "UNAVAILABLE", note: "NOT MEASURED: " + err.Error()})
		return nil
	}
	if err != nil {
		return err
	}
	rows, _, err := b.rowsFile("small.jsonl", 0, 100)
	if err != nil {
		return err
	}
	many, err := b.grown(ctx, "alpha", "", rows, pullRuns)
	if err != nil {
		return err
	}
	if _, err := newClient(minio).send(ctx, "PUT", "/"+bucketName, nil); err != nil {
		return err
	}
	const transfers = 16
	sync := fmt.Sprintf("[sync]\nendpoint = %q\nbucket = %q\nprefix = \"team\"\naccess_key_id = \"env://%s\"\nsecret_access_key = \"env://%s\"\ntransfers = %d\n",
		minio.url, bucketName, accessEnv, secretEnv, transfers)
	if err := many.configure(sync); err != nil {
		return err
	}
	if _, err := many.do(ctx, "sync", "push"); err != nil {
		return err
	}
	rclone, err := exec.LookPath("rclone")
	noPeer := err != nil
	var ours, theirs, oursCPU, theirsCPU []time.Duration
	var objects int
	for i := range b.rounds {
		p, err := b.project(ctx, fmt.Sprintf("beta%d", i), false, sync)
		if err != nil {
			return err
		}
		f, err := p.do(ctx, "sync", "pull")
		if err != nil {
			return err
		}
		ours, oursCPU = append(ours, f.took), append(oursCPU, f.cpu)
		if objects, err = files(filepath.Join(p.dir, ".contextful", "context", storeName, "tables")); err != nil {
			return err
		}
		if err := os.RemoveAll(p.dir); err != nil {
			return err
		}
		if noPeer {
			continue
		}
		to, err := b.scratch("rclone")
		if err != nil {
			return err
		}
		f, err = do(ctx, b.dir, []string{"AWS_CA_BUNDLE=" /* rclone 1.60 fails on any */, "RCLONE_CONFIG=" + filepath.Join(b.dir, "rclone.conf"), "RCLONE_S3_ACCESS_KEY_ID=" + accessKey, "RCLONE_S3_SECRET_ACCESS_KEY=" + secretKey},
			rclone, "copy", "--quiet", "--transfers", fmt.Sprint(transfers), "--checkers", fmt.Sprint(transfers), "--s3-provider", "Minio", "--s3-endpoint", minio.url, "--s3-region", region,
			":s3:"+bucketName+"/team/"+storeName, to)
		if err != nil {
			return err
		}
		theirs, theirsCPU = append(theirs, f.took), append(theirsCPU, f.cpu)
		if err := os.RemoveAll(to); err != nil {
			return err
		}
	}
	what := fmt.Sprintf("cold pull of %d objects, MinIO", objects)
	note := fmt.Sprintf("%d transfers on both sides; ours verifies SHA-256 and syncs every file and directory before it counts as pulled, rclone compares MD5 and syncs nothing", transfers)
	if noPeer {
		b.add(result{what: what, ours: show(median(ours)), peer: "rclone copy", theirs: "UNAVAILABLE", note: "NO PEER: rclone is not installed (apt-get install rclone). " + note})
		return nil
	}
	b.pair(what, ours, "rclone copy, same transfers", theirs, ratio(oursCPU, theirsCPU), note)
	return nil
}

// files counts what came over the wire: parts, manifests, schema and pointer, not the node's own dot-files and caches.
func files(dir string) (int, error) {
	n := 0
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (strings.HasSuffix(d.Name(), ".parquet") || strings.HasSuffix(d.Name(), ".json")) && !strings.HasPrefix(d.Name(), ".") {
			n++
		}
		return err
	})
	return n, err
}
