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

  @store.pull.pointer-last#killed
  Scenario: nor does one killed at each fsync that it makes
    Given alpha has pushed "events", folded into 1 partition
    When beta's pull is killed at each fsync that it makes
    Then every part that a pointer of beta's promises is there
    And the next pull succeeds and beta reads of "events" what alpha reads

  @store.pull.pointer-last#killed
  Scenario: a pull killed while it moves from one snapshot to the next leaves one of the two, whole
    Given alpha has pushed "events", folded into 2 partitions
    And beta has pulled
    And alpha has pushed "events", folded into 2 partitions
    When beta's pull is killed at each rename that it makes
    Then every part that a pointer of beta's promises is there
    And beta's store checks out
    And the next pull succeeds and beta reads of "events" what alpha reads

  @store.pull.digest-mismatch#raised
  Scenario Outline: <thing> that lies in the bucket <damage> is refused
    Given alpha has pushed "events", folded into 2 partitions
    And <thing> of "events" lies in the bucket <damage>
    When beta pulls
    Then the pull is refused with SyncObjectDigestMismatch
    And the message names the key
    When the bucket is whole again
    Then the next pull succeeds and beta reads of "events" what alpha reads
    Examples:
      | thing                   | damage              |
      | the last part           | with a byte changed |
      | the last part           | cut short           |
      | the run's part          | with a byte more    |
      | the run's part          | as another object   |
      | the run's manifest      | with a byte changed |
      | the snapshot's manifest | cut short           |
      | the schema              | as another object   |

  @store.pull.digest-mismatch#raised
  Scenario Outline: an object is judged by its digest and not by its ETag, though the bucket's mode is <mode>
    Given the bucket's mode is "<mode>"
    And alpha has pushed "events", folded into 2 partitions
    When beta pulls
    Then the pull succeeds
    And beta reads of "events" what alpha reads
    Examples:
      | mode                  |
      | etag_opaque           |
      | etag_multipart_suffix |

  @store.pull.digest-mismatch#discarded
  Scenario Outline: of <thing> that lies in the bucket <damage>, nothing is kept
    Given alpha has pushed "events", folded into 2 partitions
    And <thing> of "events" lies in the bucket <damage>
    When beta pulls
    Then the pull fails
    And nothing lies on beta under the name of <thing> of "events"
    Examples:
      | thing                   | damage              |
      | the last part           | with a byte changed |
      | the run's part          | cut short           |
      | the run's manifest      | with a byte more    |
      | the snapshot's manifest | with a byte changed |

  @store.pull.digest-mismatch#discarded
  Scenario: what stood there before still stands
    Given alpha has pushed "events"
    And beta has pulled
    And alpha has landed rows of "events":
      | id  | region | extra |
      | 900 | north  | new   |
    And alpha has pushed
    And the schema of "events" lies in the bucket as another object
    When beta pulls
    Then the pull fails
    And beta's copy of the schema of "events" is what it was
    When the bucket is whole again
    Then the next pull succeeds and beta reads of "events" what alpha reads

  @store.pull.digest-mismatch#discarded
  Scenario: not even a damaged file gives way to another damaged one
    Given alpha has pushed "events", folded into 2 partitions
    And beta has pulled
    And beta's copy of the last part of "events" has a byte changed
    And the last part of "events" lies in the bucket cut short
    When beta pulls
    Then the pull fails
    And beta's copy of the last part of "events" is what it was
    When the bucket is whole again
    And beta pulls
    Then the pull succeeds
    And beta's copy of the last part of "events" is what the bucket lists

  @store.pull.digest-mismatch#discarded
  Scenario: a schema that a rival's push grows while a pull is under way is never kept unlisted
    Given alpha has pushed "events"
    And beta has pulled
    And alpha has landed rows of "events":
      | id  | region | extra |
      | 900 | north  | new   |
    And alpha has pushed
    And the bucket will hold beta's request for the schema of "events"
    When beta starts to pull
    And the request is held
    And the schema of "events" lies in the bucket with a byte more
    And the request is let through
    Then the pull fails
    And beta's copy of the schema of "events" is what it was

  @store.pull.digest-mismatch#discarded
  Scenario: a push that grows the schema under a pull is taken as it is listed, or not at all
    Given alpha has pushed "events"
    And beta has pulled
    And alpha has landed rows of "events":
      | id  | region | extra |
      | 900 | north  | new   |
    And alpha has pushed
    And the bucket will hold beta's request for the schema of "events"
    When beta starts to pull
    And the request is held
    And alpha has landed rows of "events":
      | id  | region | more |
      | 901 | north  | 7    |
    And alpha has pushed
    And the request is let through
    Then the pull succeeds, or is refused with SyncObjectDigestMismatch
    And the next pull succeeds and beta reads of "events" what alpha reads

  @store.pull.identity-conflict#refused
  Scenario: two stores never run into one
    Given beta has a store of its own
    And beta has landed 3 rows of "events"
    And alpha has pushed "events"
    When beta pulls
    Then the pull is refused with StoreIdentityConflict
    And the message names the identity of alpha's store
    And the message names the identity of beta's store
    And beta's store stays as it was

  @store.pull.identity-conflict#refused
  Scenario: the same store, once more and on a clone, is no conflict
    Given alpha has pushed "events"
    And beta has pulled
    When beta pulls
    Then the pull succeeds
    And beta reads of "events" what alpha reads

  @store.pull.identity-conflict#before-download
  Scenario: of another store's bucket nothing else is asked for
    Given beta has a store of its own
    And alpha has pushed "events", folded into 2 partitions
    When beta pulls
    Then the pull is refused with StoreIdentityConflict
    And beta's pull has asked for nothing but the bucket's manifest and store-id

  @store.pull.convergence#refetch
  Scenario: a run that is collected while a pull is on its way to it is not missed
    Given alpha has pushed "events", folded into 2 partitions
    And the bucket will hold beta's request for the run's part of "events"
    When beta starts to pull
    And the request is held
    And the bucket goes on without the folded run of "events"
    And the request is let through
    Then the pull succeeds
    And beta has no run of "events"
    And beta reads of "events" what alpha reads

  @store.pull.convergence#refetch
  Scenario Outline: <thing> that is not there <times> and then there again is brought
    Given alpha has pushed "events", folded into 2 partitions
    And the bucket will miss <thing> of "events" <times>, as beta pulls
    When beta pulls
    Then the pull succeeds
    And beta's copy of <thing> of "events" is what the bucket lists
    And beta reads of "events" what alpha reads
    Examples:
      | thing                   | times |
      | the last part           | once  |
      | the run's part          | once  |
      | the snapshot's manifest | once  |
      | the run's manifest      | once  |
      | the schema              | once  |

  @store.pull.convergence#refetch
  Scenario: a part goes once while the manifest moves on at every look
    Given alpha has pushed "events", folded into 2 partitions
    And the bucket's manifest will move on at each look of beta's pull
    And the bucket will miss the last part of "events" once, as beta pulls
    When beta pulls
    Then the pull succeeds
    And beta reads of "events" what alpha reads

  @store.pull.convergence#shortfall
  Scenario: a second attempt leaves alone what the first brought
    Given sync.transfers is 1 on beta
    And alpha has pushed "events", folded into 3 partitions
    And the bucket will miss the third part that beta's pull asks for
    When beta pulls
    Then the pull succeeds
    And beta's pull has asked again for no part that it had been given
    And beta reads of "events" what alpha reads

  @store.pull.convergence#attempts
  Scenario: the third attempt counts
    Given alpha has pushed "events", folded into 2 partitions
    And the bucket will miss the last part of "events" twice, as beta pulls
    When beta pulls
    Then the pull succeeds
    And beta's pull has asked for the last part of "events" 3 times

  @store.pull.convergence#attempts
  Scenario: there is no fourth attempt
    Given alpha has pushed "events", folded into 2 partitions
    And the bucket will miss the last part of "events" three times, as beta pulls
    When beta pulls
    Then the pull is refused with SyncPullDidNotConverge
    And beta's pull has asked for the last part of "events" 3 times

  @store.pull.unconverged#raised
  Scenario Outline: a pull gives up on <thing> that does not come back
    Given alpha has pushed "events", folded into 2 partitions
    And <thing> of "events" is gone from the bucket
    When beta pulls
    Then the pull is refused with SyncPullDidNotConverge
    And the message names the key
    When the bucket is whole again
    Then the next pull succeeds and beta reads of "events" what alpha reads
    Examples:
      | thing                   |
      | the last part           |
      | the run's part          |
      | the run's manifest      |
      | the snapshot's manifest |

  @store.pull.unconverged#raised
  Scenario: a pull gives up on a part that a rival deletes at each look while the manifest moves on
    Given alpha has pushed "events", folded into 2 partitions
    And the bucket's manifest will move on at each look of beta's pull
    And a rival will delete the last part of "events" just before beta's pull is given it
    When beta pulls
    Then the pull is refused with SyncPullDidNotConverge
    And the message names the key
    When the bucket is whole again
    Then the next pull succeeds and beta reads of "events" what alpha reads

  @store.pull.unconverged#no-pointer
  Scenario Outline: no pointer moves where a part of "<moving>" is gone
    Given alpha has pushed "events", folded into 2 partitions
    And beta has pulled
    And alpha has pushed "events", folded into 2 partitions
    And alpha has pushed "trades", folded into 2 partitions
    And <thing> of "<moving>" is gone from the bucket
    When beta pulls
    Then the pull is refused with SyncPullDidNotConverge
    And beta's pointer for "events" is what it was
    And beta has no pointer for "trades"
    When the bucket is whole again
    Then the next pull succeeds and beta reads of "events" what alpha reads
    Examples:
      | moving | thing          |
      | events | the last part  |
      | trades | the last part  |
      | trades | the run's part |

  @store.pull.unconverged-resume#kept
  Scenario: what was verified stays
    Given alpha has pushed "events", folded into 6 partitions
    And the bucket will miss every part after the third that beta's pull asks for
    When beta pulls
    Then the pull is refused with SyncPullDidNotConverge
    And all that beta's pull was given lies on beta under its name

  @store.pull.unconverged-resume#resumed
  Scenario: the next pull asks for the rest
    Given alpha has pushed "events", folded into 6 partitions
    And the bucket will miss every part after the third that beta's pull asks for
    When beta pulls
    Then the pull is refused with SyncPullDidNotConverge
    When the bucket is whole again
    And beta pulls
    Then the pull succeeds
    And beta's pull has asked only for what was not there as listed
    And beta reads of "events" what alpha reads

  @store.pull.unconverged-resume#resumed
  Scenario: a kept file counts by its digest
    Given alpha has pushed "events", folded into 2 partitions
    And the last part of "events" is gone from the bucket
    When beta pulls
    Then the pull is refused with SyncPullDidNotConverge
    When beta's copy of the first part of "events" has a byte changed
    And the bucket is whole again
    And beta pulls
    Then the pull succeeds
    And beta's copy of the first part of "events" is what the bucket lists
    And beta reads of "events" what alpha reads

  @store.pull.transfer-width#configured
  Scenario Outline: <width> downloads are under way together, and never more
    Given sync.transfers is <width> on beta
    And "events" is partitioned by "id"
    And alpha has landed <rows> rows of "events"
    And alpha has folded "events"
    And alpha has pushed
    And the bucket will hold every part of a snapshot that beta's pull asks for
    When beta starts to pull
    Then <width> of beta's downloads come to be held together
    When beta checks its store
    Then never more than <width> are held together as they go through one by one
    And the pull succeeds
    And beta reads of "events" what alpha reads
    Examples:
      | width | rows |
      | 1     | 6    |
      | 3     | 10   |
      | 20    | 30   |

  @store.pull.transfer-width#default
  Scenario: without the setting sixteen are under way together
    Given "events" is partitioned by "id"
    And alpha has landed 28 rows of "events"
    And alpha has folded "events"
    And alpha has pushed
    And the bucket will hold every part of a snapshot that beta's pull asks for
    When beta starts to pull
    Then 16 of beta's downloads come to be held together
    When beta checks its store
    Then never more than 16 are held together as they go through one by one
    And the pull succeeds
    And beta reads of "events" what alpha reads

  @store.pull.transfer-width#minimum
  Scenario Outline: a width of <width> is refused before anything is asked
    Given alpha has pushed "events"
    And sync.transfers is <width> on beta
    When beta pulls
    Then the pull is refused with StoreDeclarationInvalid
    And beta has asked the bucket nothing
    And beta's store stays as it was
    Examples:
      | width |
      | 0     |
      | -1    |

  @store.pull.transfer-width#minimum
  Scenario: a width of one is enough
    Given alpha has pushed "events"
    And sync.transfers is 1 on beta
    When beta pulls
    Then the pull succeeds
    And beta reads of "events" what alpha reads

  @store.pull.transfer-width#writes-first
  Scenario Outline: a pull that <refuses> writes what it has before it does
    Given sync.transfers is 1 on beta
    And alpha has pushed "events", folded into 6 partitions
    And the bucket will <do> that beta's pull asks for
    When beta pulls
    Then the pull fails
    And all that beta's pull was given lies on beta under its name
    Examples:
      | refuses                   | do                              |
      | is given a damaged part   | damage the fourth part          |
      | misses every further part | miss every part after the third |

  @store.pull.run-manifest-last#before
  Scenario Outline: no new run is there while <thing> of "<table>" is on its way
    Given alpha has pushed "events"
    And beta has pulled
    And alpha has pushed "events"
    And alpha has pushed "trades", folded into 2 partitions
    And the bucket will hold beta's request for <thing> of "<table>"
    When beta starts to pull
    And the request is held
    Then beta has no run manifest that it did not have
    And beta reads 12 rows of "events"
    And beta has no run manifest that it did not have
    When the request is let through
    Then the pull succeeds
    And beta reads of "events" what alpha reads
    And beta reads of "trades" what alpha reads
    Examples:
      | table  | thing                   |
      | events | the run's part          |
      | trades | the schema              |
      | trades | the last part           |
      | trades | the snapshot's manifest |

  @store.pull.run-manifest-last#failed
  Scenario Outline: no new run is there after a pull in which <thing> of "<table>" <failed>
    Given alpha has pushed "events"
    And beta has pulled
    And alpha has pushed "events"
    And alpha has pushed "trades", folded into 2 partitions
    And <thing> of "<table>" <failed>
    When beta pulls
    Then the pull fails
    And beta has no run manifest that it did not have
    And beta reads 12 rows of "events"
    When the bucket is whole again
    Then the next pull succeeds and beta reads of "events" what alpha reads
    Examples:
      | table  | thing                   | failed                                 |
      | events | the run's part          | is gone from the bucket                |
      | trades | the last part           | is gone from the bucket                |
      | trades | the last part           | lies in the bucket with a byte changed |
      | trades | the snapshot's manifest | is gone from the bucket                |
      | trades | the schema              | lies in the bucket as another object   |

  @store.pull.pointer-read#pull
  Scenario: a pull reads each table's pointer by its key, once
    Given alpha has pushed "events", folded into 2 partitions
    And alpha has pushed "trades", folded into 2 partitions
    And alpha has pushed "notes"
    When beta pulls
    Then the pull succeeds
    And beta's pull has asked for the pointer of each table once, by its key
    And beta's pull has listed nothing

  @store.pull.pointer-read#push
  Scenario: a push reads each table's pointer by its key, once
    Given alpha has pushed "events", folded into 2 partitions
    And alpha has pushed "trades", folded into 2 partitions
    And alpha has landed 3 rows of "events"
    And alpha has folded "events"
    When alpha pushes
    Then the push succeeds
    And alpha's push has asked for the pointer of each table once, by its key
    And alpha's push has listed nothing

  @store.pull.pointer-advance#advances
  Scenario: a node without a pointer takes the bucket's
    Given alpha has pushed "events", folded into 2 partitions
    When beta pulls
    Then the pull succeeds
    And beta's pointer for "events" is the bucket's

  @store.pull.pointer-advance#advances
  Scenario: a node two snapshots behind takes the bucket's pointer
    Given alpha has pushed "events", folded into 2 partitions
    And beta has pulled
    And alpha has pushed "events", folded into 2 partitions
    And alpha has pushed "events", folded into 2 partitions
    When beta pulls
    Then the pull succeeds
    And beta's pointer for "events" is the bucket's
    And beta reads of "events" what alpha reads

  @store.pull.pointer-advance#advances
  Scenario: a node at the same snapshot under an older fence takes the bucket's pointer
    Given alpha has pushed "events", folded into 2 partitions
    And beta has pulled
    And the bucket's pointer for "events" carries the fence 7
    When beta pulls
    Then the pull succeeds
    And beta's pointer for "events" is the bucket's

  @store.pull.pointer-advance#higher-fence
  Scenario: at the same snapshot the higher fence stays
    Given alpha has pushed "events", folded into 2 partitions
    And the bucket's pointer for "events" carries the fence 7
    And beta has pulled
    And beta's pointer for "events" carries the fence 9
    And alpha has pushed "events"
    When beta pulls
    Then the pull succeeds
    And the fence of beta's pointer for "events" is 9
    And beta reads of "events" what alpha reads

  @store.pull.pointer-advance#ahead
  Scenario Outline: a node that has folded on from the bucket's snapshot stays ahead<case>
    Given alpha has pushed "events", folded into 2 partitions
    And beta has pulled
    And beta has folded "events" into 2 partitions
    And <meanwhile>
    When beta pulls
    Then the pull succeeds
    And beta's pointer for "events" is what it was
    And beta's pointer for "events" is not the bucket's
    And beta reads of "events" exactly what was landed
    Examples:
      | case                              | meanwhile                                            |
      | , whatever else the bucket has    | alpha has pushed "events"                            |
      | , though the bucket's fence is 7  | the bucket's pointer for "events" carries the fence 7 |

  @store.pull.pointer-advance#diverged
  Scenario: a branch of the node's own is not given up
    Given beta's pull adopts no other branch
    And alpha has pushed "events", folded into 2 partitions
    And beta has pulled
    And beta has landed 3 rows of "events"
    And alpha has pushed "events", folded into 2 partitions
    And beta has folded "events" onto a branch of its own
    When beta pulls
    Then the pull is refused with SyncPointerDiverged, naming "events" and <the bucket's snapshot> and <its own snapshot>
    And beta's pointer for "events" is what it was
    And every part that a pointer of beta's promises is there

  @store.pull.pointer-advance#diverged
  Scenario: rows of the node's own are no branch
    Given alpha has pushed "events", folded into 2 partitions
    And beta has pulled
    And beta has landed 3 rows of "events"
    And alpha has pushed "events", folded into 2 partitions
    When beta pulls
    Then the pull succeeds
    And beta's pointer for "events" is the bucket's
    And beta reads of "events" exactly what was landed

  @store.pull.pointer-advance#verified-first
  Scenario Outline: no table moves where "<bad>" <cannot>
    Given alpha has pushed "events", folded into 2 partitions
    And alpha has pushed "trades", folded into 2 partitions
    And beta has pulled
    And alpha has pushed "events", folded into 2 partitions
    And alpha has pushed "trades", folded into 2 partitions
    And the last part of "<bad>" <cannot>
    When beta pulls
    Then the pull fails
    And beta's pointer for "events" is what it was
    And beta's pointer for "trades" is what it was
    And every part that a pointer of beta's promises is there
    Examples:
      | bad    | cannot                                 |
      | events | lies in the bucket with a byte changed |
      | trades | lies in the bucket with a byte changed |

  @store.pull.pointer-advance#verified-first
  Scenario Outline: no table moves where the bucket does not list a part of "<bad>"
    Given alpha has pushed "events", folded into 2 partitions
    And alpha has pushed "trades", folded into 2 partitions
    And beta has pulled
    And alpha has pushed "events", folded into 2 partitions
    And alpha has pushed "trades", folded into 2 partitions
    And the bucket no longer lists the last part of "<bad>"
    When beta pulls
    Then the pull fails
    And beta's pointer for "events" is what it was
    And beta's pointer for "trades" is what it was
    Examples:
      | bad    |
      | events |
      | trades |

  @store.pull.schema-merge#keeps @store.pull.schema-merge#joins
  Scenario: each side keeps its columns and gains the other's
    Given alpha has landed rows of "events":
      | id | region | amount |
      | 1  | north  | 10     |
    And alpha has pushed
    And beta has pulled
    And beta has landed rows of "events":
      | id | region | amount | mine |
      | 2  | south  | 20     | kept |
    And alpha has landed rows of "events":
      | id | region | amount | theirs |
      | 3  | west   | 30     | new    |
    And alpha has pushed
    When beta pulls
    Then the pull succeeds
    And beta's schema of "events" has the columns:
      | column | type  |
      | amount | int64 |
      | mine   | utf8  |
      | theirs | utf8  |
    And beta reads of "events":
      | id | amount | mine | theirs |
      | 1  | 10     |      |        |
      | 2  | 20     | kept |        |
      | 3  | 30     |      | new    |

  @store.pull.schema-merge#joins
  Scenario Outline: a column of two types takes the type of both<case>
    Given alpha has landed rows of "events":
      | id | region |
      | 1  | north  |
    And alpha has pushed
    And beta has pulled
    And beta has landed rows of "events":
      | id | region | amount |
      | 2  | south  | <here> |
    And alpha has landed rows of "events":
      | id | region | amount  |
      | 3  | west   | <there> |
    And alpha has pushed
    When beta pulls
    Then the pull succeeds
    And beta's schema of "events" has the columns:
      | column | type    |
      | amount | float64 |
    And beta reads of "events":
      | id | amount  |
      | 1  |         |
      | 2  | <here>  |
      | 3  | <there> |
    Examples:
      | case                          | here | there |
      | , whole here, broken there    | 20   | 30.5  |
      | , broken here, whole there    | 20.5 | 30    |

  @store.pull.schema-merge#incompatible
  Scenario: types that do not reconcile stop the pull
    Given alpha has landed rows of "events":
      | id | region |
      | 1  | north  |
    And alpha has pushed
    And beta has pulled
    And beta has landed rows of "events":
      | id | region | amount |
      | 2  | south  | many   |
    And alpha has landed rows of "events":
      | id | region | amount |
      | 3  | west   | 30     |
    And alpha has pushed
    When beta pulls
    Then the pull is refused with StoreSchemaIncompatible, naming "amount" and "int64" and "utf8"
    And beta's copy of the schema of "events" is what it was
    And beta has no run manifest that it did not have
    And beta reads of "events":
      | id | amount |
      | 1  |        |
      | 2  | many   |

  @store.pull.prefix-escape#key
  Scenario Outline: a pull from a bucket that lists a key that <kind> writes nothing
    Given alpha has pushed "events"
    And the bucket lists a key that <kind>
    When beta pulls
    Then the pull is refused with SyncPrefixEscape
    And the message names the key
    And beta's pull has asked for nothing but the bucket's manifest and store-id
    And beta's store stays as it was
    Examples:
      | kind                            |
      | climbs out of the store root    |
      | climbs out of the prefix        |
      | climbs and comes back           |
      | climbs out of another project   |
      | ends with a climb               |
      | is absolute                     |
      | has an empty segment            |
      | has an empty segment at its end |
      | has the segment .               |
      | has a backslash                 |
      | has a NUL                       |

  @store.pull.prefix-escape#key
  Scenario Outline: a push to a bucket that lists a key that <kind> commits nothing
    Given alpha has pushed "events"
    And alpha has landed 3 rows of "events"
    And the bucket lists a key that <kind>
    When alpha pushes
    Then the push is refused with SyncPrefixEscape
    And the message names the key
    And the bucket stays as it was
    Examples:
      | kind                         |
      | climbs out of the store root |
      | is absolute                  |
      | has a backslash              |

  @store.pull.prefix-escape#key
  Scenario Outline: a key that <kind> is only a key
    Given alpha has pushed "events"
    And the bucket lists a key that <kind>
    When beta pulls
    Then the pull succeeds
    And beta reads of "events" what alpha reads
    Examples:
      | kind                              |
      | belongs to another project        |
      | has dots within a segment         |
      | has dots only, three of them      |
      | begins a segment with two dots    |
      | has spaces, quotes and other text |

  @store.pull.prefix-escape#symlink
  Scenario Outline: a pull does not write through "<directory>" where it is a link
    Given alpha has pushed "events", folded into 2 partitions
    And on beta, "<directory>" is a link to a directory elsewhere
    When beta pulls
    Then the pull is refused with SyncPrefixEscape, naming "<directory>"
    And behind the link lies what lay there
    And beta's store stays as it was
    Examples:
      | directory                    |
      | tables                       |
      | tables/events                |
      | tables/events/data/runs      |
      | tables/events/data/snapshots |

  @store.pull.prefix-escape#symlink
  Scenario: a push does not upload what lies behind a link
    Given alpha has pushed "events"
    And alpha has landed 3 rows of "trades"
    And on alpha, "tables/trades/data/runs" is a link to a directory elsewhere
    When alpha pushes
    Then the push is refused with SyncPrefixEscape, naming "tables/trades/data/runs"
    And the bucket stays as it was

  @store.pull.prefix-escape#symlink
  Scenario: a link that is on nobody's way is nobody's business
    Given alpha has pushed "events"
    And on beta, "scratch" is a link to a directory elsewhere
    When beta pulls
    Then the pull succeeds
    And behind the link lies what lay there
    And beta reads of "events" what alpha reads

  @store.pull.pointer-advance#advances @service.minio
  Scenario: on MinIO, two nodes read the same after push, fold and pull
    Given alpha has pushed "events", folded into 3 partitions
    And beta has pulled
    And beta has landed 5 rows of "events"
    And beta has pushed
    And alpha has pulled
    And alpha has pushed "events", folded into 3 partitions
    When beta pulls
    Then the pull succeeds
    And beta's pointer for "events" is the bucket's
    And beta reads of "events" what alpha reads
    And beta reads of "events" exactly what was landed

  @store.pull.pointer-advance#advances @store.fold.compaction-lease#pointer @service.minio
  Scenario: on MinIO, a fold under the bucket's lease reaches the other node
    Given alpha has landed 12 rows of "events"
    And alpha has pushed
    And beta has pulled
    And alpha folds "events" under its lease
    When beta pulls
    Then the pull succeeds
    And beta's pointer for "events" is the bucket's
    And alpha's pointer for "events" has the fence of the lease
    And beta's pointer for "events" has the fence of the lease
    And beta reads of "events" what alpha reads

  @store.pull.digest-mismatch#raised @service.minio
  Scenario: on MinIO, a part that is not what was listed is refused
    Given alpha has pushed "events", folded into 2 partitions
    And the last part of "events" lies in the bucket with a byte changed
    When beta pulls
    Then the pull is refused with SyncObjectDigestMismatch
    And the message names the key
    When the bucket is whole again
    Then the next pull succeeds and beta reads of "events" what alpha reads

  @store.pull.unconverged#raised @service.minio
  Scenario: on MinIO, a pull gives up on a part that does not come back
    Given alpha has pushed "events", folded into 2 partitions
    And the last part of "events" is gone from the bucket
    When beta pulls
    Then the pull is refused with SyncPullDidNotConverge
    And the message names the key
    When the bucket is whole again
    Then the next pull succeeds and beta reads of "events" what alpha reads

  @store.pull.run-state-cursor#resumes
  Scenario: a node whose bucket has lost the run goes on from the run state
    Given nodes "alpha" and "beta" share a bucket
    And a table "clicks" without a key
    And the tables are fed by a command
    And alpha's command says:
      """
      {"row": {"id": 1}}
      {"position": 1}
      """
    And alpha has run its pipeline
    And alpha has folded "clicks"
    And alpha has pushed
    And the bucket goes on without the folded run of "clicks"
    And beta has pulled
    When beta's command says:
      """
      {"row": {"id": 1}}
      {"position": 1}
      {"row": {"id": 2}}
      {"position": 2}
      """
    And beta runs its pipeline
    Then the pipeline run succeeds
    And beta's command was given the positions 1
    And beta reads of "clicks":
      | id |
      | 1  |
      | 2  |

  @store.pull.run-state-cursor#older
  Scenario: a run state that is older than what is here moves nothing back
    Given nodes "alpha" and "beta" share a bucket
    And a table "clicks" without a key
    And the tables are fed by a command
    And alpha's command says:
      """
      {"row": {"id": 1}}
      {"position": 1}
      """
    And alpha has run its pipeline
    And alpha has pushed
    And beta has pulled
    And beta's command says:
      """
      {"row": {"id": 1}}
      {"position": 1}
      {"row": {"id": 2}}
      {"position": 2}
      """
    And beta has run its pipeline
    And beta has pulled
    When beta's command goes on to say:
      """
      {"row": {"id": 3}}
      {"position": 3}
      """
    And beta runs its pipeline
    Then the pipeline run succeeds
    And beta's command was given the positions 1, 2
    And beta reads of "clicks":
      | id |
      | 1  |
      | 2  |
      | 3  |
