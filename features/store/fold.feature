Feature: fold
  A fold changes how rows lie, never what they say; and nobody waits for it.

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
