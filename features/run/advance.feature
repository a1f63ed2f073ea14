Feature: advance
  What a pipeline run moves forward: rows, the position after them, and the replacement of a table.

  Background:
    Given a node "alpha"

  @run.advance.snapshot-completion#stated @run.advance.snapshot-completion#carried
  Scenario: a complete inventory replaces the table, and a skip leaves it
    Given a table "stock" without a key
    And "stock" is replaced by every landing
    And the tables are fed by a command
    And alpha's command says:
      """
      {"row": {"item": "nail", "count": 5}}
      {"row": {"item": "bolt", "count": 7}}
      {"position": 1}
      {"inventory": "complete"}
      """
    When alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's newest run of "stock" is replacement of 2 rows
    And alpha's newest run of "stock" has the position 1
    And alpha reads of "stock":
      | item | count |
      | nail | 5     |
      | bolt | 7     |
    When alpha's command says:
      """
      {"row": {"item": "nut", "count": 1}}
      {"inventory": "complete"}
      """
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's newest run of "stock" is replacement of 1 row
    And alpha reads of "stock":
      | item | count |
      | nut  | 1     |
    When alpha's command says:
      """
      {"skip": "unchanged"}
      """
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha has 2 runs of "stock"
    And alpha reads of "stock":
      | item | count |
      | nut  | 1     |

  @run.advance.snapshot-completion#carried
  Scenario: positions on the way cut no inventory in two
    Given a table "stock" without a key
    And "stock" is replaced by every landing
    And the tables are fed by a command
    And alpha's command says:
      """
      {"row": {"item": "nail", "count": 5}}
      {"position": 1}
      {"row": {"item": "bolt", "count": 7}}
      {"position": 2}
      {"row": {"item": "nut", "count": 9}}
      {"inventory": "complete"}
      """
    When alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha has 1 run of "stock"
    And alpha's newest run of "stock" is replacement of 3 rows
    And alpha's newest run of "stock" has the position 2

  @run.advance.snapshot-completion#carried
  Scenario: a table that is appended to is replaced by no run
    Given a table "events" without a key
    And the tables are fed by a command
    And alpha's command says:
      """
      {"row": {"id": 1}}
      {"position": 1}
      {"inventory": "complete"}
      """
    And alpha has run its pipeline
    When alpha's command says:
      """
      {"row": {"id": 2}}
      {"position": 2}
      {"inventory": "complete"}
      """
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's newest run of "events" is no replacement of 1 row
    And alpha reads of "events":
      | id |
      | 1  |
      | 2  |

  @run.advance.snapshot-completion#unstated
  Scenario Outline: a source that ends without saying that it was complete replaces nothing, <case>
    Given a table "stock" without a key
    And "stock" is replaced by every landing
    And the tables are fed by a command
    And alpha's command says:
      """
      {"row": {"item": "nail", "count": 5}}
      {"inventory": "complete"}
      """
    And alpha has run its pipeline
    When alpha's command says:
      """
      <says>
      """
    And alpha runs its pipeline
    Then the pipeline run is refused with PipelineInventoryIncomplete, naming "stock"
    And "stock" on alpha stays as it was
    And alpha reads of "stock":
      | item | count |
      | nail | 5     |
    When alpha's command goes on to say:
      """
      {"inventory": "complete"}
      """
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's newest run of "stock" is replacement of <rows> rows
    Examples:
      | case            | says                                 | rows |
      | with a row      | {"row": {"item": "nut", "count": 1}} | 1    |
      | with no word    |                                      | 0    |
      | with a position | {"position": 2}                      | 0    |

  @run.advance.snapshot-completion#ended
  Scenario Outline: a source that contradicts itself has failed, <case>
    Given a table "stock" without a key
    And "stock" is replaced by every landing
    And the tables are fed by a command
    And alpha's command says:
      """
      {"row": {"item": "nail", "count": 5}}
      {"inventory": "complete"}
      """
    And alpha has run its pipeline
    When alpha's command says:
      """
      <one>
      <other>
      """
    And alpha runs its pipeline
    Then the pipeline run is refused with PipelineSourceFailed, naming "stock"
    And "stock" on alpha stays as it was
    When alpha's command says:
      """
      <one>
      """
    And alpha runs its pipeline
    Then the pipeline run <ends>
    Examples:
      | case                   | one                                  | other                                | ends                                         |
      | a row after the end    | {"inventory": "complete"}            | {"row": {"item": "nut", "count": 1}} | succeeds                                     |
      | a position after it    | {"inventory": "complete"}            | {"position": 3}                      | succeeds                                     |
      | complete, then skipped | {"inventory": "complete"}            | {"skip": "unchanged"}                | succeeds                                     |
      | skipped, then complete | {"skip": "unchanged"}                | {"inventory": "complete"}            | succeeds                                     |
      | skipped after a row    | {"row": {"item": "nut", "count": 1}} | {"skip": "unchanged"}                | is refused with PipelineInventoryIncomplete  |

  @run.advance.snapshot-completion#inventory
  Scenario: a directory is everything in it, and nothing that somebody is still writing
    Given a table "stock" without a key
    And "stock" is replaced by every landing
    And the tables are fed from a directory
    And alpha's directory holds the file "b.jsonl":
      | item | count |
      | bolt | 7     |
    And alpha's directory holds the file "a/nails.jsonl":
      | item | count |
      | nail | 5     |
    And alpha's directory holds the file ".c.jsonl":
      | item   | count |
      | hidden | 1     |
    And alpha's directory holds the file "d.jsonl.tmp":
      | item | count |
      | half | 1     |
    When alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha has 1 run of "stock"
    And alpha reads of "stock":
      | item | count | _row_seq |
      | nail | 5     | 0        |
      | bolt | 7     | 1        |
    When alpha's directory holds no file "b.jsonl"
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha reads of "stock":
      | item | count |
      | nail | 5     |

  @run.advance.snapshot-completion#inventory
  Scenario: a file that cannot be taken as rows is no reason to go on without it
    Given a table "stock" without a key
    And "stock" is replaced by every landing
    And the tables are fed from a directory
    And alpha's directory holds the file "a.jsonl":
      | item | count |
      | nail | 5     |
    And alpha has run its pipeline
    When alpha's directory holds the file "notes.txt":
      | item | count |
      | bolt | 7     |
    And alpha runs its pipeline
    Then the pipeline run is refused with PipelineSourceFailed, naming "notes.txt"
    And "stock" on alpha stays as it was
    When alpha's directory holds no file "notes.txt"
    And alpha's directory holds the file "notes.jsonl":
      | item | count |
      | bolt | 7     |
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha reads 2 rows of "stock"

  @run.advance.snapshot-completion#stated
  Scenario Outline: a directory is unchanged while its names and contents are, and changed when <what> is
    Given a table "stock" without a key
    And "stock" is replaced by every landing
    And the tables are fed from a directory
    And alpha's directory holds the file "a.jsonl":
      | item | count |
      | nail | 5     |
    And alpha has run its pipeline
    When alpha's directory holds the file "a.jsonl":
      | item | count |
      | nail | 5     |
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha has 1 run of "stock"
    When alpha's directory holds the file "<file>":
      | item | count   |
      | nail | <count> |
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha has 2 runs of "stock"
    And alpha reads <rows> rows of "stock"
    Examples:
      | what                     | file    | count | rows |
      | a content of equal size  | a.jsonl | 6     | 1    |
      | the number of files      | b.jsonl | 5     | 2    |

  @run.advance.zero-row-commit#complete
  Scenario Outline: a complete inventory without a row commits a run of none, <case>
    Given a table "stock" without a key
    And "stock" is replaced by every landing
    And the tables are fed <how>
    And alpha's <source> <first>
    And alpha has landed rows of "stock":
      | item | count |
      | nail | 5     |
    When alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's newest run of "stock" is replacement of 0 rows
    And alpha has 2 runs of "stock"
    And alpha reads no rows of "stock"
    Examples:
      | case               | how              | source    | first                          |
      | an empty directory | from a directory | directory | holds nothing                  |
      | an empty file      | from a directory | directory | holds the empty file "a.jsonl" |

  @run.advance.zero-row-commit#complete
  Scenario: a command that hands over nothing and says that it is complete empties the table, position and all
    Given a table "stock" without a key
    And "stock" is replaced by every landing
    And the tables are fed by a command
    And alpha's command says:
      """
      {"row": {"item": "nail", "count": 5}}
      {"position": 1}
      {"inventory": "complete"}
      """
    And alpha has run its pipeline
    When alpha's command says:
      """
      {"position": 2}
      {"inventory": "complete"}
      """
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's newest run of "stock" is replacement of 0 rows
    And alpha's newest run of "stock" has the position 2
    And alpha's command was given the positions nothing, 1
    And alpha reads no rows of "stock"

  @run.advance.zero-row-commit#skipped
  Scenario: a skipped input holds rows and position
    Given a table "stock" without a key
    And "stock" is replaced by every landing
    And the tables are fed by a command
    And alpha's command says:
      """
      {"row": {"item": "nail", "count": 5}}
      {"position": 1}
      {"inventory": "complete"}
      """
    And alpha has run its pipeline
    And alpha's command says:
      """
      {"skip": "unchanged"}
      """
    When alpha runs its pipeline
    Then the pipeline run succeeds
    And "stock" on alpha stays as it was
    When alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's command was given the positions nothing, 1, 1
    And alpha has 1 run of "stock"
    And alpha reads of "stock":
      | item | count |
      | nail | 5     |

  @run.advance.zero-row-commit#skipped
  Scenario: a skip before the first row is no empty inventory
    Given a table "stock" without a key
    And "stock" is replaced by every landing
    And the tables are fed by a command
    And alpha has landed rows of "stock":
      | item | count |
      | nail | 5     |
    And alpha's command says:
      """
      {"skip": "unchanged"}
      """
    When alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha has 1 run of "stock"
    And alpha reads of "stock":
      | item | count |
      | nail | 5     |

  @run.advance.zero-row-commit#failed
  Scenario Outline: a command that ends <how> has published nothing, though it said that nothing is left
    Given a table "stock" without a key
    And "stock" is replaced by every landing
    And the tables are fed by a command
    And alpha's command says:
      """
      {"row": {"item": "nail", "count": 5}}
      {"position": 1}
      {"inventory": "complete"}
      """
    And alpha has run its pipeline
    When alpha's command says:
      """
      {"position": 2}
      {"inventory": "complete"}
      """
    And alpha's command ends <how>
    And alpha runs its pipeline
    Then the pipeline run is refused with PipelineSourceFailed, naming "conform" and "stock"
    And "stock" on alpha stays as it was
    And alpha reads of "stock":
      | item | count |
      | nail | 5     |
    When alpha's command ends well
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's command was given the positions nothing, 1, 1
    And alpha reads no rows of "stock"
    Examples:
      | how           |
      | with status 3 |
      | by a signal   |

  @run.advance.zero-row-commit#failed
  Scenario: a skip of a command that fails is a failure
    Given a table "stock" without a key
    And "stock" is replaced by every landing
    And the tables are fed by a command
    And alpha's command says:
      """
      {"skip": "unchanged"}
      """
    And alpha's command ends with status 1
    When alpha runs its pipeline
    Then the pipeline run is refused with PipelineSourceFailed, naming "conform" and "stock"
    When alpha's command ends well
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha reads no rows of "stock"

  @run.advance.zero-row-commit#failed
  Scenario Outline: a line that is none fails the pull, <case>
    Given a table "stock" without a key
    And "stock" is replaced by every landing
    And the tables are fed by a command
    And alpha's command says:
      """
      {"row": {"item": "nail", "count": 5}}
      {"inventory": "complete"}
      """
    And alpha has run its pipeline
    When alpha's command says:
      """
      {"row": {"item": "bolt", "count": 7}}
      <line>
      {"inventory": "complete"}
      """
    And alpha runs its pipeline
    Then the pipeline run is refused with PipelineSourceFailed, naming "stock" and "line 2"
    And "stock" on alpha stays as it was
    When alpha's command says:
      """
      {"row": {"item": "bolt", "count": 7}}
      {"inventory": "complete"}
      """
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha reads of "stock":
      | item | count |
      | bolt | 7     |
    Examples:
      | case            | line                                     |
      | no JSON         | all is well                              |
      | cut short       | {"row": {"item": "nut"                   |
      | another word    | {"rows": [{"item": "nut"}]}              |
      | two at once     | {"row": {"item": "nut"}, "position": 3}  |
      | another answer  | {"inventory": "partial"}                 |

  @run.advance.zero-row-commit#failed
  Scenario: a directory that is not there empties nothing, and the same when it is there and empty does
    Given a table "stock" without a key
    And "stock" is replaced by every landing
    And the tables are fed from a directory
    And alpha's directory holds the file "a.jsonl":
      | item | count |
      | nail | 5     |
    And alpha has run its pipeline
    When alpha's directory is gone
    And alpha runs its pipeline
    Then the pipeline run is refused with PipelineSourceFailed, naming "conform" and "feed"
    And "stock" on alpha stays as it was
    And alpha reads of "stock":
      | item | count |
      | nail | 5     |
    When alpha's directory holds nothing
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha reads no rows of "stock"

  @run.advance.rows-once#together
  Scenario: what a position closed stays, what came after the last one does not land
    Given a table "events" without a key
    And the tables are fed by a command
    And alpha's command says:
      """
      {"row": {"id": 1}}
      {"row": {"id": 2}}
      {"position": 2}
      {"row": {"id": 3}}
      {"position": 3}
      {"row": {"id": 4}}
      """
    And alpha's command ends with status 1
    When alpha runs its pipeline
    Then the pipeline run is refused with PipelineSourceFailed, naming "events"
    And alpha has 2 runs of "events"
    And alpha's newest run of "events" has the position 3
    And alpha reads of "events":
      | id |
      | 1  |
      | 2  |
      | 3  |
    When alpha's command goes on to say:
      """
      {"position": 4}
      """
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's command was given the positions nothing, 3
    And alpha reads of "events":
      | id |
      | 1  |
      | 2  |
      | 3  |
      | 4  |

  @run.advance.rows-once#resumed
  Scenario: the position is in the runs, whatever becomes of the catalogs
    Given a table "events" without a key
    And the tables are fed by a command
    And alpha's command says:
      """
      {"row": {"id": 1}}
      {"position": 10}
      {"row": {"id": 2}}
      {"position": 9}
      """
    And alpha has run its pipeline
    And alpha has landed rows of "events":
      | id |
      | 7  |
    And alpha's catalogs and run states are deleted
    When alpha's command goes on to say:
      """
      {"row": {"id": 3}}
      {"position": 11}
      """
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's command was given the positions nothing, 9
    And alpha reads of "events":
      | id |
      | 1  |
      | 2  |
      | 7  |
      | 3  |

  @run.advance.rows-once#resumed @needs.sync
  Scenario: another node goes on where the pulled run ended
    Given a node "beta"
    And a table "events" without a key
    And the tables are fed by a command
    And alpha's command says:
      """
      {"row": {"id": 1}}
      {"position": 1}
      """
    And alpha has run its pipeline
    And alpha has pushed
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
    And beta reads of "events":
      | id |
      | 1  |
      | 2  |

  @run.advance.rows-once#killed
  Scenario: a run killed at any moment and run again leaves every row once
    Given a table "events" without a key
    And the tables are fed by a command
    And alpha's command says:
      """
      {"row": {"id": 1}}
      {"row": {"id": 2}}
      {"position": 2}
      {"row": {"id": 3}}
      {"position": 3}
      """
    When alpha's pipeline run is killed at each rename that it makes
    Then the next pipeline run of alpha succeeds
    And alpha reads of "events":
      | id |
      | 1  |
      | 2  |
      | 3  |
    And alpha's store checks out

  @run.advance.rows-once#killed
  Scenario: a replacement killed at any moment and made again is the table
    Given a table "stock" without a key
    And "stock" is replaced by every landing
    And the tables are fed from a directory
    And alpha has landed rows of "stock":
      | item | count |
      | nail | 5     |
    And alpha's directory holds the file "a.jsonl":
      | item | count |
      | bolt | 7     |
    When alpha's pipeline run is killed at each rename that it makes
    Then the next pipeline run of alpha succeeds
    And alpha reads of "stock":
      | item | count |
      | bolt | 7     |
    And alpha has 2 runs of "stock"

  @run.advance.rows-once#uncovered
  Scenario: rows that no position follows do not land
    Given a table "events" without a key
    And the tables are fed by a command
    And alpha's command says:
      """
      {"row": {"id": 1}}
      {"position": 1}
      {"row": {"id": 2}}
      """
    When alpha runs its pipeline
    Then the pipeline run is refused with PipelinePositionMissing, naming "events"
    And alpha reads of "events":
      | id |
      | 1  |
    When alpha's command goes on to say:
      """
      {"position": 2}
      """
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha reads of "events":
      | id |
      | 1  |
      | 2  |
