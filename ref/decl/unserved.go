package decl

import "contextful/ref/fault"

// Unserved refuses with StoreUnsupported what config.toml asks for and this build does not do: going on would write an
// encrypted project in plain text, a replica's rows, or more of a bucket than was asked for.
func (c *Config) Unserved() error {
	asked := ""
	switch {
	case c.Encryption != nil:
		asked = "[encryption]"
	case c.Replica != nil:
		asked = "[replica]"
	case c.Catalog != nil:
		asked = "[catalog]"
	case c.Sync != nil && c.Sync.LazyParts:
		asked = "[sync] lazy_parts"
	case c.Sync != nil && c.Sync.PullTables != nil:
		asked = "[sync] pull_tables"
	default:
		return nil
	}
	return fault.New(fault.StoreUnsupported, c.Path, c.Path+" asks for "+asked+", which this build does not serve yet").
		WithHint("take it out of config.toml where this store can do without it")
}
