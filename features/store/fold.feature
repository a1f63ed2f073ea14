Feature: fold
  A fold changes how rows lie, never what they say; and nobody waits for it.

  @store.fold.pass#selects
  Scenario: a pass folds exactly the committed runs that were not folded yet
    Given a node "alpha"
    And alpha has landed 4 rows of "events" as run "one"
    And alpha has landed 3 rows of "events" as run "two"
    When alpha folds "events"
    Then the fold succeeds
    And alpha's snapshot of "events" folds exactly the runs "one" and "two"
    When alpha lands 2 rows of "events" as run "three"
    And alpha lands 2 rows of "events" as run "torn"
    And the manifest of run "torn" of "events" on alpha is taken away
    And alpha folds "events"
    Then the fold succeeds
    And alpha's snapshot of "events" folds exactly the runs "three"
    When alpha lands 2 rows of "events" as run "four"
    And alpha folds "events"
    Then the fold succeeds
    And alpha's snapshot of "events" folds exactly the runs "four"
    And alpha reads 11 rows of "events"

  @store.fold.pass#selects
  Scenario Outline: where there is no run to fold nothing is published, <case>
    Given a node "alpha"
    And alpha has landed 4 rows of "events" as run "one"
    And alpha has folded "events"
    And alpha has landed 3 rows of "events" as run "torn"
    And the manifest of run "torn" of "events" on alpha is taken away
    And run "one" of "events" <is> on alpha
    When alpha folds "events"
    Then the fold succeeds
    And alpha's pointer for "events" is what it was
    And alpha has made no snapshot of "events"
    Examples:
      | case                           | is            |
      | the folded runs are still here | stays         |
      | the folded runs are collected  | is collected  |

  @store.fold.pass#survivors
  Scenario Outline: a pass keeps what readers see and nothing else, <key>
    Given a node "alpha"
    And a table "prices" <key>
    And alpha has landed rows of "prices" as run "one":
      | sku | rev | at                             | says   |
      | a   | 1   | 2026-03-01T10:00:00.000000001Z | old    |
      | b   | 5   | 2026-03-01T10:00:00Z           | stays  |
      | a   | 2   | null                           | older  |
      | c   | 1   | 2026-03-01T10:00:00Z           | only   |
    And alpha has landed rows of "prices" as run "two":
      | sku | rev | at                   | says  |
      | a   | 3   | 2026-03-01T10:00:00Z | new   |
      | b   | 4   | 2026-03-01T10:00:00Z | worse |
      | c   | 1   | 2026-03-01T10:00:00Z | only  |
    And alpha remembers what it reads of "prices"
    When alpha folds "prices"
    Then the fold succeeds
    And alpha's snapshot of "prices" holds exactly what alpha remembers, in <rows> rows
    And alpha reads of "prices" what it remembers
    When alpha lands rows of "prices" as run "three":
      | sku | rev | at                   | says   |
      | a   | 4   | 2026-03-01T10:00:00Z | newest |
      | d   | 1   | null                 | first  |
    And alpha remembers what it reads of "prices"
    And alpha folds "prices"
    Then the fold succeeds
    And alpha's snapshot of "prices" holds exactly what alpha remembers, in <then> rows
    And alpha reads of "prices" what it remembers
    Examples:
      | key                               | rows | then |
      | keyed by "sku" and ordered by "rev" | 3    | 4    |
      | without a key                     | 7    | 9    |

  @store.fold.pass#schema
  Scenario: parts of many schemas become one
    Given a node "alpha"
    And a table "readings" without a key
    And alpha has landed rows of "readings" as run "one":
      | id | value | note    |
      | 1  | 7     | plain   |
    And alpha has landed rows of "readings" as run "two":
      | id | value | note    | place |
      | 2  | 0.5   | {"a":1} | roof  |
    And alpha has landed rows of "readings" as run "three":
      | id | seen |
      | 3  | true |
    And alpha remembers what it reads of "readings"
    When alpha folds "readings"
    Then the fold succeeds
    And every part of alpha's snapshot of "readings" has the columns:
      | column | type       |
      | id     | INT64      |
      | value  | DOUBLE     |
      | note   | BYTE_ARRAY |
      | place  | BYTE_ARRAY |
      | seen   | BOOLEAN    |
    And alpha's snapshot of "readings" holds exactly what alpha remembers, in 3 rows
    And alpha reads of "readings" what it remembers
    And alpha reads in "note" of "readings" the JSON of what was landed

  @store.fold.pass#sorted
  Scenario Outline: the rows of a part are in the order of cluster_by, <partitions>
    Given a node "alpha"
    And a table "events" keyed by "id"
    And "events" is partitioned by "<partitions>"
    And "events" declares cluster_by as ["kind", "amount"]
    And "events" declares the columns:
      | column | type      |
      | at     | timestamp |
    And alpha has landed 60 rows of "events"
    And alpha has landed 40 rows of "events"
    When alpha folds "events"
    Then the fold succeeds
    And the rows of each part of alpha's snapshot of "events" are in the order of "kind", "amount"
    When alpha lands 30 rows of "events"
    And alpha folds "events"
    Then the fold succeeds
    And the rows of each part of alpha's snapshot of "events" are in the order of "kind", "amount"
    And alpha reads of "events" exactly the rows landed
    Examples:
      | partitions |
      |            |
      | region     |

  @store.fold.pass#partitioned
  Scenario: no part holds two partition values, whatever they are
    Given a node "alpha"
    And a table "places" keyed by "id"
    And "places" is partitioned by "name"
    And alpha has landed rows of "places":
      | id | name          |
      | 1  | a/b           |
      | 2  | 50%           |
      | 3  | who?          |
      | 4  | x=y           |
      | 5  | a+b           |
      | 6  | two words     |
      | 7  | Zürich        |
      | 8  | zürich        |
      | 9  | 東京            |
      | 10 | ..            |
      | 11 | .             |
      | 12 | ""            |
      | 13 | null          |
      | 14 | "null"        |
      | 15 | "back\\slash" |
      | 16 | "line\nend"   |
      | 17 | a%2Fb         |
      | 18 | *             |
      | 19 | two words     |
    When alpha folds "places"
    Then the fold succeeds
    And no part of alpha's snapshot of "places" holds two values of "name", and the manifest says which
    And alpha reads of "places" exactly the rows landed
    When alpha lands rows of "places":
      | id | name  |
      | 1  | a/c   |
      | 20 | 50%   |
      | 21 | 50%25 |
    And alpha folds "places"
    Then the fold succeeds
    And no part of alpha's snapshot of "places" holds two values of "name", and the manifest says which
    And alpha reads of "places" exactly the rows landed

  @store.fold.pass#partitioned
  Scenario Outline: partitions of <what> are told apart
    Given a node "alpha"
    And a table "readings" without a key
    And "readings" is partitioned by "<by>"
    And "readings" declares the columns:
      | column | type      |
      | at     | timestamp |
    And alpha has landed rows of "readings":
      | whole            | part | flag  | at                             |
      | 9007199254740992 | 0.5  | true  | 2026-03-01T10:00:00.000000001Z |
      | 9007199254740993 | 0.5  | false | 2026-03-01T10:00:00.000000002Z |
      | -1               | -0.5 | null  | 2026-03-01T10:00:00Z           |
      | null             | null | true  | null                           |
    When alpha folds "readings"
    Then the fold succeeds
    And no part of alpha's snapshot of "readings" holds two values of "<one>", and the manifest says which
    And no part of alpha's snapshot of "readings" holds two values of "<other>", and the manifest says which
    And alpha reads of "readings" exactly the rows landed
    Examples:
      | what        | by          | one   | other |
      | numbers     | whole       | whole | whole |
      | fractions   | part        | part  | part  |
      | instants    | at          | at    | at    |
      | two columns | flag, whole | flag  | whole |

  @store.fold.pointer-commit#file
  Scenario Outline: of two passes that began from one pointer only one publishes what it made of it: the first is paused <where>
    Given a node "alpha"
    And a table "trades" without a key
    And alpha has landed 4 rows of "trades" as run "one"
    And alpha has <earlier> "trades"
    And alpha has landed 3 rows of "trades" as run "two"
    And alpha's fold of "trades" is held <where>
    When another fold of "trades" on alpha goes as far as it can
    And the held fold is let go, and both folds end
    Then what was published of "trades" on alpha meanwhile is still in its chain
    And no run of "trades" on alpha is folded twice
    And alpha reads of "trades" exactly the rows landed
    When alpha folds "trades"
    And the folded runs of "trades" on alpha are collected
    Then no run of "trades" on alpha is folded twice
    And alpha reads of "trades" exactly the rows landed
    Examples:
      | where                        | earlier          |
      | when its snapshot lies ready | folded           |
      | when its snapshot lies ready | landed 1 rows of |
      | after its first mkdir        | folded           |

  @store.fold.pointer-commit#file
  Scenario Outline: a pass paused between its look at the pointer and the rename lets nobody publish in between, <case>
    Given a node "alpha"
    And a table "trades" without a key
    And alpha has landed 4 rows of "trades" as run "one"
    And alpha has <earlier> "trades"
    And alpha has landed 3 rows of "trades" as run "two"
    And alpha's fold of "trades" is held just before the pointer
    When another fold of "trades" on alpha goes as far as it can
    And the held fold is let go, and both folds end
    Then what was published of "trades" on alpha meanwhile is still in its chain
    And no run of "trades" on alpha is folded twice
    And alpha reads of "trades" exactly the rows landed
    Examples:
      | case                     | earlier          |
      | over an older pointer    | folded           |
      | where there was none yet | landed 1 rows of |

  @store.fold.pointer-commit#file
  Scenario: a pointer that nobody touched is replaced in one rename
    Given a node "alpha"
    And alpha has folded "events" into 2 partitions
    And alpha has landed 4 rows of "events"
    And alpha's fold of "events" is held when its snapshot lies ready
    When the held fold goes on to its end
    Then the fold succeeds
    And alpha's pointer for "events" names another snapshot, whose parent is the one before
    And alpha reads of "events" exactly the rows landed

  @store.fold.non-blocking#running
  Scenario Outline: a read that began before a pass ends with what it began with, <passes> later
    Given a node "alpha"
    And a table "trades" without a key
    And alpha has landed 40 rows of "trades" as run "one"
    And alpha has folded "trades"
    And alpha has landed 30 rows of "trades" as run "two"
    And alpha has landed 20 rows of "trades" as run "three"
    When alpha's read of "trades" is held as it opens the first part
    And alpha has landed 7 rows of "trades"
    And alpha has folded "trades"
    And alpha has landed 5 rows of "trades"
    And alpha has <then> "trades"
    And the held read goes on to its end
    Then the held read has given exactly what was landed before it began
    And alpha reads of "trades" exactly the rows landed
    Examples:
      | passes     | then             |
      | one pass   | landed 1 rows of |
      | two passes | folded           |

  @store.fold.non-blocking#running
  Scenario: a read that began during a pass ends with what it began with
    Given a node "alpha"
    And a table "trades" without a key
    And alpha has landed 40 rows of "trades" as run "one"
    And alpha has folded "trades"
    And alpha has landed 30 rows of "trades" as run "two"
    And alpha's fold of "trades" is held when its snapshot lies ready
    When alpha's read of "trades" is held as it opens the first part
    And the held fold goes on to its end
    And alpha has landed 5 rows of "trades"
    And alpha has folded "trades"
    And the held read goes on to its end
    Then the held read has given exactly what was landed before it began
    And alpha reads of "trades" exactly the rows landed

  @store.fold.non-blocking#during
  Scenario Outline: a read that begins while a pass is at work is answered from the snapshot before it, <where>
    Given a node "alpha"
    And a table "trades" without a key
    And alpha has landed 4 rows of "trades" as run "one"
    And alpha has folded "trades"
    And alpha has landed 3 rows of "trades" as run "two"
    And alpha's fold of "trades" is held <where>
    When alpha reads "trades"
    Then the read succeeds
    And alpha reads of "trades" exactly the rows landed
    And alpha's list of "trades" is what the manifests name
    And alpha's list of "trades" has the parts of run "two" and none of run "one"
    When the held fold goes on to its end
    Then the fold succeeds
    And alpha reads of "trades" exactly the rows landed
    Examples:
      | where                        |
      | after its first mkdir        |
      | when its snapshot lies ready |
      | just before the pointer      |

  @store.fold.non-blocking#after
  Scenario: a read that begins once the pointer is replaced takes the new snapshot, though the pass has not ended
    Given a node "alpha"
    And a table "trades" without a key
    And alpha has landed 4 rows of "trades" as run "one"
    And alpha has folded "trades"
    And alpha has landed 3 rows of "trades" as run "two"
    And alpha's fold of "trades" is held once the pointer is replaced
    When alpha lists "trades"
    Then the listing succeeds
    And alpha's list of "trades" is what the manifests name
    And alpha's list of "trades" names no part of a run
    And alpha reads of "trades" exactly the rows landed
    When the held fold goes on to its end
    Then the fold succeeds
    And alpha reads of "trades" exactly the rows landed

  # The passes below publish to a bucket, under the table's compaction lease.

  @store.fold.pointer-commit#bucket
  Scenario Outline: a pointer replaced since the pass began stays, wherever the pass was paused: <where>
    Given nodes "alpha" and "beta" share a bucket
    And alpha has pushed "events", folded into 3 partitions
    And alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    When alpha starts to fold "events" under the lease and is paused <where>
    And a rival puts the bucket's pointer of "events" back to the snapshot before
    And alpha is resumed
    Then alpha's leased fold fails
    And the bucket's pointer of "events" is the rival's
    And alpha's pointer for "events" is what it was
    And alpha reads of "events" exactly what was landed
    Examples:
      | where                                      |
      | before the snapshot's manifest is uploaded |
      | before the bucket's pointer is replaced    |

  @store.fold.pointer-commit#bucket
  Scenario: a pointer that nobody replaced is replaced
    Given nodes "alpha" and "beta" share a bucket
    And alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    When alpha starts to fold "events" under the lease and is paused before the bucket's pointer is replaced
    And alpha is resumed
    Then alpha's leased fold succeeds
    And the bucket's pointer of "events" is alpha's, with fence 1
    And every write of "research/tables/events/_pointer.json" was conditional
    And a new node "gamma" that pulls reads of "events" exactly what was landed

  @store.fold.pointer-commit#bucket
  Scenario Outline: a publication whose answer is lost is found out, not guessed: <answer>
    Given nodes "alpha" and "beta" share a bucket
    And alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    When alpha folds "events" under the lease, and its publication meets `<fault>`
    Then alpha's leased fold succeeds
    And the bucket's pointer of "events" is alpha's, with fence 1
    And a new node "gamma" that pulls reads of "events" exactly what was landed
    Examples:
      | answer                           | fault                              |
      | applied, and no answer comes     | ApplyThenDrop                      |
      | applied, and answered with 412   | ApplyThen 412 "PreconditionFailed" |
      | applied, and answered with 500   | ApplyThen 500 "InternalError"      |
      | not applied, and no answer comes | Drop                               |
      | applied late, after two requests | Late 2                             |

  @store.fold.compaction-lease#holds
  Scenario Outline: the lease names the node as long as its pass is at work: <where>
    Given nodes "alpha" and "beta" share a bucket
    And alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    When alpha starts to fold "events" under the lease and is paused <where>
    Then the lease of "events" names alpha, with fence 1
    When alpha is resumed
    Then alpha's leased fold succeeds
    And alpha's leased fold took the lease of "events" before it wrote anything else
    Examples:
      | where                                      |
      | before the snapshot's manifest is uploaded |
      | before the bucket's pointer is replaced    |

  @store.fold.compaction-lease#holds
  Scenario: a pass that cannot take the lease publishes nothing
    Given nodes "alpha" and "beta" share a bucket
    And alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    And beta has taken the lease of "events"
    When alpha folds "events" under the lease
    Then the leased fold is refused with LeaseHeld, naming "beta"
    And the bucket stays as it was
    When beta gives the lease of "events" back
    And alpha folds "events" under the lease
    Then alpha's leased fold succeeds

  @store.fold.compaction-lease#manifest
  Scenario: the snapshot's manifest has the lease's fence
    Given nodes "alpha" and "beta" share a bucket
    And alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    And beta has taken the lease of "events"
    And beta has given the lease of "events" back
    When alpha folds "events" under the lease
    Then alpha's leased fold succeeds
    And the snapshot that the bucket's pointer of "events" names has the fence 2 in its manifest

  @store.fold.compaction-lease#manifest
  Scenario: a pass under a lease that the node took before has that lease's fence
    Given nodes "alpha" and "beta" share a bucket
    And alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    And beta has taken the lease of "events"
    And beta has given the lease of "events" back
    And alpha has taken the lease of "events"
    When alpha folds "events" under the lease it holds with fence 2
    Then alpha's leased fold succeeds
    And the snapshot that the bucket's pointer of "events" names has the fence 2 in its manifest
    And the lease of "events" names alpha, with fence 2

  @store.fold.compaction-lease#pointer
  Scenario: the pointer has the lease's fence, in the bucket and at home
    Given nodes "alpha" and "beta" share a bucket
    And alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    And beta has taken the lease of "events"
    And beta has given the lease of "events" back
    When alpha folds "events" under the lease
    Then alpha's leased fold succeeds
    And the bucket's pointer of "events" is alpha's, with fence 2
    And alpha's own pointer of "events" has the fence 2

  @store.fold.compaction-lease#unleased
  Scenario: a pass outside a lease writes no fence
    Given nodes "alpha" and "beta" share a bucket
    And alpha has folded "events" into 3 partitions
    When alpha pushes
    Then the push succeeds
    And alpha's own pointer of "events" has the fence null
    And the bucket's pointer of "events" is alpha's, with fence null
    And the snapshot that the bucket's pointer of "events" names has the fence null in its manifest

  @store.fold.compaction-lease#unleased
  Scenario: no fence ranks below every number
    Given nodes "alpha" and "beta" share a bucket
    And alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    And alpha has folded "events"
    And beta has taken the lease of "events"
    And the kit looks at the bucket
    When alpha pushes
    Then the bucket's pointer of "events" is what it was when the kit looked
    And a new node "gamma" that pulls reads of "events" exactly what was landed
