Feature: lay-out
  What lies on a store's disk, and what of it a reader believes.

  Background:
    Given nodes "alpha" and "beta" share a bucket

  @store.lay-out.components#files
  Scenario: a landing and a fold leave Parquet, JSON, one pointer and two catalogs
    Given alpha has landed 6 rows of "events"
    When alpha folds "events"
    Then the fold succeeds
    And a run and a snapshot of "events" lie on alpha as Parquet parts under a JSON manifest
    And alpha has exactly one pointer for "events"
    And alpha's store root holds the SQLite files "derived.sqlite" and "machine.sqlite"

  @store.lay-out.components#canonical
  Scenario: without its catalogs a store reads as it did
    Given alpha has landed 6 rows of "events"
    And alpha has folded "events"
    And alpha has landed 4 rows of "events"
    And alpha has landed 5 rows of "notes"
    When alpha's catalogs are deleted
    Then alpha reads of "events" exactly the rows landed
    And alpha reads of "notes" exactly the rows landed

  @store.lay-out.catalog-ports#machine @needs.sync @needs.lease
  Scenario: a machine's catalog outlives the other one
    Given alpha has pushed "events"
    And alpha has taken the lease of "events"
    And alpha has folded "events"
    And alpha's machine catalog is looked at
    And in the place of alpha's derived catalog stands no file
    When alpha rebuilds its catalog
    Then the rebuild succeeds
    And alpha's machine catalog has every row it had

  @store.lay-out.catalog-ports#derived
  Scenario: a derived catalog needs nothing of the machine's
    Given alpha has folded "events" into 2 partitions
    And alpha has landed 3 rows of "notes"
    And alpha has rebuilt its catalog
    And alpha's catalogs are deleted
    When alpha rebuilds its catalog
    Then the rebuild succeeds
    And alpha's derived catalog holds the rows it held when it was rebuilt before

  @store.lay-out.derived-catalog#rebuilt
  Scenario: a rebuilt catalog has every table with its snapshots, runs and columns
    Given alpha has landed 3 rows of "events" as run "first"
    And alpha has folded "events"
    And alpha has landed 3 rows of "events" as run "second"
    And alpha has folded "events"
    And alpha has landed 3 rows of "events" as run "third"
    And alpha has folded "events"
    And run "first" of "events" is collected on alpha
    And alpha has landed 2 rows of "notes"
    When alpha rebuilds its catalog
    Then the rebuild succeeds
    And alpha's derived catalog has all of "events" and "notes": snapshots, runs and columns

  @store.lay-out.derived-catalog#rebuilt @store.lay-out.derived-catalog#replaced
  Scenario Outline: a catalog is rebuilt to the same rows where <what> stands in its place
    Given alpha has landed 2 rows of "events"
    And alpha has rebuilt its catalog
    And alpha's derived catalog is kept for another day
    And alpha has folded "events" into 2 partitions
    And alpha has landed 3 rows of "notes"
    And alpha has rebuilt its catalog
    And in the place of alpha's derived catalog stands <what>
    When alpha rebuilds its catalog
    Then the rebuild succeeds
    And alpha's derived catalog holds the rows it held when it was rebuilt before
    Examples:
      | what                       |
      | no file                    |
      | text that is no database   |
      | half of it                 |
      | a damaged one              |
      | the catalog of another day |

  @store.lay-out.derived-catalog#committed
  Scenario: a rebuilt catalog holds nothing that no reader sees
    Given alpha has folded "events" into 2 partitions
    And alpha has landed rows of "events" as run "torn":
      | id | region | amount |
      | 2  | south  | 7      |
    And alpha has rebuilt its catalog
    And the manifest of run "torn" of "events" on alpha is taken away
    And a complete snapshot of other rows, made after the pointer's, comes into "events" on alpha
    When alpha rebuilds its catalog
    Then the rebuild succeeds
    And alpha's derived catalog has all of "events": snapshots, runs and columns
    And alpha's derived catalog does not mention "torn"
    And alpha's derived catalog does not mention the unreachable snapshot

  @store.lay-out.derived-catalog#refused
  Scenario Outline: a rebuild that meets a torn <what> refuses and leaves the catalog
    Given alpha has folded "events" into 2 partitions
    And alpha has landed rows of "events" as run "last":
      | id | region | amount |
      | 2  | south  | 7      |
    And alpha has rebuilt its catalog
    And the <what> of "events" on alpha is torn
    When alpha rebuilds its catalog
    Then the rebuild is refused with StoreManifestInvalid, naming <the torn file>
    And alpha's derived catalog is the file it was
    Examples:
      | what                           |
      | pointer                        |
      | schema                         |
      | manifest of run "last"         |
      | manifest of the last snapshot  |

  @store.lay-out.derived-catalog#refused
  Scenario: a torn manifest that no reader opens refuses no rebuild
    Given alpha has folded "events" into 2 partitions
    And a complete snapshot of other rows, made after the pointer's, comes into "events" on alpha
    And the manifest of the unreachable snapshot of "events" on alpha is torn
    When alpha rebuilds its catalog
    Then the rebuild succeeds
    And alpha's derived catalog has all of "events": snapshots, runs and columns

  @store.lay-out.derived-catalog#cache
  Scenario Outline: reads, landings and folds are the same where <what> stands for the catalog
    Given alpha has landed 2 rows of "events"
    And alpha has rebuilt its catalog
    And alpha's derived catalog is kept for another day
    And alpha has folded "events" into 2 partitions
    And alpha has landed 3 rows of "events"
    And in the place of alpha's derived catalog stands <what>
    Then alpha reads of "events" exactly the rows landed
    Given alpha has landed 4 rows of "events"
    When alpha folds "events"
    Then the fold succeeds
    And alpha reads of "events" exactly the rows landed
    Examples:
      | what                       |
      | text that is no database   |
      | a damaged one              |
      | the catalog of another day |

  @store.lay-out.derived-catalog#local @store.lay-out.machine-catalog#unsynced @needs.sync
  Scenario: no catalog goes to the bucket
    Given alpha has folded "events" into 2 partitions
    And alpha has rebuilt its catalog
    When alpha pushes
    Then the push succeeds
    And the bucket neither holds nor lists a catalog

  @store.lay-out.derived-catalog#local @needs.sync
  Scenario: a pull takes no derived catalog that a bucket lists
    Given alpha has pushed "events", folded into 2 partitions
    And the bucket has a "derived.sqlite" of another machine and lists it
    When beta pulls
    Then the pull succeeds
    And beta has not taken the other machine's "derived.sqlite"
    And beta reads of "events" what alpha reads

  @store.lay-out.machine-catalog#pulled @needs.sync
  Scenario: a pull leaves the machine's catalog to the byte, whatever the bucket lists
    Given alpha has pushed "events", folded into 2 partitions
    And beta has pulled
    And beta has landed 2 rows of "events"
    And the bucket has a "machine.sqlite" of another machine and lists it
    And alpha has landed 3 rows of "events"
    And alpha has pushed
    And beta's machine catalog is looked at
    When beta pulls
    Then the pull succeeds
    And beta's "machine.sqlite" is, to the byte, what it was

  @store.lay-out.machine-catalog#holds
  Scenario: a landing stands in the journal of its machine
    When alpha has landed rows of "events" as run "journalled":
      | id | region | amount |
      | 2  | south  | 7      |
    Then alpha's machine catalog mentions "journalled"

  @store.lay-out.machine-catalog#holds @needs.sync @needs.lease
  Scenario: a lease stands in the catalog of the machine that took it
    Given alpha's node id is "holder-7"
    And alpha has pushed "events"
    When alpha has taken the lease of "events"
    Then alpha's machine catalog mentions "holder-7"

  @store.lay-out.machine-catalog#filled
  Scenario: a rebuild fills in the runs of every node where the machine knows of none
    Given alpha has landed 2 rows of "events"
    And alpha knows the run state of node "beta": pipeline "feed" ran "r-7" and stands at "position-41"
    And alpha knows the run state of node "alpha": pipeline "feed" ran "r-8" and stands at "position-42"
    And alpha knows a run state of node "gamma" that is torn
    Then alpha lists no runs of pipelines
    When alpha rebuilds its catalog
    Then the rebuild succeeds
    And alpha lists the runs of pipelines "feed r-7 of beta" and "feed r-8 of alpha"

  @store.lay-out.machine-catalog#only-none
  Scenario: a rebuild adds no run where the machine knows of one
    Given alpha knows the run state of node "beta": pipeline "feed" ran "r-7" and stands at "position-41"
    And alpha has rebuilt its catalog
    And alpha knows the run state of node "gamma": pipeline "other" ran "r-9" and stands at "position-43"
    And alpha knows the run state of node "beta": pipeline "feed" ran "r-10" and stands at "position-44"
    When alpha rebuilds its catalog
    Then the rebuild succeeds
    And alpha lists the run of pipelines "feed r-7 of beta"

  @store.lay-out.machine-catalog#nothing-else @needs.sync @needs.lease
  Scenario: a rebuild makes up no cursor and drops no journal and no lease
    Given alpha has pushed "events"
    And alpha has taken the lease of "events"
    And alpha knows the run state of node "beta": pipeline "feed" ran "r-7" and stands at "position-41"
    And alpha's machine catalog is looked at
    When alpha rebuilds its catalog
    Then the rebuild succeeds
    And alpha's machine catalog mentions "r-7"
    And alpha's machine catalog does not mention "position-41"
    And alpha's machine catalog has every row it had

  @store.lay-out.run-manifest#created-once
  Scenario: a manifest that comes while a landing is held keeps its bytes
    Given alpha has landed 3 rows of "events"
    And alpha's landing of run "twice" into "events" is held just before its manifest
    When another writer's manifest of run "twice" of "events" comes to alpha
    And the held landing goes on to its end
    Then the landing is refused with StoreRunConflict, naming "twice"
    And the manifest of run "twice" of "events" on alpha is still the other writer's
    And alpha reads every row landed into "events" once, and no other

  @store.lay-out.run-manifest#created-once
  Scenario: a held landing that nobody overtook commits
    Given alpha has landed 3 rows of "events"
    And alpha's landing of run "once" into "events" is held just before its manifest
    When the held landing goes on to its end
    Then the landing succeeds
    And alpha reads every row landed into "events" once, and no other

  @store.lay-out.run-manifest#complete @store.lay-out.run-replay#killed
  Scenario Outline: a landing killed after any <call> is there whole or not at all, and once when it is made again
    Given a table "trades" without a key
    And alpha has landed 3 rows of "trades"
    When alpha's landing of 5 rows of "trades" is killed after each <call> in the table
    Then alpha has all of the killed run of "trades" or nothing of it
    When the killed landing of "trades" is made again on each alpha
    Then alpha reads of "trades" exactly the rows landed
    Examples:
      | call   |
      | mkdir  |
      | fsync  |
      | rename |

  @store.lay-out.run-manifest#complete
  Scenario: parts are on the disk before the manifest that names them
    Given alpha has landed 3 rows of "events"
    When alpha lands 5 rows of "events", watched
    Then every part of that run of "events" on alpha was synced before its manifest appeared
    And alpha reads of "events" exactly the rows landed

  @store.lay-out.run-manifest#copied
  Scenario: another node's run that is copied beside a folded one of its id is read
    Given a table "trades" without a key
    And alpha has landed 3 rows of "trades" as run "one"
    And alpha has folded "trades"
    And beta has landed 2 rows of "trades" as run "one"
    When beta's run "one" of "trades" is copied to alpha, and the directories there keep their dates
    Then alpha reads of "trades" exactly the rows landed
    When alpha folds "trades"
    Then the fold succeeds
    And alpha reads of "trades" exactly the rows landed

  @store.lay-out.run-manifest#node
  Scenario Outline: a manifest that names another <what> than its path refuses the read
    Given alpha has landed 3 rows of "events"
    And alpha has landed 2 rows of "notes"
    And alpha has landed rows of "events" as run "harvest":
      | id | region | amount |
      | 91 | north  | 5      |
    When the manifest of run "harvest" of "events" on alpha says that <field> is "<other>"
    And alpha reads "events"
    Then the read is refused with StoreManifestInvalid, naming "harvest/alpha/_manifest.json"
    And alpha reads of "notes" exactly the rows landed
    When the manifest of run "harvest" of "events" on alpha says that <field> is "<own>"
    Then alpha reads of "events" exactly the rows landed
    Examples:
      | what  | field   | other  | own     |
      | node  | node_id | beta   | alpha   |
      | run   | run_id  | run-1  | harvest |
      | table | table   | notes  | events  |

  @store.lay-out.uncommitted-run#no-manifest
  Scenario: parts without a manifest are in no list and in no answer
    Given alpha has landed rows of "events" as run "whole":
      | id | region | amount |
      | 1  | north  | 5      |
    And alpha has landed rows of "events" as run "torn":
      | id | region | amount |
      | 2  | south  | 7      |
    When the manifest of run "torn" of "events" on alpha is taken away
    Then alpha's list of "events" has the parts of run "whole" and none of run "torn"
    And alpha reads of "events":
      | id | region | amount |
      | 1  | north  | 5      |
    When the manifest of run "torn" of "events" on alpha is put back
    Then alpha's list of "events" has the parts of run "whole" and of run "torn"
    And alpha reads of "events" exactly the rows landed

  @store.lay-out.uncommitted-run#logged
  Scenario Outline: a logged manifest does not count by <case>
    Given alpha has landed rows of "events" as run "direct":
      | id | region | amount |
      | 1  | north  | 5      |
    And alpha has landed rows of "events" as run "leased":
      | id | region | amount |
      | 2  | south  | 7      |
    And the manifest of run "leased" of "events" on alpha is marked logged by the pipeline "feed"
    When the log of pipeline "<pipeline>" and node "<node>" on alpha has the entry "<kind>" of run "<run>" of "<table>"
    Then alpha's list of "events" has the parts of run "direct" and none of run "leased"
    And alpha reads of "events":
      | id | region | amount |
      | 1  | north  | 5      |
    When the log of pipeline "feed" and node "alpha" on alpha has the entry "commit" of run "leased" of "events"
    Then alpha's list of "events" has the parts of run "direct" and of run "leased"
    And alpha reads of "events" exactly the rows landed
    Examples:
      | case                       | pipeline | node  | kind    | run    | table  |
      | an entry of another kind   | feed     | alpha | acquire | leased | events |
      | an entry of another run    | feed     | alpha | commit  | direct | events |
      | an entry of another table  | feed     | alpha | commit  | leased | notes  |
      | another pipeline's log     | drain    | alpha | commit  | leased | events |
      | another node's log         | feed     | beta  | commit  | leased | events |

  @store.lay-out.uncommitted-run#logged
  Scenario: a logged manifest without a log does not count
    Given alpha has landed 3 rows of "events"
    When the manifest of run "run-1" of "events" on alpha is marked logged by the pipeline "feed"
    Then alpha reads no rows of "events"

  @store.lay-out.snapshot-id#form @store.lay-out.snapshot-id#instant
  Scenario: a snapshot is named by the instant it was made at
    Given the clock shows "2026-03-02T09:00:00.123456789Z"
    And alpha has landed 3 rows of "events"
    When alpha folds "events"
    Then the fold succeeds
    And alpha's snapshot of "events" is named "snapshot-" and 20 digits
    And alpha's snapshot of "events" is named by the instant "2026-03-02T09:00:00.123456789Z"

  @store.lay-out.snapshot-id#instant
  Scenario: a later snapshot is named by its own instant
    Given alpha has folded "events" into 2 partitions
    And the clock shows "2026-03-09T17:30:00.000000001Z"
    And alpha has landed 2 rows of "events"
    When alpha folds "events"
    Then alpha's snapshot of "events" is named by the instant "2026-03-09T17:30:00.000000001Z"

  @store.lay-out.snapshot-id#previous
  Scenario Outline: a clock that <case> names the snapshot one past the one before
    Given the clock shows "2026-02-02T09:00:00Z"
    And alpha has landed 4 rows of "events"
    And the clock shows "2026-03-02T09:00:00.5Z"
    And alpha has folded "events"
    And the clock shows "<now>"
    And alpha has landed 2 rows of "events"
    When alpha folds "events"
    Then the fold succeeds
    And alpha's snapshot of "events" is named by the instant "2026-03-02T09:00:00.500000001Z"
    Examples:
      | case             | now                            |
      | stands still     | 2026-03-02T09:00:00.5Z         |
      | went back a day  | 2026-03-01T09:00:00.7Z         |
      | is a step behind | 2026-03-02T09:00:00.499999999Z |

  @store.lay-out.table-pointer#names
  Scenario: after a fold the pointer names the new snapshot and no fence
    Given alpha has folded "events" into 2 partitions
    And alpha has landed 2 rows of "events"
    When alpha folds "events"
    Then the fold succeeds
    And alpha's pointer for "events" names the snapshot that this fold made
    And alpha's pointer for "events" has no fence

  @store.lay-out.table-pointer#names @needs.sync @needs.lease
  Scenario: after a fold under a lease the pointer has the lease's fence
    Given alpha has pushed "events", folded into 2 partitions
    And alpha has landed 2 rows of "events"
    When alpha folds "events" under its lease
    Then the leased fold succeeds
    And alpha's pointer for "events" names the snapshot that this fold made
    And alpha's pointer for "events" has the fence of the lease

  @store.lay-out.table-pointer#unreachable
  Scenario Outline: a snapshot that no pointer leads to is read by nobody, <bound>
    Given alpha has folded "events" into 2 partitions
    And alpha has landed 2 rows of "events"
    And alpha has folded "events"
    When a complete snapshot of other rows, made <age> the pointer's, comes into "events" on alpha
    Then alpha reads of "events" exactly the rows landed, <bound>
    Examples:
      | age         | bound                                  |
      | after       | without a bound                        |
      | after       | as of the far future                   |
      | just before | as of the moment before the pointer's  |

  @store.lay-out.table-pointer#unreachable
  Scenario: a fold goes on from the pointer's snapshot, not from one that looks newer
    Given alpha has folded "events" into 2 partitions
    And alpha has landed 2 rows of "events"
    And a complete snapshot of other rows, made after the pointer's, comes into "events" on alpha
    When alpha folds "events"
    Then the fold succeeds
    And alpha's pointer for "events" names the snapshot that this fold made
    And alpha reads of "events" exactly the rows landed

  @store.lay-out.table-pointer#parents
  Scenario: an older snapshot is reached from the pointer's own through its parents
    Given alpha has landed rows of "events" as run "spring":
      | id | region | amount |
      | 1  | north  | 5      |
    And alpha has folded "events"
    And alpha has landed rows of "events" as run "summer":
      | id | region | amount |
      | 2  | south  | 7      |
    And alpha has folded "events"
    And alpha has landed rows of "events" as run "autumn":
      | id | region | amount |
      | 3  | west   | 9      |
    And alpha has folded "events"
    When run "spring" of "events" is collected on alpha
    Then alpha reads of "events" as of the first snapshot:
      | id | region | amount |
      | 1  | north  | 5      |
    When run "summer" of "events" is collected on alpha
    Then alpha reads of "events" as of the second snapshot:
      | id | region | amount |
      | 1  | north  | 5      |
      | 2  | south  | 7      |

  @store.lay-out.format-newer#run
  Scenario Outline: a run of a newer major refuses <read> of its table, and of no other
    Given alpha has landed 3 rows of "events"
    And alpha has landed rows of "events" as run "harvest":
      | id | region | amount |
      | 91 | north  | 5      |
    And alpha has landed 2 rows of "notes"
    And the manifest of run "harvest" of "events" on alpha is of the next major
    When alpha <does>
    Then the <read> is refused with StoreManifestFormatNewer, naming "harvest/alpha/_manifest.json", <the next major> and <the newest it reads>
    And alpha's store is as it was
    And alpha reads of "notes" exactly the rows landed
    When the manifest of run "harvest" of "events" on alpha is of its own major and minor 99
    Then alpha reads of "events" exactly the rows landed
    Examples:
      | read    | does                                          |
      | read    | reads "events"                                |
      | read    | reads "events" as of an instant before it all |
      | scan    | scans "events"                                |
      | listing | lists "events"                                |

  @store.lay-out.format-newer#snapshot
  Scenario Outline: <which> of a newer major refuses its table
    Given alpha has folded "events" into 2 partitions
    And alpha has landed 2 rows of "events"
    And alpha has folded "events"
    And alpha has landed 2 rows of "notes"
    And the folded-runs index of every snapshot of "events" on alpha is taken out
    And the manifest of <which> of "events" on alpha is of the next major
    When alpha reads "events"
    Then the read is refused with StoreManifestFormatNewer, naming <the snapshot's manifest>, <the next major> and <the newest it reads>
    And alpha reads of "notes" exactly the rows landed
    When the manifest of <which> of "events" on alpha is of its own major and minor 99
    Then alpha reads of "events" exactly the rows landed
    Examples:
      | which                  |
      | the pointer's snapshot |
      | a parent's snapshot    |

  @store.lay-out.format-newer#snapshot
  Scenario: a snapshot of a newer major that no pointer leads to refuses nothing
    Given alpha has folded "events" into 2 partitions
    And a complete snapshot of other rows, made after the pointer's, comes into "events" on alpha
    When the manifest of the unreachable snapshot of "events" on alpha is of the next major
    Then alpha reads of "events" exactly the rows landed

  @store.lay-out.run-digest#content
  Scenario Outline: rows that differ by <case> have another digest, and equal rows the same
    Given a table "trades" without a key
    And alpha has landed rows of "trades" as run "first":
      | id | name | note | amount |
      | 1  | ab   | c    | 5      |
      | 2  | de   | null | 7      |
    And alpha has landed rows of "trades" as run "again":
      | id | name | note | amount |
      | 1  | ab   | c    | 5      |
      | 2  | de   | null | 7      |
    When alpha lands as run "other" into "trades", with no types, the rows <rows>
    Then the landing succeeds
    And runs "first" and "again" of "trades" on alpha have one digest
    And runs "first" and "other" of "trades" on alpha have different digests
    Examples:
      | case                     | rows                                                                                                                                |
      | one number               | {"id":1,"name":"ab","note":"c","amount":5} {"id":2,"name":"de","note":null,"amount":8}                                               |
      | the case of a letter     | {"id":1,"name":"ab","note":"c","amount":5} {"id":2,"name":"dE","note":null,"amount":7}                                               |
      | an empty text for a null | {"id":1,"name":"ab","note":"c","amount":5} {"id":2,"name":"de","note":"","amount":7}                                                 |
      | where two texts meet     | {"id":1,"name":"abd","note":"c","amount":5} {"id":2,"name":"e","note":null,"amount":7}                                               |
      | where a null stands      | {"id":1,"name":"ab","note":null,"amount":5} {"id":2,"name":"de","note":"c","amount":7}                                               |
      | a row given twice        | {"id":1,"name":"ab","note":"c","amount":5} {"id":2,"name":"de","note":null,"amount":7} {"id":2,"name":"de","note":null,"amount":7}    |
      | a row left out           | {"id":1,"name":"ab","note":"c","amount":5}                                                                                           |
      | two values changed over  | {"id":1,"name":"ab","note":"c","amount":7} {"id":2,"name":"de","note":null,"amount":5}                                               |

  @store.lay-out.run-digest#types
  Scenario Outline: the same values as <type> have another digest than as they come
    Given a table "plain" without a key
    And a table "typed" without a key
    And "typed" declares the columns:
      | column   | type   |
      | <column> | <type> |
    When alpha lands as run "same" into "plain", with no types, the rows <rows>
    Then the landing succeeds
    When alpha lands as run "same" into "typed", with no types, the rows <rows>
    Then the landing succeeds
    And run "same" has another digest in "plain" than in "typed" on alpha
    Examples:
      | type      | column | rows                                    |
      | int32     | amount | {"id":1,"amount":5} {"id":2,"amount":7} |
      | float64   | amount | {"id":1,"amount":0}                     |
      | json      | name   | {"id":1,"name":"ab"}                    |
      | timestamp | at     | {"id":1,"at":"2026-03-01T12:00:00Z"}    |

  @store.lay-out.run-digest#outside
  Scenario Outline: the same rows landed <how> have the same digest
    Given a table "trades" without a key
    And alpha has landed rows of "trades" as run "first":
      | id | name | amount |
      | 1  | ab   | 5      |
      | 2  | de   | 7      |
    When alpha lands the rows of run "first" of "trades" again as run "second", <how>
    Then the landing succeeds
    And runs "first" and "second" of "trades" on alpha have one digest
    Examples:
      | how              |
      | the same otherwise |
      | for another site |
      | three days later |

  @store.lay-out.name-safe#project
  Scenario Outline: a project name that is <case> is refused
    Given a bare machine "gamma"
    When gamma initialises the project "<name>"
    Then the initialisation is refused with StoreNameInvalid, naming "<name>"
    And gamma's machine holds what it held
    Examples:
      | case              | name            |
      | empty             |                 |
      | the parent        | ..              |
      | a way up          | ../field-notes  |
      | a way up and down | a/../../b       |
      | a dot             | a/./b           |
      | absolute          | /field-notes    |
      | ended by a slash  | field-notes/    |
      | an empty part     | a//b            |
      | with a space      | field notes     |
      | begun with a dot  | a/.hidden       |
      | with a backslash  | a\\b            |
      | not ASCII         | café            |

  @store.lay-out.name-safe#project
  Scenario: a project name of every safe kind is taken
    Given a bare machine "gamma"
    When gamma initialises the project "Team-1/field_notes.v2"
    Then the initialisation succeeds
    And gamma has the store root of "Team-1/field_notes.v2"

  @store.lay-out.name-safe#table
  Scenario Outline: a table's name that is <case> is refused
    Given alpha has landed 2 rows of "filings/10-K_a.b"
    When alpha <does> a table named "<name>"
    Then the <verb> is refused with StoreNameInvalid, naming "<name>"
    And alpha's machine holds what it held
    And alpha reads of "filings/10-K_a.b" exactly the rows landed
    Examples:
      | case                         | name            | does  | verb    |
      | the parent                   | ..              | lands | landing |
      | a way out of the store       | ../../../out    | lands | landing |
      | absolute                     | /tmp/events     | lands | landing |
      | a dot in between             | a/./b           | lands | landing |
      | an empty part                | a//b            | lands | landing |
      | with a space                 | my events       | lands | landing |
      | the store's word data        | events/data     | lands | landing |
      | the store's word requests    | requests        | lands | landing |
      | the store's word schema.json | a/schema.json/b | lands | landing |
      | begun with an underscore     | a/_pointer.json | lands | landing |
      | begun with a dot             | .hidden/a       | lands | landing |
      | a way up, listed             | ../tables/x     | lists | listing |

  @store.lay-out.name-safe#run
  Scenario Outline: a run id that is <case> is refused
    Given alpha has landed 2 rows of "events"
    When alpha lands a row of "events" as run "<run>"
    Then the landing is refused with StoreNameInvalid, naming "<run>"
    And alpha's machine holds what it held
    And alpha reads of "events" exactly the rows landed
    Examples:
      | case             | run       |
      | empty            |           |
      | a dot            | .         |
      | the parent       | ..        |
      | a way up         | ../../x   |
      | two parts        | a/b       |
      | begun with a dot | .a        |
      | with a space     | a b       |
      | with a backslash | a\\b      |
      | not ASCII        | día       |

  @store.lay-out.name-safe#run
  Scenario: a run id of every safe kind is taken
    Given alpha has landed 2 rows of "events"
    When alpha lands a row of "events" as run "2026-03-01T12_00.retry-2"
    Then the landing succeeds
    And alpha reads of "events" exactly the rows landed

  @store.lay-out.run-replay#nothing-written
  Scenario Outline: a run that is landed again writes nothing, <case>
    Given alpha has landed rows of "events" as run "harvest":
      | id | region | amount |
      | 1  | north  | 5      |
      | 2  | south  | 7      |
    And alpha has landed 2 rows of "events"
    And alpha has <meanwhile> "events"
    When alpha lands run "harvest" of "events" again
    Then the landing succeeds
    And "events" on alpha is as it was
    And alpha reads of "events" exactly the rows landed
    Examples:
      | case       | meanwhile        |
      | not folded | landed 3 rows of |
      | folded     | folded           |

  @store.lay-out.run-replay#said
  Scenario: the report says what was landed and what was replayed
    Given a table "events" without a key
    When alpha lands rows of "events" as run "harvest":
      | id | region | amount |
      | 1  | north  | 5      |
      | 2  | south  | 7      |
    Then the report says 2 rows, not replayed
    When alpha lands run "harvest" of "events" again
    Then the report says 2 rows, replayed

  @store.lay-out.run-conflict
  Scenario Outline: other <what> under the id of a committed run are refused
    Given a table "events" without a key
    And alpha has landed rows of "events" as run "harvest":
      | id | region | amount |
      | 1  | north  | 5      |
      | 2  | south  | 7      |
    When alpha lands as run "harvest" into "events", with <types>, the rows <rows>
    Then the landing is refused with StoreRunConflict, naming "harvest"
    And "events" on alpha is as it was
    And alpha reads of "events" exactly the rows landed
    When alpha lands as run "another" into "events", with <types>, the rows <rows>
    Then the landing succeeds
    And alpha reads of "events" exactly the rows landed
    Examples:
      | what      | types           | rows                                                                                                 |
      | values    | no types        | {"id":1,"region":"north","amount":5} {"id":2,"region":"south","amount":8}                            |
      | rows more | no types        | {"id":1,"region":"north","amount":5} {"id":2,"region":"south","amount":7} {"id":3,"region":"west"}   |
      | rows less | no types        | {"id":1,"region":"north","amount":5}                                                                 |

  @store.lay-out.run-conflict
  Scenario: the same values as another type, under the id of a committed run, are refused
    Given a table "events" without a key
    And alpha lands as run "harvest" into "events", with amount as float64, the rows {"id":1,"amount":5} {"id":2,"amount":7}
    When alpha lands as run "harvest" into "events", with amount as int64, the rows {"id":1,"amount":5} {"id":2,"amount":7}
    Then the landing is refused with StoreRunConflict, naming "harvest"
    And "events" on alpha is as it was
    And alpha reads of "events" exactly the rows landed
    When alpha lands as run "another" into "events", with amount as int64, the rows {"id":1,"amount":5} {"id":2,"amount":7}
    Then the landing succeeds
    And alpha reads of "events" exactly the rows landed

  @store.lay-out.format-version#major
  Scenario: major 2 is for what names parts in another directory
    Given a table "trades" without a key
    And alpha has landed 40 rows of "trades"
    When alpha folds "trades"
    Then the fold succeeds
    And alpha's snapshot of "trades" is of major 1
    When alpha lands 3 rows of "trades"
    And alpha folds "trades"
    Then the fold succeeds
    And every manifest of "trades" on alpha is of the version that its content asks for

  @store.lay-out.format-version#major @needs.carry
  Scenario: a snapshot that carries is of major 2, and one that carries nothing of major 1
    Given a table "trades" without a key
    And alpha has landed and folded "trades" in turn, 4, 5, 6 rows
    And alpha's snapshot of "trades" is of major 2
    When alpha lands 7 rows of "trades"
    And alpha folds "trades"
    Then the fold succeeds
    And alpha's snapshot of "trades" has parts of 22 rows
    And every manifest of "trades" on alpha is of the version that its content asks for
    And alpha reads of "trades" exactly the rows landed

  @store.lay-out.format-version#minor
  Scenario: minor 1 is for what lists the runs it folded
    Given a table "trades" keyed by "id"
    And alpha has landed 4 rows of "trades"
    And alpha has folded "trades"
    And alpha has landed 2 rows of "trades"
    When alpha folds "trades"
    Then the fold succeeds
    And every manifest of "trades" on alpha is of the version that its content asks for

  @store.lay-out.format-version#absent
  Scenario Outline: <which> without a version is read as 1.0
    Given a table "trades" without a key
    And alpha has landed 4 rows of "trades" as run "one"
    And alpha has folded "trades"
    And alpha has landed 3 rows of "trades" as run "two"
    When the manifest of <which> of "trades" on alpha says no format_version
    Then alpha reads of "trades" exactly the rows landed
    When alpha folds "trades"
    Then the fold succeeds
    And alpha reads of "trades" exactly the rows landed
    And alpha's store checks out
    Examples:
      | which                  |
      | run "two"              |
      | the pointer's snapshot |

  @store.lay-out.format-version#newer-minor
  Scenario Outline: <which> of a newer minor is read as one's own
    Given a table "trades" keyed by "id"
    And alpha has landed 4 rows of "trades" as run "one"
    And alpha has folded "trades"
    And alpha has landed 3 rows of "trades" as run "two"
    And alpha has folded "trades"
    And alpha has landed 2 rows of "trades" as run "three"
    When the manifest of <which> of "trades" on alpha is of its own major and minor 99, with fields that nobody knows
    Then alpha reads of "trades" exactly the rows landed
    When alpha folds "trades"
    Then the fold succeeds
    And alpha reads of "trades" exactly the rows landed
    And alpha's store checks out
    Examples:
      | which                  |
      | run "three"            |
      | the pointer's snapshot |
      | a parent's snapshot    |

  @store.lay-out.format-migrate#read
  Scenario Outline: what a writer of major 1 left is read: with no <what>, partitioned by "<partitions>"
    Given a table "events" keyed by "id"
    And "events" is partitioned by "<partitions>"
    And alpha has landed 12 rows of "events"
    And alpha has folded "events"
    And alpha has landed 5 rows of "events"
    When the manifest of the pointer's snapshot of "events" on alpha is as a writer of 1.0 left it, with no <what>
    Then alpha reads of "events" exactly the rows landed
    And alpha's store checks out
    Examples:
      | what          | partitions |
      | rows stated   |            |
      | rows stated   | region     |
      | list of parts |            |
      | list of parts | region     |

  @store.lay-out.format-migrate#read
  Scenario: where nobody can tell which part is meant the table is refused
    Given a table "trades" without a key
    And alpha has landed 12 rows of "trades"
    And alpha has folded "trades"
    And the manifest of the pointer's snapshot of "trades" on alpha is as a writer of 1.0 left it, with no list of parts
    And beside that part of "trades" on alpha lies another
    When alpha reads "trades"
    Then the read is refused with StoreManifestInvalid, naming <the snapshot's manifest>

  @store.lay-out.format-migrate#referenced @store.lay-out.format-migrate#kept
  Scenario Outline: the next pass names what a writer of major 1 left, and rewrites nothing: with no <what>, partitioned by "<partitions>"
    Given a table "events" keyed by "id"
    And "events" is partitioned by "<partitions>"
    And alpha has landed rows of "events":
      | id | region | says |
      | 1  | north  | a    |
      | 2  | north  | a    |
      | 3  | south  | a    |
    And alpha has folded "events"
    And alpha remembers the parts of "events"
    And the manifest of the pointer's snapshot of "events" on alpha is as a writer of 1.0 left it, with no <what>
    And alpha has landed rows of "events":
      | id | region | says |
      | 4  | south  | b    |
    When alpha folds "events"
    Then the fold succeeds
    And alpha's snapshot of "events" is of major 2
    And alpha's snapshot of "events" names all of the remembered parts, where they lie and as they were
    And alpha's snapshot of "events" has parts of <parts> rows
    And every part of alpha's snapshot of "events" is what its manifest says
    And what lay in the snapshots of "events" on alpha lies there as it was
    And alpha reads of "events" exactly the rows landed
    Examples:
      | what          | partitions | parts   |
      | rows stated   |            | 1, 3    |
      | rows stated   | region     | 1, 1, 2 |
      | list of parts |            | 1, 3    |
      | list of parts | region     | 1, 1, 2 |

  @store.lay-out.folded-index#rows
  Scenario: the index lists each run of the chain with its snapshot, instant, sequence, digest and rows
    Given a table "trades" without a key
    And alpha has landed 3 rows of "trades" as run "one"
    And alpha has landed 5 rows of "trades" as run "two"
    And alpha has folded "trades"
    And alpha has landed 4 rows of "trades" as run "three"
    When alpha folds "trades"
    Then the fold succeeds
    And the folded-runs index of "trades" on alpha lists each run its chain folds once, as the run's manifest says

  @store.lay-out.folded-index#rows
  Scenario: two nodes' runs of one id are two rows
    Given a table "trades" without a key
    And alpha has landed 3 rows of "trades" as run "one"
    And alpha has pushed
    And beta has pulled
    And beta has landed 5 rows of "trades" as run "one"
    When beta folds "trades"
    Then the fold succeeds
    And the folded-runs index of "trades" on beta lists each run its chain folds once, as the run's manifest says

  @store.lay-out.folded-index#through @store.lay-out.folded-index#segments
  Scenario: an index names its own snapshot, and each segment by where it lies and what it is
    Given a table "trades" without a key
    When alpha has landed 3 runs of "trades" and folded each of them
    Then each snapshot's folded-runs index of "trades" on alpha is through that snapshot
    And the folded-runs index of "trades" on alpha names each segment with its origin, digest and rows

  @store.lay-out.folded-index-valid#trusted @store.lay-out.folded-index-walk#unbounded
  Scenario Outline: with a valid index no manifest below it is needed, <below>
    Given a table "trades" without a key
    And alpha has landed 2 rows of "trades" as run "first"
    And alpha has landed 3 runs of "trades" and folded each of them
    And alpha has landed 2 rows of "trades" as run "last"
    When the manifests below the pointer's snapshot of "trades" on alpha <below>
    Then alpha reads of "trades" exactly the rows landed
    And alpha's list of "trades" has the parts of run "last" and none of run "first"
    Examples:
      | below           |
      | are taken away  |
      | are no manifests |

  @store.lay-out.folded-index-valid#undecodable @store.lay-out.folded-index-valid#other-snapshot @store.lay-out.folded-index-valid#damaged @store.lay-out.folded-index-valid#fewer @store.lay-out.folded-index-valid#broken-chain
  Scenario Outline: an index that <damage> is not used
    Given a table "trades" without a key
    And alpha has landed 2 runs of "trades" and folded each of them
    And alpha has landed 2 rows of "trades" as run "last"
    And alpha has landed 1 rows of "trades" as run "least"
    And alpha has folded "trades"
    And the folded-runs index of "trades" on alpha <damage>
    Then alpha reads of "trades" exactly the rows landed
    When the manifests below the pointer's snapshot of "trades" on alpha are taken away
    And alpha reads "trades"
    Then the read is refused with StoreChainBroken, naming <the missing manifest>
    When the manifests of "trades" on alpha are put back
    Then alpha reads of "trades" exactly the rows landed
    Examples:
      | damage                                |
      | is a text                             |
      | is a list                             |
      | is a number                           |
      | has a number for its segments         |
      | has a segment whose rows are a text   |
      | has a segment without a digest        |
      | has a segment named out of the store  |
      | is through another snapshot           |
      | is through nothing                    |
      | is its parent's                       |
      | has a segment that is gone            |
      | has a segment cut short               |
      | has a segment with a byte changed     |
      | has a segment of other runs           |
      | has a segment that lacks a row        |
      | lacks a run that its snapshot folds   |
      | has a run twice                       |

  @store.lay-out.folded-index-walk#unbounded
  Scenario: a walk goes down to the first valid index, and no further
    Given a table "trades" without a key
    And alpha has landed 4 runs of "trades" and folded each of them
    And the folded-runs index of the pointer's snapshot of "trades" on alpha is taken out
    When the manifests below the parent of "trades" on alpha are taken away
    Then alpha reads of "trades" exactly the rows landed
    When the folded-runs index of the parent of "trades" on alpha is taken out
    And alpha reads "trades"
    Then the read is refused with StoreChainBroken, naming <the missing manifest>
    When the manifests of "trades" on alpha are put back
    And the folded-runs index of every snapshot of "trades" on alpha is taken out
    Then alpha reads of "trades" exactly the rows landed

  @store.lay-out.folded-index-walk#bounded
  Scenario Outline: a bounded read goes on to the snapshot that its bound selects, <bound>
    Given a table "stock" without a key
    And the clock shows "2026-03-01T09:00:00Z"
    And alpha has landed rows of "stock":
      | item | count |
      | nail | 5     |
    And alpha has folded "stock"
    And the clock shows "2026-03-03T09:00:00Z"
    And alpha has landed rows of "stock":
      | item | count |
      | bolt | 7     |
    And alpha has folded "stock"
    And the clock shows "2026-03-05T09:00:00Z"
    And alpha has landed rows of "stock":
      | item | count |
      | nut  | 1     |
    When alpha folds "stock"
    Then the fold succeeds
    And alpha's list of "stock" as of "<bound>" names a snapshot only
    And alpha reads of "stock" as of "<bound>" the items <items>
    When the manifests below the parent of "stock" on alpha are taken away
    And alpha reads "stock" as of "<bound>"
    Then the read <ends>
    Examples:
      | bound                | items                    | ends                                |
      | 2026-03-02T00:00:00Z | "nail"                   | is refused with StoreAsOfUnretained |
      | 2026-03-04T00:00:00Z | "nail" and "bolt"        | succeeds                            |
      | 2026-03-06T00:00:00Z | "nail", "bolt" and "nut" | succeeds                            |

  @store.lay-out.run-folded-replay#replay @store.lay-out.run-folded-replay#report
  Scenario: a folded run that was collected is replayed, and its row reported
    Given a table "trades" without a key
    And alpha has landed 3 rows of "trades" as run "one"
    And alpha has landed 2 rows of "trades" as run "two"
    And alpha has folded "trades"
    And run "one" of "trades" is collected on alpha
    When alpha lands run "one" of "trades" again
    Then the landing succeeds
    And alpha's store is as it was
    And the report says 3 rows, replayed
    And the report carries the folded-runs row of run "one" of "trades" on alpha
    And nothing of run "one" of "trades" lies on alpha
    And alpha reads of "trades" exactly the rows landed

  @store.lay-out.run-folded-replay#replay
  Scenario: a run whose manifest is here is replayed from it, and a new one lands
    Given a table "trades" without a key
    And alpha has landed 3 rows of "trades" as run "one"
    And alpha has folded "trades"
    When alpha lands run "one" of "trades" again
    Then the report says 3 rows, replayed
    When alpha lands the rows of run "one" of "trades" again as run "two", the same otherwise
    Then the report says 3 rows, not replayed
    And alpha reads 6 rows of "trades"

  @store.lay-out.run-folded-replay#replay
  Scenario: the replay is of the table's chain as it is now
    Given a table "trades" without a key
    And alpha has landed 3 rows of "trades" as run "one"
    And alpha has folded "trades"
    And alpha has landed 2 rows of "trades" as run "two"
    And alpha has folded "trades"
    And run "two" of "trades" is collected on alpha
    When alpha lands run "two" of "trades" again
    Then the report says 2 rows, replayed
    And alpha reads of "trades" exactly the rows landed

  @store.lay-out.run-folded-replay#replay
  Scenario: a folded run that was collected is replayed whatever became of the store's own notes
    Given a table "trades" without a key
    And alpha has landed 3 rows of "trades" as run "one"
    And alpha has landed 2 rows of "trades" as run "two"
    And alpha has folded "trades"
    And alpha has landed 2 rows of "trades" as run "last"
    And run "one" of "trades" is collected on alpha
    And what alpha keeps of "trades" for itself alone is damaged
    When alpha lands run "one" of "trades" again
    Then the report says 3 rows, replayed
    And alpha reads of "trades" exactly the rows landed

  @store.lay-out.run-folded-replay#conflict
  Scenario: other rows under the id of a collected run are a conflict
    Given a table "trades" without a key
    And alpha has landed 3 rows of "trades" as run "one"
    And alpha has folded "trades"
    And run "one" of "trades" is collected on alpha
    When alpha lands 4 rows of "trades" as run "one"
    Then the landing is refused with StoreRunConflict, naming "one"
    And alpha's store is as it was
    And alpha reads of "trades" exactly the rows landed

  @store.lay-out.run-folded-replay#conflict
  Scenario Outline: equal rows are a conflict where <index>
    Given a table "trades" without a key
    And alpha has landed 3 rows of "trades" as run "one"
    And alpha has folded "trades"
    And alpha has landed 2 rows of "trades" as run "two"
    And alpha has folded "trades"
    And the folded-runs index of <index>
    And run "one" of "trades" is collected on alpha
    When alpha lands run "one" of "trades" again
    Then the landing is refused with StoreRunConflict, naming "one"
    And alpha's store is as it was
    And alpha reads of "trades" exactly the rows landed
    Examples:
      | index                                                   |
      | "trades" on alpha has no digest of run one              |
      | every snapshot of "trades" on alpha is taken out        |

  @store.lay-out.run-folded-replay#conflict
  Scenario: where nothing tells what is folded a landing is refused
    Given a table "trades" without a key
    And alpha has landed 2 runs of "trades" and folded each of them
    And the folded-runs index of every snapshot of "trades" on alpha is taken out
    And the manifests below the pointer's snapshot of "trades" on alpha are taken away
    When alpha lands 2 rows of "trades" as run "one"
    Then the landing is refused with StoreChainBroken, naming <the missing manifest>
    And alpha's store is as it was
    When the manifests of "trades" on alpha are put back
    And alpha lands 2 rows of "trades" as run "one"
    Then the landing succeeds
    And alpha reads of "trades" exactly the rows landed

  @store.lay-out.folded-committed#counted
  Scenario: the committed rows of a run, here, folded and collected, and on two nodes
    Given a table "trades" without a key
    And alpha has landed 3 rows of "trades" as run "one"
    And alpha has pushed
    And beta has pulled
    And beta has landed 5 rows of "trades" as run "one"
    And beta has landed 2 rows of "trades" as run "two"
    Then beta says that 8 rows of run "one" of "trades" are committed
    When beta folds "trades"
    Then beta says that 8 rows of run "one" of "trades" are committed
    When run "one" of "trades" is collected on beta
    Then beta says that 8 rows of run "one" of "trades" are committed
    And beta's list of runs of "trades" has 2 rows of run "two"
    When run "two" of "trades" is collected on beta
    Then beta says that 2 rows of run "two" of "trades" are committed
    And beta's list of runs of "trades" has 2 rows of run "two"

  @store.lay-out.folded-committed#uncommitted
  Scenario Outline: a run of which nothing tells is not called committed, <case>
    Given a table "trades" without a key
    And alpha has landed 3 rows of "trades" as run "one"
    And alpha has folded "trades"
    And alpha has landed 2 rows of "trades" as run "two"
    And alpha has folded "trades"
    And the folded-runs index of <index>
    Then alpha says that 3 rows of run "one" of "trades" are committed
    And alpha does not say how many rows of run "none" of "trades" are committed
    When run "one" of "trades" is collected on alpha
    Then alpha does not say how many rows of run "one" of "trades" are committed
    And alpha says that 2 rows of run "two" of "trades" are committed
    Examples:
      | case                              | index                                              |
      | a walked snapshot alone names it  | every snapshot of "trades" on alpha is taken out   |
      | its row has no number             | "trades" on alpha has no row count of run one      |

  @store.lay-out.run-digest#position @needs.pipeline
  Scenario: the same rows at another position are another batch
    Given a table "clicks" without a key
    And the tables are fed by a command
    And alpha's command says:
      """
      {"row": {"id": 1}}
      {"position": 1}
      {"row": {"id": 1}}
      {"position": 2}
      """
    When alpha runs its pipeline
    Then the pipeline run succeeds
    And all runs of "clicks" on alpha have digests of their own
    And alpha reads of "clicks":
      | id |
      | 1  |
      | 1  |
