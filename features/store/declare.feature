Feature: declare
  What a table's declaration makes of its rows, and what happens where the declaration and the rows disagree.

  Background:
    Given a node "alpha"

  @store.declare.dedup-view#order-by
  Scenario Outline: the row with the greater order_by is read, whichever landed first, <type>
    Given a table "prices" keyed by "sku" and ordered by "rev"
    And alpha has landed rows of "prices":
      | sku | rev    | says  |
      | a   | <more> | newer |
      | b   | <less> | older |
    And alpha has landed rows of "prices":
      | sku | rev    | says  |
      | a   | <less> | older |
      | b   | <more> | newer |
    When alpha reads "prices"
    Then alpha reads of "prices":
      | sku | rev    | says  |
      | a   | <more> | newer |
      | b   | <more> | newer |
    Examples:
      | type            | less  | more |
      | integers        | 9     | 10   |
      | signed integers | -7    | 3    |
      | fractions       | 0.25  | 0.5  |
      | texts           | abc   | abd  |

  @store.declare.dedup-view#order-by
  Scenario: the key is all its columns
    Given a table "pages" keyed by "book, page" and ordered by "rev"
    And alpha has landed rows of "pages":
      | book | page | rev | says  |
      | a    | 1    | 2   | newer |
      | a    | 2    | 1   | alone |
    When alpha lands rows of "pages":
      | book | page | rev | says  |
      | a    | 1    | 1   | older |
      | b    | 1    | 1   | other |
    Then the landing succeeds
    And alpha reads of "pages":
      | book | page | rev | says  |
      | a    | 1    | 2   | newer |
      | a    | 2    | 1   | alone |
      | b    | 1    | 1   | other |

  @store.declare.dedup-view#nanoseconds
  Scenario: one nanosecond decides
    Given a table "ticks" keyed by "id" and ordered by "at"
    And "ticks" declares the columns:
      | column | type      |
      | at     | timestamp |
    And alpha has landed rows of "ticks":
      | id | at                             | says  |
      | 1  | 2026-03-01T10:00:00.000000002Z | newer |
      | 2  | 2026-03-01T10:00:00.000000001Z | older |
      | 3  | 2026-03-01T10:00:00.000000999Z | newer |
      | 3  | 2026-03-01T10:00:00.000000998Z | older |
    When alpha lands rows of "ticks":
      | id | at                             | says  |
      | 1  | 2026-03-01T10:00:00.000000001Z | older |
      | 2  | 2026-03-01T10:00:00.000000002Z | newer |
    Then the landing succeeds
    And alpha reads of "ticks":
      | id | at                             | says  |
      | 1  | 2026-03-01T10:00:00.000000002Z | newer |
      | 2  | 2026-03-01T10:00:00.000000002Z | newer |
      | 3  | 2026-03-01T10:00:00.000000999Z | newer |
    When alpha folds "ticks"
    Then the fold succeeds
    And alpha reads of "ticks":
      | id | at                             | says  |
      | 1  | 2026-03-01T10:00:00.000000002Z | newer |
      | 2  | 2026-03-01T10:00:00.000000002Z | newer |
      | 3  | 2026-03-01T10:00:00.000000999Z | newer |

  @store.declare.dedup-view#nulls-last
  Scenario Outline: a row whose order_by <is> hides none that has one
    Given a table "prices" keyed by "sku" and ordered by "rev"
    And alpha has landed rows of "prices":
      | sku | rev    | says    |
      | a   | -3     | ordered |
      | b   | <none> | not     |
      | c   | <none> | not     |
    When alpha lands rows of "prices":
      | sku | rev    | says    |
      | a   | <none> | not     |
      | b   | -3     | ordered |
    Then the landing succeeds
    And alpha reads of "prices":
      | sku | rev | says    |
      | a   | -3  | ordered |
      | b   | -3  | ordered |
      | c   |     | not     |
    Examples:
      | is         | none |
      | is null    | null |
      | is left out |      |

  @store.declare.dedup-view#ingested-at
  Scenario Outline: at equal order_by the row that came in later is read, <case>
    Given a table "prices" keyed by "sku"
    And "prices" declares order_by as <order>
    And the clock shows "2026-03-02T09:00:00.000000001Z"
    And alpha has landed rows of "prices" as run "zulu":
      | sku | rev | says    |
      | a   | 7   | earlier |
    And the clock shows "2026-03-02T09:00:00.000000002Z"
    When alpha lands rows of "prices" as run "alfa":
      | sku | rev | says  |
      | a   | 7   | later |
    Then the landing succeeds
    And alpha reads of "prices":
      | sku | rev | says  |
      | a   | 7   | later |
    Examples:
      | case                 | order          |
      | with an order_by     | "rev"          |
      | with the default one | "_ingested_at" |

  @store.declare.dedup-view#run-id
  Scenario Outline: at one instant the greater run id is read, as text, <one> and <other>
    Given a table "prices" keyed by "sku" and ordered by "rev"
    And the clock stands still
    And alpha has landed rows of "prices" as run "<one>":
      | sku | rev | run   |
      | a   | 7   | <one> |
    When alpha lands rows of "prices" as run "<other>":
      | sku | rev | run     |
      | a   | 7   | <other> |
    Then the landing succeeds
    And alpha reads of "prices":
      | sku | rev | run       |
      | a   | 7   | <greater> |
    Examples:
      | one   | other  | greater |
      | run-9 | run-10 | run-9   |
      | alfa  | zulu   | zulu    |
      | alfa  | Zulu   | alfa    |

  @store.declare.dedup-view#row-seq
  Scenario: within a run the row that came later in its input is read
    Given a table "prices" keyed by "sku" and ordered by "rev"
    When alpha lands rows of "prices":
      | sku | rev | says   |
      | a   | 7   | first  |
      | b   | 7   | first  |
      | a   | 7   | second |
      | a   | 7   | third  |
      | b   | 7   | second |
    Then the landing succeeds
    And alpha reads of "prices":
      | sku | rev | says   |
      | a   | 7   | third  |
      | b   | 7   | second |

  @store.declare.dedup-view#across
  Scenario: a row of the snapshot and a row of a run are rivals like any two
    Given a table "prices" keyed by "sku" and ordered by "rev"
    And alpha has landed rows of "prices":
      | sku | rev | says   |
      | a   | 5   | folded |
      | b   | 5   | folded |
      | c   | 5   | folded |
    And alpha has folded "prices"
    When alpha lands rows of "prices":
      | sku | rev | says  |
      | a   | 4   | worse |
      | b   | 6   | best  |
      | d   | 1   | new   |
    Then the landing succeeds
    And alpha reads of "prices":
      | sku | rev | says   |
      | a   | 5   | folded |
      | b   | 6   | best   |
      | c   | 5   | folded |
      | d   | 1   | new    |

  @store.declare.unkeyed-union#every-row
  Scenario: equal rows are rows
    Given a table "clicks" without a key
    And alpha has landed rows of "clicks":
      | page | user |
      | home | ann  |
      | home | ann  |
      | help | bob  |
    When alpha lands rows of "clicks":
      | page | user |
      | home | ann  |
    Then the landing succeeds
    And alpha reads of "clicks" exactly the rows landed
    When alpha folds "clicks"
    Then the fold succeeds
    And alpha reads of "clicks" exactly the rows landed

  @store.declare.unkeyed-union#values
  Scenario: every value reads back as it was landed, before and after a fold
    Given a table "values" without a key
    And "values" declares the columns:
      | column | type      |
      | at     | timestamp |
      | small  | int32     |
      | part   | float64   |
    When alpha lands rows of "values":
      | row | whole                | part                    | text       | at                             | small       | flag  |
      | 1   | 9007199254740993     | -0.0                    | ""         | 2026-03-01T10:00:00.123456789Z | -2147483648 | true  |
      | 2   | -9007199254740993    | 5e-324                  | " "        | 1677-09-21T00:12:43.145224193Z | 2147483647  | false |
      | 3   | 9223372036854775807  | 1.7976931348623157e+308 | "a\tb\nc"  | 2262-04-11T23:47:16.854775807Z | 0           | true  |
      | 4   | -9223372036854775808 | 0.1                     | "null"     | 1970-01-01T00:00:00Z           | 1           | false |
      | 5   | 0                    | 0.30000000000000004     | "Zoë 🌍 \\" | 1969-12-31T23:59:59.999999999Z | -1          | null  |
      | 6   | null                 | null                    | null       | null                           | null        | null  |
    Then the landing succeeds
    And alpha reads of "values" exactly the rows landed
    When alpha folds "values"
    Then the fold succeeds
    And alpha reads of "values" exactly the rows landed

  @store.declare.unkeyed-union#values
  Scenario: NaN and the infinities read back, before and after a fold
    Given a table "readings" without a key
    When alpha lands a Parquet file of "readings" whose column "x" holds NaN, -inf, inf, -0, 0, 0.1
    Then the landing succeeds
    And alpha reads of "readings":
      | x    |
      | NaN  |
      | -inf |
      | inf  |
      | -0.0 |
      | 0    |
      | 0.1  |
    When alpha folds "readings"
    Then the fold succeeds
    And alpha reads of "readings":
      | x    |
      | NaN  |
      | -inf |
      | inf  |
      | -0.0 |
      | 0    |
      | 0.1  |

  @store.declare.unkeyed-union#replaced
  Scenario: of a table that every landing replaces, the last landing is read
    Given a table "stock" without a key
    And "stock" is replaced by every landing
    And alpha has landed rows of "stock" as run "zulu":
      | item | count |
      | nail | 5     |
      | bolt | 7     |
    When alpha lands rows of "stock" as run "alfa":
      | item | count |
      | bolt | 6     |
      | bolt | 6     |
    Then the landing succeeds
    And alpha reads of "stock":
      | item | count |
      | bolt | 6     |
      | bolt | 6     |
    When alpha folds "stock"
    Then the fold succeeds
    And alpha reads of "stock":
      | item | count |
      | bolt | 6     |
      | bolt | 6     |
    When alpha lands rows of "stock" as run "mike":
      | item | count |
      | nut  | 1     |
    Then the landing succeeds
    And alpha reads of "stock":
      | item | count |
      | nut  | 1     |

  @store.declare.changed#primary-key
  Scenario Outline: a key that <how> is refused by <who>
    Given a table "goods" keyed by "<was>"
    And alpha has landed rows of "goods":
      | sku | code | price |
      | a   | x    | 5     |
      | b   | y    | 7     |
    And alpha has landed 2 rows of "notes"
    When alpha's declaration of "goods" now says primary_key is "<now>"
    And alpha <asks>
    Then the <who> is refused with StoreDeclarationChanged, naming "goods" and "primary_key" and <both>
    And "goods" on alpha is as it was
    And alpha reads of "notes" exactly the rows landed
    When alpha's declaration of "goods" now says primary_key is "<was>"
    And alpha <asks>
    Then the <who> succeeds
    Examples:
      | how              | was | now       | both             | who     | asks                     |
      | became another   | sku | code      | "sku" and "code" | read    | reads "goods"            |
      | became another   | sku | code      | "sku" and "code" | fold    | folds "goods"            |
      | became another   | sku | code      | "sku" and "code" | landing | lands 1 rows of "goods"  |
      | gained a column  | sku | sku, code | "sku" and "code" | read    | reads "goods"            |
      | gained a column  | sku | sku, code | "sku" and "code" | fold    | folds "goods"            |
      | went away        | sku |           | "sku"            | read    | reads "goods"            |
      | went away        | sku |           | "sku"            | fold    | folds "goods"            |
      | went away        | sku |           | "sku"            | landing | lands 1 rows of "goods"  |
      | came             |     | sku       | "sku"            | read    | reads "goods"            |
      | came             |     | sku       | "sku"            | fold    | folds "goods"            |

  @store.declare.changed#order-by
  Scenario Outline: an order that <how> is refused by <who>
    Given a table "goods" keyed by "sku"
    And alpha's declaration of "goods" now says order_by is "<was>"
    And alpha has landed rows of "goods":
      | sku | rev | price |
      | a   | 2   | 5     |
      | b   | 1   | 7     |
    And alpha has landed rows of "goods":
      | sku | rev | price |
      | a   | 1   | 6     |
    When alpha's declaration of "goods" now says order_by is "<now>"
    And alpha <asks>
    Then the <who> is refused with StoreDeclarationChanged, naming "goods" and "order_by" and <one>
    And "goods" on alpha is as it was
    When alpha's declaration of "goods" now says order_by is "<was>"
    And alpha <asks>
    Then the <who> succeeds
    Examples:
      | how            | was | now   | one     | who     | asks                    |
      | became another | rev | price | "price" | read    | reads "goods"           |
      | became another | rev | price | "price" | landing | lands 1 rows of "goods" |
      | went away      | rev |       | "rev"   | read    | reads "goods"           |
      | went away      | rev |       | "rev"   | fold    | folds "goods"           |
      | came           |     | rev   | "rev"   | fold    | folds "goods"           |
      | came           |     | rev   | "rev"   | landing | lands 1 rows of "goods" |

  @store.declare.changed#order-by
  Scenario: a table that is declared no more reads and folds by the order it was landed under
    Given a table "goods" keyed by "sku"
    And alpha's declaration of "goods" now says order_by is "rev"
    And alpha has landed rows of "goods":
      | sku | rev | price |
      | a   | 2   | 5     |
    And alpha has landed rows of "goods":
      | sku | rev | price |
      | a   | 1   | 6     |
    When alpha declares "goods" no more
    Then alpha reads of "goods":
      | sku | rev | price |
      | a   | 2   | 5     |
    When alpha folds "goods"
    Then the fold succeeds
    And alpha reads of "goods":
      | sku | rev | price |
      | a   | 2   | 5     |

  @store.declare.changed#partition-by
  Scenario Outline: partitions that changed are refused by <who>
    Given a table "goods" keyed by "sku"
    And "goods" is partitioned by "code"
    And alpha has landed rows of "goods":
      | sku | code | price |
      | a   | x    | 5     |
      | b   | y    | 7     |
    When alpha's declaration of "goods" now says partition_by is "<now>"
    And alpha <asks>
    Then the <who> is refused with StoreDeclarationChanged, naming "goods" and "partition_by" and "code"
    And "goods" on alpha is as it was
    When alpha's declaration of "goods" now says partition_by is "code"
    And alpha <asks>
    Then the <who> succeeds
    Examples:
      | now   | who     | asks                    |
      | price | read    | reads "goods"           |
      |       | fold    | folds "goods"           |
      | price | landing | lands 1 rows of "goods" |

  @store.declare.changed#write-mode
  Scenario Outline: a write mode that changed from <was> is refused by <who>
    Given a table "goods" keyed by "sku"
    And alpha's declaration of "goods" now says write_mode is "<was>"
    And alpha has landed rows of "goods":
      | sku | price |
      | a   | 5     |
    When alpha's declaration of "goods" now says write_mode is "<now>"
    And alpha <asks>
    Then the <who> is refused with StoreDeclarationChanged, naming "goods" and "write_mode" and "append" and "replace"
    And "goods" on alpha is as it was
    Examples:
      | was     | now     | who     | asks                    |
      | append  | replace | read    | reads "goods"           |
      | append  | replace | landing | lands 1 rows of "goods" |
      | replace | append  | fold    | folds "goods"           |
      | replace | append  | landing | lands 1 rows of "goods" |

  @store.declare.changed#clocks @needs.valid-time @needs.vintage
  Scenario Outline: a clock that <how> is refused by <who>
    Given a table "goods" keyed by "sku"
    And "goods" declares retain_runs as "7d"
    And alpha's declaration of "goods" now says <key> is <was>
    And alpha has landed rows of "goods":
      | sku | since                | seen                 |
      | a   | 2020-01-01T00:00:00Z | 2020-01-02T00:00:00Z |
    When alpha's declaration of "goods" now says <key> is <now>
    And alpha <asks>
    Then the <who> is refused with StoreDeclarationChanged, naming "goods" and "<key>"
    And "goods" on alpha is as it was
    When alpha's declaration of "goods" now says <key> is <was>
    And alpha <asks>
    Then the <who> succeeds
    Examples:
      | how                 | key            | was                                   | now                                              | who     | asks                    |
      | came                | valid_time     | nothing                               | { from = "since" }                               | read    | reads "goods"           |
      | came                | valid_time     | nothing                               | { from = "since" }                               | fold    | folds "goods"           |
      | went away           | valid_time     | { from = "since" }                    | nothing                                          | read    | reads "goods"           |
      | went away           | valid_time     | { from = "since" }                    | nothing                                          | fold    | folds "goods"           |
      | begins elsewhere    | valid_time     | { from = "since" }                    | { from = "seen" }                                | read    | reads "goods"           |
      | ends elsewhere      | valid_time     | { from = "since", to = "seen" }       | { from = "since" }                               | read    | reads "goods"           |
      | came                | available_time | nothing                               | { column = "seen" }                              | landing | lands 1 rows of "goods" |
      | went away           | available_time | { column = "seen" }                   | nothing                                          | fold    | folds "goods"           |
      | went away           | available_time | { column = "seen" }                   | nothing                                          | landing | lands 1 rows of "goods" |
      | is another column   | available_time | { column = "seen" }                   | { column = "since" }                             | read    | reads "goods"           |
      | is in another zone  | available_time | { column = "seen" }                   | { column = "seen", zone = "Asia/Tokyo" }         | landing | lands 1 rows of "goods" |

  @store.declare.changed#primary-key @store.declare.changed#partition-by @store.declare.changed#write-mode
  Scenario: what is declared anew before the first row is the declaration
    Given a table "goods" keyed by "sku"
    And alpha has landed 2 rows of "notes"
    When alpha's declaration of "goods" now says primary_key is "code"
    And alpha's declaration of "goods" now says partition_by is "region"
    And alpha's declaration of "goods" now says write_mode is "append"
    And alpha lands rows of "goods":
      | sku | code | region | price |
      | a   | x    | north  | 5     |
      | a   | y    | south  | 7     |
    Then the landing succeeds
    When alpha folds "goods"
    Then the fold succeeds
    And alpha reads of "goods":
      | sku | code | region | price |
      | a   | x    | north  | 5     |
      | a   | y    | south  | 7     |

  @store.declare.unreadable#syntax
  Scenario Outline: a declaration that is no TOML stops <who>, <case>
    Given alpha has landed 3 rows of "events"
    When alpha's declaration file also holds the line <line>
    And alpha <asks>
    Then the <who> is refused with StoreDeclarationInvalid, naming "contextful.toml" and <the line>
    And alpha's store stays as it was, to the byte
    When alpha's declaration file also holds the line # <line>
    And alpha <asks>
    Then the <who> succeeds
    Examples:
      | case              | line               | who     | asks                     |
      | an open bracket   | [[pipeline.tables  | read    | reads "events"           |
      | no value          | retain_runs =      | landing | lands 2 rows of "events" |
      | an open quote     | retain_runs = "7d  | fold    | folds "events"           |
      | a bare word       | yes                | scan    | scans "events"           |
      | a line of prose   | see the wiki first | check   | checks its store         |
      | a key given twice | name = "events"    | listing | lists "events"           |

  @store.declare.unreadable#unknown-key
  Scenario Outline: a key that the store does not know stops <who>, <case>
    Given alpha has landed 3 rows of "events"
    When alpha's declaration file also holds the line <line>
    And alpha <asks>
    Then the <who> is refused with StoreDeclarationInvalid, naming "<key>"
    And alpha's store stays as it was, to the byte
    When alpha's declaration file also holds the line <right>
    And alpha <asks>
    Then the <who> succeeds
    Examples:
      | case            | line                      | key             | right                            | who     | asks                     |
      | of a table      | retain_run = "7d"         | retain_run      | retain_runs = "7d"               | read    | reads "events"           |
      | of a table      | cluster_on = ["id"]       | cluster_on      | cluster_by = ["id"]              | landing | lands 2 rows of "events" |
      | a whole section | [[jobs]]                  | jobs            | # [[jobs]]                       | fold    | folds "events"           |
      | of the project  | [project.settings]        | settings        | # [project.settings]             | listing | lists "events"           |
      | of the pipeline | pipeline.normalise = "x"  | normalise       | # pipeline.normalise = "x"       | scan    | scans "events"           |
      | in capitals     | Cluster_by = ["id"]       | Cluster_by      | cluster_by = ["id"]              | landing | lands 2 rows of "events" |

  @store.declare.unreadable#no-project
  Scenario Outline: where no directory above declares a project there is none for <who>
    Given alpha has landed 3 rows of "events"
    When alpha asks for a <who> of "events" outside any project
    Then the <who> is refused with ProjectNotFound
    And the directory that alpha asked from is empty
    And alpha's store stays as it was, to the byte
    When alpha asks for a <who> of "events" two directories below its project
    Then the <who> succeeds
    And the directory that alpha asked from is empty
    Examples:
      | who     |
      | landing |
      | fold    |
      | read    |
      | listing |
      | check   |

  @store.declare.empty-replacement#frontier
  Scenario Outline: a complete inventory of nothing empties the table, <when>
    Given a table "stock" keyed by "item"
    And "stock" is replaced by every landing
    And the tables are fed from a directory
    And alpha's directory holds the file "a.jsonl":
      | item | count |
      | nail | 5     |
    And alpha has run its pipeline
    And alpha has <folded>
    And alpha's directory holds nothing
    When alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's newest run of "stock" is replacement of 0 rows
    And alpha lists no file of "stock"
    And alpha reads no rows of "stock"
    When alpha's directory holds the file "b.jsonl":
      | item | count |
      | bolt | 7     |
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha reads of "stock":
      | item | count |
      | bolt | 7     |
    Examples:
      | when                   | folded               |
      | its rows in a run      | an initialised store |
      | its rows in a snapshot | folded "stock"       |

  @store.declare.empty-replacement#travels @needs.sync
  Scenario Outline: a table emptied on one node is empty on all, <when>
    Given a node "beta"
    And a node "gamma"
    And a table "stock" keyed by "item"
    And "stock" is replaced by every landing
    And the tables are fed from a directory
    And alpha's directory holds the file "a.jsonl":
      | item | count |
      | nail | 5     |
    And alpha has run its pipeline
    And alpha has <folded>
    And alpha has pushed
    And beta has pulled
    And alpha's directory holds nothing
    And alpha has run its pipeline
    When alpha pushes
    Then the push succeeds
    And beta reads 1 rows of "stock"
    When beta pulls
    Then the pull succeeds
    And beta's newest run of "stock" is replacement of 0 rows
    And beta lists no file of "stock"
    And beta reads no rows of "stock"
    When gamma pulls
    Then gamma's pull succeeds
    And gamma's newest run of "stock" is replacement of 0 rows
    And gamma reads no rows of "stock"
    Examples:
      | when                   | folded               |
      | its rows in a run      | an initialised store |
      | its rows in a snapshot | folded "stock"       |

  @store.declare.empty-replacement#folded @needs.sync
  Scenario: a fold keeps the table empty, also from what arrives late
    Given a node "beta"
    And a table "stock" keyed by "item"
    And "stock" is replaced by every landing
    And the tables are fed from a directory
    And alpha's directory holds the file "a.jsonl":
      | item | count |
      | nail | 5     |
    And alpha has run its pipeline
    And alpha has folded "stock"
    And alpha has pushed
    And beta has pulled
    And beta has landed rows of "stock":
      | item | count |
      | late | 1     |
    And alpha has landed rows of "stock":
      | item | count |
      | bolt | 7     |
    And alpha's directory holds nothing
    And alpha has run its pipeline
    When alpha folds "stock"
    Then the fold succeeds
    And alpha lists no file of "stock"
    And alpha reads no rows of "stock"
    When alpha pushes
    Then the push succeeds
    When beta pulls
    Then the pull succeeds
    And beta reads no rows of "stock"
    When beta pushes
    Then the push succeeds
    When alpha pulls
    Then the pull succeeds
    And alpha reads no rows of "stock"
    When alpha folds "stock"
    Then the fold succeeds
    And alpha reads no rows of "stock"

  @store.declare.empty-replacement#late
  Scenario: a replacement that comes late takes nothing that came after it and is folded
    Given a table "trades" without a key
    And alpha has landed 3 rows of "trades" as run "one"
    And alpha has landed 2 rows of "trades" as run "two"
    And alpha has folded "trades"
    And alpha has landed 4 rows of "trades" as run "late"
    When the manifest of run "late" of "trades" on alpha says that commit_seq is 0
    And the manifest of run "late" of "trades" on alpha says that replacement is true
    Then alpha reads of "trades" exactly the rows landed
    When alpha folds "trades"
    Then the fold succeeds
    And alpha reads of "trades" exactly the rows landed

  @store.declare.empty-replacement#folded
  Scenario: what comes after a folded emptiness is all there is
    Given a table "stock" keyed by "item"
    And "stock" is replaced by every landing
    And the tables are fed from a directory
    And alpha's directory holds the file "a.jsonl":
      | item | count |
      | nail | 5     |
    And alpha has run its pipeline
    And alpha has folded "stock"
    And alpha's directory holds nothing
    And alpha has run its pipeline
    And alpha has folded "stock"
    And alpha's directory holds the file "b.jsonl":
      | item | count |
      | bolt | 7     |
    And alpha has run its pipeline
    When alpha folds "stock"
    Then the fold succeeds
    And alpha reads of "stock":
      | item | count |
      | bolt | 7     |

  @store.declare.empty-replacement#bounded
  Scenario: a read bounded to an instant before the emptiness sees the rows
    Given a table "stock" keyed by "item"
    And "stock" is replaced by every landing
    And the tables are fed from a directory
    And alpha's directory holds the file "a.jsonl":
      | item | count |
      | nail | 5     |
    And the clock shows "2026-03-02T09:00:00Z"
    And alpha has run its pipeline
    And alpha's directory holds nothing
    And the clock shows "2026-03-02T10:00:00Z"
    When alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha reads of "stock" as of "2026-03-02T09:59:59.999999999Z":
      | item | count |
      | nail | 5     |
    And alpha reads of "stock" as of "2026-03-02T10:00:00Z":
      | item | count |
    When alpha folds "stock"
    Then the fold succeeds
    And alpha reads of "stock" as of "2026-03-02T09:59:59.999999999Z":
      | item | count |
      | nail | 5     |
    And alpha reads of "stock" as of "2026-03-02T10:00:00Z":
      | item | count |

  @store.declare.key-type#declared
  Scenario Outline: a key declared as <type> is refused
    Given a table "texts" keyed by "sign"
    And "texts" declares the column:
      | column | type   |
      | sign   | <type> |
    When alpha lands as run "one" into "texts", with no types, the rows {"sign":<value>,"n":1}
    Then the landing is refused with StoreDeclarationInvalid, naming "sign" and "<kind>"
    And alpha's store stays as it was
    Examples:
      | type             | kind       | value                      |
      | float32[2]       | float32[2] | [1,2]                      |
      | float16[2]       | float16[2] | [1,2]                      |
      | list<int64>      | list       | [1]                        |
      | struct<a: int64> | struct     | {"a":1}                    |
      | map<utf8, int64> | map        | {"a":1}                    |
      | variant          | variant    | {"kind":"int64","int64":1} |

  @store.declare.key-type#landed
  Scenario Outline: a key that comes as <type> is refused
    Given a table "texts" keyed by "sign"
    When alpha lands as run "one" into "texts", with sign as <type>, the rows {"sign":<value>,"n":1}
    Then the landing is refused with StoreSchemaIncompatible, naming "sign" and "<kind>"
    And alpha has no run of "texts"
    When alpha lands as run "one" into "texts", with sign as <plain>, the rows {"sign":<right>,"n":1}
    Then the landing succeeds
    And alpha reads 1 row of "texts"
    Examples:
      | type             | kind       | value   | plain     | right   |
      | list<int64>      | list       | [1]     | json      | [1]     |
      | struct<a: int64> | struct     | {"a":1} | json      | {"a":1} |
      | float32[2]       | float32[2] | [1,2]   | binary(2) | "AAE="  |
      | map<utf8, int64> | map        | {"a":1} | binary    | "AAE="  |

  @store.declare.key-type#bytes
  Scenario Outline: keys of <type> are one where every byte is the same
    Given a table "files" keyed by "sum"
    And "files" declares the column:
      | column | type   |
      | sum    | <type> |
    And alpha lands as run "one" into "files", with no types, the rows {"sum":"AAE=","n":1} {"sum":"AAI=","n":2} {"sum":"/wA=","n":3} {"sum":"YWE=","n":4} {"sum":"YUE=","n":5}
    And alpha lands as run "two" into "files", with no types, the rows {"sum":"AAI=","n":20} {"sum":"//8=","n":6} {"sum":"YWE=","n":40}
    When alpha asks: SELECT sum, n FROM "files" ORDER BY n
    Then the query succeeds
    And the answer's rows are [["AAE=",1],["/wA=",3],["YUE=",5],["//8=",6],["AAI=",20],["YWE=",40]]
    When alpha folds "files"
    Then the fold succeeds
    When alpha asks: SELECT sum, n FROM "files" ORDER BY n
    Then the query succeeds
    And the answer's rows are [["AAE=",1],["/wA=",3],["YUE=",5],["//8=",6],["AAI=",20],["YWE=",40]]
    Examples:
      | type      |
      | binary    |
      | binary(2) |

  @store.declare.fold-job#warns
  Scenario: validation warns of each keyed table that nothing folds, and does not fail
    Given a table "prices" keyed by "sku"
    And a table "stock" keyed by "item"
    And a table "clicks" without a key
    When alpha validates its declaration
    Then the validation succeeds
    And alpha's validation warns of "prices" and "stock" alone
    Given the jobs are:
      | name | kind | schedule    |
      | all  | fold | 0 */6 * * * |
    When alpha validates its declaration
    Then the validation succeeds
    And alpha's validation warns of no table

  @store.declare.fold-job#covers
  Scenario Outline: a job <that> leaves <uncovered> uncovered
    Given a table "prices" keyed by "sku"
    And a table "stock" keyed by "item"
    And the jobs are:
      | name    | kind   | schedule   | target   | enabled   |
      | nightly | <kind> | <schedule> | <target> | <enabled> |
    When alpha validates its declaration
    Then the validation succeeds
    And alpha's validation warns of <uncovered> alone
    Examples:
      | that                 | kind      | schedule  | target | enabled | uncovered            |
      | that names one table | fold      | 0 3 * * * | prices |         | "stock"              |
      | that names the other | fold      | 0 3 * * * | stock  |         | "prices"             |
      | that is enabled      | fold      | 0 3 * * * | prices | true    | "stock"              |
      | that is disabled     | fold      | 0 3 * * * | prices | false   | "prices" and "stock" |
      | without a schedule   | fold      |           | prices |         | "prices" and "stock" |
      | of another kind      | sync-push | 0 3 * * * |        |         | "prices" and "stock" |
