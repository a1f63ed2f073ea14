Feature: merge
  A push that loses a round reads again, merges anew and tries again. A round that another writer won is progress; a round that nobody won is
  a bucket that does not work, and those are counted.

  Background:
    Given nodes "alpha" and "beta" share a bucket
    And alpha has pushed "events"
    And alpha has landed 6 rows of "events"

  @store.merge.retries#default @store.merge.exhausted#retries
  Scenario: five attempts that nobody won are all
    Given the bucket will do `(Respond 412 "PreconditionFailed" (And Put (Key "*/manifest.json")))`
    When alpha pushes
    Then the push is refused with SyncManifestRebaseExhausted
    And alpha's push has asked 5 times to replace the bucket's manifest
    And the bucket's manifest and pointers stay as they were

  @store.merge.retries#default
  Scenario: the fifth attempt still counts
    Given the bucket will do `(Respond 412 "PreconditionFailed" (And Put (Key "*/manifest.json") (Not (FromIndex 4))))`
    When alpha pushes
    Then the push succeeds
    And alpha's push has asked 5 times to replace the bucket's manifest
    And the bucket lists what alpha has committed of "events"

  @store.merge.retries#configured
  Scenario Outline: <n> attempts where the setting says <n>
    Given sync.push_retries is <n> on alpha
    And the bucket will do `(Respond 412 "PreconditionFailed" (And Put (Key "*/manifest.json")))`
    When alpha pushes
    Then the push is refused with SyncManifestRebaseExhausted
    And alpha's push has asked <n> times to replace the bucket's manifest
    And the bucket's manifest and pointers stay as they were
    Examples:
      | n |
      | 1 |
      | 3 |

  @store.merge.retries#configured
  Scenario: the last of a configured number still counts
    Given sync.push_retries is 2 on alpha
    And the bucket will do `(Respond 412 "PreconditionFailed" (And Put (Key "*/manifest.json") (Not (FromIndex 1))))`
    When alpha pushes
    Then the push succeeds
    And alpha's push has asked 2 times to replace the bucket's manifest

  @store.merge.retries#newer
  Scenario: rounds that a rival won use nothing up
    Given sync.push_retries is 2 on alpha
    And the bucket will do `(RivalManifest (And Put (Key "*/manifest.json") (Principal "alpha.*") (Not (FromIndex 7))))`
    When alpha pushes
    Then the push succeeds
    And alpha's push has asked 8 times to replace the bucket's manifest
    And the bucket lists what alpha has committed of "events"

  @store.merge.exhausted#retries
  Scenario: a push that gave up has not forced its list through
    Given beta has pulled
    And sync.push_retries is 2 on alpha
    And the bucket will do `(Respond 412 "PreconditionFailed" (And Put (Key "*/manifest.json") (Principal "alpha.*") (Not (FromIndex 2))))`
    When alpha pushes
    Then the push is refused with SyncManifestRebaseExhausted
    And the bucket's manifest and pointers stay as they were
    When beta pulls
    Then the pull succeeds
    And beta reads 12 rows of "events"

  @store.merge.exhausted#ceiling
  Scenario: sixty-four rounds are all, though each was another writer's progress
    Given the bucket will do `(RivalManifest (And Put (Key "*/manifest.json") (Principal "alpha.*") (Not (FromIndex 70))))`
    When alpha pushes
    Then the push is refused with SyncManifestRebaseExhausted
    And alpha's push has asked 64 times to replace the bucket's manifest

  @store.merge.exhausted#report
  Scenario: the refusal tells of every upload, and the next push commits without uploading any of them again
    Given alpha has folded "events" into 3 partitions
    And sync.push_retries is 2 on alpha
    And the bucket will do `(Respond 412 "PreconditionFailed" (And Put (Key "*/manifest.json") (Not (FromIndex 2))))`
    When alpha pushes
    Then the push is refused with SyncManifestRebaseExhausted
    And the refusal tells of everything that alpha's push uploaded
    And the refusal tells of "again" or "re-run" or "rerun" or "retry"
    When alpha pushes
    Then the push succeeds
    And alpha's push has uploaded nothing that its push before had uploaded
    And the bucket lists what alpha has committed of "events"
