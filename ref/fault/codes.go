package fault

// Codes the specification names.
const (
	StoreIdentityInvalid        Code = "StoreIdentityInvalid"
	StoreIdentityConflict       Code = "StoreIdentityConflict"
	StoreManifestFormatNewer    Code = "StoreManifestFormatNewer"
	StoreSchemaIncompatible     Code = "StoreSchemaIncompatible"
	StoreKeyWidened             Code = "StoreKeyWidened"
	StoreAsOfUnretained         Code = "StoreAsOfUnretained"
	SyncProbeInconclusive       Code = "SyncProbeInconclusive"
	SyncCoordinationUnproven    Code = "SyncCoordinationUnproven"
	SyncManifestRebaseExhausted Code = "SyncManifestRebaseExhausted"
	SyncObjectDigestMismatch    Code = "SyncObjectDigestMismatch"
	SyncPullDidNotConverge      Code = "SyncPullDidNotConverge"
	LeaseHeld                   Code = "LeaseHeld"
	LeaseNotHeld                Code = "LeaseNotHeld"
	LeaseFenced                 Code = "LeaseFenced"
)

// Codes of our own: the design marks them as this project's choice.
const (
	SyncPrefixEscape        Code = "SyncPrefixEscape"        // a bucket key or file name that would leave the prefix or the store root
	StoreRunConflict        Code = "StoreRunConflict"        // the same run id again with other content
	StoreReservedColumnName Code = "StoreReservedColumnName" // a producer's "_" column that is not ours to accept
	StoreNameInvalid        Code = "StoreNameInvalid"        // a project, table, run or node name that is not path-safe
	StoreTableUnknown       Code = "StoreTableUnknown"       // a table neither declared nor present
	StoreBoundUndeclared    Code = "StoreBoundUndeclared"    // a bound on a clock that no table of the statement declares
	StoreSnapshotUnknown    Code = "StoreSnapshotUnknown"    // a snapshot id that no chain of the read's tables holds any more, or ever did
	StoreInputMalformed     Code = "StoreInputMalformed"     // rows that cannot be read: names file and line
	StoreInputEmpty         Code = "StoreInputEmpty"         // a landing without a row
	StoreTypeUnknown        Code = "StoreTypeUnknown"        // a column type the declaration language does not have
	StoreColumnAmbiguous    Code = "StoreColumnAmbiguous"    // two columns that differ only in case
	StoreManifestInvalid    Code = "StoreManifestInvalid"    // a manifest, pointer or schema that is not what its path promises
	StoreChainBroken        Code = "StoreChainBroken"        // a parent chain that loops or misses a manifest
	StorePartDamaged        Code = "StorePartDamaged"        // a Parquet part missing, truncated or not what its manifest says
	StorePointerMoved       Code = "StorePointerMoved"       // a pass whose pointer was replaced under it, beyond its retries
	StoreDeclarationInvalid Code = "StoreDeclarationInvalid" // contextful.toml or config.toml unreadable, foreign or contradictory
	StoreDeclarationChanged Code = "StoreDeclarationChanged" // primary_key, partition_by or write_mode changed after data exists
	StoreUnsupported        Code = "StoreUnsupported"        // declared, understood, and not yet served by this build
	StoreWriteFailed        Code = "StoreWriteFailed"        // disk full, read-only directory, I/O error while writing
	StoreBusy               Code = "StoreBusy"               // a lock not obtained within its limit
	ProjectNotFound         Code = "ProjectNotFound"         // no contextful.toml here or above
	QueryRefused            Code = "QueryRefused"            // SQL that is not one read-only statement, or reaches outside
	QueryFailed             Code = "QueryFailed"             // the engine's own error about the SQL
	SyncNotConfigured       Code = "SyncNotConfigured"       // no [sync] section, or an incomplete one
	SyncUnreachable         Code = "SyncUnreachable"         // the endpoint does not answer or refuses the credentials
	SyncManifestInvalid     Code = "SyncManifestInvalid"     // the bucket manifest or pointer cannot be read as one
	SyncObjectConflict      Code = "SyncObjectConflict"      // an immutable object exists in the bucket with other bytes
	SyncPointerDiverged     Code = "SyncPointerDiverged"     // local and bucket pointer are on different branches
	SyncPullTablesEmpty     Code = "SyncPullTablesEmpty"     // [sync] pull_tables holds no pattern
)

// Codes of our own about pipelines.
const (
	PipelineUnknown             Code = "PipelineUnknown"             // no such pipeline, or none with a source
	PipelineSourceFailed        Code = "PipelineSourceFailed"        // a source that is not there, ended badly or said what it may not
	PipelineInventoryIncomplete Code = "PipelineInventoryIncomplete" // a replaced table's source that did not say that it handed over everything
	PipelinePositionMissing     Code = "PipelinePositionMissing"     // an appended table's rows that no position covers
)
