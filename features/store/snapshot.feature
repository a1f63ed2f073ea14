Feature: snapshot
  Documents as they were captured, and the corpus that an id names.

  Background:
    Given a node "alpha"
    And a table "pages" keyed by "url"
    And "pages" declares snapshot as {document = "url", captured_at = "seen", leak_score = "leak"}

  @store.snapshot.capture#declared
  Scenario: a table that does not say what a document is takes no capture
    Given a table "notes" keyed by "url"
    When alpha captures of "notes" as run "one":
      | url | seen                 | text  |
      | /a  | 2026-01-01T00:00:00Z | first |
    Then the capture is refused with StoreDeclarationInvalid, naming "notes"
    And alpha's store stays as it was
    When alpha captures of "pages" as run "one":
      | url | seen                 | text  |
      | /a  | 2026-01-01T00:00:00Z | first |
    Then the capture succeeds
    And alpha reads of "pages":
      | url | text  |
      | /a  | first |

  @store.snapshot.capture#whole
  Scenario Outline: a document without <what> is refused
    When alpha captures of "pages" as run "one":
      | url   | seen                 | text   |
      | /a    | 2026-01-01T00:00:00Z | first  |
      | <url> | <seen>               | second |
    Then the capture is refused with StoreInputMalformed, naming "<column>"
    And alpha's store stays as it was
    When alpha captures of "pages" as run "one":
      | url | seen                 | text   |
      | /a  | 2026-01-01T00:00:00Z | first  |
      | /b  | 2026-01-01T00:00:00Z | second |
    Then the capture succeeds
    Examples:
      | what                 | url  | seen                 | column |
      | a name               |      | 2026-01-01T00:00:00Z | url    |
      | a name but null      | null | 2026-01-01T00:00:00Z | url    |
      | its instant          | /b   |                      | seen   |
      | its instant but null | /b   | null                 | seen   |

  @store.snapshot.capture#one-snapshot
  Scenario: each capture is a snapshot
    Given alpha has captured of "pages" as run "one":
      | url | seen                 | text  |
      | /a  | 2026-01-01T00:00:00Z | first |
    When alpha captures of "pages" as run "two":
      | url | seen                 | text   |
      | /b  | 2026-02-01T00:00:00Z | second |
    Then the capture succeeds
    And the captures "one" and "two" of "pages" are alpha's 2 snapshots, one each
    And alpha's list of "pages" names snapshots only

  @store.snapshot.capture#one-snapshot
  Scenario: captures at the same time are a snapshot each
    When alpha captures runs "one", "two" and "three" into "pages" at once
    Then the captures "one", "two" and "three" of "pages" are alpha's 3 snapshots, one each
    And alpha reads 3 rows of "pages"
    And alpha's store checks out

  @store.snapshot.capture#one-snapshot
  Scenario: a capture that died once it had landed shares its snapshot with no later one
    Given alpha has landed rows of "pages" as run "one":
      | url | seen                 | text  |
      | /a  | 2026-01-01T00:00:00Z | first |
    And alpha has captured of "pages" as run "two":
      | url | seen                 | text   |
      | /b  | 2026-02-01T00:00:00Z | second |
    When alpha captures of "pages" as run "one":
      | url | seen                 | text  |
      | /a  | 2026-01-01T00:00:00Z | first |
    Then the capture succeeds
    And the captures "one" and "two" of "pages" are alpha's 2 snapshots, one each

  @store.snapshot.capture#once
  Scenario: a capture that is made again is the capture it was
    Given alpha has captured of "pages" as run "one":
      | url | seen                 | text  |
      | /a  | 2026-01-01T00:00:00Z | first |
    And alpha has captured of "pages" as run "two":
      | url | seen                 | text   |
      | /b  | 2026-02-01T00:00:00Z | second |
    When alpha captures of "pages" as run "one":
      | url | seen                 | text  |
      | /a  | 2026-01-01T00:00:00Z | first |
    Then the capture succeeds
    And alpha was told the same snapshot as before of capture "one"
    And the captures "one" and "two" of "pages" are alpha's 2 snapshots, one each
    When alpha captures of "pages" as run "one":
      | url | seen                 | text    |
      | /a  | 2026-01-01T00:00:00Z | changed |
    Then the capture is refused with StoreRunConflict, naming "one"

  @store.snapshot.capture#once @slow
  Scenario: a capture that is killed is ended by the same capture
    Given alpha has captured of "pages" as run "one":
      | url | seen                 | text  |
      | /a  | 2026-01-01T00:00:00Z | first |
    When alpha's capture of "pages" as run "two" is killed at each rename that it makes:
      | url | seen                 | text   |
      | /b  | 2026-02-01T00:00:00Z | second |
    Then the killed capture of "pages", made again, succeeds on each alpha
    And the captures "one" and "two" of "pages" are alpha's 2 snapshots, one each
    And alpha reads of "pages":
      | url | text   |
      | /a  | first  |
      | /b  | second |

  @store.snapshot.capture#pinned
  Scenario: a snapshot named is the corpus as it was
    Given alpha has captured of "pages" as run "one":
      | url | seen                 | text  |
      | /a  | 2026-01-01T00:00:00Z | first |
      | /b  | 2026-01-01T00:00:00Z | first |
    And alpha has captured of "pages" as run "two":
      | url | seen                 | text   | lang |
      | /b  | 2026-02-01T00:00:00Z | second | en   |
      | /c  | 2026-02-01T00:00:00Z | second | en   |
    And alpha has landed rows of "pages":
      | url | seen                 | text  |
      | /a  | 2026-03-01T00:00:00Z | third |
    And alpha has folded "pages"
    And alpha has landed rows of "pages":
      | url | seen                 | text   |
      | /d  | 2026-03-02T00:00:00Z | fourth |
    Then alpha reads of "pages" in capture "one" exactly:
      | url | seen                 | text  |
      | /a  | 2026-01-01T00:00:00Z | first |
      | /b  | 2026-01-01T00:00:00Z | first |
    And alpha reads of "pages" in capture "two" exactly:
      | url | seen                 | text   | lang |
      | /a  | 2026-01-01T00:00:00Z | first  | null |
      | /b  | 2026-02-01T00:00:00Z | second | en   |
      | /c  | 2026-02-01T00:00:00Z | second | en   |
    And alpha reads of "pages":
      | url | text   | lang |
      | /a  | third  | null |
      | /b  | second | en   |
      | /c  | second | en   |
      | /d  | fourth | null |

  @store.snapshot.capture#pinned
  Scenario: a snapshot pins its own table, in a statement of several
    Given a table "marks" keyed by "url"
    And alpha has captured of "pages" as run "one":
      | url | seen                 | text  |
      | /a  | 2026-01-01T00:00:00Z | first |
    And alpha has landed rows of "marks":
      | url | mark |
      | /a  | 1    |
    And alpha has folded "marks"
    And alpha has captured of "pages" as run "two":
      | url | seen                 | text   |
      | /a  | 2026-02-01T00:00:00Z | second |
    And alpha has landed rows of "marks":
      | url | mark |
      | /a  | 2    |
    Then alpha's answer in capture "one" to SELECT text, mark FROM pages JOIN marks USING (url) is:
      | text  | mark |
      | first | 2    |

  @store.snapshot.capture#unknown
  Scenario Outline: <what> is refused
    Given alpha has captured of "pages" as run "one":
      | url | seen                 | text  |
      | /a  | 2026-01-01T00:00:00Z | first |
    And a table "marks" keyed by "url"
    And alpha has landed rows of "marks":
      | url | mark |
      | /a  | 1    |
    And alpha has folded "marks"
    When alpha reads "<table>" in <snapshot>
    Then the read is refused with StoreSnapshotUnknown, naming <the snapshot>
    And the read has answered nothing
    When alpha reads "pages" in capture "one"
    Then the read succeeds
    Examples:
      | what                             | table | snapshot                                 |
      | a snapshot that never was        | pages | snapshot "snapshot-00000000000000000007" |
      | a name that is no snapshot       | pages | snapshot "../pages"                      |
      | another table's snapshot         | marks | capture "one"                            |

  @store.snapshot.post-horizon-capture#marked
  Scenario: a horizon read says which documents were captured later
    Given "pages" declares available_time as {column = "published", live_since = "2026-01-01T00:00:00Z"}
    And alpha has captured of "pages" as run "one":
      | url | published            | seen                           | text  | leak |
      | /a  | 2025-06-01T00:00:00Z | 2026-01-05T00:00:00Z           | early | 0    |
      | /b  | 2025-06-01T00:00:00Z | 2026-01-10T00:00:00Z           | noon  | 1    |
      | /c  | 2025-06-01T00:00:00Z | 2026-01-10T00:00:00.000000001Z | late  | 0    |
      | /d  | 2026-01-11T00:00:00Z | 2026-01-12T00:00:00Z           | after | 0    |
    Then alpha reads of "pages" at the horizon "2026-01-10T00:00:00Z":
      | url | text  | _available_reconstructed |
      | /a  | early | false                    |
      | /b  | noon  | false                    |
      | /c  | late  | true                     |
    And alpha reads of "pages" in capture "one" exactly:
      | url | published            | seen                           | text  | leak |
      | /a  | 2025-06-01T00:00:00Z | 2026-01-05T00:00:00Z           | early | 0    |
      | /b  | 2025-06-01T00:00:00Z | 2026-01-10T00:00:00Z           | noon  | 1    |
      | /c  | 2025-06-01T00:00:00Z | 2026-01-10T00:00:00.000000001Z | late  | 0    |
      | /d  | 2026-01-11T00:00:00Z | 2026-01-12T00:00:00Z           | after | 0    |

  @store.snapshot.post-horizon-capture#admitted
  Scenario: a document captured later is read only while it is scored 0
    Given "pages" declares available_time as {column = "published", live_since = "2026-01-01T00:00:00Z"}
    And alpha has captured of "pages" as run "one":
      | url | published            | seen                 | text     | leak |
      | /a  | 2025-06-01T00:00:00Z | 2026-02-01T00:00:00Z | clean    | 0    |
      | /b  | 2025-06-01T00:00:00Z | 2026-02-01T00:00:00Z | leaking  | 0.25 |
      | /c  | 2025-06-01T00:00:00Z | 2026-02-01T00:00:00Z | unscored | null |
      | /d  | 2025-06-01T00:00:00Z | 2026-01-02T00:00:00Z | in time  | null |
      | /e  | 2025-06-01T00:00:00Z | 2026-01-02T00:00:00Z | first    | 1    |
    And alpha has captured of "pages" as run "two":
      | url | published            | seen                 | text   | leak |
      | /e  | 2025-06-01T00:00:00Z | 2026-02-01T00:00:00Z | second | 1    |
    Then alpha reads of "pages" at the horizon "2026-01-10T00:00:00Z":
      | url | text    |
      | /a  | clean   |
      | /d  | in time |
      | /e  | first   |
    And alpha reads of "pages" at the horizon "2026-02-01T00:00:00Z":
      | url | text     |
      | /a  | clean    |
      | /b  | leaking  |
      | /c  | unscored |
      | /d  | in time  |
      | /e  | second   |

  @store.snapshot.post-horizon-capture#admitted
  Scenario: where no score is declared nothing that was captured later is read
    Given a table "plain" keyed by "url"
    And "plain" declares snapshot as {document = "url", captured_at = "seen"}
    And "plain" declares available_time as {column = "published"}
    And alpha has captured of "plain" as run "one":
      | url | published            | seen                 | leak |
      | /a  | 2025-06-01T00:00:00Z | 2026-02-01T00:00:00Z | 0    |
      | /b  | 2025-06-01T00:00:00Z | 2026-01-02T00:00:00Z | 1    |
    Then alpha reads of "plain" at the horizon "2026-01-10T00:00:00Z":
      | url | leak |
      | /b  | 1    |
