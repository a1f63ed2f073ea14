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
