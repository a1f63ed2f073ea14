Feature: reserve
  The columns whose names begin with an underscore are the store's: it writes them, and nobody else does.

  Background:
    Given a node "alpha"

  @store.reserve.injected#ingested-at
  Scenario: every row has the instant of its commit, to the nanosecond
    Given the clock shows "2026-03-02T09:00:00.123456789Z"
    And alpha has landed 6 rows of "events" as run "harvest"
    When alpha reads "events"
    Then the parts of run "harvest" of "events" on alpha hold _ingested_at as UTC nanoseconds, never null
    And every row of run "harvest" of "events" on alpha has the run's commit instant as _ingested_at
    And run "harvest" of "events" on alpha was committed at "2026-03-02T09:00:00.123456789Z"

  @store.reserve.injected#run-and-site
  Scenario: every row has the run and the site that the landing was given
    Given alpha's node id is "node-7"
    When alpha lands 6 rows of "events" as run "harvest.2", for the site "Station 4 / roof"
    Then the landing succeeds
    And every row of run "harvest.2" of "events" on alpha has "harvest.2" as _run_id
    And every row of run "harvest.2" of "events" on alpha has "Station 4 / roof" as _site_id
    When alpha folds "events"
    Then the fold succeeds
    And alpha reads of "events" 6 rows with "harvest.2" as _run_id and "Station 4 / roof" as _site_id

  @store.reserve.injected#replaced
  Scenario Outline: a producer's <column> is not kept, whatever it is
    When alpha lands as run "harvest" into "events", with no types, the rows {"id": 1, "region": "north", "<column>": <value>} {"id": 2, "region": "south"}
    Then the landing succeeds
    And alpha reads of "events":
      | id | region | _run_id | _site_id | _row_seq |
      | 1  | north  | harvest | lab      | 0        |
      | 2  | south  | harvest | lab      | 1        |
    And every row of run "harvest" of "events" on alpha has the run's commit instant as _ingested_at
    And every row of run "harvest" of "events" on alpha has the run's sequence as _commit_seq
    Examples:
      | column       | value                  |
      | _ingested_at | "2001-01-01T00:00:00Z" |
      | _ingested_at | 7                      |
      | _run_id      | "forged"               |
      | _site_id     | null                   |
      | _row_seq     | 99                     |
      | _commit_seq  | "high"                 |

  @store.reserve.injected#replaced
  Scenario Outline: where the store has no <column> to write there is none
    When alpha lands as run "harvest" into "events", with no types, the rows {"id": 1, "region": "north", "<column>": <value>}
    Then the landing succeeds
    And the parts of run "harvest" of "events" on alpha have no column <column>
    And alpha reads of "events" no column <column>
    When alpha folds "events"
    Then the fold succeeds
    And alpha reads of "events" no column <column>
    Examples:
      | column       | value   |
      | _authored_by | "admin" |
      | _batch_seq   | 3       |

  @store.reserve.injected#batch-seq @needs.pipeline
  Scenario: the batches of a pipeline run are numbered, and those of the next one anew
    Given a table "clicks" without a key
    And the tables are fed by a command
    And alpha has landed rows of "clicks":
      | id |
      | 1  |
    And alpha's command says:
      """
      {"row": {"id": 2, "_batch_seq": 7}}
      {"row": {"id": 3}}
      {"position": 3}
      {"row": {"id": 4}}
      {"position": 4}
      """
    And alpha has run its pipeline
    When alpha's command goes on to say:
      """
      {"row": {"id": 5}}
      {"position": 5}
      """
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's schema of "clicks" has the columns:
      | column     | type  |
      | _batch_seq | int32 |
    And alpha reads of "clicks":
      | id | _batch_seq |
      | 1  | null       |
      | 2  | 0          |
      | 3  | 0          |
      | 4  | 1          |
      | 5  | 0          |
    When alpha folds "clicks"
    Then the fold succeeds
    And alpha reads of "clicks":
      | id | _batch_seq |
      | 1  | null       |
      | 2  | 0          |
      | 3  | 0          |
      | 4  | 1          |
      | 5  | 0          |

  @store.reserve.commit-seq#above
  Scenario Outline: each run's value is above all before it, <case>
    Given the clock shows "2026-03-02T09:00:00Z"
    And alpha has landed 3 rows of "events" as run "one"
    And alpha has landed 3 rows of "events" as run "two"
    And alpha has folded "events"
    And the clock shows "<then>"
    And alpha has landed 3 rows of "events" as run "three"
    When alpha lands 3 rows of "events" as run "four"
    Then the landing succeeds
    And runs "one", "two", "three", "four" of "events" on alpha have rising sequences, one for all rows of each
    Examples:
      | case                      | then                 |
      | as time goes              | 2026-03-02T09:00:01Z |
      | at the same instant       | 2026-03-02T09:00:00Z |
      | when the clock goes back  | 2026-03-01T09:00:00Z |

  @store.reserve.commit-seq#above
  Scenario: what a snapshot holds counts when its runs are gone
    Given alpha has landed 3 rows of "events" as run "one"
    And alpha has landed 3 rows of "events" as run "two"
    And alpha has folded "events"
    And run "one" of "events" is collected on alpha
    And run "two" of "events" is collected on alpha
    When alpha lands 3 rows of "events" as run "three"
    Then the landing succeeds
    And run "three" of "events" on alpha has a sequence above every other row's

  @store.reserve.commit-seq#pulled @needs.sync
  Scenario Outline: runs of another node count, <case>
    Given alpha has landed 3 rows of "events" as run "one"
    And beta has landed 3 rows of "events" as run "<own>"
    And alpha has landed 3 rows of "events" as run "two"
    And alpha has landed 3 rows of "events" as run "three"
    And alpha has <state> "events"
    And alpha has pushed
    And beta has pulled
    When beta lands 3 rows of "events" as run "last"
    Then the landing succeeds
    And run "last" of "events" on beta has a sequence above every other row's
    Examples:
      | case                       | own   | state            |
      | under run ids of their own | mine  | landed 1 rows of |
      | under the same run id      | three | landed 1 rows of |
      | folded                     | mine  | folded           |

  @store.reserve.commit-seq#pulled @needs.sync
  Scenario: a snapshot of another node counts when its runs are gone
    Given alpha has landed 3 rows of "events" as run "one"
    And beta has landed 3 rows of "events" as run "mine"
    And alpha has landed 3 rows of "events" as run "two"
    And alpha has landed 3 rows of "events" as run "three"
    And alpha has folded "events"
    And alpha has pushed
    And beta has pulled
    And the runs of alpha's are collected from "events" on beta
    When beta lands 3 rows of "events" as run "last"
    Then the landing succeeds
    And run "last" of "events" on beta has a sequence above every other row's

  @store.reserve.commit-seq#counter-lost
  Scenario Outline: a counter file that <case> makes no value come twice
    Given alpha has landed 3 rows of "events" as run "one"
    And alpha has landed 3 rows of "events" as run "two"
    And alpha keeps a copy of its counter file of "events"
    And alpha has <meanwhile> "events"
    And alpha has landed 3 rows of "events" as run "three"
    When alpha's counter file of "events" <becomes>
    And alpha lands 3 rows of "events" as run "last"
    Then the landing succeeds
    And run "last" of "events" on alpha has a sequence above every other row's
    Examples:
      | case                   | meanwhile        | becomes            |
      | was deleted            | landed 3 rows of | is deleted         |
      | was deleted after fold | folded           | is deleted         |
      | fell behind            | landed 3 rows of | is the kept copy   |
      | fell behind a fold     | folded           | is the kept copy   |
      | is empty               | landed 3 rows of | is empty           |

  @store.reserve.commit-seq#concurrent
  Scenario: a landing that waits with the lower value lets no reader see the higher one first
    Given alpha has landed 3 rows of "events"
    And alpha's landing of run "slow" into "events" is held just before its manifest
    When another landing into "events" on alpha, of run "quick", goes as far as it can
    And alpha reads "events"
    And the held landing is let go, and both landings end
    Then what the reader saw of "events" on alpha has no value above a row that came later
    And the landings that succeeded are all in "events" on alpha, no value twice

  @store.reserve.reserved-name#refused
  Scenario Outline: a column named <name> is refused, and <other> is not
    Given alpha has landed 4 rows of "events"
    When alpha lands 200 rows of "events" whose line 173 is {"id": 9173, "region": "north", "<name>": 1}
    Then the landing is refused with StoreReservedColumnName, naming "<name>"
    And alpha's store stays as it was
    When alpha lands 200 rows of "events" whose line 173 is {"id": 9173, "region": "north", "<other>": 1}
    Then the landing succeeds
    And alpha reads of "events" exactly the rows landed
    Examples:
      | name       | other     |
      | _note      | note_     |
      | _          | x_        |
      | __run_id   | run_id    |
      | _language  | lang_uage |

  @store.reserve.reserved-name#allowed
  Scenario: the four names that are a producer's land as any column
    Given a table "pages" keyed by "id"
    When alpha lands rows of "pages":
      | id | _modality | _lang | _provenance              | _prompt_hash |
      | 1  | text      | de    | "{\"from\":\"scanner\"}" | abc          |
      | 2  | image     | null  | hand                     | null         |
    Then the landing succeeds
    And alpha reads of "pages":
      | id | _modality | _lang | _provenance              | _prompt_hash |
      | 1  | text      | de    | "{\"from\":\"scanner\"}" | abc          |
      | 2  | image     |       | hand                     |              |
    When alpha folds "pages"
    Then the fold succeeds
    And alpha reads of "pages":
      | id | _modality | _lang | _provenance              | _prompt_hash |
      | 1  | text      | de    | "{\"from\":\"scanner\"}" | abc          |
      | 2  | image     |       | hand                     |              |
