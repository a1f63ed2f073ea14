Feature: lease
  A lease says who works. What protects is its fence: a holder that was paused and has been succeeded cannot know, but the bucket can.

  Background:
    Given nodes "alpha" and "beta" share a bucket

  @store.lease.acquire#absent
  Scenario: of two nodes that create a lease at once, one has it
    Given the bucket will hold alpha's write of "research/leases/compact/events.json"
    When alpha starts to take the lease of "events"
    And the write is held
    And beta takes the lease of "events"
    Then beta's lease succeeds
    When the write is let through
    Then alpha's lease is refused with LeaseHeld, naming "beta"
    And the lease of "events" names beta, with fence 1
    And every write of "research/leases/compact/events.json" was conditional

  @store.lease.acquire#absent
  Scenario Outline: a lease whose answer was lost is held by the one who took it: <answer>
    Given the bucket will do `(<fault> (And Put (Key "*/leases/compact/events.json") (OnIndex 0)))`
    When alpha takes the lease of "events"
    Then the lease succeeds
    And the lease of "events" names alpha, with fence 1
    And alpha was told the fence 1
    Examples:
      | answer                              | fault                              |
      | applied, and no answer comes        | ApplyThenDrop                      |
      | applied, and answered with 412      | ApplyThen 412 "PreconditionFailed" |
      | applied, and answered with 500      | ApplyThen 500 "InternalError"      |
      | not applied, and no answer comes    | Drop                               |
      | applied late, after two requests    | Late 2                             |

  @store.lease.acquire#expired
  Scenario: of two nodes that replace an expired lease at once, one has it
    Given gamma has taken the lease of "events"
    And the lease of "events" has expired
    And the bucket will hold alpha's write of "research/leases/compact/events.json"
    When alpha starts to take the lease of "events"
    And the write is held
    And beta takes the lease of "events"
    Then beta's lease succeeds
    When the write is let through
    Then alpha's lease is refused with LeaseHeld, naming "beta"
    And the lease of "events" names beta, with fence 2
    And every write of "research/leases/compact/events.json" was conditional

  @store.lease.acquire#released
  Scenario: a lease that was given back is taken before its time is over
    Given alpha has taken the lease of "events"
    And alpha has given the lease of "events" back
    When beta takes the lease of "events"
    Then the lease succeeds
    And the lease of "events" names beta, with fence 2

  @store.lease.acquire#released
  Scenario: of two nodes that take at once a lease that was given back, one has it
    Given gamma has taken the lease of "events"
    And gamma has given the lease of "events" back
    And the bucket will hold alpha's write of "research/leases/compact/events.json"
    When alpha starts to take the lease of "events"
    And the write is held
    And beta takes the lease of "events"
    Then beta's lease succeeds
    When the write is let through
    Then alpha's lease is refused with LeaseHeld, naming "beta"
    And the lease of "events" names beta, with fence 2
    And every write of "research/leases/compact/events.json" was conditional

  @store.lease.acquire#fence
  Scenario: the first fence is 1
    When alpha takes the lease of "events"
    Then the lease succeeds
    And alpha was told the fence 1
    And the lease of "events" names alpha, with fence 1

  @store.lease.acquire#fence
  Scenario Outline: the fence goes one up from a lease that was <left>
    Given alpha has taken the lease of "events"
    And alpha has given the lease of "events" back
    And beta has taken the lease of "events"
    And beta has <left>
    When alpha takes the lease of "events"
    Then the lease succeeds
    And alpha was told the fence 3
    And the lease of "events" names alpha, with fence 3
    Examples:
      | left                               |
      | given the lease of "events" back   |
      | let the lease of "events" expire   |

  @store.lease.held#named
  Scenario: who finds a lease held is told by whom and until when
    Given alpha has taken the lease of "events"
    When beta takes the lease of "events"
    Then the lease is refused with LeaseHeld, naming "alpha" and <the expiry>
    And the lease of "events" is as it was

  @store.lease.held#named
  Scenario: once it has expired it is taken without a word
    Given alpha has taken the lease of "events"
    And the lease of "events" has expired
    When beta takes the lease of "events"
    Then the lease succeeds
    And the lease of "events" names beta, with fence 2

  @store.lease.held#skipped
  Scenario: what the lease was wanted for is not done
    Given alpha has pushed "events"
    And beta has pulled
    And alpha has taken the lease of "events"
    When beta folds "events" under the lease
    Then the leased fold is refused with LeaseHeld, naming "alpha" and <the expiry>
    And beta's leased fold has written nothing but "_contextful/cas-probe/*"
    And beta's store stays as it was
    And the bucket stays as it was

  @store.lease.held#skipped
  Scenario: once it is given back it is done
    Given alpha has pushed "events"
    And beta has pulled
    And alpha has taken the lease of "events"
    And alpha has given the lease of "events" back
    When beta folds "events" under the lease
    Then the leased fold succeeds
    And the bucket's pointer of "events" is beta's, with fence 2

  @store.lease.not-held#other-node
  Scenario: a lease that another node holds is not released
    Given alpha has taken the lease of "events"
    When beta gives the lease of "events" back
    Then the release is refused with LeaseNotHeld
    And the lease of "events" is as it was
    When alpha gives the lease of "events" back
    Then the release succeeds
    And the lease of "events" names nobody, with fence 1

  @store.lease.not-held#later-acquisition
  Scenario: a lease that the same node took anew is not released by the one before
    Given alpha has taken the lease of "events"
    And the lease of "events" has expired
    And alpha has taken the lease of "events"
    When alpha gives the lease of "events" back, naming the fence 1
    Then the release is refused with LeaseNotHeld
    And the lease of "events" is as it was
    When alpha gives the lease of "events" back, naming the fence 2
    Then the release succeeds
    And the lease of "events" names nobody, with fence 2

  @store.lease.stale-fence#pointer
  Scenario Outline: a holder paused <where> comes back after its successor published
    Given alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    And alpha has pushed
    And beta has pulled
    When alpha starts to fold "events" under the lease and is paused <where>
    And the lease of "events" expires
    And beta folds "events" under the lease
    Then beta's leased fold succeeds
    When alpha is resumed
    Then alpha's leased fold is refused with LeaseFenced
    And the bucket's pointer of "events" is beta's, with fence 2
    Examples:
      | where                                            |
      | before the snapshot's manifest is uploaded       |
      | before the bucket's manifest is replaced         |
      | after the bucket's manifest is replaced          |
      | before the bucket's pointer is replaced          |

  @store.lease.stale-fence#pointer
  Scenario: a holder that comes back with its lease in its hand is told so at once
    Given alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    And alpha has pushed
    And beta has pulled
    And alpha has taken the lease of "events"
    And the lease of "events" has expired
    And beta has folded "events" under the lease
    When alpha folds "events" under the lease it holds with fence 1
    Then the leased fold is refused with LeaseFenced
    And the bucket's manifest and pointers stay as they were

  @store.lease.stale-fence#pointer
  Scenario: a holder that was paused and not succeeded publishes
    Given alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    When alpha starts to fold "events" under the lease and is paused before the bucket's pointer is replaced
    And the lease of "events" expires
    And alpha is resumed
    Then alpha's leased fold succeeds
    And the bucket's pointer of "events" is alpha's, with fence 1

  @store.lease.stale-fence#unreadable
  Scenario Outline: nobody reads the snapshot of a holder that was paused <where>
    Given alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    And alpha has pushed
    And beta has pulled
    And alpha starts to fold "events" under the lease and is paused <where>
    And the lease of "events" has expired
    And beta has landed 6 rows of "events"
    And beta has folded "events" under the lease
    When alpha is resumed
    Then alpha's leased fold is refused with LeaseFenced
    And nobody reads a file of the snapshot that alpha was refused
    And alpha reads 18 rows of "events"
    And the next pull of alpha succeeds
    And the next push of alpha succeeds
    And nobody reads a file of the snapshot that alpha was refused
    And alpha reads of "events" exactly what was landed
    And a new node "gamma" that pulls reads of "events" exactly what was landed
    Examples:
      | where                                            |
      | after the bucket's manifest is replaced          |
      | before the bucket's pointer is replaced          |

  @store.lease.pointer-fence#raised
  Scenario: taking the lease raises the fence of the pointer and leaves it its snapshot
    Given alpha has pushed "events", folded into 3 partitions
    And beta has pulled
    When beta takes the lease of "events"
    Then the lease succeeds
    And the bucket's pointer of "events" is alpha's, with fence 1

  @store.lease.pointer-fence#raised
  Scenario: each taking raises it again
    Given alpha has pushed "events", folded into 3 partitions
    And alpha has taken the lease of "events"
    And alpha has given the lease of "events" back
    When alpha takes the lease of "events"
    Then the lease succeeds
    And the bucket's pointer of "events" is alpha's, with fence 2

  @store.lease.pointer-fence#no-pointer
  Scenario: where there is no pointer one comes to be that names no snapshot
    Given alpha has pushed "events"
    And beta has pulled
    When beta takes the lease of "events"
    Then the lease succeeds
    And the bucket's pointer of "events" names no snapshot, with fence 1
    And the next pull of beta succeeds
    And beta reads of "events" exactly what was landed
    And a new node "gamma" that pulls reads of "events" exactly what was landed

  @store.lease.pointer-fence#lower-loses
  Scenario Outline: a publication begun before the lease was taken anew fails in the bucket: <first>
    Given alpha has pushed "events"<folded>
    And alpha has landed 6 rows of "events"
    When alpha starts to fold "events" under the lease and is paused before the bucket's pointer is replaced
    And the lease of "events" expires
    And beta takes the lease of "events"
    Then beta's lease succeeds
    When alpha is resumed
    Then alpha's leased fold is refused with LeaseFenced
    And the bucket has refused alpha's latest replacement of the pointer of "events"
    And the bucket's pointer of "events" names <what>, with fence 2
    Examples:
      | first                         | folded                     | what                   |
      | a table that was folded       | , folded into 3 partitions | what it named before   |
      | a table's first publication   |                            | no snapshot            |
