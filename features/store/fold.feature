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

  @store.fold.carry-by-reference#delta @store.fold.carry-by-reference#untouched
  Scenario Outline: a fold writes the new rows and names the parts that were there, <key>
    Given a node "alpha"
    And a table "trades" <key>
    And alpha has landed and folded "trades" in turn, 40 rows
    And alpha has landed and folded "trades" in turn, 5 rows
    And alpha remembers the parts of "trades"
    And alpha has landed 2 rows of "trades"
    And alpha has landed 1 rows of "trades"
    When alpha folds "trades"
    Then the fold succeeds
    And alpha's snapshot of "trades" has in its own directory parts of 3 rows
    And alpha's snapshot of "trades" names all of the remembered parts, where they lie and as they were
    And alpha's snapshot of "trades" has parts of 3, 5, 40 rows
    And every part of alpha's snapshot of "trades" is what its manifest says
    And alpha reads of "trades" exactly the rows landed
    And alpha's store checks out
    Examples:
      | key           |
      | without a key |
      | keyed by "id" |

  @store.fold.carry-by-reference#delta @store.fold.carry-by-reference#untouched
  Scenario: only the partitions that the new rows touch get a part
    Given a node "alpha"
    And alpha has landed rows of "events":
      | id | region | amount |
      | 1  | north  | 1      |
      | 2  | south  | 2      |
      | 3  | west   | 3      |
      | 4  | null   | 4      |
    And alpha has folded "events"
    And alpha remembers the parts of "events"
    And alpha has landed rows of "events":
      | id | region | amount |
      | 5  | south  | 5      |
      | 6  | a/b    | 6      |
    And alpha has landed rows of "events":
      | id | region | amount |
      | 7  | south  | 7      |
    When alpha folds "events"
    Then the fold succeeds
    And alpha's snapshot of "events" has in its own directory parts of 1, 2 rows
    And alpha's snapshot of "events" names all of the remembered parts, where they lie and as they were
    And no part of alpha's snapshot of "events" holds two values of "region", and the manifest says which
    And alpha reads of "events" exactly the rows landed

  @store.fold.carry-by-reference#replaced
  Scenario Outline: a stored part is written anew only where a newer row replaces one of its rows: <case>
    Given a node "alpha"
    And a table "prices" keyed by "sku, place" and ordered by "at"
    And "prices" is partitioned by "shelf"
    And "prices" declares the columns:
      | column | type      |
      | at     | timestamp |
    And alpha has landed rows of "prices":
      | sku | place | shelf | at                             | says  |
      | 1   | x     | a     | 2026-03-01T10:00:00.000000005Z | old   |
      | 2   | x     | a     | 2026-03-01T10:00:00.000000005Z | stays |
      | 3   | x     | b     | 2026-03-01T10:00:00.000000005Z | stays |
      | 4   | null  | c     | 1969-12-31T23:59:59.999999005Z | odd   |
      | 5   | x     | c     | null                           | none  |
    And alpha has folded "prices"
    And alpha remembers the parts of "prices"
    And alpha has landed rows of "prices" as run "new":
      | sku   | place   | shelf   | at   | says |
      | <sku> | <place> | <shelf> | <at> | new  |
    And alpha remembers what it reads of "prices"
    When alpha folds "prices"
    Then the fold succeeds
    And alpha's snapshot of "prices" folds exactly the runs "new"
    And alpha's snapshot of "prices" has in its own directory <written>
    And alpha's snapshot of "prices" names <kept> of the remembered parts, where they lie and as they were
    And alpha's snapshot of "prices" holds exactly what alpha remembers, in <rows> rows
    And alpha reads of "prices" what it remembers
    Examples:
      | case                                    | sku | place | shelf | at                             | written             | kept      | rows |
      | a new key                               | 9   | x     | a     | 2026-03-01T10:00:00Z           | parts of 1 rows     | all       | 6    |
      | a nanosecond newer                      | 1   | x     | a     | 2026-03-01T10:00:00.000000006Z | parts of 1, 1 rows  | all but 1 | 5    |
      | a nanosecond older                      | 1   | x     | a     | 2026-03-01T10:00:00.000000004Z | no part             | all       | 5    |
      | as old, and landed later                | 1   | x     | a     | 2026-03-01T10:00:00.000000005Z | parts of 1, 1 rows  | all but 1 | 5    |
      | newer, in another partition             | 1   | x     | b     | 2026-03-01T10:00:01Z           | parts of 1, 1 rows  | all but 1 | 5    |
      | newer, the only row of its part         | 3   | x     | a     | 2026-03-01T10:00:01Z           | parts of 1 rows     | all but 1 | 5    |
      | a null in the key, newer                | 4   | null  | c     | 1969-12-31T23:59:59.999999006Z | parts of 1, 1 rows  | all but 1 | 5    |
      | a null in the key, older                | 4   | null  | c     | 1969-12-31T23:59:59.999999004Z | no part             | all       | 5    |
      | another second half of the key          | 4   | x     | c     | 2026-03-01T10:00:00Z           | parts of 1 rows     | all       | 6    |
      | no instant, and landed later            | 5   | x     | c     | null                           | parts of 1, 1 rows  | all but 1 | 5    |
      | no instant, where there is one          | 3   | x     | b     | null                           | no part             | all       | 5    |

  @store.fold.carry-by-reference#untouched
  Scenario: a part keeps its origin through every later fold
    Given a node "alpha"
    And a table "trades" without a key
    And alpha has landed and folded "trades" in turn, 300 rows
    And alpha remembers the parts of "trades"
    When alpha lands and folds "trades" in turn, 70, 17, 5, 3 rows, and no tier is full after any
    Then alpha's snapshot of "trades" has parts of 3, 5, 17, 70, 300 rows
    And alpha's snapshot of "trades" names all of the remembered parts, where they lie and as they were
    And alpha's snapshot of "trades" is of major 2
    And alpha reads of "trades" exactly the rows landed

  @store.fold.carry-by-reference#superseded
  Scenario Outline: a replacement that is folded leaves nothing of what was before it, <rows> rows
    Given a node "alpha"
    And a table "prices" keyed by "id"
    And "prices" is replaced by every landing
    And alpha has landed and folded "prices" in turn, 5 rows
    And alpha remembers the parts of "prices"
    And alpha has landed 3 rows of "prices"
    And alpha has landed <rows> rows of "prices"
    And alpha remembers what it reads of "prices"
    When alpha folds "prices"
    Then the fold succeeds
    And alpha's snapshot of "prices" names none of the remembered parts, where they lie and as they were
    And alpha's snapshot of "prices" has in its own directory parts of <rows> rows
    And alpha reads of "prices" what it remembers
    Examples:
      | rows |
      | 1    |
      | 4    |

  @store.fold.carry-by-reference#travels @needs.sync
  Scenario: what is carried is uploaded once, and comes with the snapshot that names it
    Given nodes "alpha" and "beta" share a bucket
    And alpha has landed rows of "events" and folded each:
      | id | region |
      | 1  | north  |
      | 2  | south  |
    And alpha has pushed
    And alpha has landed rows of "events" and folded each:
      | id | region |
      | 3  | west   |
    When alpha pushes
    Then the push succeeds
    And alpha's push has written 1 part of snapshots of "events"
    When beta pulls
    Then beta's pull succeeds
    And every part that a pointer of beta's promises is there
    And beta's snapshot of "events" has parts of 1, 1, 1 rows
    And beta reads of "events" what alpha reads

  @store.fold.carry-by-reference#travels @needs.sync @needs.lease
  Scenario: a pass under the lease sends what it wrote and nothing that it carries
    Given nodes "alpha" and "beta" share a bucket
    And alpha has pushed "events", folded into 3 partitions
    And alpha has landed rows of "events":
      | id  | region    |
      | 901 | elsewhere |
    When alpha folds "events" under the lease
    Then alpha's leased fold succeeds
    And alpha's leased fold has written 1 part of snapshots of "events"
    When beta pulls
    Then beta's pull succeeds
    And beta's snapshot of "events" has parts of 1, 4, 4, 4 rows
    And beta reads of "events" what alpha reads

  @store.fold.carry-by-reference#untouched
  Scenario Outline: a fold that is killed after any <call> leaves the old state or the new, and is finished when it is made again
    Given a node "alpha"
    And a table "trades" keyed by "id"
    And alpha has landed and folded "trades" in turn, 6 rows
    And alpha has landed 3 rows of "trades"
    When alpha's fold of "trades" is killed after each <call> in the table
    Then alpha reads of "trades" exactly the rows landed
    When alpha folds "trades"
    Then the fold succeeds
    And alpha's snapshot of "trades" has parts of 3, 6 rows
    And alpha reads of "trades" exactly the rows landed
    And alpha's store checks out
    Examples:
      | call   |
      | rename |
      | fsync  |
      | mkdir  |

  @store.fold.tiered-merge#tiers
  Scenario Outline: no tier is left full, <case>
    Given a node "alpha"
    And a table "trades" <key>
    When alpha lands and folds "trades" in turn, <landed> rows, and no tier is full after any
    Then alpha's snapshot of "trades" has parts of <parts> rows
    And alpha reads of "trades" exactly the rows landed
    Examples:
      | case                                  | key           | landed                  | parts         |
      | three of one tier stay three          | without a key | 4, 15, 7                | 4, 7, 15      |
      | four of one tier become one           | without a key | 4, 15, 7, 5             | 31            |
      | and so they do where there is a key   | keyed by "id" | 4, 15, 7, 5             | 31            |
      | tiers lie between powers of 4         | without a key | 3, 4, 15, 16            | 3, 4, 15, 16  |
      | what is merged fills the next tier    | without a key | 16, 17, 18, 4, 5, 6, 7  | 73            |

  @store.fold.tiered-merge#tiers
  Scenario: tiers are counted in each partition, and what replacement takes away counts no more
    Given a node "alpha"
    And a table "prices" keyed by "id"
    And "prices" is partitioned by "shelf"
    And alpha has landed rows of "prices" and folded each:
      | id | shelf |
      | 1  | a     |
      | 2  | a     |
      | 3  | b     |
      | 4  | a     |
      | 2  | b     |
      | 5  | b     |
    And alpha's snapshot of "prices" has parts of 1, 1, 1, 1, 1 rows
    When alpha lands rows of "prices":
      | id | shelf |
      | 6  | b     |
    And alpha folds "prices"
    Then the fold succeeds
    And alpha's snapshot of "prices" has parts of 1, 1, 4 rows
    And no partition that alpha's snapshot of "prices" writes to has four parts of one size tier

  @store.fold.tiered-merge#merged
  Scenario Outline: what is merged has the rows of its parts and their order, <partitions>
    Given a node "alpha"
    And a table "events" keyed by "id"
    And "events" is partitioned by "<partitions>"
    And "events" declares cluster_by as ["kind", "amount"]
    And "events" declares the columns:
      | column | type      |
      | at     | timestamp |
    When alpha lands and folds "events" in turn, 24, 15, 18, 21 rows, and no tier is full after any
    Then the rows of each part of alpha's snapshot of "events" are in the order of "kind", "amount"
    And every part of alpha's snapshot of "events" is what its manifest says
    And alpha reads of "events" exactly the rows landed
    Examples:
      | partitions |
      |            |
      | region     |

  @store.fold.tiered-merge#oldest
  Scenario: of five parts of one tier the four oldest are merged
    Given a node "alpha"
    And a table "prices" keyed by "id"
    And alpha has landed and folded "prices" in turn, 5, 6, 7 rows
    And alpha has landed 15 rows of "prices"
    And alpha has landed rows of "prices":
      | id  | says |
      | 901 | a    |
    And alpha has folded "prices"
    And alpha's snapshot of "prices" has parts of 5, 6, 7, 16 rows
    When alpha lands rows of "prices":
      | id  | says |
      | 901 | b    |
      | 801 | b    |
      | 802 | b    |
      | 803 | b    |
    And alpha folds "prices"
    Then the fold succeeds
    And alpha's snapshot of "prices" has parts of 4, 33 rows
    And alpha reads of "prices" exactly the rows landed

  @store.fold.triggers#runs
  Scenario: fifty runs make a table due, and forty-nine do not
    Given a node "alpha"
    And a table "trades" without a key
    And a table "quotes" without a key
    And alpha has landed 1 rows of "quotes" as run "one"
    And alpha has landed 1 rows of "trades" as run "one"
    And the run "one" of "trades" lies on alpha 48 times more, under other names
    When alpha folds what is due
    Then the fold succeeds
    And alpha has no pointer for "trades"
    When alpha lands 1 rows of "trades"
    And alpha folds what is due
    Then the fold succeeds
    And alpha's pointer for "trades" names a new snapshot
    And alpha has no pointer for "quotes"
    And alpha reads 50 rows of "trades"
    When alpha lands 1 rows of "trades"
    And alpha folds what is due
    Then the fold succeeds
    And alpha's pointer for "trades" is what it was

  @store.fold.triggers#age
  Scenario: six hours after its oldest unfolded run a table is due
    Given a node "alpha"
    And a table "trades" without a key
    And alpha has landed 3 rows of "trades"
    And 5 hours pass
    And 59 minutes pass
    And alpha has landed 2 rows of "trades"
    When alpha folds what is due
    Then the fold succeeds
    And alpha has no pointer for "trades"
    When 1 minute passes
    And alpha folds what is due
    Then the fold succeeds
    And alpha's pointer for "trades" names a new snapshot
    When 5 hours pass
    And alpha lands 2 rows of "trades"
    And 2 hours pass
    And alpha folds what is due
    Then the fold succeeds
    And alpha's pointer for "trades" is what it was

  @store.fold.triggers#named
  Scenario: a table that is named is folded at once
    Given a node "alpha"
    And a table "trades" without a key
    And alpha has landed 1 rows of "trades"
    When alpha folds "trades"
    Then the fold succeeds
    And alpha's pointer for "trades" names a new snapshot

  @store.fold.triggers#every
  Scenario: a table that cannot be folded keeps none of the others
    Given a node "alpha"
    And a table "quotes" without a key
    And a table "trades" without a key
    And a table "wires" without a key
    And alpha has landed 1 rows of "quotes"
    And alpha has landed 1 rows of "trades" as run "harvest"
    And alpha has landed 1 rows of "wires"
    And the manifest of run "harvest" of "trades" on alpha is of the next major
    And 7 hours pass
    When alpha folds what is due
    Then the fold is refused with StoreManifestFormatNewer, naming "harvest/alpha/_manifest.json"
    And alpha's pointer for "quotes" names a new snapshot
    And alpha's pointer for "wires" names a new snapshot

  @store.fold.folded-index#over-parent
  Scenario: a pass names its parent's segments and adds one of what it folds
    Given a node "alpha"
    And a table "trades" without a key
    And alpha has landed 2 runs of "trades" and folded each of them
    And alpha has landed 3 rows of "trades" as run "one"
    And alpha has landed 2 rows of "trades" as run "two"
    When alpha folds "trades"
    Then the fold succeeds
    And the folded-runs index of "trades" on alpha names its parent's segments where they lie, and one new one of the runs "one" and "two"
    And the folded-runs index of "trades" on alpha lists each run its chain folds once, as the run's manifest says

  @store.fold.folded-index#over-parent
  Scenario: over the first valid index below, with the runs walked above it
    Given a node "alpha"
    And a table "trades" without a key
    And alpha has landed 3 runs of "trades" and folded each of them
    And the folded-runs index of the pointer's snapshot of "trades" on alpha is taken out
    And the manifests below the parent of "trades" on alpha are taken away
    And alpha has landed 3 rows of "trades" as run "one"
    When alpha folds "trades"
    Then the fold succeeds
    And the folded-runs index of "trades" on alpha has 3 segments, of 4 rows in all
    And alpha reads of "trades" exactly the rows landed
    When the manifests of "trades" on alpha are put back
    Then the folded-runs index of "trades" on alpha lists each run its chain folds once, as the run's manifest says

  @store.fold.folded-index#over-walk
  Scenario: where no index is valid the pass writes one over the walk to the root
    Given a node "alpha"
    And a table "trades" without a key
    And alpha has landed 3 runs of "trades" and folded each of them
    And the folded-runs index of every snapshot of "trades" on alpha is taken out
    And alpha has landed 3 rows of "trades" as run "one"
    When alpha folds "trades"
    Then the fold succeeds
    And the folded-runs index of "trades" on alpha lists each run its chain folds once, as the run's manifest says
    And the folded-runs index of "trades" on alpha names segments of its own alone

  @store.fold.folded-index#over-walk
  Scenario: a run whose manifest is gone is in the index all the same
    Given a node "alpha"
    And a table "trades" without a key
    And alpha has landed 3 rows of "trades" as run "one"
    And alpha has folded "trades"
    And the folded-runs index of every snapshot of "trades" on alpha is taken out
    And run "one" of "trades" is collected on alpha
    And alpha has landed 2 rows of "trades" as run "two"
    When alpha folds "trades"
    Then the fold succeeds
    And the folded-runs index of "trades" on alpha has 1 segment, of 2 rows in all
    And alpha does not say how many rows of run "one" of "trades" are committed

  @store.fold.folded-index#merged
  Scenario: four segments of one size tier become one
    Given a node "alpha"
    And a table "trades" without a key
    When alpha has landed 5 runs of "trades" and folded each of them
    Then each snapshot's folded-runs index of "trades" on alpha lists what its chain folds, in fewer than 4 segments of any size tier
    And the folded-runs index of "trades" on alpha has 2 segments, of 5 rows in all

  @store.fold.folded-index#none
  Scenario: over a chain that ends at a missing manifest no index is written
    Given a node "alpha"
    And a table "trades" without a key
    And alpha has landed 3 runs of "trades" and folded each of them
    And alpha has landed 3 rows of "trades" as run "one"
    And the folded-runs index of every snapshot of "trades" on alpha is taken out
    And the manifests below the parent of "trades" on alpha are taken away
    When alpha folds "trades"
    Then alpha's fold of "trades" has written no folded-runs index
    When the manifests of "trades" on alpha are put back
    And alpha folds "trades"
    Then the fold succeeds
    And the folded-runs index of "trades" on alpha lists each run its chain folds once, as the run's manifest says

  @store.fold.reference-retention#kept
  Scenario: what a retained snapshot names in an older one's directory stays
    Given a node "alpha"
    And alpha has no bucket
    And a table "trades" without a key
    And alpha has landed 200 rows of "trades" as run "one"
    And alpha has folded "trades"
    And alpha has landed 1 runs of "trades" and folded each of them
    And the clock shows "2026-03-10T09:00:00Z"
    And alpha has landed 2 rows of "trades"
    When alpha folds "trades"
    Then the fold succeeds
    And alpha's pointer's snapshot of "trades" names a part that an older snapshot wrote
    And alpha's pointer's snapshot of "trades" names a segment that an older snapshot wrote
    And every file that alpha's chain of "trades" names is there
    And alpha reads of "trades" exactly the rows landed
    When alpha lands 2 rows of "trades"
    And alpha folds "trades"
    Then the fold succeeds
    And every file that alpha's chain of "trades" names is there
    And alpha reads of "trades" exactly the rows landed
    And alpha's store checks out

  @store.fold.reference-retention#removed
  Scenario: the rest of a snapshot superseded longer ago than retain_runs goes, its manifest and the runs folded as long ago too
    Given a node "alpha"
    And alpha has no bucket
    And a table "trades" without a key
    And "trades" declares retain_runs as "2d"
    And the clock shows "2026-03-01T09:00:00Z"
    And alpha has landed 3 rows of "trades" as run "one"
    And alpha has folded "trades"
    And alpha has landed 2 runs of "trades" and folded each of them
    And the clock shows "2026-03-04T09:00:00Z"
    And alpha has landed 2 rows of "trades" as run "last"
    When alpha folds "trades"
    Then the fold succeeds
    And alpha's chain of "trades" has 2 snapshots, and ends there
    And alpha's snapshots of "trades" hold nothing that its chain does not name
    And every file that alpha's chain of "trades" names is there
    And nothing of run "one" of "trades" lies on alpha
    And run "last" of "trades" stays on alpha
    And alpha reads of "trades" exactly the rows landed
    And alpha's store checks out
    When alpha lands run "one" of "trades" again
    Then the report says 3 rows, replayed
    And alpha reads of "trades" exactly the rows landed

  @store.fold.reference-retention#removed
  Scenario Outline: what was superseded a nanosecond less than retain_runs ago stays, at <later>
    Given a node "alpha"
    And alpha has no bucket
    And a table "trades" without a key
    And "trades" declares retain_runs as "2d"
    And the clock shows "2026-03-01T09:00:00Z"
    And alpha has landed 3 rows of "trades" as run "one"
    And alpha has folded "trades"
    And the clock shows "2026-03-02T09:00:00Z"
    And alpha has landed 3 rows of "trades" as run "two"
    And alpha has folded "trades"
    And the clock shows "<later>"
    And alpha has landed 2 rows of "trades" as run "last"
    When alpha folds "trades"
    Then the fold succeeds
    And alpha's chain of "trades" has <chain>
    And run "two" of "trades" <two> alpha
    And alpha reads of "trades" exactly the rows landed
    Examples:
      | later                          | chain                             | two          |
      | 2026-03-04T08:59:59.999999999Z | 3 snapshots, and ends at its root | stays on     |
      | 2026-03-04T09:00:00Z           | 2 snapshots, and ends there       | is gone from |

  @store.fold.reference-retention#removed @store.fold.reference-retention#kept
  Scenario: what a later pass no longer names goes with that pass's parent
    Given a node "alpha"
    And alpha has no bucket
    And a table "trades" without a key
    And "trades" declares retain_runs as "2d"
    And alpha has landed 3 runs of "trades" and folded each of them
    And the clock shows "2026-03-09T09:00:00Z"
    And alpha has landed 1 runs of "trades" and folded each of them
    And the clock shows "2026-03-19T09:00:00Z"
    And alpha has landed 2 rows of "trades" as run "last"
    When alpha folds "trades"
    Then the fold succeeds
    And alpha's snapshots of "trades" hold nothing that its chain does not name
    And every file that alpha's chain of "trades" names is there
    And alpha reads of "trades" exactly the rows landed

  @store.fold.reference-retention#reader
  Scenario: a read whose files are collected under it is answered from what the table is by then
    Given a node "alpha"
    And alpha has no bucket
    And a table "trades" without a key
    And "trades" declares retain_runs as "2d"
    And the clock shows "2026-03-01T09:00:00Z"
    And alpha has landed 4 rows of "trades" as run "one"
    And alpha has folded "trades"
    And alpha has landed 3 rows of "trades" as run "two"
    And alpha has landed 2 rows of "trades" as run "three"
    When alpha's read of "trades" is held as it opens the first part
    And alpha has folded "trades"
    And the clock shows "2026-03-04T09:00:00Z"
    And alpha has landed 5 rows of "trades" as run "last"
    And alpha has folded "trades"
    And run "two" of "trades" is gone from alpha
    And run "three" of "trades" is gone from alpha
    And the held read goes on to its end
    Then the held read has given exactly the rows landed by now of "trades"

  @store.fold.reference-retention#killed
  Scenario: a collection that is killed after any removal is ended by the next one
    Given a node "alpha"
    And alpha has no bucket
    And a table "trades" without a key
    And "trades" declares retain_runs as "2d"
    And the clock shows "2026-03-01T09:00:00Z"
    And alpha has landed 2 runs of "trades" and folded each of them
    And the folded runs of "trades" on alpha are collected
    And alpha has landed 2 rows of "trades" as run "third"
    And alpha has folded "trades"
    And the clock shows "2026-03-04T09:00:00Z"
    And alpha has landed 2 rows of "trades"
    When alpha's fold of "trades" is killed after each removal in the table
    Then alpha reads of "trades" exactly the rows landed
    And alpha's store checks out
    And every file that alpha's chain of "trades" names is there
    When each alpha lands 2 rows of "trades"
    And alpha folds "trades"
    Then the fold succeeds
    And alpha's snapshots of "trades" hold nothing that its chain does not name
    And nothing of run "third" of "trades" lies on alpha
    And alpha reads of "trades" exactly the rows landed

  @store.fold.reference-retention#bucket
  Scenario: a store with a bucket keeps what its bucket may want
    Given a node "alpha"
    And a table "trades" without a key
    And "trades" declares retain_runs as "2d"
    And the clock shows "2026-03-01T09:00:00Z"
    And alpha has landed 3 rows of "trades" as run "one"
    And alpha has folded "trades"
    And alpha has landed 2 runs of "trades" and folded each of them
    And the clock shows "2026-03-09T09:00:00Z"
    And alpha has landed 2 rows of "trades" as run "last"
    When alpha folds "trades"
    Then the fold succeeds
    And alpha's chain of "trades" has 4 snapshots, and ends at its root
    And run "one" of "trades" stays on alpha

  @store.fold.reference-retention#bucket
  Scenario: a store that removed its past before it had a bucket brings the bucket all that it has
    Given nodes "alpha" and "beta" share a bucket
    And alpha has no bucket
    And a table "trades" without a key
    And "trades" declares retain_runs as "2d"
    And the clock shows "2026-03-01T09:00:00Z"
    And alpha has landed 3 runs of "trades" and folded each of them
    And the clock shows "2026-03-09T09:00:00Z"
    And alpha has landed 1 runs of "trades" and folded each of them
    And alpha has landed 2 rows of "trades"
    When alpha is given the bucket
    And alpha pushes
    Then the push succeeds
    And the next pull succeeds and beta reads of "trades" what alpha reads
    When beta has landed 2 rows of "trades"
    And beta folds "trades"
    Then the fold succeeds
    And beta reads of "trades" exactly the rows landed
    And the next push of beta succeeds
    And the next pull of alpha succeeds
    And alpha reads of "trades" exactly the rows landed
