Feature: available-time
  When a source released a value, and reading what was known at an instant.

  Background:
    Given a node "alpha"
    And a table "figures" keyed by "firm"
    And "figures" declares available_time as { column = "seen" }

  @store.available-time.declaration#column @store.available-time.declaration#kept
  Scenario Outline: the source's instant is kept and is what bounds compare, <case>
    Given the clock shows "2026-03-01T09:00:00Z"
    When alpha lands rows of "figures":
      | firm | seen   | sales |
      | acme | <seen> | 5     |
    Then the landing succeeds
    And alpha's schema of "figures" has "seen" as timestamp
    When alpha <does> "figures"
    Then alpha reads of "figures":
      | firm | seen   | sales |
      | acme | <seen> | 5     |
    And alpha reads of "figures" under available "<seen>":
      | sales |
      | 5     |
    Examples:
      | case                         | seen                                | does  |
      | long before it was landed    | 2014-02-03T04:05:06.123456789Z      | reads |
      | in a snapshot                | 2014-02-03T04:05:06.123456789Z      | folds |
      | long after it was landed     | 2099-02-03T04:05:06Z                | reads |
      | before 1970                  | 1931-02-03T04:05:06.000000001Z      | folds |
      | with an offset               | 2014-02-03T04:05:06.5+05:30         | reads |

  @store.available-time.declaration#column
  Scenario: an availability that is declared no timestamp is refused
    Given "figures" declares the column:
      | column | type |
      | seen   | utf8 |
    When alpha lands rows of "figures":
      | firm | sales |
      | acme | 5     |
    Then the landing is refused with StoreDeclarationInvalid, naming "figures" and "seen"
    When "figures" declares the column:
      | column | type      |
      | seen   | timestamp |
    And alpha lands rows of "figures":
      | firm | sales |
      | acme | 5     |
    Then the landing succeeds

  @store.available-time.declaration#zone @store.available-time.declaration#repeated
  Scenario Outline: <seen> is read in <zone>
    Given "figures" declares available_time as { column = "seen"<clause> }
    When alpha lands rows of "figures":
      | firm | seen   | sales |
      | acme | <seen> | 5     |
    Then the landing succeeds
    And alpha reads of "figures":
      | firm | seen |
      | acme | <is> |
    Examples:
      | zone                      | clause                    | seen                          | is                             |
      | UTC where none is given   |                           | 2021-07-01T12:00:00.000000001 | 2021-07-01T12:00:00.000000001Z |
      | its zone, in winter       | , zone = "Europe/Berlin"  | 2021-01-01T12:00:00           | 2021-01-01T11:00:00Z           |
      | its zone, in summer       | , zone = "Europe/Berlin"  | 2021-07-01T12:00:00.5         | 2021-07-01T10:00:00.5Z         |
      | none, having an offset    | , zone = "Europe/Berlin"  | 2021-07-01T12:00:00-04:00     | 2021-07-01T16:00:00Z           |
      | none, being UTC           | , zone = "Asia/Tokyo"     | 2021-07-01T12:00:00Z          | 2021-07-01T12:00:00Z           |
      | its zone, the second time | , zone = "Europe/Berlin"  | 2021-10-31T02:30:00           | 2021-10-31T01:30:00Z           |
      | its zone, the second time | , zone = "America/New_York" | 2021-11-07T01:00:00         | 2021-11-07T06:00:00Z           |
      | its zone, after the gap   | , zone = "Europe/Berlin"  | 2021-03-28T03:00:00           | 2021-03-28T01:00:00Z           |

  @store.available-time.declaration#zone
  Scenario Outline: a Parquet file's wall times are read in the zone, <case>
    Given a table "ticks" without a key
    And "ticks" declares available_time as { column = "seen"<clause> }
    When alpha lands into "ticks" a Parquet file with the wall times in "seen": "2021-01-01T12:00:00" and "2021-07-01T12:00:00.000001"
    Then the landing succeeds
    And alpha reads of "ticks":
      | seen     |
      | <winter> |
      | <summer> |
    Examples:
      | case                    | clause                   | winter               | summer                      |
      | UTC where none is given |                          | 2021-01-01T12:00:00Z | 2021-07-01T12:00:00.000001Z |
      | Berlin                  | , zone = "Europe/Berlin" | 2021-01-01T11:00:00Z | 2021-07-01T10:00:00.000001Z |

  @store.available-time.declaration#zone
  Scenario Outline: a zone that is none is refused: <zone>
    Given "figures" declares available_time as { column = "seen", zone = "<zone>" }
    When alpha lands rows of "figures":
      | firm | seen                 | sales |
      | acme | 2021-01-01T12:00:00Z | 5     |
    Then the landing is refused with StoreDeclarationInvalid, naming "figures" and "<zone>"
    Examples:
      | zone         |
      | Mars/Olympus |
      | Local        |

  @store.available-time.declaration#gap
  Scenario Outline: a time that the clocks of the zone skipped is refused: <seen> in <zone>
    Given "figures" declares available_time as { column = "seen", zone = "<zone>" }
    When alpha lands rows of "figures":
      | firm | seen   | sales |
      | acme | <seen> | 5     |
    Then the landing is refused with StoreInputMalformed, naming "seen"
    And alpha reads no rows of "figures"
    When alpha lands rows of "figures":
      | firm | seen         | sales |
      | acme | <seen><said> | 5     |
    Then the landing succeeds
    Examples:
      | zone          | seen                          | said   |
      | Europe/Berlin | 2021-03-28T02:00:00           | +01:00 |
      | Europe/Berlin | 2021-03-28T02:59:59.999999999 | +02:00 |
      | Pacific/Apia  | 2011-12-30T12:00:00           | Z      |

  @store.available-time.declaration#omitted
  Scenario Outline: only what is declared leaves a trace, <case>
    Given a table "plain" keyed by "firm"
    And alpha has landed rows of "plain":
      | firm | sales |
      | acme | 5     |
    And alpha has landed rows of "figures":
      | firm | seen                 | sales |
      | acme | 2021-01-01T12:00:00Z | 5     |
    And alpha has folded "plain"
    When alpha folds "figures"
    Then the fold succeeds
    And <document> of "plain" on alpha has no trace of "available_time"
    And <document> of "plain" on alpha has no trace of "valid_time"
    And <document> of "figures" on alpha names "available_time"
    Examples:
      | case            | document                |
      | in the schema   | schema.json             |
      | in the snapshot | the snapshot's manifest |

  @store.available-time.available-as-of#bound @store.available-time.available-as-of#beneath @store.available-time.vintage-rows#latest
  Scenario Outline: what was known by <bound>, <case>
    Given alpha has landed rows of "figures":
      | firm | seen                 | sales |
      | acme | 2021-01-01T00:00:00Z | 1     |
      | acme | 2021-03-01T00:00:00Z | 3     |
      | bolt | 2021-02-01T00:00:00Z | 20    |
    And alpha has <first> "figures"
    And alpha has landed rows of "figures":
      | firm | seen                 | sales |
      | acme | 2021-02-01T00:00:00Z | 2     |
    When alpha <second> "figures"
    Then alpha reads of "figures" under available "<bound>":
      | firm | sales  |
      | acme | <acme> |
      | bolt | <bolt> |
    And alpha scans of "figures" under available "<bound>":
      | firm | sales  |
      | acme | <acme> |
      | bolt | <bolt> |
    Examples:
      | case              | bound                | acme | bolt | first            | second |
      | nothing folded    | 2021-02-01T00:00:00Z | 2    | 20   | landed 0 more of | reads  |
      | folded at once    | 2021-02-01T00:00:00Z | 2    | 20   | landed 0 more of | folds  |
      | folded one by one | 2021-02-28T00:00:00Z | 2    | 20   | folded           | folds  |
      | a run beside      | 2021-03-01T00:00:00Z | 3    | 20   | folded           | reads  |

  @store.available-time.available-as-of#bound @store.available-time.available-as-of#nanoseconds
  Scenario Outline: a vintage is in at its instant and out a nanosecond before, <case>
    Given alpha has landed rows of "figures":
      | firm | seen                 | sales |
      | acme | 2011-01-01T00:00:00Z | 1     |
    And alpha has landed rows of "figures":
      | firm | seen   | sales |
      | acme | <seen> | 2     |
    When alpha <does> "figures"
    Then alpha reads of "figures" under available "<before>":
      | sales |
      | 1     |
    And alpha reads of "figures" under available "<seen>":
      | sales |
      | 2     |
    Examples:
      | case               | seen                           | before                         | does  |
      | whole microseconds | 2021-01-01T00:00:00.000002Z    | 2021-01-01T00:00:00.000001999Z | reads |
      | in a snapshot      | 2021-01-01T00:00:00.000002Z    | 2021-01-01T00:00:00.000001999Z | folds |
      | finer digits       | 2021-01-01T00:00:00.000000002Z | 2021-01-01T00:00:00.000000001Z | reads |
      | finer in a fold    | 2021-01-01T00:00:00.000000002Z | 2021-01-01T00:00:00.000000001Z | folds |

  @store.available-time.available-as-of#undated @store.available-time.vintage-rows#undated
  Scenario Outline: a row whose source gave no instant is under no bound and comes last, <case>
    Given alpha has landed rows of "figures":
      | firm | seen                 | sales |
      | acme | 2021-01-01T00:00:00Z | 1     |
      | bolt | null                 | 20    |
    And alpha has landed rows of "figures":
      | firm | sales |
      | acme | 2     |
      | bolt | 21    |
    When alpha <does> "figures"
    Then alpha reads of "figures":
      | firm | sales |
      | acme | 1     |
      | bolt | 21    |
    And alpha reads of "figures" under first vintages:
      | firm | sales |
      | acme | 1     |
      | bolt | 21    |
    And alpha reads of "figures" under available "2099-01-01T00:00:00Z":
      | firm | sales |
      | acme | 1     |
    And alpha reads of "figures" under available "9999-01-01T00:00:00Z":
      | firm | sales |
      | acme | 1     |
    Examples:
      | case          | does  |
      | before a fold | reads |
      | after one     | folds |

  @store.available-time.available-as-of#combined
  Scenario Outline: three clocks bound one read together, <case>
    Given a table "ratings" keyed by "firm"
    And "ratings" declares valid_time as { from = "since", to = "until" }
    And "ratings" declares available_time as { column = "seen" }
    And the clock shows "2026-03-01T09:00:00Z"
    And alpha has landed rows of "ratings":
      | firm | since                | until                | seen                 | grade |
      | acme | 2020-01-01T00:00:00Z | 2021-01-01T00:00:00Z | 2020-02-01T00:00:00Z | A     |
      | acme | 2021-01-01T00:00:00Z |                      | 2021-02-01T00:00:00Z | B     |
    And the clock shows "2026-03-03T09:00:00Z"
    And alpha has landed rows of "ratings":
      | firm | since                | until                | seen                 | grade |
      | acme | 2020-01-01T00:00:00Z | 2021-01-01T00:00:00Z | 2020-03-01T00:00:00Z | C     |
    When alpha <does> "ratings"
    Then alpha reads of "ratings" under valid "2020-06-01T00:00:00Z" and available "2020-02-15T00:00:00Z":
      | grade |
      | A     |
    And alpha reads of "ratings" under valid "2020-06-01T00:00:00Z" and available "2022-01-01T00:00:00Z":
      | grade |
      | C     |
    And alpha reads of "ratings" under valid "2020-06-01T00:00:00Z" and available "2022-01-01T00:00:00Z" and as of "2026-03-02T00:00:00Z":
      | grade |
      | A     |
    And alpha reads of "ratings" under valid "2021-06-01T00:00:00Z" and available "2021-01-15T00:00:00Z":
      | grade |
    And alpha reads of "ratings" under valid "2020-06-01T00:00:00Z" and first vintages:
      | grade |
      | A     |
    Examples:
      | case          | does  |
      | before a fold | reads |
      | after one     | folds |

  @store.available-time.available-as-of#elsewhere @store.available-time.undeclared#mixed
  Scenario: a table without available time is read beside one that has it
    Given a table "firms" keyed by "firm"
    And alpha has landed rows of "firms":
      | firm | name      |
      | acme | Acme Ltd. |
    And alpha has landed rows of "figures":
      | firm | seen                 | sales |
      | acme | 2021-01-01T00:00:00Z | 1     |
      | acme | 2021-03-01T00:00:00Z | 3     |
    When alpha asks under available "2021-02-01T00:00:00Z" and first vintages, the statement SELECT f.name, g.sales FROM "firms" f JOIN "figures" g USING (firm)
    Then the statement's answer is:
      | name      | sales |
      | Acme Ltd. | 1     |

  @store.available-time.undeclared#available @store.available-time.undeclared#vintage
  Scenario Outline: a <verb> under <bound> that no table declares is refused
    Given a table "firms" keyed by "firm"
    And alpha has landed rows of "firms":
      | firm | name      |
      | acme | Acme Ltd. |
    When alpha asks for a <verb> of "firms" under <bound>
    Then the <verb> is refused with StoreBoundUndeclared, naming "firms" and "<name>"
    When alpha asks for a <verb> of "figures" under <bound>
    Then the <verb> succeeds
    Examples:
      | verb    | bound                            | name            |
      | read    | available "2021-02-01T00:00:00Z" | available_as_of |
      | scan    | available "2021-02-01T00:00:00Z" | available_as_of |
      | listing | available "2021-02-01T00:00:00Z" | available_as_of |
      | read    | first vintages                   | vintage         |
      | scan    | first vintages                   | vintage         |

  @store.available-time.vintage-rows#kept @store.available-time.vintage-dedup-key#fold
  Scenario Outline: every vintage is in the snapshot, once, <case>
    Given alpha has landed rows of "figures":
      | firm | seen                           | sales |
      | acme | 2021-01-01T00:00:00Z           | 1     |
      | acme | 2021-01-01T00:00:00.000000001Z | 2     |
      | bolt | 2021-01-01T00:00:00Z           | 20    |
    And alpha has <first> "figures"
    And alpha has landed rows of "figures":
      | firm | seen                 | sales |
      | acme | 2020-06-01T00:00:00Z | 0     |
      | bolt | 2021-01-01T00:00:00Z | 21    |
      | bolt | null                 | 22    |
    When alpha folds "figures"
    Then the fold succeeds
    And alpha's snapshot of "figures" holds exactly the rows:
      | firm | seen                           | sales |
      | acme | 2020-06-01T00:00:00Z           | 0     |
      | acme | 2021-01-01T00:00:00Z           | 1     |
      | acme | 2021-01-01T00:00:00.000000001Z | 2     |
      | bolt | 2021-01-01T00:00:00Z           | 21    |
      | bolt | null                           | 22    |
    Examples:
      | case              | first            |
      | folded at once    | landed 0 more of |
      | folded one by one | folded           |

  @store.available-time.vintage-rows#latest @store.available-time.vintage-rows#first
  Scenario Outline: the latest vintage is read, or the first, whatever landed last, <case>
    Given a table "figures" keyed by "firm" and ordered by "rev"
    And "figures" declares available_time as { column = "seen" }
    And alpha has landed rows of "figures":
      | firm | seen                           | rev | sales |
      | acme | 2021-03-01T00:00:00.000000001Z | 1   | 3     |
      | acme | 2021-02-01T00:00:00Z           | 9   | 2     |
    And alpha has <first> "figures"
    And alpha has landed rows of "figures":
      | firm | seen                 | rev | sales |
      | acme | 2021-03-01T00:00:00Z | 5   | 4     |
      | acme | 2021-01-01T00:00:00Z | 7   | 1     |
      | bolt | 2021-01-01T00:00:00Z | 7   | 10    |
    When alpha <second> "figures"
    Then alpha reads of "figures":
      | firm | sales |
      | acme | 3     |
      | bolt | 10    |
    And alpha reads of "figures" under first vintages:
      | firm | sales |
      | acme | 1     |
      | bolt | 10    |
    And alpha reads of "figures" under available "2021-03-01T00:00:00Z":
      | firm | sales |
      | acme | 4     |
      | bolt | 10    |
    And alpha reads of "figures" under first vintages and available "2021-03-01T00:00:00Z":
      | firm | sales |
      | acme | 1     |
      | bolt | 10    |
    And alpha reads of "figures" under first vintages and available "2020-12-31T00:00:00Z":
      | firm | sales |
    Examples:
      | case              | first            | second |
      | nothing folded    | landed 0 more of | reads  |
      | folded at once    | landed 0 more of | folds  |
      | folded one by one | folded           | folds  |
      | a run beside      | folded           | reads  |

  @store.available-time.vintage-dedup-key#key
  Scenario Outline: of two rows of one vintage the dedup view's first is read, <case>
    Given a table "figures" keyed by "firm" and ordered by "rev"
    And "figures" declares available_time as { column = "seen" }
    And alpha has landed rows of "figures":
      | firm | seen                 | rev | sales |
      | acme | 2021-02-01T00:00:00Z | 5   | 2     |
      | acme | 2021-01-01T00:00:00Z | 9   | 1     |
    And alpha has landed rows of "figures":
      | firm | seen                 | rev | sales |
      | acme | 2021-02-01T00:00:00Z | 4   | 3     |
      | acme | 2021-01-01T00:00:00Z | 9   | 0     |
    When alpha <does> "figures"
    Then alpha reads of "figures":
      | firm | sales |
      | acme | 2     |
    And alpha reads of "figures" under available "2021-01-15T00:00:00Z":
      | firm | sales |
      | acme | 0     |
    And alpha reads of "figures" under first vintages:
      | firm | sales |
      | acme | 0     |
    Examples:
      | case          | does  |
      | before a fold | reads |
      | after one     | folds |

  @store.available-time.vintage-dedup-key#valid-time @store.available-time.vintage-dedup-key#order
  Scenario Outline: the vintages of each interval are kept apart, <case>
    Given a table "ratings" keyed by "firm"
    And "ratings" declares valid_time as { from = "since" }
    And "ratings" declares available_time as { column = "seen" }
    And alpha has landed rows of "ratings":
      | firm | since                | seen                 | grade |
      | acme | 2021-01-01T00:00:00Z | 2021-02-01T00:00:00Z | B     |
      | bolt | 2020-01-01T00:00:00Z | 2021-02-01T00:00:00Z | X     |
      | acme | 2020-01-01T00:00:00Z | 2021-02-01T00:00:00Z | A     |
    And alpha has landed rows of "ratings":
      | firm | since                | seen                 | grade |
      | acme | 2020-01-01T00:00:00Z | 2021-03-01T00:00:00Z | A2    |
      | acme | 2021-01-01T00:00:00Z | 2021-01-15T00:00:00Z | B0    |
    When alpha folds "ratings"
    Then the fold succeeds
    And alpha's snapshot of "ratings" holds exactly the rows:
      | firm | since                | grade |
      | acme | 2020-01-01T00:00:00Z | A     |
      | acme | 2020-01-01T00:00:00Z | A2    |
      | acme | 2021-01-01T00:00:00Z | B     |
      | acme | 2021-01-01T00:00:00Z | B0    |
      | bolt | 2020-01-01T00:00:00Z | X     |
    And the rows of each part of alpha's snapshot of "ratings" are in the order of "since", "firm"
    And alpha reads of "ratings" under available "<bound>":
      | firm | grade |
      | acme | <old> |
      | acme | <new> |
      | bolt | X     |
    Examples:
      | case     | bound                | old | new |
      | early    | 2021-02-15T00:00:00Z | A   | B   |
      | late     | 2021-04-01T00:00:00Z | A2  | B   |

  @store.available-time.adjustments#bounded @store.available-time.adjustments#effective @store.available-time.adjustments#available @store.available-time.adjustments#several @store.available-time.adjustments#raw @store.available-time.adjustments#unchanged
  Scenario Outline: prices as they were adjusted by <bound>, <case>
    Given a table "splits" keyed by "firm"
    And "splits" declares valid_time as { from = "day" }
    And "splits" declares available_time as { column = "told" }
    And a table "prices" keyed by "firm"
    And "prices" declares valid_time as { from = "at" }
    And "prices" declares available_time as { column = "seen", adjustments = [{ table = "splits", columns = ["price", "low"], factor = "factor", effective = "day", on = ["firm"] }] }
    And alpha has landed rows of "prices":
      | firm | at                   | seen                 | price | low  | volume |
      | acme | 2020-01-01T00:00:00Z | 2020-01-01T00:00:00Z | 100   | 80.5 | 9      |
      | acme | 2020-06-01T00:00:00Z | 2020-06-01T00:00:00Z | 60    |      | 9      |
      | bolt | 2020-01-01T00:00:00Z | 2020-01-01T00:00:00Z | 7     | 1.5  | 9      |
    And alpha has landed rows of "splits":
      | firm | day                            | told                 | factor |
      | acme | 2020-06-01T00:00:00Z           | 2020-05-01T00:00:00Z | 0.5    |
      | acme | 2020-06-01T00:00:00.000000001Z | 2020-08-01T00:00:00Z | 0.25   |
      | bolt | 2020-06-01T00:00:00Z           | 2020-08-01T00:00:00Z | 3      |
    And alpha has landed rows of "splits":
      | firm | day                  | told                 | factor |
      | bolt | 2020-06-01T00:00:00Z | 2020-09-01T00:00:00Z | null   |
      | cold | 2020-06-01T00:00:00Z | 2020-01-01T00:00:00Z | 9      |
    When alpha <does> "prices"
    Then alpha reads of "prices" under available "<bound>" and <more>:
      | firm | at                   | price | low   | volume |
      | acme | 2020-01-01T00:00:00Z | <one> | <low> | 9      |
      | acme | 2020-06-01T00:00:00Z | <two> |       | 9      |
      | bolt | 2020-01-01T00:00:00Z | <far> | <lof> | 9      |
    And alpha reads of "prices":
      | firm | at                   | price | low  | volume |
      | acme | 2020-01-01T00:00:00Z | 100   | 80.5 | 9      |
      | acme | 2020-06-01T00:00:00Z | 60    |      | 9      |
      | bolt | 2020-01-01T00:00:00Z | 7     | 1.5  | 9      |
    Examples:
      | case                     | bound                | more                         | one  | two | low     | far | lof | does  |
      | one factor known         | 2020-07-01T00:00:00Z | as of "2099-01-01T00:00:00Z" | 50   | 60  | 40.25   | 7   | 1.5 | reads |
      | two known                | 2020-08-01T00:00:00Z | as of "2099-01-01T00:00:00Z" | 12.5 | 15  | 10.0625 | 21  | 4.5 | reads |
      | two known, after a fold  | 2020-08-01T00:00:00Z | as of "2099-01-01T00:00:00Z" | 12.5 | 15  | 10.0625 | 21  | 4.5 | folds |
      | one taken back           | 2020-09-01T00:00:00Z | as of "2099-01-01T00:00:00Z" | 12.5 | 15  | 10.0625 | 7   | 1.5 | reads |
      | the first ones told      | 2020-09-01T00:00:00Z | first vintages               | 12.5 | 15  | 10.0625 | 21  | 4.5 | reads |

  @store.available-time.adjustments#available
  Scenario: a bound on validity leaves no factor out
    Given a table "splits" keyed by "firm"
    And "splits" declares valid_time as { from = "day" }
    And "splits" declares available_time as { column = "told" }
    And a table "prices" keyed by "firm"
    And "prices" declares valid_time as { from = "at" }
    And "prices" declares available_time as { column = "seen", adjustments = [{ table = "splits", columns = ["price"], factor = "factor", effective = "day", on = ["firm"] }] }
    And alpha has landed rows of "prices":
      | firm | at                   | seen                 | price |
      | acme | 2020-01-01T00:00:00Z | 2020-01-01T00:00:00Z | 100   |
    And alpha has landed rows of "splits":
      | firm | day                  | told                 | factor |
      | acme | 2020-06-01T00:00:00Z | 2020-05-01T00:00:00Z | 0.5    |
    When alpha asks under valid "2020-02-01T00:00:00Z" and available "2020-07-01T00:00:00Z", the statement SELECT price FROM "prices"
    Then the statement's answer is:
      | price |
      | 50    |

  @store.available-time.adjustments#missing
  Scenario Outline: factors that nobody can date refuse the bounded read, <case>
    Given a table "prices" keyed by "firm"
    And "prices" declares valid_time as { from = "at" }
    And "prices" declares available_time as { column = "seen", adjustments = [{ table = "splits", columns = ["price"], factor = "factor", effective = "day", on = ["firm"] }] }
    And alpha has landed rows of "prices":
      | firm | at                   | seen                 | price |
      | acme | 2020-01-01T00:00:00Z | 2020-01-01T00:00:00Z | 100   |
    And <given>
    When alpha asks for a read of "prices" under available "2020-07-01T00:00:00Z"
    Then the read is refused with <code>, naming "splits"
    And alpha reads of "prices":
      | price |
      | 100   |
    Examples:
      | case                     | given                             | code                    |
      | no such table            | a table "others" keyed by "firm"  | StoreTableUnknown       |
      | one without availability | a table "splits" keyed by "firm"  | StoreDeclarationInvalid |

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

  @store.available-time.vintage-scope#same @needs.typed @needs.nested
  Scenario Outline: vectors, structs, lists and maps are content, <when>
    Given a node "alpha"
    And a table "figures" keyed by "item"
    And "figures" declares the columns:
      | column | type                     |
      | vector | float32[2]               |
      | both   | struct<a: int64, b: utf8> |
      | list   | list<int64>              |
      | map    | map<utf8, float64>       |
    And "figures" declares available_time as {column = "known"}
    And alpha has landed rows of "figures" as run "first":
      | item | known                | vector  | both            | list    | map       |
      | a    | 2024-02-01T00:00:00Z | [1,0.5] | {"a":7,"b":"x"} | [1,2]   | {"k":1.5} |
      | b    | 2024-02-01T00:00:00Z | [1,0.5] | {"a":7,"b":"x"} | [1,2]   | {"k":1.5} |
    And <folded>
    When alpha lands rows of "figures" as run "again":
      | item | known                | vector  | both            | list    | map       |
      | a    | 2024-02-01T00:00:00Z | [1,0.5] | {"b":"x","a":7} | [1,2]   | {"k":1.5} |
      | b    | 2024-02-01T00:00:00Z | [1,0.5] | {"a":7,"b":"x"} | [1,2,3] | {"k":1.5} |
    Then the landing succeeds
    And run "again" of "figures" holds on alpha the rows:
      | item |
      | b    |
    Examples:
      | when          | folded                               |
      | before a fold | alpha has landed 0 more of "figures" |
      | after a fold  | alpha has folded "figures"           |

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
