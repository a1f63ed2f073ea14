Feature: land
  Rows come in as one run, whole or not at all.

  Background:
    Given a node "alpha"

  @store.land.bad-input#syntax
  Scenario Outline: a line that is no JSON is named by its number, <case>
    Given alpha has landed 4 rows of "events"
    When alpha lands 200 rows of "events" whose line 173 is <line>
    Then the landing is refused with StoreInputMalformed, naming "173"
    And "events" on alpha is as it was
    And alpha reads of "events" exactly the rows landed
    When alpha lands 200 rows of "events" whose line 173 is {"id": 9173, "region": "north"}
    Then the landing succeeds
    And alpha reads of "events" exactly the rows landed
    Examples:
      | case                 | line                                          |
      | cut short            | {"id": 9173, "region": "nor                   |
      | a bare word          | id=9173                                       |
      | single quotes        | {'id': 9173}                                  |
      | more behind it       | {"id": 9173} trailing                         |

  @store.land.bad-input#not-object
  Scenario Outline: a line whose JSON is <case> is named by its number
    Given alpha has landed 4 rows of "events"
    When alpha lands 200 rows of "events" whose line 173 is <line>
    Then the landing is refused with StoreInputMalformed, naming "173"
    And "events" on alpha is as it was
    And alpha reads of "events" exactly the rows landed
    Examples:
      | case     | line                  |
      | an array | [{"id": 9173}]        |
      | a text   | "id 9173"             |
      | a number | 9173                  |
      | null     | null                  |

  @store.land.bad-input#integer
  Scenario Outline: an integer <past> int64 is refused, and <within> is kept to its last digit
    Given alpha has landed 4 rows of "events"
    When alpha lands 200 rows of "events" whose line 173 is {"id": 9173, "region": "north", "tally": <past>}
    Then the landing is refused with StoreInputMalformed, naming "173" and "tally"
    And "events" on alpha is as it was
    And alpha reads of "events" exactly the rows landed
    When alpha lands 200 rows of "events" whose line 173 is {"id": 9173, "region": "north", "tally": <within>}
    Then the landing succeeds
    And alpha reads of "events" exactly the rows landed
    Examples:
      | past                  | within               |
      | 9223372036854775808   | 9223372036854775807  |
      | -9223372036854775809  | -9223372036854775808 |
      | 100000000000000000000 | 9007199254740993     |

  @store.land.bad-input#instant
  Scenario Outline: an instant <past> what 64 bits of nanoseconds hold is refused, and <within> is kept
    Given alpha has landed 4 rows of "events"
    When alpha lands 200 rows of "events" whose line 173 is {"id": 9173, "region": "north", "at": "<past>"}
    Then the landing is refused with StoreInputMalformed, naming "173" and "at"
    And "events" on alpha is as it was
    When alpha lands 200 rows of "events" whose line 173 is {"id": 9173, "region": "north", "at": "<within>"}
    Then the landing succeeds
    And alpha reads of "events" exactly the rows landed
    Examples:
      | past                           | within                         |
      | 2262-04-11T23:47:16.854775808Z | 2262-04-11T23:47:16.854775806Z |
      | 2300-01-01T00:00:00Z           | 2262-01-01T00:00:00Z           |
      | 1677-09-21T00:12:43.145224191Z | 1677-09-21T00:12:44Z           |
      | 0001-01-01T00:00:00Z           | 1700-01-01T00:00:00Z           |

  @store.land.bad-input#empty
  Scenario: an input without a row is refused, and one with a row is not
    Given alpha has landed 4 rows of "events"
    When alpha lands 0 rows of "events"
    Then the landing is refused with StoreInputEmpty
    And "events" on alpha is as it was
    And alpha reads of "events" exactly the rows landed
    When alpha lands 1 rows of "events"
    Then the landing succeeds
    And alpha reads of "events" exactly the rows landed

  @store.land.bad-input#depth @needs.nested
  Scenario: a declared type nests 16 deep and no deeper
    Given a table "deep" without a key
    And "deep" declares "value" as 16 lists in each other
    When alpha lands a row of "deep" whose "value" is 16 lists in each other
    Then the landing is refused with StoreTypeUnknown, naming "16"
    And alpha's store stays as it was
    When "deep" declares "value" as 15 lists in each other
    And alpha lands a row of "deep" whose "value" is 15 lists in each other
    Then the landing succeeds
    And alpha reads of "deep" exactly the rows landed

  @store.land.bad-input#depth @needs.nested
  Scenario: a Parquet file's columns nest 16 deep and no deeper
    Given a table "deep" without a key
    When alpha lands as run "one" into "deep" a Parquet file whose "value" is 16 lists in each other
    Then the landing is refused with StoreUnsupported, naming "value" and "16"
    And alpha's store stays as it was
    When alpha lands as run "one" into "deep" a Parquet file whose "value" is 15 lists in each other
    Then the landing succeeds
    And alpha reads of "deep" exactly the rows landed

  @store.land.bad-input#depth
  Scenario: a document nests 512 deep and no deeper
    Given a table "deep" without a key
    When alpha lands a row of "deep" whose "value" is 513 lists in each other
    Then the landing is refused with StoreInputMalformed, naming "value" and "512"
    And alpha's store stays as it was
    When alpha lands a row of "deep" whose "value" is 512 lists in each other
    Then the landing succeeds

  @store.land.bad-input#columns
  Scenario: a thousand columns land and read, and more than ten thousand do not
    Given a table "wide" without a key
    When alpha lands a row of "wide" with 10001 columns
    Then the landing is refused with StoreInputMalformed, naming "10000"
    And alpha's store stays as it was
    When alpha lands a row of "wide" with 1000 columns
    Then the landing succeeds
    And alpha reads of "wide" the row of 1000 columns

  @store.land.bad-input#columns
  Scenario: a row of two thousand columns is folded and read
    Given a table "wide" without a key
    When alpha lands a row of "wide" with 2000 columns
    And alpha folds "wide"
    Then alpha reads of "wide" the row of 2000 columns

  @store.land.bad-input#type
  Scenario Outline: a column type given as <type> is refused by name
    Given alpha has landed 4 rows of "events"
    When alpha lands as run "typed" into "events", with tally as <type>, the rows {"id": 91, "region": "north", "tally": 5}
    Then the landing is refused with StoreTypeUnknown, naming "<type>"
    And "events" on alpha is as it was
    When alpha lands as run "typed" into "events", with tally as int32, the rows {"id": 91, "region": "north", "tally": 5}
    Then the landing succeeds
    And alpha reads of "events" exactly the rows landed
    Examples:
      | type    |
      | decimal |
      | int128  |

  @store.land.bad-input#type
  Scenario Outline: a column type declared as <type> is refused by name
    Given a table "notes" keyed by "id"
    And alpha has landed rows of "notes":
      | id | tally |
      | 1  | 5     |
    And "notes" declares the columns:
      | column | type   |
      | tally  | <type> |
    When alpha lands 2 rows of "notes"
    Then the landing is refused with StoreTypeUnknown, naming "<type>"
    And "notes" on alpha is as it was
    Examples:
      | type     |
      | decimal  |
      | integer  |

  @store.land.write-failed#full-disk
  Scenario Outline: a full disk met by a <verb> at each <call> costs no row
    Given alpha has landed 4 rows of "events"
    And alpha has folded "events"
    And alpha has landed 2 rows of "events"
    When alpha's <verb> of "events" finds no space left at each <call>
    Then each of them is refused with StoreWriteFailed, naming a file of "events"
    And alpha reads of "events" exactly the rows landed
    And with room again the <verb> of "events" succeeds on each alpha
    Examples:
      | verb    | call   |
      | landing | fsync  |
      | landing | rename |
      | fold    | fsync  |
      | fold    | rename |

  @store.land.write-failed#full-disk
  Scenario: a disk that is full in the middle of a part costs no row
    Given alpha has landed 4 rows of "events"
    When alpha's landing of "events" finds no space left in each file that it writes
    Then each of them is refused with StoreWriteFailed, naming a file of "events"
    And alpha reads of "events" exactly the rows landed
    And with room again the landing of "events" succeeds on each alpha

  @store.land.write-failed#full-disk
  Scenario: a landing that finds the disk full at its last step leaves the columns it found
    Given alpha has landed 4 rows of "events"
    When alpha's landing of "events" finds no space left as it names its manifest
    Then each of them is refused with StoreWriteFailed, naming a file of "events"
    And alpha reads of "events" exactly the rows landed
    And with room again the landing of "events" succeeds on each alpha

  @store.land.write-failed#read-only
  Scenario Outline: a read-only directory met by a <verb> costs no row
    Given alpha has landed 4 rows of "events"
    And alpha has folded "events"
    And alpha has landed 2 rows of "events"
    When alpha's <verb> of "events" finds a read-only disk at each mkdir
    Then each of them is refused with StoreWriteFailed, naming a file of "events"
    And alpha reads of "events" exactly the rows landed
    And with room again the <verb> of "events" succeeds on each alpha
    Examples:
      | verb    |
      | landing |
      | fold    |

  @store.land.two-writers
  Scenario Outline: a landing that is held <where> and one that comes meanwhile count once each
    Given a table "trades" without a key
    And alpha has landed 4 rows of "trades"
    And alpha's landing of run "first" into "trades" is held <where>
    When alpha lands run "<other>" into "trades" meanwhile, and both end
    Then at least one of them has succeeded
    And alpha reads every row landed into "trades" once, and no other
    When alpha folds "trades"
    Then the fold succeeds
    And alpha reads every row landed into "trades" once, and no other
    Examples:
      | where                    | other  |
      | after its first mkdir    | second |
      | just before its manifest | second |
      | just before its manifest | first  |

  @store.land.two-writers
  Scenario Outline: a fold that is held <where> and a landing that comes meanwhile lose no row
    Given a table "trades" without a key
    And alpha has landed 4 rows of "trades"
    And alpha's fold of "trades" is held <where>
    When alpha lands run "second" into "trades" meanwhile, and both end
    Then at least one of them has succeeded
    And alpha reads every row landed into "trades" once, and no other
    When alpha folds "trades"
    Then the fold succeeds
    And alpha reads every row landed into "trades" once, and no other
    Examples:
      | where                   |
      | after its first mkdir   |
      | just before the pointer |

  @store.land.two-writers
  Scenario Outline: a landing that is held <where> and a fold that comes meanwhile lose no row
    Given a table "trades" without a key
    And alpha has landed 4 rows of "trades"
    And alpha's landing of run "first" into "trades" is held <where>
    When alpha folds "trades" meanwhile, and both end
    Then at least one of them has succeeded
    And alpha reads every row landed into "trades" once, and no other
    When alpha folds "trades"
    Then the fold succeeds
    And alpha reads every row landed into "trades" once, and no other
    Examples:
      | where                    |
      | after its first mkdir    |
      | just before its manifest |

  @store.land.two-writers
  Scenario: four landings and a fold at once count each row once
    Given a table "trades" without a key
    And alpha has landed 4 rows of "trades"
    When alpha lands 4 runs into "trades" and folds it, all at once
    Then at least one of them has succeeded
    And alpha reads every row landed into "trades" once, and no other
    When alpha folds "trades"
    Then the fold succeeds
    And alpha reads every row landed into "trades" once, and no other

  @store.land.two-writers @store.reserve.commit-seq#concurrent
  Scenario: sixteen landings, with folds and reads all the while, count each row once
    Given a table "trades" without a key
    And alpha has landed 4 rows of "trades"
    When alpha lands 16 runs into "trades" while folds and reads of it go on
    Then at least one of them has succeeded
    And alpha reads every row landed into "trades" once, and no other
    When alpha folds "trades"
    Then the fold succeeds
    And alpha reads every row landed into "trades" once, and no other
    And alpha's store checks out

  @store.land.as-given#numbers @store.land.as-given#floats @store.land.as-given#text @store.land.as-given#instants
  Scenario Outline: <what> reads back as it was given
    Given a table "things" keyed by "id"
    And "things" declares the columns:
      | column | type   |
      | value  | <type> |
    When alpha lands rows of "things":
      | id | value   |
      | 1  | <one>   |
      | 2  | <two>   |
      | 3  | <three> |
      | 4  | null    |
    Then the landing succeeds
    And alpha reads of "things":
      | id | value   |
      | 1  | <one>   |
      | 2  | <two>   |
      | 3  | <three> |
      | 4  | null    |
    When alpha folds "things"
    Then the fold succeeds
    And alpha reads of "things":
      | id | value   |
      | 1  | <one>   |
      | 2  | <two>   |
      | 3  | <three> |
      | 4  | null    |
    Examples:
      | what                 | type      | one                              | two                              | three                           |
      | a large integer      | int64     | 9007199254740993                 | -9007199254740993                | 9223372036854775807             |
      | the least integer    | int64     | -9223372036854775808             | 0                                | -1                              |
      | a zero below zero    | float64   | -0.0                             | 0.0                              | -0                              |
      | a float at the edge  | float64   | 5e-324                           | 1.7976931348623157e308           | 0.1                             |
      | no number            | float64   | "NaN"                            | "inf"                            | "-inf"                          |
      | text that is empty   | utf8      | ""                               | " "                              | "null"                          |
      | a letter's spellings | utf8      | "\\u00e9"                        | "e\\u0301"                       | "\\ufb01"                       |
      | text beyond ASCII    | utf8      | "\\ud83d\\ude00"                 | "a\\u0000b"                      | "\\u202e\\ufeff"                |
      | an early instant     | timestamp | "1969-12-31T23:59:59.999999999Z" | "1700-01-01T00:00:00.000000001Z" | "1970-01-01T00:00:00Z"          |

  @store.land.as-given#names
  Scenario: columns may be named as they like
    Given a table "things" without a key
    When alpha lands as run "one" into "things", with no types, the rows {"select":1,"a b":2,"x.y":"z","it's":3,"say \"hi\"":4,"order by 1; --":5,"é":6,"a/b":7,"%":8,"$1":9,"rowid":10}
    Then the landing succeeds
    And alpha's schema of "things" has "x.y" as utf8
    And alpha reads of "things" exactly the rows landed
    When alpha folds "things"
    Then the fold succeeds
    And alpha reads of "things" exactly the rows landed

  @store.land.as-given#partitions
  Scenario: whatever a partition is called, its rows are its own
    Given a table "things" keyed by "id"
    And "things" is partitioned by "place"
    And alpha has landed rows of "things" as run "one":
      | id | place           |
      | 1  | "a/b"           |
      | 2  | "a%2Fb"         |
      | 3  | "50%"           |
      | 4  | "who?"          |
      | 5  | "k=v"           |
      | 6  | "a+b"           |
      | 7  | "a b"           |
      | 8  | "\\u00e9"       |
      | 9  | "e\\u0301"      |
      | 10 | "../up"         |
      | 11 | ""              |
      | 12 | "a*b"           |
      | 13 | "'; drop"       |
      | 14 | null            |
    When alpha folds "things"
    Then the fold succeeds
    And no part of alpha's snapshot of "things" holds two values of "place", and the manifest says which
    And alpha reads of "things" exactly the rows landed
    When alpha lands as run "two" into "things", with no types, the rows {"id":1,"place":"a/b","more":true} {"id":15,"place":"a*b"} {"id":8,"place":"e\u0301"}
    And alpha folds "things"
    Then the fold succeeds
    And no part of alpha's snapshot of "things" holds two values of "place", and the manifest says which
    And alpha reads of "things" exactly the rows landed
