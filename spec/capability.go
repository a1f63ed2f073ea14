package spec

// A Capability is a part of the law an implementation may leave out. A clause that needs one is asked only of an
// implementation that claims it; what is claimed and fails is a failure.
type Capability struct {
	Name string // as `needs:` writes it; a conform.toml writes dashes as underscores
	What string // what an implementation claims with it
}

// Capabilities lists the capabilities in the order README.md tells them. A clause without `needs:` needs the core,
// which everybody has.
func Capabilities() []Capability {
	return []Capability{
		{"sync", "a bucket: probe, push, pull, the bucket manifest"},
		{"s3", "a bucket reached over S3, not only a directory"},
		{"lease", "bucket leases with fences, and the fold that holds one"},
		{"commit-log", "leased pipelines that commit runs through cursors/"},
		{"adoption", "pulls that replace a local pointer on another branch"},
		{"tombstones", "deletions that travel: ownership, signatures, the held record"},
		{"collect", "reclaiming superseded snapshots and folded runs in the bucket"},
		{"generations", "listing and restoring bucket generations"},
		{"reland", "landing again the runs a refused pull names"},
		{"scoped-pull", "pulls of some tables only"},
		{"lazy", "parts and folded run manifests fetched on first use"},
		{"control", "the project's control head in the bucket"},
		{"replica", "read-only replicas with a descriptor"},
		{"folded-index", "snapshots that name every run their chain folds"},
		{"carry", "folds that carry untouched parts by reference"},
		{"valid-time", "tables with a validity interval"},
		{"vintage", "tables with an availability instant"},
		{"typed", "binary and vector columns"},
		{"nested", "struct, list, map and variant columns"},
		{"masks", "column masks by declaration"},
		{"index", "sidecars: vector, full text, key lookup, bloom filters"},
		{"retrieve", "top-K retrieval through sidecars"},
		{"encryption", "a project key: sealed Parquet, metadata and catalog"},
		{"capture", "document captures committed as snapshots"},
		{"pipeline", "pipelines: sources, positions, jobs, schedules"},
		{"serve", "a long-running query face"},
		{"models", "models and their staleness check"},
		{"catalog", "a catalog of leases and cursors, with its adapters"},
		{"postgres", "a Postgres catalog"},
		{"d1", "a Cloudflare D1 catalog"},
	}
}
