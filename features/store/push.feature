Feature: push
  A push has happened when it has replaced the bucket's list of everything that is there. Nobody's list is overwritten, no list runs ahead
  of its objects, and an answer that is lost is not a write that is lost.

  Background:
    Given nodes "alpha" and "beta" share a bucket

  @store.push.manifest-commit#condition
  Scenario: a rival commits while the list is on its way
    Given alpha has pushed "events", folded into 3 partitions
    And beta has pulled
    And alpha has landed 6 rows of "events"
    And beta has landed 6 rows of "events"
    And the bucket will hold alpha's write of "manifest.json"
    When alpha starts to push
    And the write is held
    And beta pushes
    Then beta's push succeeds
    When the write is let through
    Then alpha's push succeeds
    And the bucket lists what alpha and beta have committed of "events"
    And every write of "manifest.json" was conditional
    And a new node "gamma" that pulls reads of "events" exactly what was landed

  @store.push.manifest-commit#condition
  Scenario: a rival commits while the uploads are on their way
    Given alpha has pushed "events", folded into 3 partitions
    And beta has pulled
    And alpha has landed 6 rows of "events"
    And beta has landed 6 rows of "events"
    And the bucket will hold alpha's write of "*.parquet"
    When alpha starts to push
    And the write is held
    And beta pushes
    Then beta's push succeeds
    When the write is let through
    Then alpha's push succeeds
    And the bucket lists what alpha and beta have committed of "events"
    And a new node "gamma" that pulls reads of "events" exactly what was landed

  @store.push.manifest-commit#condition
  Scenario: a rival's first list comes before the first push commits its own
    Given alpha has landed 6 rows of "events"
    And the bucket will do `(RivalManifest (And Put (Key "*/manifest.json") (OnIndex 0)))`
    When alpha pushes
    Then the push succeeds
    And the bucket's manifest is the second generation
    And every write of "manifest.json" was conditional
    And the bucket lists what alpha has committed of "events"

  @store.push.manifest-commit#entries
  Scenario: every key is listed with digest, size and owner, and is what it is listed as
    Given alpha has folded "events" into 3 partitions
    And alpha has landed 6 rows of "events"
    And alpha has landed 5 rows of "notes"
    When alpha pushes
    Then the push succeeds
    And the bucket lists what alpha has committed of "events"
    And the bucket lists what alpha has committed of "notes"
    And everything the bucket lists is there, with its digest and size

  @store.push.manifest-commit#entries
  Scenario: a schema that both nodes grew is listed as it lies in the bucket
    Given alpha has landed rows of "notes":
      | id | mine |
      | 1  | a    |
    And alpha has pushed
    And beta has pulled
    And beta has landed rows of "notes":
      | id | yours |
      | 2  | b     |
    And alpha has landed rows of "notes":
      | id | third |
      | 3  | c     |
    And beta has pushed
    When alpha pushes
    Then the push succeeds
    And the bucket lists what alpha and beta have committed of "notes"
    And everything the bucket lists is there, with its digest and size

  @store.push.manifest-commit#uploads-first
  Scenario: what the list names is in the bucket before the list is
    Given alpha has folded "events" into 3 partitions
    And alpha has landed 6 rows of "events"
    And the bucket will hold alpha's write of "manifest.json"
    When alpha starts to push
    And the write is held
    And the kit looks at the bucket
    And the write is let through
    Then the push succeeds
    And everything the bucket lists was there when the kit looked

  @store.push.manifest-commit#uploads-first
  Scenario: a slow upload is waited for
    Given alpha has folded "events" into 3 partitions
    And the bucket will do `(Delay 300ms (And Put (Key "*.parquet") (OnIndex 0)))`
    When alpha pushes
    Then the push succeeds
    And alpha's push writes "manifest.json" only after every "*.parquet"
    And everything the bucket lists is there, with its digest and size

  @store.push.manifest-commit#uploads-first
  Scenario: a push whose upload fails lists nothing, and the next one goes on
    Given alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    And the bucket will do `(Respond 403 "AccessDenied" (And Put (Key "*.parquet") (OnIndex 0)))`
    When alpha pushes
    Then the push fails
    And the bucket's manifest and pointers stay as they were
    And the next push of alpha succeeds
    And everything the bucket lists is there, with its digest and size

  @store.push.manifest-commit#unknown-outcome
  Scenario Outline: a commit that applied counts as done: <answer>
    Given alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    And the kit looks at the bucket
    And the bucket will do `(<fault> (And Put (Key "*/manifest.json") (OnIndex 0)))`
    When alpha pushes
    Then the push succeeds
    And the bucket's manifest is one generation on
    And the bucket lists what alpha has committed of "events"
    Examples:
      | answer                           | fault                              |
      | its answer never comes           | ApplyThenDrop                      |
      | it is answered with 412          | ApplyThen 412 "PreconditionFailed" |
      | it is answered with 500          | ApplyThen 500 "InternalError"      |

  @store.push.manifest-commit#unknown-outcome
  Scenario Outline: a commit that did not apply is made: <answer>
    Given alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    And the kit looks at the bucket
    And the bucket will do `(<fault> (And Put (Key "*/manifest.json") (OnIndex 0)))`
    When alpha pushes
    Then the push succeeds
    And the bucket's manifest is one generation on
    And the bucket lists what alpha has committed of "events"
    Examples:
      | answer                  | fault                       |
      | no answer comes         | Drop                        |
      | it is answered with 500 | Respond 500 "InternalError" |

  @store.push.manifest-commit#unknown-outcome
  Scenario Outline: a commit that applies late, after <n> more requests, is neither lost nor made to undo another
    Given alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    And the bucket will do `(Late <n> (And Put (Key "*/manifest.json") (OnIndex 0)))`
    When alpha pushes
    Then the push succeeds
    And the bucket lists what alpha has committed of "events"
    And a new node "gamma" that pulls reads of "events" exactly what was landed
    Examples:
      | n |
      | 1 |
      | 2 |

  @store.push.manifest-commit#unknown-outcome
  Scenario: the answer is lost and a rival commits on top of it before the push looks
    Given alpha has pushed "events", folded into 3 partitions
    And beta has pulled
    And alpha has landed 6 rows of "events"
    And beta has landed 6 rows of "events"
    And the bucket will do `(Seq (Hold "held" after) (ApplyThenDrop) (And Put (Key "*/manifest.json") (Principal "alpha.*") (OnIndex 0)))`
    When alpha starts to push
    And the write is held
    And beta pushes
    Then beta's push succeeds
    When the write is let through
    Then alpha's push succeeds
    And the bucket lists what alpha and beta have committed of "events"
    And a new node "gamma" that pulls reads of "events" exactly what was landed

  @store.push.object-conflict
  Scenario Outline: another content under <a key> of alpha's run stops the push
    Given alpha has pushed "events"
    And alpha has landed 6 rows of "events"
    And the bucket already holds something else under <a key> of alpha's latest run of "events"
    When alpha pushes
    Then the push is refused with SyncObjectConflict, naming <the key>
    And what the bucket already held stays as it was
    And the bucket's manifest and pointers stay as they were
    Examples:
      | a key        |
      | a part       |
      | the manifest |

  @store.push.object-conflict
  Scenario Outline: the same content under <a key> of alpha's run is taken for the upload
    Given alpha has pushed "events"
    And alpha has landed 6 rows of "events"
    And the bucket already holds the same under <a key> of alpha's latest run of "events"
    When alpha pushes
    Then the push succeeds
    And the bucket lists what alpha has committed of "events"
    Examples:
      | a key        |
      | a part       |
      | the manifest |

  @store.push.manifest-commit#condition @service.minio
  Scenario: on MinIO, of two nodes that push at once both are listed
    Given alpha has pushed "events", folded into 3 partitions
    And beta has pulled
    And alpha has landed 6 rows of "events"
    And beta has landed 6 rows of "events"
    When alpha starts to push
    And beta pushes
    Then alpha's push succeeds
    And beta's push succeeds
    And the bucket lists what alpha and beta have committed of "events"
    And everything the bucket lists is there, with its digest and size
    And a new node "gamma" that pulls reads of "events" exactly what was landed

  @store.push.object-conflict @service.minio
  Scenario: on MinIO, another content under a key of alpha's run stops the push
    Given alpha has pushed "events"
    And alpha has landed 6 rows of "events"
    And the bucket already holds something else under a part of alpha's latest run of "events"
    When alpha pushes
    Then the push is refused with SyncObjectConflict
    And what the bucket already held stays as it was
