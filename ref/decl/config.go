package decl

import (
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"contextful/ref/fault"
	"contextful/ref/key"
)

// ConfigName is the name of a store root's local configuration.
const ConfigName = "config.toml"

// Defaults and coordination modes of [sync].
const (
	DefaultPushRetries       = 5
	DefaultTransfers         = 16
	DefaultRetainGenerations = 64
	CoordinationCAS          = "cas"
	CoordinationSingleWriter = "single-writer"
)

var (
	envName    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	bucketForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$`)
)

// Config is a store root's config.toml; sections that are absent are nil. Path is where it was read.
type Config struct {
	Path       string
	Sync       *Sync
	NodeID     string // [node] id, or ""
	Encryption *Encryption
	Replica    *Replica
	Catalog    *Catalog
}

// Sync is [sync] with defaults filled in. Endpoint, Bucket or Prefix may still be missing: RequireSync asks for all.
type Sync struct {
	Endpoint          Endpoint
	Bucket            string
	Prefix            string // without slashes at its ends; "" where PrefixFrom names it
	PrefixFrom        string // environment variable holding the prefix, or ""
	Region            string
	AccessKeyID       Secret
	SecretAccessKey   Secret
	SessionToken      Secret
	Coordination      string // CoordinationCAS or CoordinationSingleWriter
	PushRetries       int
	Transfers         int
	RetainGenerations int
	PullBeforeRun     bool
	PullTables        []string // nil where not declared
	LazyParts         bool
	PartCacheBytes    int64 // 0 where not declared
}

// Secret is a reference to a value outside the file: the name of an environment variable, or "" for none.
type Secret struct{ Env string }

// Value resolves the secret through getenv; a reference to an unset variable refuses with SyncNotConfigured.
func (s Secret) Value(getenv func(string) string) (string, error) {
	if s.Env == "" {
		return "", nil
	}
	if v := getenv(s.Env); v != "" {
		return v, nil
	}
	return "", fault.New(fault.SyncNotConfigured, s.Env, "the environment variable "+s.Env+", which config.toml refers to, is not set").
		WithHint("set it where the command runs: export " + s.Env + "=…")
}

// Encryption is [encryption]: KeyEnv is the environment variable of key_source = "env:NAME".
type Encryption struct{ KeyEnv string }

// Replica is [replica]: Of names the canonical store.
type Replica struct{ Of string }

// Catalog is [catalog]: URL is postgres://… or d1://…, Token a reference.
type Catalog struct {
	URL   string
	Token Secret
}

type configDoc struct {
	Sync *struct {
		Endpoint          *string  `toml:"endpoint"`
		Bucket            *string  `toml:"bucket"`
		Prefix            *string  `toml:"prefix"`
		PrefixFrom        *string  `toml:"prefix_from"`
		Region            string   `toml:"region"`
		AccessKeyID       string   `toml:"access_key_id"`
		SecretAccessKey   string   `toml:"secret_access_key"`
		SessionToken      string   `toml:"session_token"`
		Coordination      *string  `toml:"coordination"`
		PushRetries       *int64   `toml:"push_retries"`
		Transfers         *int64   `toml:"transfers"`
		RetainGenerations *int64   `toml:"retain_generations"`
		PullBeforeRun     bool     `toml:"pull_before_run"`
		PullTables        []string `toml:"pull_tables"`
		LazyParts         bool     `toml:"lazy_parts"`
		PartCacheBytes    *int64   `toml:"part_cache_bytes"`
	} `toml:"sync"`
	Node *struct {
		ID string `toml:"id"`
	} `toml:"node"`
	Encryption *struct {
		KeySource string `toml:"key_source"`
	} `toml:"encryption"`
	Replica *struct {
		Of string `toml:"of"`
	} `toml:"replica"`
	Catalog *struct {
		URL   string `toml:"url"`
		Token string `toml:"token"`
	} `toml:"catalog"`
}

// LoadConfig reads <root>/config.toml; an absent file is an empty Config. files nil reads the machine's own. Errors:
// StoreDeclarationInvalid, SyncPullTablesEmpty.
func LoadConfig(files Files, root string) (*Config, error) {
	if files == nil {
		files = OSFiles{}
	}
	path := filepath.Join(root, ConfigName)
	data, err := files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Config{Path: path}, nil
	}
	if err != nil {
		return nil, invalid(path, "cannot be read").Wrap(err)
	}
	return ParseConfig(path, data)
}

// ParseConfig reads a config.toml's bytes.
func ParseConfig(path string, data []byte) (*Config, error) {
	var doc configDoc
	if err := decodeStrict(path, data, &doc); err != nil {
		return nil, err
	}
	config := &Config{Path: path}
	if n := doc.Node; n != nil {
		if err := key.ValidNode(n.ID); err != nil {
			return nil, invalid(path, "[node]: %s", reason(err))
		}
		config.NodeID = n.ID
	}
	if e := doc.Encryption; e != nil {
		name, ok := strings.CutPrefix(e.KeySource, "env:")
		if !ok || !envName.MatchString(name) {
			return nil, invalid(path, "[encryption] key_source must be \"env:NAME\"; it never holds the key itself")
		}
		config.Encryption = &Encryption{KeyEnv: name}
	}
	if r := doc.Replica; r != nil {
		if r.Of == "" {
			return nil, invalid(path, "[replica] needs of, the canonical store")
		}
		config.Replica = &Replica{Of: r.Of}
	}
	if c := doc.Catalog; c != nil {
		if !strings.HasPrefix(c.URL, "postgres://") && !strings.HasPrefix(c.URL, "d1://") {
			return nil, invalid(path, "[catalog] url must begin with postgres:// or d1://")
		}
		token, err := secret(path, "[catalog] token", c.Token)
		if err != nil {
			return nil, err
		}
		config.Catalog = &Catalog{URL: c.URL, Token: token}
	}
	if doc.Sync != nil {
		sync, err := parseSync(path, &doc)
		if err != nil {
			return nil, err
		}
		config.Sync = sync
	}
	return config, nil
}

func parseSync(path string, doc *configDoc) (*Sync, error) {
	d := doc.Sync
	s := &Sync{Region: d.Region, Coordination: CoordinationCAS, PullBeforeRun: d.PullBeforeRun, PullTables: d.PullTables,
		LazyParts: d.LazyParts, PushRetries: DefaultPushRetries, Transfers: DefaultTransfers, RetainGenerations: DefaultRetainGenerations}
	if d.Endpoint != nil {
		endpoint, err := ParseEndpoint(*d.Endpoint, d.Region)
		if err != nil {
			return nil, invalid(path, "[sync] %v", err)
		}
		s.Endpoint = endpoint
	}
	if d.Bucket != nil {
		if !bucketForm.MatchString(*d.Bucket) || strings.Contains(*d.Bucket, "..") {
			return nil, invalid(path, "[sync] bucket %q is no bucket name: 2 to 255 of A-Z a-z 0-9 . _ -, a letter or digit first, no two dots together", *d.Bucket)
		}
		s.Bucket = *d.Bucket
		// A dot in the host's label has no valid certificate.
		if s.Endpoint.Scheme == "s3" && strings.Contains(s.Bucket, ".") {
			s.Endpoint.PathStyle = true
		}
	}
	switch {
	case d.Prefix != nil && d.PrefixFrom != nil:
		return nil, invalid(path, "[sync] has both prefix and prefix_from")
	case d.Prefix != nil:
		if !pathSafe(*d.Prefix) {
			return nil, invalid(path, "[sync] prefix %q must be '/'-separated segments of letters, digits, '.', '_' and '-', "+
				"without a slash at its ends; the bucket's root is never used", *d.Prefix)
		}
		s.Prefix = *d.Prefix
	case d.PrefixFrom != nil:
		name, ok := strings.CutPrefix(*d.PrefixFrom, "env:")
		if !ok || !envName.MatchString(name) {
			return nil, invalid(path, "[sync] prefix_from %q is not \"env:NAME\"", *d.PrefixFrom)
		}
		s.PrefixFrom = name
	}
	if d.Coordination != nil {
		s.Coordination = *d.Coordination
		if s.Coordination != CoordinationCAS && s.Coordination != CoordinationSingleWriter {
			return nil, invalid(path, "[sync] coordination %q is neither \"cas\" nor \"single-writer\"", s.Coordination)
		}
	}
	for _, n := range []struct {
		key   string
		value *int64
		max   int64
		to    *int
	}{{"push_retries", d.PushRetries, 1000, &s.PushRetries}, {"transfers", d.Transfers, 1024, &s.Transfers},
		{"retain_generations", d.RetainGenerations, 1 << 30, &s.RetainGenerations}} {
		if n.value == nil {
			continue
		}
		if *n.value < 1 || *n.value > n.max {
			return nil, invalid(path, "[sync] %s = %d must be from 1 to %d", n.key, *n.value, n.max)
		}
		*n.to = int(*n.value)
	}
	if d.PartCacheBytes != nil {
		if *d.PartCacheBytes < 1 {
			return nil, invalid(path, "[sync] part_cache_bytes = %d must be at least 1", *d.PartCacheBytes)
		}
		s.PartCacheBytes = *d.PartCacheBytes
	}
	if d.PullTables != nil && len(d.PullTables) == 0 {
		return nil, fault.New(fault.SyncPullTablesEmpty, path, path+": [sync] pull_tables holds no pattern").
			WithHint(`pull_tables = ["*"] names every table`)
	}
	for _, pattern := range d.PullTables {
		if pattern == "" {
			return nil, invalid(path, "[sync] pull_tables holds an empty pattern")
		}
	}
	var err error
	for _, k := range []struct {
		key, text string
		to        *Secret
	}{{"access_key_id", d.AccessKeyID, &s.AccessKeyID}, {"secret_access_key", d.SecretAccessKey, &s.SecretAccessKey},
		{"session_token", d.SessionToken, &s.SessionToken}} {
		if *k.to, err = secret(path, "[sync] "+k.key, k.text); err != nil {
			return nil, err
		}
	}
	if (s.AccessKeyID.Env == "") != (s.SecretAccessKey.Env == "") {
		return nil, invalid(path, "[sync] access_key_id and secret_access_key come together")
	}
	return s, nil
}

// secret reads a reference; the refused text is not repeated, since it may be the secret itself.
func secret(path, key, text string) (Secret, error) {
	if text == "" {
		return Secret{}, nil
	}
	name, ok := strings.CutPrefix(text, "env://")
	if !ok || !envName.MatchString(name) {
		return Secret{}, invalid(path, "%s must be a reference \"env://NAME\", never the value itself", key)
	}
	return Secret{Env: name}, nil
}

// RequireSync gives a complete [sync] with its prefix resolved through getenv, or SyncNotConfigured. A file:// endpoint needs
// no bucket name: the directory is the bucket.
func (c *Config) RequireSync(getenv func(string) string) (*Sync, error) {
	missing := func(what string) (*Sync, error) {
		return nil, fault.New(fault.SyncNotConfigured, c.Path, c.Path+": "+what).
			WithHint(`it needs [sync] with an endpoint, a prefix and, for object storage, a bucket, such as endpoint = "file:///srv/bucket" and prefix = "team"`)
	}
	switch s := c.Sync; {
	case s == nil:
		return missing("there is no [sync] section")
	case s.Endpoint.Scheme == "":
		return missing("[sync] names no endpoint")
	case s.Bucket == "" && s.Endpoint.Scheme != "file":
		return missing("[sync] names no bucket")
	case s.Prefix == "" && s.PrefixFrom == "":
		return missing("[sync] has neither prefix nor prefix_from; the bucket's root is never used silently")
	}
	resolved := *c.Sync
	if resolved.Prefix == "" {
		resolved.Prefix = getenv(resolved.PrefixFrom)
		if resolved.Prefix == "" {
			return missing("[sync] prefix_from names the environment variable " + resolved.PrefixFrom + ", which is not set")
		}
		if !pathSafe(resolved.Prefix) {
			return nil, invalid(c.Path, "[sync] prefix_from: %s = %q is no prefix", resolved.PrefixFrom, resolved.Prefix)
		}
	}
	return &resolved, nil
}
