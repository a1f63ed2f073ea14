package duck

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"contextful/ref/fault"

	"github.com/duckdb/duckdb-go/v2"
)

// DefaultMemoryLimit is the memory a session may use before it spills, in bytes.
const DefaultMemoryLimit = 1 << 30

// Options of a session. The zero value is good: 1 GiB, a temporary directory under the user's state directory, and as many threads
// as the machine has.
type Options struct {
	MemoryLimit int64  // bytes
	TempDir     string // where spilled data goes; a directory of its own is made in it and removed by Close
	Threads     int
}

// Session is one in-memory database on one connection. It is not safe for concurrent use.
type Session struct {
	db      *sql.DB
	conn    *sql.Conn
	temp    *temporary
	memory  int64 // limit in bytes
	cleanup []func()
	aliases map[string]string // root as given → root as DuckDB is told
	shown   []replacement     // what an engine's message must say instead of our aliases
}

type replacement struct{ alias, path string }

// Open starts a session. Errors: StoreWriteFailed where no temporary directory can be made, QueryFailed where the engine
// does not start.
func Open(ctx context.Context, o Options) (*Session, error) {
	if o.MemoryLimit <= 0 {
		o.MemoryLimit = DefaultMemoryLimit
	}
	temp, err := makeTemp(o.TempDir)
	if err != nil {
		return nil, fault.New(fault.StoreWriteFailed, o.TempDir, "no temporary directory for the query engine").Wrap(err)
	}
	connector, err := duckdb.NewConnector("", nil)
	if err != nil {
		_ = temp.remove() // the engine's refusal says more
		return nil, fault.New(fault.QueryFailed, "", "the query engine does not start").Wrap(err)
	}
	s := &Session{db: sql.OpenDB(connector), temp: temp, memory: o.MemoryLimit, aliases: map[string]string{}}
	s.conn, err = s.db.Conn(ctx)
	if err == nil {
		err = s.configure(ctx, o)
	}
	if err != nil {
		s.Close()
		return nil, Explain(err)
	}
	return s, nil
}

func (s *Session) configure(ctx context.Context, o Options) error {
	settings := []string{
		"SET TimeZone = 'UTC'",
		fmt.Sprintf("SET memory_limit = '%dKiB'", max(o.MemoryLimit>>10, 1)),
		"SET temp_directory = " + Text(s.temp.spill()),
		"SET autoinstall_known_extensions = false",
		"SET autoload_known_extensions = false",
		"SET allow_community_extensions = false",
		"SET allow_persistent_secrets = false",
		"SET enable_external_file_cache = false",
		// A footer is read when a statement is bound and again when it runs: keep it between the two.
		"SET parquet_metadata_cache = true",
	}
	if o.Threads > 0 {
		settings = append(settings, fmt.Sprintf("SET threads = %d", o.Threads))
	}
	_, err := s.conn.ExecContext(ctx, strings.Join(settings, "; "))
	return err
}

// columnBytes is about what one thread holds of every column of a statement: some vectors of 2,048 values.
const columnBytes = 128 << 10

// fit lowers the number of threads to what the memory allows for a table of so many columns.
func (s *Session) fit(ctx context.Context, columns int) error {
	most := max(1, s.memory/columnBytes/int64(max(columns, 1)))
	if have, err := s.Int(ctx, "SELECT current_setting('threads')"); err != nil || have <= most {
		return s.Explain(err)
	}
	_, err := s.Exec(ctx, fmt.Sprintf("SET threads = %d", most))
	return s.Explain(err)
}

// Close ends the session and frees its copies and temporary files.
func (s *Session) Close() error {
	var err error
	if s.conn != nil {
		err = s.conn.Close()
	}
	err = errors.Join(err, s.db.Close())
	for _, f := range s.cleanup {
		f()
	}
	s.cleanup = nil
	return errors.Join(err, s.temp.remove())
}

// Conn is the session's only connection.
func (s *Session) Conn() *sql.Conn { return s.conn }

// Exec runs one statement and gives the number of rows it wrote. Errors are the engine's own; see Explain.
func (s *Session) Exec(ctx context.Context, text string) (int64, error) {
	result, err := s.conn.ExecContext(ctx, text)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Int asks for one integer. A null is 0.
func (s *Session) Int(ctx context.Context, text string) (int64, error) {
	var n sql.NullInt64
	err := s.conn.QueryRowContext(ctx, text).Scan(&n)
	return n.Int64, err
}

// LockDown closes the session for a caller's SQL: nothing but the given files can be opened, nothing can be installed,
// attached or set any more.
func (s *Session) LockDown(ctx context.Context, files []string) error {
	_, err := s.conn.ExecContext(ctx, "SET allowed_paths = "+texts(files)+"; SET enable_external_access = false; SET lock_configuration = true")
	return Explain(err)
}

// Path gives the name under which DuckDB opens the absolute file name, which lies in the directory root. DuckDB takes every
// path for a pattern and has no escape, so a root with pattern characters is named through an open descriptor of it;
// what lies below a store root is made of harmless names.
func (s *Session) Path(root, name string) (string, error) {
	if !strings.ContainsAny(root, `*?[]{}\`) && utf8.ValidString(root) {
		return name, nil
	}
	alias, ok := s.aliases[root]
	if !ok {
		dir, err := os.Open(root)
		if err != nil {
			return "", fault.New(fault.StorePartDamaged, root, root+" cannot be opened").Wrap(err)
		}
		s.cleanup = append(s.cleanup, func() { dir.Close() })
		alias = fmt.Sprintf("/proc/self/fd/%d", dir.Fd())
		if _, err := os.Stat(filepath.Join(alias, ".")); err != nil {
			return "", fault.New(fault.StoreUnsupported, root, "this machine cannot query a store whose path holds any of * ? [ ] { } \\").
				WithHint("move the project to a directory with a plain name")
		}
		s.aliases[root] = alias
		s.show(alias, root)
	}
	return alias + strings.TrimPrefix(name, root), nil
}

func (s *Session) show(alias, path string) {
	s.shown = append(s.shown, replacement{alias, path})
}

// Text is a string literal.
func Text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// texts is a list of string literals.
func texts(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = Text(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// Ident is a quoted identifier.
func Ident(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// Idents is a list of quoted identifiers.
func Idents(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = Ident(n)
	}
	return strings.Join(quoted, ", ")
}
