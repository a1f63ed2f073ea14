Feature: emit
  A person, or a script that uploads by other means, sees what a push would commit before trusting the tool with a bucket.

  Background:
    Given nodes "alpha" and "beta" share a bucket

  @store.emit.plan#as-pushed
  Scenario: what is emitted is what the first push commits
    Given alpha has folded "events" into 3 partitions
    And alpha has landed 6 rows of "events"
    And alpha has landed 5 rows of "notes"
    And alpha has emitted its manifest
    When alpha pushes
    Then the push succeeds
    And the bucket lists exactly what alpha emitted

  @store.emit.plan#as-pushed
  Scenario: a node that pulled another's rows emits what it would push itself
    Given alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    And alpha has pushed
    And beta has pulled
    And beta has landed 6 rows of "events"
    And beta has emitted its manifest
    And the bucket is emptied
    When beta pushes
    Then the push succeeds
    And the bucket lists exactly what beta emitted

  @store.emit.plan#no-request
  Scenario: emitting asks the bucket nothing
    Given alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    When alpha emits its manifest
    Then the emission succeeds
    And alpha's emission has asked the bucket nothing
    And the bucket stays as it was

  @store.emit.plan#no-request
  Scenario: with the endpoint down the same is printed
    Given alpha has pushed "events", folded into 3 partitions
    And alpha has landed 6 rows of "events"
    And alpha has emitted its manifest
    And from now on the bucket refuses every connection
    When alpha emits its manifest
    Then the emission succeeds
    And alpha printed what it had printed before
