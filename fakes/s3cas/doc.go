// Package s3cas is an S3 server that does compare-and-swap as AWS documents it, and lies on request.
//
// It answers no clause itself: it is how clauses about buckets are asked, such as store.push.manifest-commit, store.probe.*,
// store.lease.* and store.pull.*. It needs nothing but the standard library, keeps everything in memory, and can be imported by any Go
// test or run as a process.
//
//	s, err := s3cas.New(s3cas.Options{Buckets: []string{"b"}}).Start()
//	defer s.Close()
//	s.AddPrincipal("AKALPHA", "secret", "alpha")
//	// … point a client at s.URL(), path style, any region …
//	fault, err := s3cas.ParseFault(`(Respond 412 (And PutIfMatch (Key "*/_pointer.json") (OnIndex 0)))`)
//	h := s.Inject(fault)
//	// … run what is tested …
//	if h.Fired() == 0 { … }            // a fault that never fired proves nothing
//	for _, e := range s.Journal() { fmt.Println(e) }
//
// # What it does by default
//
// As AWS: If-None-Match on a write takes only *, and refuses 412 where something exists; If-Match refuses 412 on another ETag and 404
// NoSuchKey where nothing exists; both at once, or If-None-Match with an ETag, are 501. Of writers that race, the first wins and the
// others are refused. DELETE takes If-Match (412, 404; * for whatever is there), DeleteObjects an ETag per key, CopyObject and
// CompleteMultipartUpload the conditions of a PUT. ETags come quoted and are taken with quotes or without; the ETag is the MD5 of the
// body, of a multipart object the MD5 of the MD5s and the number of parts. Listings have pages of 1,000 with opaque tokens, sorted by
// bytes. Bodies in aws-chunked are decoded, their signatures and checksums verified. Requests are addressed in path style. Signature
// version 4 is checked, in the header or presigned; when a request was signed is not, so clients may live under another clock.
//
// 409 ConditionalRequestConflict, which AWS gives when another operation lands at the wrong moment, comes only by fault or mode.
// Objects have no versions, access lists or tags: such requests are 501.
//
// # Faults
//
// A fault is text that says what to do with which requests. It stands verbatim in a scenario, and prints as it parses:
//
//	fault     = "(" action predicate ")"
//	          | "(Seq" "(" action ")" "(" action ")" … predicate ")"
//	action    = name argument…
//	predicate = word | "(" name argument… ")" | "(And" p… ")" | "(Or" p… ")" | "(Not" p ")"
//	argument  = "text" (Go's quotes) | integer | integer% | duration (100ms) | word
//
// Actions before the request is applied:
//
//	(Hold "g" before P)        wait at gate g
//	(Delay 100ms P)            wait
//	(Rival "text" P)           a rival first writes text to the key; (Rival "key" "text" P) to another key
//	(RivalManifest P)          a rival first commits the manifest at the key one generation on, and its copy manifests/gen-N.json
//	(RivalDelete P)            a rival first deletes the key; (RivalDelete "key" P) another one
//	(RivalSwap "key" P)        a rival first exchanges the objects at the two keys
//	(Call "name" P)            run the Go callback of that name (Register) first
//	(Stop before P)            stop the process that asked, by its callback (OnSignal), and go on
//	(Kill before P)            kill it, and close the connection
//	(Drop P)                   close the connection
//	(Late 3 P)                 close the connection; apply after 3 further requests have been answered
//	(Late "g" P)               close the connection; apply when gate g is released
//	(Respond 412 P)            answer this, with the usual code; (Respond 409 "OperationAborted" P) with that one
//
// and after it was applied:
//
//	(Hold "g" after P)         wait at gate g
//	(Hold "g" body 10 P)       send 10 bytes of the answer's body, or (body 50%) half of it, and wait at gate g
//	(ApplyThen 412 P)          answer this, whatever came of it; (ApplyThen 500 "InternalError" P)
//	(ApplyThenDrop P)          close the connection
//	(Kill after P)             kill who asked, and close the connection
//	(Stop after P)             stop who asked, and answer
//	(Truncate 10 P)            promise the whole body, send 10 bytes (or 50%), close the connection
//	(Shorten 10 P)             send 10 bytes (or 50%) as if they were all
//	(Corrupt P)                flip a byte in the middle of the body; (Corrupt 5 P) the one at 5; (Corrupt -4 4 P) the last four.
//	                           On a Put, of what is stored, under the ETag of what was sent
//
// Predicates: the name of an operation (Put, Get, Head, Delete, List, Copy, DeleteObjects, CreateMultipart, UploadPart, UploadPartCopy,
// CompleteMultipart, AbortMultipart, ListParts, ListUploads, ListBuckets, HeadBucket, CreateBucket, DeleteBucket), a class (Any, Reads,
// Writes, Multipart), a condition (PutIfMatch, PutIfNoneMatch, PutPlain, DeleteIfMatch, IfMatch, IfNoneMatch, Conditional), or
//
//	(Key "glob") (Bucket "glob") (Principal "glob") (Header "Name" "glob")
//	(OnIndex 0)                the first request that comes this far; (FromIndex 2) the third and all after it
//
// Go's own HTTP client repeats a GET when a kept connection ends without a byte of an answer: after (Drop Get) the journal may show the
// request twice. A body break in an answer without a body comes before its header.
//
// In a glob * stands for any text, slashes included, ? for one character, and \ takes the next one literally.
//
// A counter inside And counts the requests that its neighbours let through, wherever it stands among them. Every fault sees every
// request that was let in (signed and whole), also where another fault ends it, and all that match act, in the order they were
// injected. A rival's writes are in the journal under the principal "rival".
//
// Examples:
//
//	(ApplyThenDrop (And PutIfMatch (Key "*/manifest.json") (OnIndex 0)))     a lost answer is not a lost write
//	(Seq (RivalDelete) (Respond 409) (And PutIfMatch (Key "*/lease.json")))  AWS's conflict
//	(Hold "half" body 50% (And Get (Principal "beta") (Key "*.parquet")))    a part half downloaded
//	(Late "later" (And PutIfMatch (Principal "paused")))                     a paused writer's request arrives after its successor's
//
// # Gates
//
// A gate holds requests until it is released: Gate("half").WaitHeld(ctx, 1), look at the world, Gate("half").Release(). A client that
// gives up does not free its request, for what was sent may still arrive. Close frees everyone, unapplied.
//
// # Modes and dialects
//
// A mode is a lasting difference from AWS, for the server or for one bucket; ModeNames lists them with what they do. A dialect is the
// set of modes that makes the server behave like a public implementation, with the reports we know it from; Dialects lists them.
//
// # Administration
//
// With Options.Admin the server answers, under /_s3cas/ and without signatures:
//
//	POST faults        inject the faults of the body          GET faults            list, with how often each fired
//	DELETE faults      remove all                             DELETE faults/{id}    remove one
//	GET journal        JSON Lines; since= principal= op= bucket= key= status= select, format=text prints
//	GET mark           the newest journal number
//	GET gates          list                                   GET gates/{g}?wait=1&timeout=10s   wait until one is held
//	POST gates/{g}/release | pass?n=1 | shut
//	POST modes         set, one a line; ?bucket= for one      GET modes   DELETE modes   DELETE modes/{name}
//	GET dialects       list, with reports                     PUT dialect   its name    GET dialect
//	POST principals    {"access_key","secret","name"}         DELETE principals/{access key}
//	PUT buckets/{b}    create                                 GET, PUT, DELETE objects/{b}/{key}   GET objects/{b}?prefix=
package s3cas
