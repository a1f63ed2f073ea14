package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// rowsFile writes n rows of six columns as JSON Lines, row by row, the same shape as ref/land's benchmarks use.
func (b *bench) rowsFile(name string, from, n int) (path string, size int64, err error) {
	path = filepath.Join(b.dir, name)
	f, err := os.Create(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	r := rand.New(rand.NewPCG(1, uint64(from)))
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := from; i < from+n; i++ {
		line := fmt.Sprintf(`{"id":%d,"name":"user-%d","score":%.4f,"active":%t,"at":"%s","note":"a line of text that says number %d"}`+"\n",
			i, r.IntN(1_000_000), r.Float64()*1000, r.IntN(2) == 0, at.Add(time.Duration(i)*time.Millisecond).Format("2006-01-02T15:04:05.000Z"), r.IntN(1000))
		size += int64(len(line))
		if _, err := w.WriteString(line); err != nil {
			return "", 0, err
		}
	}
	return path, size, w.Flush()
}
