Feature: horizon
  Reading as if it were an earlier day: its rows, and none of the columns that were still to come.

  Background:
    Given a node "alpha"
    And a table "figures" keyed by "firm"
    And "figures" declares available_time as { column = "seen" }

  @read.horizon.late-columns#stamped @read.horizon.late-columns#kept @read.horizon.late-columns#hidden @read.horizon.late-columns#described
  Scenario Outline: a column is there from the earliest instant of the batch that brought it, <case>
    Given the clock shows "2026-03-01T09:00:00Z"
    And alpha has landed rows of "figures":
      | firm | seen                 | sales |
      | acme | 2021-05-01T00:00:00Z | 5     |
      | acme | 2021-01-01T00:00:00Z | 1     |
    And alpha has <does> "figures"
    And alpha has landed rows of "figures":
      | firm | seen                           | sales | staff |
      | acme | 2021-03-01T00:00:00Z           | 3     | 30    |
      | bolt | 2021-02-01T00:00:00.000000001Z | 20    |       |
    When alpha lands rows of "figures":
      | firm | seen                 | sales | staff |
      | acme | 2020-01-01T00:00:00Z | 0     | 10    |
    Then the landing succeeds
    And alpha's schema of "figures" has "sales" first landed at "2021-01-01T00:00:00Z"
    And alpha's schema of "figures" has "staff" first landed at "2021-02-01T00:00:00.000000001Z"
    And alpha reads of "figures" under horizon "2021-02-01T00:00:00Z" the columns "firm", "seen" and "sales"
    And alpha scans of "figures" under horizon "2021-02-01T00:00:00Z" the columns "firm", "seen" and "sales"
    And alpha's description of "figures" at horizon "2021-02-01T00:00:00Z" names the producer's columns "firm", "seen" and "sales"
    And alpha reads of "figures" under horizon "2021-02-01T00:00:00.000000001Z" the columns "firm", "seen", "sales" and "staff"
    And alpha's description of "figures" at horizon "2021-02-01T00:00:00.000000001Z" names the producer's columns "firm", "seen", "sales" and "staff"
    And alpha's description of "figures" at horizon "2020-12-31T00:00:00Z" names the producer's columns none
    And alpha's description of "figures" names the producer's columns "firm", "seen", "sales" and "staff"
    Examples:
      | case              | does             |
      | nothing folded    | landed 0 more of |
      | with a snapshot   | folded           |

  @read.horizon.late-columns#hidden
  Scenario: a late column cannot be named at an earlier horizon
    Given alpha has landed rows of "figures":
      | firm | seen                 | sales |
      | acme | 2021-01-01T00:00:00Z | 1     |
    And alpha has landed rows of "figures":
      | firm | seen                 | sales | staff |
      | acme | 2021-03-01T00:00:00Z | 3     | 30    |
    When alpha asks under horizon "2021-02-01T00:00:00Z", the statement SELECT staff FROM "figures"
    Then the query is refused with QueryFailed
    When alpha asks under horizon "2021-02-01T00:00:00Z", the statement SELECT sales FROM "figures"
    Then the statement's answer is:
      | sales |
      | 1     |
    When alpha asks under horizon "2021-03-01T00:00:00Z", the statement SELECT staff FROM "figures"
    Then the statement's answer is:
      | staff |
      | 30    |

  @read.horizon.late-columns#committed @read.horizon.late-columns#kept
  Scenario Outline: without availability a column is there from its commit, <case>
    Given a table "notes" keyed by "id"
    And "notes" declares <key> as <clock>
    And the clock shows "2026-03-01T09:00:00.000005Z"
    And alpha has landed rows of "notes":
      | id | at                   | text |
      | 1  | 2020-01-01T00:00:00Z | a    |
    And the clock shows "2026-03-02T09:00:00Z"
    And alpha has landed rows of "notes":
      | id | at                   | text | mood |
      | 1  | 2020-01-01T00:00:00Z | b    | glad |
    And the clock shows "2026-03-03T09:00:00Z"
    When alpha lands rows of "notes":
      | id | at                   | text | mood |
      | 2  | 2020-01-01T00:00:00Z | c    | sad  |
    Then the landing succeeds
    And alpha's schema of "notes" has "text" first landed at "2026-03-01T09:00:00.000005Z"
    And alpha's schema of "notes" has "mood" first landed at "2026-03-02T09:00:00Z"
    And alpha's description of "notes" at horizon "2026-03-02T08:59:59Z" names the producer's columns "id", "at" and "text"
    Examples:
      | case                        | key            | clock               |
      | no clock is declared        | retain_runs    | "7d"                |
      | validity is                 | valid_time     | { from = "at" }     |
      | no row says when            | available_time | { column = "seen" } |

  @read.horizon.late-columns#merged @needs.sync
  Scenario Outline: where two nodes bring a column, the earlier instant stays, <case>
    Given nodes "alpha" and "beta" share a bucket
    And alpha has landed rows of "figures":
      | firm | seen                 | sales |
      | acme | 2021-01-01T00:00:00Z | 1     |
    And alpha has pushed
    And beta has pulled
    And alpha has landed rows of "figures":
      | firm | seen    | sales | staff |
      | acme | <alpha> | 2     | 20    |
    And beta has landed rows of "figures":
      | firm | seen   | sales | staff |
      | bolt | <beta> | 3     | 30    |
    And alpha has pushed
    And beta has pulled
    And beta has pushed
    When alpha pulls
    Then the pull succeeds
    And alpha's schema of "figures" has "staff" first landed at "<is>"
    And beta's schema of "figures" has "staff" first landed at "<is>"
    And alpha's schema of "figures" has "sales" first landed at "2021-01-01T00:00:00Z"
    Examples:
      | case               | alpha                          | beta                 | is                   |
      | alpha's is earlier | 2021-02-01T00:00:00Z           | 2021-03-01T00:00:00Z | 2021-02-01T00:00:00Z |
      | beta's is earlier  | 2021-02-01T00:00:00.000000001Z | 2021-02-01T00:00:00Z | 2021-02-01T00:00:00Z |

  @read.horizon.late-columns#unstamped
  Scenario: a column that no schema dates is there at every horizon
    Given alpha has landed rows of "figures":
      | firm | seen                 | sales |
      | acme | 2021-01-01T00:00:00Z | 1     |
    And alpha has landed rows of "figures":
      | firm | seen                 | sales | staff |
      | acme | 2021-03-01T00:00:00Z | 3     | 30    |
    And alpha's schema of "figures" no longer dates "staff"
    Then alpha reads of "figures" under horizon "2021-02-01T00:00:00Z" the columns "firm", "seen", "sales" and "staff"
    And alpha's description of "figures" at horizon "2021-02-01T00:00:00Z" names the producer's columns "firm", "seen", "sales" and "staff"
    When alpha lands rows of "figures":
      | firm | seen                 | sales | staff |
      | acme | 2021-04-01T00:00:00Z | 4     | 40    |
    Then the landing succeeds
    And alpha reads of "figures" under horizon "2021-02-01T00:00:00Z" the columns "firm", "seen", "sales" and "staff"

  @read.horizon.rows#available @read.horizon.rows#committed
  Scenario Outline: each table shows what was there by the horizon, <case>
    Given a table "notes" keyed by "firm"
    And the clock shows "2026-03-01T09:00:00.000000002Z"
    And alpha has landed rows of "notes":
      | firm | text |
      | acme | old  |
    And alpha has landed rows of "figures":
      | firm | seen                           | sales |
      | acme | 2026-03-01T00:00:00Z           | 1     |
      | acme | 2026-03-01T09:00:00.000000003Z | 2     |
    And the clock shows "2026-03-03T09:00:00Z"
    And alpha has landed rows of "notes":
      | firm | text |
      | acme | new  |
    And alpha has landed rows of "figures":
      | firm | seen                           | sales |
      | acme | 2026-03-01T09:00:00.000000002Z | 3     |
    And alpha has <does> "notes"
    And alpha has <does> "figures"
    When alpha asks under horizon "<horizon>", the statement SELECT n.text, f.sales FROM "notes" n JOIN "figures" f USING (firm)
    Then the statement's answer is:
      | text   | sales   |
      | <text> | <sales> |
    Examples:
      | case                | horizon                        | text | sales | does             |
      | between the commits | 2026-03-01T09:00:00.000000002Z | old  | 3     | landed 0 more of |
      | after a fold        | 2026-03-01T09:00:00.000000002Z | old  | 3     | folded           |
      | after all           | 2026-03-03T09:00:00Z           | new  | 2     | folded           |
