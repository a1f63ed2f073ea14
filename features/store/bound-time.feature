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
