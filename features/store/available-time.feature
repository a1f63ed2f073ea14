Feature: available-time
  What a source released, and when.

  # Landings into a vintage table: what is stored already is not written again.

  @store.available-time.vintage-scope#same
  Scenario: what is stored is not written again, before a fold and after it
    Given a node "alpha"
    And a table "figures" keyed by "item"
    And "figures" declares available_time as {column = "known"}
    And alpha has landed rows of "figures" as run "first":
      | item | known                | value | note |
      | a    | 2024-02-01T00:00:00Z | 5     | x    |
      | b    | 2024-02-01T00:00:00Z | 7.5   | null |
    When alpha lands rows of "figures" as run "again":
      | note | value | known                | item |
      |      | 7.5   | 2024-02-01T00:00:00Z | b    |
      | x    | 6     | 2024-02-01T00:00:00Z | c    |
      | x    | 5     | 2024-02-01T00:00:00Z | a    |
    Then the landing succeeds
    And run "again" of "figures" holds on alpha the rows:
      | item | known                | value | note |
      | c    | 2024-02-01T00:00:00Z | 6     | x    |
    When alpha folds "figures"
    And alpha lands rows of "figures" as run "third":
      | item | known                | value |
      | b    | 2024-02-01T00:00:00Z | 7.5   |
    Then the landing succeeds
    And run "third" of "figures" holds on alpha 0 rows
    And alpha reads of "figures":
      | item | value | note |
      | a    | 5     | x    |
      | b    | 7.5   | null |
      | c    | 6     | x    |

  @store.available-time.vintage-scope#same
  Scenario: of two landings of the same rows one writes them
    Given a node "alpha"
    And a table "figures" keyed by "item"
    And "figures" declares available_time as {column = "known"}
    And alpha has landed rows of "figures" as run "first":
      | item | known                | value |
      | a    | 2024-02-01T00:00:00Z | 5     |
    When alpha lands the same rows of "figures" as runs "one" and "two", the first held just before its manifest:
      | item | known                | value |
      | a    | 2024-03-01T00:00:00Z | 6     |
      | b    | 2024-03-01T00:00:00Z | 8     |
    Then at least one of them has succeeded
    And the runs "one" and "two" of "figures" together hold on alpha 2 rows
    And alpha reads of "figures":
      | item | value |
      | a    | 6     |
      | b    | 8     |

  @store.available-time.vintage-scope#differing
  Scenario Outline: <what> is written beside what was there
    Given a node "alpha"
    And a table "figures" keyed by "item"
    And "figures" declares valid_time as {from = "since"}
    And "figures" declares available_time as {column = "known"}
    And alpha has landed rows of "figures" as run "first":
      | item | since                | known                | value | note |
      | a    | 2024-01-01T00:00:00Z | 2024-02-01T00:00:00Z | 5     | x    |
      | b    | 2024-01-01T00:00:00Z | 2024-02-01T00:00:00Z | 7     | x    |
    When alpha lands rows of "figures" as run "again":
      | item   | since   | known   | value   | note | more   |
      | <item> | <since> | <known> | <value> | x    | <more> |
    Then the landing succeeds
    And run "again" of "figures" holds on alpha <rows>
    Examples:
      | what                                      | item | since                | known                          | value | more | rows   |
      | another value at the same instant         | a    | 2024-01-01T00:00:00Z | 2024-02-01T00:00:00Z           | 6     |      | 1 row  |
      | the same value a nanosecond later         | a    | 2024-01-01T00:00:00Z | 2024-02-01T00:00:00.000000001Z | 5     |      | 1 row  |
      | the same value of an earlier release      | a    | 2024-01-01T00:00:00Z | 2024-01-01T00:00:00Z           | 5     |      | 1 row  |
      | the same value of another validity        | a    | 2024-01-02T00:00:00Z | 2024-02-01T00:00:00Z           | 5     |      | 1 row  |
      | the value of another key                  | b    | 2024-01-01T00:00:00Z | 2024-02-01T00:00:00Z           | 5     |      | 1 row  |
      | a value with a column more                | a    | 2024-01-01T00:00:00Z | 2024-02-01T00:00:00Z           | 5     | 1    | 1 row  |
      | nothing but what is there, a column empty | a    | 2024-01-01T00:00:00Z | 2024-02-01T00:00:00Z           | 5     | null | 0 rows |

  @store.available-time.vintage-scope#differing
  Scenario: what a correction had replaced is written again
    Given a node "alpha"
    And a table "figures" keyed by "item"
    And "figures" declares available_time as {column = "known"}
    And alpha has landed rows of "figures" as run "1":
      | item | known                | value |
      | a    | 2024-02-01T00:00:00Z | 5     |
    And alpha has landed rows of "figures" as run "2":
      | item | known                | value |
      | a    | 2024-02-01T00:00:00Z | 6     |
    When alpha lands rows of "figures" as run "3":
      | item | known                | value |
      | a    | 2024-02-01T00:00:00Z | 5     |
    Then the landing succeeds
    And run "3" of "figures" holds on alpha 1 row
    And alpha reads of "figures":
      | item | value |
      | a    | 5     |
    When alpha lands rows of "figures" as run "4":
      | item | known                | value |
      | a    | 2024-02-01T00:00:00Z | 6     |
      | a    | 2024-02-01T00:00:00Z | 5     |
    Then the landing succeeds
    And run "4" of "figures" holds on alpha 2 rows
    When alpha lands rows of "figures" as run "5":
      | item | known                | value |
      | a    | 2024-02-01T00:00:00Z | 5     |
    Then run "5" of "figures" holds on alpha 0 rows
    And alpha reads of "figures":
      | item | value |
      | a    | 5     |

  @store.available-time.vintage-scope#differing
  Scenario: a landing that replaces the table brings all of it
    Given a node "alpha"
    And a table "figures" keyed by "item"
    And "figures" declares available_time as {column = "known"}
    And "figures" is replaced by every landing
    And alpha has landed rows of "figures" as run "first":
      | item | known                | value |
      | a    | 2024-02-01T00:00:00Z | 5     |
      | b    | 2024-02-01T00:00:00Z | 7     |
    When alpha lands rows of "figures" as run "second":
      | item | known                | value |
      | a    | 2024-02-01T00:00:00Z | 5     |
      | c    | 2024-02-01T00:00:00Z | 9     |
    Then the landing succeeds
    And alpha reads of "figures":
      | item | value |
      | a    | 5     |
      | c    | 9     |

  @store.available-time.vintage-scope#run
  Scenario: a landing that brings nothing new is a run, and its replay is one
    Given a node "alpha"
    And a table "figures" keyed by "item"
    And "figures" declares available_time as {column = "known"}
    And alpha has landed rows of "figures" as run "first":
      | item | known                | value |
      | a    | 2024-02-01T00:00:00Z | 5     |
    When alpha lands rows of "figures" as run "again":
      | item | known                | value |
      | a    | 2024-02-01T00:00:00Z | 5     |
    Then the landing succeeds
    And run "again" of "figures" holds on alpha 0 rows
    And alpha's store checks out
    When alpha lands rows of "figures" as run "again":
      | item | known                | value |
      | a    | 2024-02-01T00:00:00Z | 5     |
    Then the landing succeeds
    And alpha's store stays as it was
    When alpha lands rows of "figures" as run "again":
      | item | known                | value |
      | a    | 2024-02-01T00:00:00Z | 6     |
    Then the landing is refused with StoreRunConflict, naming "again"
    When alpha folds "figures"
    Then the fold succeeds
    And alpha reads of "figures":
      | item | value |
      | a    | 5     |

  @store.available-time.vintage-scope#own-keys
  Scenario Outline: the history of other keys may be damaged, that of the landing's own may not, <where>
    Given a node "alpha"
    And a table "figures" keyed by "item"
    And "figures" declares available_time as {column = "known"}
    And alpha has landed rows of "figures" as run "first":
      | item | known                | value |
      | a    | 2024-02-01T00:00:00Z | 5     |
      | b    | 2024-02-01T00:00:00Z | 7     |
    And <folded>
    And alpha has landed rows of "figures" as run "second":
      | item | known                | value |
      | x    | 2024-02-01T00:00:00Z | 5     |
    When the part of <whose> of "figures" on alpha has its values overwritten
    And alpha lands rows of "figures" as run "again":
      | item | known                | value |
      | x    | 2024-02-01T00:00:00Z | 5     |
      | y    | 2024-02-01T00:00:00Z | 5     |
    Then the landing succeeds
    And run "again" of "figures" holds on alpha 1 row
    When alpha lands rows of "figures" as run "own":
      | item | known                | value |
      | a    | 2024-02-01T00:00:00Z | 5     |
    Then the landing is refused with StorePartDamaged, naming <the part>
    And alpha's store stays as it was
    When the part of <whose> of "figures" on alpha is mended
    And alpha lands rows of "figures" as run "own":
      | item | known                | value |
      | a    | 2024-02-01T00:00:00Z | 5     |
    Then run "own" of "figures" holds on alpha 0 rows
    Examples:
      | where         | whose        | folded                             |
      | in a run      | run "first"  | alpha has landed 0 more of "figures" |
      | in a snapshot | the snapshot | alpha has folded "figures"         |

  @store.available-time.vintage-scope#skips
  Scenario Outline: a row group is skipped by <what>
    Given a node "alpha"
    And a table "figures" keyed by "<key>"
    And "figures" declares the columns:
      | column | type      |
      | day    | timestamp |
    And "figures" declares valid_time as {from = "since"}
    And "figures" declares available_time as {column = "known"}
    And "figures" declares bloom_filter as <filters>
    And alpha has landed rows of "figures" as run "other":
      | text | number | day                  | since                | known                |
      | d    | 4      | 2024-01-04T00:00:00Z | 2024-01-04T00:00:00Z | 2024-02-01T00:00:00Z |
      | f    | 6      | 2024-01-06T00:00:00Z | 2024-01-06T00:00:00Z | 2024-02-01T00:00:00Z |
    And alpha has landed rows of "figures" as run "own":
      | text   | number   | day   | since   | known                |
      | <text> | <number> | <day> | <since> | 2024-02-01T00:00:00Z |
    When the part of run "other" of "figures" on alpha has its values overwritten
    And alpha lands rows of "figures" as run "again":
      | text   | number   | day   | since   | known                |
      | <text> | <number> | <day> | <since> | 2024-02-01T00:00:00Z |
    Then the landing succeeds
    And run "again" of "figures" holds on alpha 0 rows
    Examples:
      | what                       | key    | filters    | text | number | day                  | since                |
      | the bounds of texts        | text   | []         | c    | 5      | 2024-01-05T00:00:00Z | 2024-01-05T00:00:00Z |
      | the bounds of numbers      | number | []         | e    | 7      | 2024-01-05T00:00:00Z | 2024-01-05T00:00:00Z |
      | the bounds of instants     | day    | []         | e    | 5      | 2024-01-07T00:00:00Z | 2024-01-05T00:00:00Z |
      | the bounds of the validity | text   | []         | e    | 5      | 2024-01-05T00:00:00Z | 2024-01-07T00:00:00Z |
      | the filter of texts        | text   | ["text"]   | e    | 5      | 2024-01-05T00:00:00Z | 2024-01-05T00:00:00Z |
      | the filter of numbers      | number | ["number"] | e    | 5      | 2024-01-05T00:00:00Z | 2024-01-05T00:00:00Z |
