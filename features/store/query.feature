Feature: query
  A statement reads the store's tables, all of them at one moment, and nothing else.

  Background:
    Given a node "alpha"

  @store.query.locked-down#files
  Scenario Outline: a statement that reads <what> gets nothing of it
    Given alpha has landed 6 rows of "events" as run "harvest"
    And files lie beside alpha's store that hold a secret
    When alpha asks: <sql>
    Then the query is refused with QueryRefused
    And nothing of the secret is in the answer
    And nobody has asked the address
    When alpha asks: SELECT count(*) AS n, '<word>' AS w FROM "events"
    Then the query succeeds
    Examples:
      | what                          | sql                                                                    | word           |
      | a CSV file                    | SELECT * FROM read_csv('{csv}')                                        | read_csv       |
      | a CSV file, guessed           | SELECT * FROM read_csv_auto('{csv}')                                   | read_csv_auto  |
      | a text file                   | SELECT * FROM read_text('{csv}')                                       | read_text      |
      | a file as bytes               | SELECT content FROM read_blob('{csv}')                                 | read_blob      |
      | a JSON file                   | SELECT * FROM read_json('{json}')                                      | read_json      |
      | a Parquet file                | SELECT * FROM read_parquet('{parquet}')                                | read_parquet   |
      | a part of the store           | SELECT * FROM read_parquet('{part}')                                   | parquet        |
      | a part's footer               | SELECT * FROM parquet_metadata('{part}')                               | metadata       |
      | a file by its name            | SELECT * FROM '{csv}'                                                  | file           |
      | a file by its quoted name     | SELECT * FROM "{csv}"                                                  | quoted         |
      | a part by its quoted name     | SELECT * FROM "{part}"                                                 | part           |
      | a directory                   | SELECT * FROM glob('{dir}/*')                                          | glob           |
      | a file in a subquery          | SELECT (SELECT content FROM read_text('{csv}')) AS x FROM "events"     | subquery       |
      | a file in a CTE               | WITH x AS (SELECT * FROM read_csv('{csv}')) SELECT * FROM x            | with           |
      | a file in a join              | SELECT * FROM "events" JOIN read_csv('{csv}') c ON true                | join           |
      | an address                    | SELECT * FROM read_csv('{address}')                                    | address        |
      | an address by its quoted name | SELECT * FROM "{address}"                                              | http           |
      | another database              | ATTACH '{db}' AS other                                                 | attach         |
      | another database's table      | SELECT * FROM other.main.secrets                                       | other          |

  @store.query.locked-down#writes
  Scenario Outline: <what> has no effect
    Given alpha has landed 6 rows of "events" as run "harvest"
    And files lie beside alpha's store that hold a secret
    When alpha asks: <sql>
    Then the query is refused with QueryRefused
    And alpha's store stays as it was, to the byte
    And no statement has made or changed a file beside it
    And alpha reads of "events" exactly the rows landed
    Examples:
      | what                       | sql                                                     |
      | a copy to a file           | COPY (SELECT 1 AS a) TO '{target}'                      |
      | a copy of a table          | COPY "events" TO '{target}' (FORMAT parquet)            |
      | an export                  | EXPORT DATABASE '{target}'                              |
      | a new table                | CREATE TABLE mine AS SELECT 1 AS a                      |
      | a new view                 | CREATE VIEW mine AS SELECT 1 AS a                       |
      | an insert                  | INSERT INTO "events" (id) VALUES (9001)                 |
      | an update                  | UPDATE "events" SET amount = 0                          |
      | a deletion                 | DELETE FROM "events"                                    |
      | a drop                     | DROP TABLE "events"                                     |
      | a second statement         | SELECT 1 AS a; SELECT 2 AS a                            |
      | a second one that writes   | SELECT 1 AS a; COPY (SELECT 1 AS a) TO '{target}'       |
      | a second one in a comment  | SELECT 1 AS a; /* ; */ DELETE FROM "events"             |
      | a transaction              | BEGIN TRANSACTION                                       |

  @store.query.locked-down#writes
  Scenario Outline: one statement is one, <case>
    Given alpha has landed 6 rows of "events"
    When alpha asks: <sql>
    Then the query succeeds
    Examples:
      | case                    | sql                                                                 |
      | with its semicolon      | SELECT count(*) AS n FROM "events";                                 |
      | with one in a text      | SELECT 'a; DELETE FROM "events"' AS t FROM "events"                 |
      | with one in a comment   | SELECT count(*) AS n FROM "events" -- ; DROP TABLE "events"         |
      | with a name of its own  | WITH copy_to AS (SELECT * FROM "events") SELECT * FROM copy_to      |

  @store.query.locked-down#settings
  Scenario Outline: a statement that <does> is refused
    Given alpha has landed 6 rows of "events"
    And files lie beside alpha's store that hold a secret
    When alpha asks: <sql>
    Then the query is refused with QueryRefused
    And no statement has made or changed a file beside it
    Examples:
      | does                          | sql                                                                |
      | sets                          | SET threads = 1                                                    |
      | sets for all                  | SET GLOBAL memory_limit = '1GB'                                    |
      | opens the files               | SET enable_external_access = true                                  |
      | undoes the lock               | SET lock_configuration = false                                     |
      | resets                        | RESET lock_configuration                                           |
      | sets by pragma                | PRAGMA temp_directory = '{target}'                                 |
      | installs an extension         | INSTALL httpfs                                                     |
      | loads an extension            | LOAD '{db}'                                                        |
      | unlocks, then reads           | SET enable_external_access = true; SELECT * FROM read_text('{csv}') |
      | calls                         | CALL pragma_version()                                              |
      | uses another schema           | USE memory                                                         |
      | writes a checkpoint           | CHECKPOINT                                                         |

  @store.query.one-resolution#across-tables
  Scenario Outline: what is committed while a statement runs is in none of its tables, <how>
    Given a table "orders" without a key
    And a table "lines" without a key
    And alpha has landed 4 rows of "orders"
    And alpha has folded "orders"
    And alpha has landed 5 rows of "lines"
    And alpha has landed 3 rows of "orders"
    When alpha's count of "orders" and "lines" is held as it opens the first part
    And alpha has landed 2 rows of "orders"
    And alpha has landed 6 rows of "lines"
    And alpha has <then> "orders"
    And alpha has <then> "lines"
    And the held read goes on to its end
    Then the held count is 7 of "orders" and 5 of "lines"
    Examples:
      | how        | then             |
      | not folded | landed 1 rows of |
      | folded     | folded           |

  @store.query.one-resolution#kept-files
  Scenario Outline: a fold of <what> takes no file away from a statement
    Given a table "orders" without a key
    And a table "lines" without a key
    And alpha has landed 4 rows of "orders"
    And alpha has landed 5 rows of "lines"
    And alpha has folded "lines"
    And alpha has landed 3 rows of "orders"
    And alpha has landed 2 rows of "lines"
    When alpha's count of "orders" and "lines" is held as it opens the first part
    And alpha has folded <what>
    And the held read goes on to its end
    Then the held count is 7 of "orders" and 7 of "lines"
    And alpha reads of "orders" exactly the rows landed
    And alpha reads of "lines" exactly the rows landed
    Examples:
      | what        |
      | "orders"    |
      | every table |
