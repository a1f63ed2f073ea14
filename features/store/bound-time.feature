Feature: bound-time
  What a read sees at an instant: now, or at any instant before.

  Background:
    Given a node "alpha"
    And a table "stock" without a key

  @store.bound-time.unbounded-latest#omitted
  Scenario Outline: a run that came after the snapshot is read beside it, <case>
    Given the clock shows "2026-03-02T09:00:00Z"
    And alpha has landed rows of "stock":
      | item | count |
      | nail | 5     |
    And alpha has folded "stock"
    And the clock shows "<landed>"
    When alpha lands rows of "stock":
      | item | count |
      | bolt | 7     |
    Then the landing succeeds
    When the clock shows "<read>"
    Then alpha reads of "stock" exactly the rows landed
    And alpha's list of "stock" is what the manifests name
    Examples:
      | case                                | landed               | read                 |
      | at once                             | 2026-03-02T09:00:01Z | 2026-03-02T09:00:01Z |
      | landed by a clock that went back    | 2026-03-01T09:00:00Z | 2026-03-02T09:00:01Z |
      | read by a clock that is behind both | 2026-03-02T09:00:01Z | 2026-03-01T09:00:00Z |

  @store.bound-time.unbounded-latest#once
  Scenario: a run that an ancestor folded is not read again
    Given alpha has landed rows of "stock" as run "one":
      | item | count |
      | nail | 5     |
    And alpha has folded "stock"
    And alpha has landed rows of "stock" as run "two":
      | item | count |
      | nail | 5     |
    And alpha has folded "stock"
    And alpha has landed rows of "stock" as run "three":
      | item | count |
      | nut  | 1     |
    And alpha has folded "stock"
    When alpha lands rows of "stock" as run "four":
      | item | count |
      | bolt | 7     |
    Then the landing succeeds
    And run "one" of "stock" stays on alpha
    And alpha reads of "stock" exactly the rows landed
    And alpha's list of "stock" is what the manifests name

  @store.bound-time.as-of#snapshot @store.bound-time.as-of#runs
  Scenario Outline: a read as of <bound> sees what was committed by then
    Given the clock shows "2026-03-01T09:00:00Z"
    And alpha has landed rows of "stock" as run "one":
      | item | count |
      | nail | 5     |
    And the clock shows "2026-03-02T09:00:00Z"
    And alpha has folded "stock"
    And the clock shows "2026-03-03T09:00:00Z"
    And alpha has landed rows of "stock" as run "two":
      | item | count |
      | bolt | 7     |
    And the clock shows "2026-03-04T09:00:00Z"
    And alpha has <then> "stock"
    And the clock shows "2026-03-05T09:00:00Z"
    And alpha has landed rows of "stock" as run "three":
      | item | count |
      | nut  | 1     |
    When the clock shows "2026-03-06T09:00:00Z"
    And alpha <does> "stock"
    Then alpha reads of "stock" as of "<bound>" the items <items>
    And alpha scans of "stock" as of "<bound>" the items <items>
    Examples:
      | bound                | items                     | then             | does  |
      | 2026-02-28T00:00:00Z | none                      | folded           | reads |
      | 2026-03-01T12:00:00Z | "nail"                    | folded           | reads |
      | 2026-03-02T12:00:00Z | "nail"                    | folded           | folds |
      | 2026-03-03T12:00:00Z | "nail" and "bolt"         | folded           | reads |
      | 2026-03-04T12:00:00Z | "nail" and "bolt"         | folded           | folds |
      | 2026-03-05T12:00:00Z | "nail", "bolt" and "nut"  | folded           | folds |
      | 2026-03-04T12:00:00Z | "nail" and "bolt"         | landed 0 more of | reads |

  @store.bound-time.as-of#boundary
  Scenario Outline: what is exactly at the bound is in, and what is a nanosecond later is out: <bound>
    Given the clock shows "2026-03-01T09:00:00.000000005Z"
    And alpha has landed rows of "stock" as run "one":
      | item | count |
      | nail | 5     |
    And the clock shows "2026-03-02T09:00:00.000000005Z"
    And alpha has folded "stock"
    And the clock shows "2026-03-03T09:00:00.000000005Z"
    And alpha has landed rows of "stock" as run "two":
      | item | count |
      | bolt | 7     |
    And alpha has folded "stock"
    When the clock shows "2026-03-06T09:00:00Z"
    And alpha lands rows of "stock" as run "three":
      | item | count |
      | nut  | 1     |
    Then alpha reads of "stock" as of "<bound>" the items <items>
    And alpha's list of "stock" as of "<bound>" names <parts>
    Examples:
      | bound                               | items             | parts                                |
      | 2026-03-01T09:00:00.000000004Z      | none              | nothing                              |
      | 2026-03-01T09:00:00.000000005Z      | "nail"            | runs only                            |
      | 2026-03-02T09:00:00.000000004Z      | "nail"            | runs only                            |
      | 2026-03-02T09:00:00.000000005Z      | "nail"            | a snapshot only                      |
      | 2026-03-03T09:00:00.000000004Z      | "nail"            | a snapshot only                      |
      | 2026-03-02T14:30:00.000000005+05:30 | "nail"            | a snapshot only                      |

  @store.bound-time.as-of#boundary
  Scenario: the bound itself is in, to the nanosecond, for a run beside a snapshot
    Given the clock shows "2026-03-01T09:00:00.000000005Z"
    And alpha has landed rows of "stock" as run "one":
      | item | count |
      | nail | 5     |
    And alpha has folded "stock"
    And the clock shows "2026-03-03T09:00:00.000000005Z"
    And alpha has landed rows of "stock" as run "two":
      | item | count |
      | bolt | 7     |
    And the clock shows "2026-03-03T09:00:00.000000006Z"
    When alpha lands rows of "stock" as run "three":
      | item | count |
      | nut  | 1     |
    Then alpha reads of "stock" as of "2026-03-03T09:00:00.000000004Z" the items "nail"
    And alpha reads of "stock" as of "2026-03-03T09:00:00.000000005Z" the items "nail" and "bolt"
    And alpha reads of "stock" as of "2026-03-03T09:00:00.000000006Z" the items "nail", "bolt" and "nut"

  @store.bound-time.as-of#before-ranking
  Scenario Outline: a key that was updated later reads as it then was, <case>
    Given a table "prices" keyed by "sku" and ordered by "rev"
    And the clock shows "2026-03-01T09:00:00Z"
    And alpha has landed rows of "prices" as run "one":
      | sku | rev | says |
      | a   | 1   | old  |
      | b   | 1   | old  |
    And alpha has <first> "prices"
    And the clock shows "2026-03-03T09:00:00Z"
    And alpha has landed rows of "prices" as run "two":
      | sku | rev | says |
      | a   | 2   | new  |
      | c   | 1   | new  |
    When alpha <second> "prices"
    Then alpha reads of "prices" as of "2026-03-02T00:00:00Z":
      | sku | rev | says |
      | a   | 1   | old  |
      | b   | 1   | old  |
    And alpha reads of "prices" as of "2026-03-04T00:00:00Z":
      | sku | rev | says |
      | a   | 2   | new  |
      | b   | 1   | old  |
      | c   | 1   | new  |
    Examples:
      | case               | first            | second |
      | nothing folded     | landed 0 more of | reads  |
      | the first folded   | folded           | reads  |
      | all folded at once | landed 0 more of | folds  |
      | folded one by one  | folded           | folds  |

  @store.bound-time.interval-rows#intervals @store.bound-time.interval-rows#fold
  Scenario Outline: a key keeps all its intervals, <case>
    Given a table "jobs" keyed by "who"
    And "jobs" declares valid_time as { from = "since", to = "until" }
    And alpha has landed rows of "jobs":
      | who | since                | until                | title  |
      | ann | 2020-01-01T00:00:00Z | 2022-01-01T00:00:00Z | clerk  |
      | bob | 2020-01-01T00:00:00Z |                      | cook   |
    And alpha has <first> "jobs"
    And alpha has landed rows of "jobs":
      | who | since                | until                | title  |
      | ann | 2022-01-01T00:00:00Z |                      | warden |
    When alpha <second> "jobs"
    Then alpha reads of "jobs":
      | who | since                | until                | title  |
      | ann | 2020-01-01T00:00:00Z | 2022-01-01T00:00:00Z | clerk  |
      | ann | 2022-01-01T00:00:00Z |                      | warden |
      | bob | 2020-01-01T00:00:00Z |                      | cook   |
    Examples:
      | case              | first            | second |
      | nothing folded    | landed 0 more of | reads  |
      | folded at once    | landed 0 more of | folds  |
      | folded one by one | folded           | folds  |
      | a run beside      | folded           | reads  |

  @store.bound-time.interval-rows#same-interval @store.bound-time.interval-rows#fold
  Scenario Outline: of the rows of one interval one survives, <case>
    Given a table "jobs" keyed by "who" and ordered by "rev"
    And "jobs" declares valid_time as { from = "since", to = "until" }
    And alpha has landed rows of "jobs":
      | who | since                | until                | rev | title |
      | ann | 2020-01-01T00:00:00Z |                      | 1   | clerk |
      | bob |                      |                      | 1   | cook  |
      | cyd | 2020-01-01T00:00:00Z | 2021-01-01T00:00:00Z | 2   | smith |
    And alpha has <first> "jobs"
    And alpha has landed rows of "jobs":
      | who | since                | until                | rev | title |
      | ann | 2020-01-01T00:00:00Z | 2022-01-01T00:00:00Z | 2   | clerk |
      | bob | null                 |                      | 2   | chef  |
      | cyd | 2020-01-01T00:00:00Z |                      | 1   | smith |
    When alpha <second> "jobs"
    Then alpha reads of "jobs":
      | who | since                | until                | title |
      | ann | 2020-01-01T00:00:00Z | 2022-01-01T00:00:00Z | clerk |
      | bob |                      |                      | chef  |
      | cyd | 2020-01-01T00:00:00Z | 2021-01-01T00:00:00Z | smith |
    Examples:
      | case              | first            | second |
      | nothing folded    | landed 0 more of | reads  |
      | folded at once    | landed 0 more of | folds  |
      | folded one by one | folded           | folds  |

  @store.bound-time.interval-rows#nanoseconds @store.bound-time.interval-rows#fold
  Scenario Outline: two intervals begin a nanosecond apart, <case>
    Given a table "jobs" keyed by "who"
    And "jobs" declares valid_time as { from = "since" }
    And alpha has landed rows of "jobs":
      | who | since                          | title  |
      | ann | 2020-01-01T00:00:00.000000001Z | clerk  |
      | ann | 2020-01-01T00:00:00.000000002Z | warden |
    And alpha has landed rows of "jobs":
      | who | since                | title |
      | ann | 2020-01-01T00:00:00Z | cook  |
    When alpha <does> "jobs"
    Then alpha reads of "jobs":
      | who | since                          | title  |
      | ann | 2020-01-01T00:00:00Z           | cook   |
      | ann | 2020-01-01T00:00:00.000000001Z | clerk  |
      | ann | 2020-01-01T00:00:00.000000002Z | warden |
    Examples:
      | case         | does  |
      | not folded   | reads |
      | in a fold    | folds |

  @store.bound-time.interval-rows#sorted
  Scenario: a fold sorts by the start of validity, then by the key
    Given a table "jobs" keyed by "who"
    And "jobs" declares valid_time as { from = "since" }
    And alpha has landed rows of "jobs":
      | who | since                | title  |
      | ann | 2022-01-01T00:00:00Z | warden |
      | bob | 2020-01-01T00:00:00Z | cook   |
      | ann | 2021-01-01T00:00:00Z | clerk  |
      | abe | 2022-01-01T00:00:00Z | smith  |
      | cyd | 2019-01-01T00:00:00Z | guard  |
    When alpha folds "jobs"
    Then the rows of each part of alpha's snapshot of "jobs" are in the order of "since", "who"

  @store.bound-time.valid-as-of#bound @store.bound-time.valid-as-of#open @store.bound-time.valid-as-of#half-open
  Scenario Outline: a read of what held at <bound>
    Given a table "jobs" keyed by "who"
    And "jobs" declares valid_time as { from = "since", to = "until" }
    And alpha has landed rows of "jobs":
      | who | since                | until                | item   |
      | ann | 2020-01-01T00:00:00Z | 2022-01-01T00:00:00Z | clerk  |
      | ann | 2022-01-01T00:00:00Z |                      | warden |
      | bob | 2021-01-01T00:00:00Z | 2021-06-01T00:00:00Z | cook   |
      | cyd |                      | 2021-06-01T00:00:00Z | lost   |
      | dan |                      |                      | never  |
    When alpha <does> "jobs"
    Then alpha reads of "jobs" under valid "<bound>":
      | item  |
      | <one> |
      | <two> |
    And alpha scans of "jobs" under valid "<bound>":
      | item  |
      | <one> |
      | <two> |
    Examples:
      | bound                | does  | one      | two  |
      | 2021-03-01T00:00:00Z | reads | "clerk"  | cook |
      | 2021-03-01T00:00:00Z | folds | "clerk"  | cook |
      | 2021-01-01T00:00:00Z | reads | "clerk"  | cook |

  @store.bound-time.valid-as-of#bound @store.bound-time.valid-as-of#open @store.bound-time.valid-as-of#half-open @store.bound-time.valid-as-of#nanoseconds
  Scenario Outline: one row held at <bound>, <case>
    Given a table "jobs" keyed by "who"
    And "jobs" declares valid_time as { from = "since", to = "until" }
    And alpha has landed rows of "jobs":
      | who | since   | until   | item   |
      | ann | <start> | <end>   | clerk  |
      | ann | <end>   |         | warden |
      | bob |         | <end>   | lost   |
    When alpha <does> "jobs"
    Then alpha reads of "jobs" under valid "<bound>":
      | item   |
      | <item> |
    Examples:
      | case                              | does  | start                          | end                            | bound                               | item   |
      | at its start                      | reads | 2020-01-01T00:00:00Z           | 2022-01-01T00:00:00Z           | 2020-01-01T00:00:00Z                | clerk  |
      | not at its end                    | reads | 2020-01-01T00:00:00Z           | 2022-01-01T00:00:00Z           | 2022-01-01T00:00:00Z                | warden |
      | a nanosecond before the end       | reads | 2020-01-01T00:00:00Z           | 2022-01-01T00:00:00Z           | 2021-12-31T23:59:59.999999999Z      | clerk  |
      | within a whole microsecond        | reads | 2020-01-01T00:00:00Z           | 2022-01-01T00:00:00Z           | 2022-01-01T00:00:00.000000999Z      | warden |
      | in another zone's words           | reads | 2020-01-01T00:00:00Z           | 2022-01-01T00:00:00Z           | 2022-01-01T05:29:59.999999999+05:30 | clerk  |
      | fine digits, before the end       | reads | 2020-01-01T00:00:00.000000001Z | 2020-01-01T00:00:00.000000003Z | 2020-01-01T00:00:00.000000002Z      | clerk  |
      | fine digits, at the start         | reads | 2020-01-01T00:00:00.000000001Z | 2020-01-01T00:00:00.000000003Z | 2020-01-01T00:00:00.000000001Z      | clerk  |
      | fine digits, at the end           | reads | 2020-01-01T00:00:00.000000001Z | 2020-01-01T00:00:00.000000003Z | 2020-01-01T00:00:00.000000003Z      | warden |
      | fine digits in a snapshot         | folds | 2020-01-01T00:00:00.000000001Z | 2020-01-01T00:00:00.000000003Z | 2020-01-01T00:00:00.000000002Z      | clerk  |
      | before 1970                       | folds | 1960-01-01T00:00:00Z           | 1960-01-01T00:00:00.000001Z    | 1960-01-01T00:00:00.000000999Z      | clerk  |
      | after all that 64 bits can say    | reads | 2020-01-01T00:00:00Z           | 2022-01-01T00:00:00Z           | 9999-01-01T00:00:00Z                | warden |

  @store.bound-time.valid-as-of#bound @store.bound-time.valid-as-of#nanoseconds
  Scenario Outline: nothing held before the first row began: <bound>
    Given a table "jobs" keyed by "who"
    And "jobs" declares valid_time as { from = "since", to = "until" }
    And alpha has landed rows of "jobs":
      | who | since   | item  |
      | ann | <start> | clerk |
    Then alpha reads of "jobs" under valid "<bound>":
      | item |
    And alpha reads of "jobs" under valid "<start>":
      | item  |
      | clerk |
    Examples:
      | start                          | bound                          |
      | 2020-01-01T00:00:00Z           | 2019-12-31T23:59:59.999999999Z |
      | 2020-01-01T00:00:00.000000001Z | 2020-01-01T00:00:00Z           |
      | 1960-01-01T00:00:00Z           | 1959-12-31T23:59:59.999999999Z |
      | 1960-01-01T00:00:00Z           | 0001-01-01T00:00:00Z           |

  @store.bound-time.valid-as-of#survivors
  Scenario Outline: an interval that a later row closed is closed, <case>
    Given a table "jobs" keyed by "who"
    And "jobs" declares valid_time as { from = "since", to = "until" }
    And alpha has landed rows of "jobs":
      | who | since                | until | item  |
      | ann | 2020-01-01T00:00:00Z |       | clerk |
      | bob | 2020-01-01T00:00:00Z |       | cook  |
    And alpha has landed rows of "jobs":
      | who | since                | until                | item  |
      | ann | 2020-01-01T00:00:00Z | 2021-01-01T00:00:00Z | clerk |
    When alpha <does> "jobs"
    Then alpha reads of "jobs" under valid "2022-01-01T00:00:00Z":
      | item |
      | cook |
    And alpha reads of "jobs" under valid "2020-06-01T00:00:00Z":
      | item  |
      | clerk |
      | cook  |
    Examples:
      | case          | does  |
      | before a fold | reads |
      | after one     | folds |

  @store.bound-time.valid-as-of#combined
  Scenario Outline: validity and commit bound one read together, <case>
    Given a table "jobs" keyed by "who"
    And "jobs" declares valid_time as { from = "since", to = "until" }
    And the clock shows "2026-03-01T09:00:00Z"
    And alpha has landed rows of "jobs":
      | who | since                | until | item  |
      | ann | 2020-01-01T00:00:00Z |       | clerk |
    And the clock shows "2026-03-03T09:00:00Z"
    And alpha has landed rows of "jobs":
      | who | since                | until                | item  |
      | ann | 2020-01-01T00:00:00Z | 2021-01-01T00:00:00Z | clerk |
      | bob | 2020-01-01T00:00:00Z |                      | cook  |
    When alpha <does> "jobs"
    Then alpha reads of "jobs" under valid "2022-01-01T00:00:00Z" and as of "2026-03-02T00:00:00Z":
      | item  |
      | clerk |
    And alpha reads of "jobs" under valid "2022-01-01T00:00:00Z" and as of "2026-03-04T00:00:00Z":
      | item |
      | cook |
    Examples:
      | case          | does  |
      | before a fold | reads |
      | after one     | folds |

  @store.bound-time.valid-as-of#elsewhere @store.bound-time.valid-undeclared#mixed
  Scenario: a table without valid time is read beside one that has it
    Given a table "jobs" keyed by "who"
    And "jobs" declares valid_time as { from = "since", to = "until" }
    And alpha has landed rows of "jobs":
      | who | since                | until                | item   |
      | ann | 2020-01-01T00:00:00Z | 2022-01-01T00:00:00Z | clerk  |
      | ann | 2022-01-01T00:00:00Z |                      | warden |
    And alpha has landed rows of "stock":
      | who | count |
      | ann | 5     |
    When alpha asks under valid "2021-01-01T00:00:00Z", the statement SELECT j.item, s.count FROM "jobs" j JOIN "stock" s USING (who)
    Then the statement's answer is:
      | item  | count |
      | clerk | 5     |

  @store.bound-time.valid-undeclared#refused
  Scenario Outline: a <verb> bounded by a validity that no table declares is refused
    Given alpha has landed rows of "stock":
      | item | count |
      | nail | 5     |
    When alpha asks for a <verb> of "stock" under valid "2021-01-01T00:00:00Z"
    Then the <verb> is refused with StoreBoundUndeclared, naming "stock" and "valid_as_of"
    When alpha asks for a <verb> of "stock" under as of "2099-01-01T00:00:00Z"
    Then the <verb> succeeds
    Examples:
      | verb    |
      | read    |
      | scan    |
      | listing |

  @store.bound-time.valid-instants#declared
  Scenario Outline: a validity that is declared no timestamp is refused, <case>
    Given a table "jobs" keyed by "who"
    And "jobs" declares valid_time as { from = "since", to = "until" }
    And "jobs" declares the column:
      | column   | type   |
      | <column> | <type> |
    When alpha lands rows of "jobs":
      | who | title |
      | ann | clerk |
    Then the landing is refused with StoreDeclarationInvalid, naming "jobs" and "<column>"
    When "jobs" declares the column:
      | column   | type      |
      | <column> | timestamp |
    And alpha lands rows of "jobs":
      | who | title |
      | ann | clerk |
    Then the landing succeeds
    Examples:
      | case      | column | type  |
      | its start | since  | utf8  |
      | its end   | until  | int64 |

  @store.bound-time.valid-instants#landed
  Scenario: what bounds validity is a timestamp from its first landing on
    Given a table "jobs" keyed by "who"
    And "jobs" declares valid_time as { from = "since", to = "until" }
    When alpha lands rows of "jobs":
      | who | since                     | until                | title |
      | ann | 2020-01-01T02:00:00+02:00 | 2022-01-01T00:00:00Z | clerk |
    Then the landing succeeds
    And alpha's schema of "jobs" has "since" as timestamp
    And alpha's schema of "jobs" has "until" as timestamp
    When alpha lands rows of "jobs":
      | who | since | title |
      | bob | 5     | cook  |
    Then the landing is refused with StoreSchemaIncompatible, naming "since"

  @store.bound-time.as-of-unretained#too-old
  Scenario Outline: a bound before the oldest snapshot that is kept is refused, and the instant named instead answers
    Given alpha has no bucket
    And "stock" declares retain_runs as "2d"
    And the clock shows "2026-03-01T09:00:00Z"
    And alpha has landed rows of "stock":
      | item | count |
      | nail | 5     |
    And alpha has folded "stock"
    And the clock shows "2026-03-02T09:00:00Z"
    And alpha has landed rows of "stock":
      | item | count |
      | bolt | 7     |
    And alpha has folded "stock"
    And the clock shows "2026-03-09T09:00:00Z"
    And alpha has landed rows of "stock":
      | item | count |
      | nut  | 1     |
    And alpha has folded "stock"
    When alpha reads "stock" as of "<bound>"
    Then the read is refused with StoreAsOfUnretained, naming "stock"
    And the message names the instant of the oldest kept snapshot of "stock" on alpha
    And alpha reads of "stock" as of that instant the items "nail" and "bolt"
    And alpha reads of "stock" exactly the rows landed
    Examples:
      | bound                          |
      | 2026-02-01T00:00:00Z           |
      | 2026-03-01T12:00:00Z           |
      | 2026-03-02T08:59:59.999999999Z |

  @store.bound-time.as-of-unretained#too-old
  Scenario: before anything is removed no bound is too old
    Given alpha has no bucket
    And the clock shows "2026-03-01T09:00:00Z"
    And alpha has landed rows of "stock":
      | item | count |
      | nail | 5     |
    And alpha has folded "stock"
    And the clock shows "2026-03-02T09:00:00Z"
    And alpha has landed rows of "stock":
      | item | count |
      | bolt | 7     |
    When alpha folds "stock"
    Then alpha reads of "stock" as of "2026-02-01T00:00:00Z" the items none
    And alpha reads of "stock" as of "2026-03-01T12:00:00Z" the items "nail"

  @store.bound-time.as-of-unretained#too-old
  Scenario: where the older snapshots are gone and the runs of the younger are here
    Given the clock shows "2026-03-01T09:00:00Z"
    And alpha has landed rows of "stock":
      | item | count |
      | nail | 5     |
    And alpha has folded "stock"
    And the clock shows "2026-03-03T09:00:00Z"
    And alpha has landed rows of "stock":
      | item | count |
      | bolt | 7     |
    And alpha has folded "stock"
    When the manifests below the pointer's snapshot of "stock" on alpha are taken away
    And alpha reads "stock" as of "2026-03-02T09:00:00Z"
    Then the read is refused with StoreAsOfUnretained, naming "stock"
    And the message names the instant of the pointer's snapshot of "stock" on alpha
    And alpha reads of "stock" as of that instant the items "nail" and "bolt"

  @store.bound-time.as-of-unretained#collected
  Scenario: a bound that selects a collected snapshot is refused, and the instant named instead answers
    Given the clock shows "2026-03-01T09:00:00Z"
    And alpha has landed rows of "stock" as run "one":
      | item | count |
      | nail | 5     |
    And alpha has folded "stock"
    And the clock shows "2026-03-03T09:00:00Z"
    And alpha has landed rows of "stock" as run "two":
      | item | count |
      | bolt | 7     |
    And alpha has folded "stock"
    Then alpha reads of "stock" as of "2026-03-02T00:00:00Z" the items "nail"
    When the parent of the pointer's snapshot of "stock" on alpha is collected
    And alpha reads "stock" as of "2026-03-02T00:00:00Z"
    Then the read is refused with StoreAsOfUnretained, naming "stock"
    And the message names the instant of the pointer's snapshot of "stock" on alpha
    And alpha reads of "stock" as of that instant the items "nail" and "bolt"
    And alpha reads of "stock" exactly the rows landed
    And alpha's store checks out

  @store.bound-time.as-of-unretained#absent-run
  Scenario: a bound whose run was folded later and is gone is refused, and the instant named instead answers
    Given the clock shows "2026-03-01T09:00:00Z"
    And alpha has landed rows of "stock" as run "one":
      | item | count |
      | nail | 5     |
    And alpha has folded "stock"
    And the clock shows "2026-03-03T09:00:00Z"
    And alpha has landed rows of "stock" as run "two":
      | item | count |
      | bolt | 7     |
    And the clock shows "2026-03-05T09:00:00Z"
    And alpha has folded "stock"
    Then alpha reads of "stock" as of "2026-03-04T00:00:00Z" the items "nail" and "bolt"
    When run "two" of "stock" is collected on alpha
    And alpha reads "stock" as of "2026-03-04T00:00:00Z"
    Then the read is refused with StoreAsOfUnretained, naming "stock"
    And the message names the instant of the pointer's snapshot of "stock" on alpha
    And alpha reads of "stock" as of that instant the items "nail" and "bolt"

  @store.bound-time.as-of-unretained#absent-run
  Scenario: a run that the selected snapshot folds may be gone
    Given the clock shows "2026-03-01T09:00:00Z"
    And alpha has landed rows of "stock" as run "one":
      | item | count |
      | nail | 5     |
    And alpha has folded "stock"
    And the clock shows "2026-03-03T09:00:00Z"
    And alpha has landed rows of "stock" as run "two":
      | item | count |
      | bolt | 7     |
    And alpha has folded "stock"
    When run "one" of "stock" is collected on alpha
    Then alpha reads of "stock" as of "2026-03-02T00:00:00Z" the items "nail"
    When alpha reads "stock" as of "2026-02-01T00:00:00Z"
    Then the read is refused with StoreAsOfUnretained, naming "stock"
