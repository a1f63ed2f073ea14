Feature: pull
  A pull brings a node's store up to the bucket. At every instant of it, a reader sees a state that was committed, whole.

  Background:
    Given nodes "alpha" and "beta" share a bucket

  @store.pull.pointer-last#before
  Scenario: the pointer waits for the last part
    Given alpha has pushed "events", folded into 3 partitions
    And the bucket will hold its answer to beta's request for the last part of "events", half sent
    When beta starts to pull
    And the answer is held
    Then beta has no pointer for "events"
    When the answer is let through
    Then the pull succeeds
    And beta reads of "events" what alpha reads

  @store.pull.pointer-last#before
  Scenario: an older pointer stays until the newer snapshot is whole
    Given alpha has pushed "events", folded into 3 partitions
    And beta has pulled
    And alpha has pushed "events", folded into 3 partitions
    And the bucket will hold its answer to beta's request for the last part of "events", half sent
    When beta starts to pull
    And the answer is held
    Then beta's pointer for "events" is what it was
    When the answer is let through
    Then the pull succeeds
    And beta reads of "events" what alpha reads

  @store.pull.pointer-last#killed
  Scenario Outline: a pull killed at <point> leaves no promise it cannot keep
    Given alpha has pushed "events", folded into 3 partitions
    When beta's pull is killed at <point>
    Then every part that a pointer of beta's promises is there
    And the next pull succeeds and beta reads of "events" what alpha reads
    Examples:
      | point                     |
      | its first request         |
      | its last request          |
      | each rename that it makes |
