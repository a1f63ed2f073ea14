Feature: reconcile
  How the types of a column that many runs wrote become one, and which files a read takes.

  Background:
    Given a node "alpha"
    And a table "readings" without a key

  @store.reconcile.lattice#int-float
  Scenario Outline: whole numbers and fractions meet as fractions, <case>
    Given alpha has landed rows of "readings":
      | id | value   |
      | 1  | <first> |
      | 2  | null    |
    When alpha lands rows of "readings":
      | id | value    |
      | 3  | <second> |
    Then the landing succeeds
    And alpha's schema of "readings" has "value" as float64
    And alpha reads of "readings":
      | id | value    |
      | 1  | <first>  |
      | 2  | null     |
      | 3  | <second> |
    When alpha folds "readings"
    Then the fold succeeds
    And alpha reads of "readings":
      | id | value    |
      | 1  | <first>  |
      | 2  | null     |
      | 3  | <second> |
    Examples:
      | case              | first            | second           |
      | integers first    | 7                | 0.5              |
      | fractions first   | 0.5              | 7                |
      | large ones first  | 4503599627370497 | -2.25            |
      | large ones second | -2.25            | 4503599627370497 |

  @store.reconcile.lattice#int-float
  Scenario Outline: whole numbers and fractions meet in one landing, <case>
    When alpha lands rows of "readings":
      | id | value    |
      | 1  | <first>  |
      | 2  | <second> |
    Then the landing succeeds
    And alpha's schema of "readings" has "value" as float64
    And alpha reads of "readings" exactly the rows landed
    Examples:
      | case            | first | second |
      | integers first  | 7     | 0.5    |
      | fractions first | 0.5   | 7      |

  @store.reconcile.lattice#json-utf8
  Scenario Outline: text and JSON meet as JSON, <case>
    When alpha lands as run "one" into "readings", with no types, the rows <first>
    And alpha lands as run "two" into "readings", with no types, the rows <second>
    Then the landing succeeds
    And alpha's schema of "readings" has "note" as json
    And alpha reads in "note" of "readings" the JSON of what was landed
    When alpha folds "readings"
    Then the fold succeeds
    And alpha reads in "note" of "readings" the JSON of what was landed
    Examples:
      | case       | first                                                         | second                                                  |
      | text first | {"id":1,"note":"plain"} {"id":2,"note":"7"} {"id":3}          | {"id":4,"note":{"a":[1,"x"]}} {"id":5,"note":[true]}    |
      | JSON first | {"id":4,"note":{"a":[1,"x"]}} {"id":5,"note":[true]} {"id":3} | {"id":1,"note":"plain"} {"id":2,"note":"say \"hi\" 🌍"} |

  @store.reconcile.lattice#json-utf8
  Scenario: text that a fold has passed is still text when JSON comes
    Given alpha has landed rows of "readings":
      | id | note     |
      | 1  | "{\"a\"" |
      | 2  | "7"      |
    And alpha has folded "readings"
    When alpha lands as run "two" into "readings", with no types, the rows {"id":3,"note":{"a":1}} {"id":4,"note":"true"}
    Then the landing succeeds
    And alpha reads in "note" of "readings" the JSON of what was landed
    When alpha folds "readings"
    Then the fold succeeds
    And alpha reads in "note" of "readings" the JSON of what was landed

  @store.reconcile.additive#joins
  Scenario: a column may come at any time, and none goes
    Given alpha has landed rows of "readings":
      | id | first |
      | 1  | a     |
    And alpha has landed rows of "readings":
      | id | second |
      | 2  | 0.5    |
    When alpha lands rows of "readings":
      | third | id |
      | true  | 3  |
    Then the landing succeeds
    And alpha's schema of "readings" has exactly the columns "id", "first", "second" and "third" beside the store's own
    And alpha reads of "readings" exactly the rows landed
    When alpha folds "readings"
    Then the fold succeeds
    And alpha's schema of "readings" has exactly the columns "id", "first", "second" and "third" beside the store's own
    And alpha reads of "readings" exactly the rows landed

  @store.reconcile.additive#null
  Scenario: rows of files without a column read null in it
    Given alpha has landed rows of "readings":
      | id | text | whole | fraction | flag |
      | 1  | a    | 5     | 0.5      | true |
    And alpha has folded "readings"
    And alpha has landed rows of "readings":
      | id | late |
      | 2  | x    |
    When alpha lands rows of "readings":
      | id | text |
      | 3  | c    |
    Then the landing succeeds
    And alpha reads of "readings":
      | id | text | whole | fraction | flag | late |
      | 1  | a    | 5     | 0.5      | true | null |
      | 2  | null | null  | null     | null | x    |
      | 3  | c    | null  | null     | null | null |
    When alpha folds "readings"
    Then the fold succeeds
    And alpha reads of "readings":
      | id | text | whole | fraction | flag | late |
      | 1  | a    | 5     | 0.5      | true | null |
      | 2  | null | null  | null     | null | x    |
      | 3  | c    | null  | null     | null | null |

  @store.reconcile.additive#together
  Scenario: a landing in the middle of another one's keeps its column
    Given alpha has landed rows of "readings":
      | id | first |
      | 1  | a     |
    And alpha's landing of run "one" into "readings" is held after its first mkdir
    When alpha lands run "two" into "readings" meanwhile, and both end
    Then at least one of them has succeeded
    And alpha's schema of "readings" has every column that was landed
    And alpha reads every row landed into "readings" once, and no other

  @store.reconcile.additive#together @needs.sync
  Scenario: a pull in the middle of a landing keeps the column of both
    Given nodes "alpha" and "beta" share a bucket
    And alpha has landed rows of "readings":
      | id | first |
      | 1  | a     |
    And alpha has pushed
    And beta has pulled
    And beta has landed rows of "readings":
      | id | second |
      | 2  | b      |
    And beta has pushed
    And alpha's landing of run "one" into "readings" is held after its first mkdir
    When alpha pulls meanwhile, and both end
    Then alpha's schema of "readings" has every column that was landed
    And alpha reads every row landed into "readings" once, and no other

  @store.reconcile.additive#together @needs.sync
  Scenario: landings and a pull, all at once, lose no column
    Given nodes "alpha" and "beta" share a bucket
    And beta has an initialised store
    And alpha has pushed "readings"
    And beta has pulled
    And beta has landed rows of "readings":
      | id  | second |
      | 902 | b      |
    And beta has pushed
    When alpha lands 16 runs into "readings" and pulls, all at once
    Then alpha's schema of "readings" has every column that was landed
    And alpha reads every row landed into "readings" once, and no other
    And alpha's store checks out

  @store.reconcile.additive#died
  Scenario Outline: a landing that dies after any <call> leaves the columns of the others, and its own where its rows are
    Given alpha has landed rows of "readings":
      | id | first |
      | 1  | a     |
    When alpha's landing of a new column into "readings" is killed after each <call> in the table
    Then alpha has all of the killed run of "readings" or nothing of it
    And alpha's schema of "readings" has every column that was landed
    When the killed landing of "readings" is made again on each alpha
    Then alpha's schema of "readings" has every column that was landed
    And alpha reads every row landed into "readings" once, and no other
    Examples:
      | call   |
      | fsync  |
      | rename |

  @store.reconcile.incompatible#stored
  Scenario Outline: a column stored as <stored> takes no <arriving>
    Given alpha has landed rows of "readings":
      | id | value    |
      | 1  | <before> |
    When alpha lands as run "other" into "readings", with no types, the rows {"id":2,"extra":"new"} {"id":3,"value":<value>}
    Then the landing is refused with StoreSchemaIncompatible, naming "value" and "<stored>" and "<arriving>"
    And alpha's store stays as it was
    When alpha lands as run "other" into "readings", with no types, the rows {"id":2,"extra":"new"} {"id":3,"value":<right>}
    Then the landing succeeds
    And alpha reads of "readings" exactly the rows landed
    Examples:
      | stored  | arriving | before | value   | right |
      | int64   | utf8     | 5      | "seven" | 7     |
      | int64   | boolean  | 5      | true    | 7     |
      | int64   | json     | 5      | {"a":1} | 7     |
      | float64 | utf8     | 0.5    | "seven" | 7.5   |
      | boolean | int64    | true   | 1       | false |
      | boolean | utf8     | true   | "true"  | false |
      | utf8    | int64    | five   | 7       | "7"   |
      | utf8    | float64  | five   | 0.5     | "0.5" |

  @store.reconcile.incompatible#batch
  Scenario Outline: two types in the rows of one landing are refused, <first> and <second>
    Given alpha has landed 2 rows of "readings"
    When alpha lands as run "mixed" into "readings", with no types, the rows {"id":91,"value":<one>} {"id":92} {"id":93,"value":<other>}
    Then the landing is refused with StoreSchemaIncompatible, naming "value" and "<first>" and "<second>"
    And alpha's store stays as it was
    When alpha lands as run "mixed" into "readings", with no types, the rows {"id":91,"value":<one>} {"id":92} {"id":93,"value":<one>}
    Then the landing succeeds
    And alpha reads of "readings" exactly the rows landed
    Examples:
      | first   | second  | one     | other   |
      | int64   | utf8    | 5       | "seven" |
      | utf8    | int64   | "seven" | 5       |
      | boolean | float64 | true    | 0.5     |
      | float64 | utf8    | 0.5     | "half"  |

  @store.reconcile.key-widening#batch
  Scenario Outline: a key is never widened, <case>
    Given a table "orders" keyed by "shop, number"
    And alpha has landed rows of "orders":
      | shop | number  | sum     |
      | a    | <first> | <first> |
    When alpha lands, watched, as run "wide" into "orders" the rows {"shop":"b","number":<second>,"sum":<second>}
    Then the landing is refused with StoreKeyWidened, naming "number"
    And the landing made nothing below the runs of "orders"
    And alpha's store stays as it was
    When alpha lands, watched, as run "wide" into "orders" the rows {"shop":"b","number":<first>,"sum":<second>}
    Then the landing succeeds
    And alpha reads of "orders" exactly the rows landed
    Examples:
      | case                          | first | second |
      | integers are there            | 7     | 0.5    |
      | fractions are there           | 0.5   | 7      |

  @store.reconcile.key-widening#batch
  Scenario: a key is never widened within a landing
    Given a table "orders" keyed by "number"
    When alpha lands, watched, as run "wide" into "orders" the rows {"number":7,"sum":7} {"number":0.5,"sum":0.5}
    Then the landing is refused with StoreKeyWidened, naming "number"
    And the landing made nothing below the runs of "orders"
    When alpha lands, watched, as run "wide" into "orders" the rows {"number":7,"sum":7} {"number":8,"sum":0.5}
    Then the landing succeeds
    And alpha reads of "orders" exactly the rows landed

  @store.reconcile.key-widening#fold
  Scenario: a fold does not widen a key that another node has widened
    Given a table "orders" keyed by "number"
    And alpha has landed rows of "orders":
      | number           | sum |
      | 9007199254740992 | 1   |
      | 9007199254740993 | 2   |
    When alpha's schema of "orders" comes to hold "number" as float64
    And alpha folds "orders"
    Then the fold is refused with StoreKeyWidened, naming "number"
    And "orders" on alpha is as it was
    And alpha has no pointer for "orders"
    When alpha's schema of "orders" comes to hold "number" as int64
    And alpha's schema of "orders" comes to hold "sum" as float64
    And alpha folds "orders"
    Then the fold succeeds
    And alpha reads of "orders" exactly the rows landed

  @store.reconcile.explicit-file-list#stray
  Scenario Outline: a Parquet file <where> that no manifest names adds no row
    Given alpha has landed rows of "readings" as run "folded":
      | id | value |
      | 1  | 5     |
    And alpha has folded "readings"
    And alpha has landed rows of "readings" as run "fresh":
      | id | value |
      | 2  | 7     |
    When a copy of a part of "readings" comes to lie <where> on alpha
    Then alpha reads of "readings" exactly the rows landed
    And alpha's list of "readings" is what the manifests name
    When alpha folds "readings"
    Then the fold succeeds
    And alpha reads of "readings" exactly the rows landed
    Examples:
      | where                              |
      | in a run's directory               |
      | in a snapshot's directory          |
      | in a snapshot's indexes            |
      | in a run's indexes                 |
      | among the runs                     |
      | under a run id of its own          |

  @store.reconcile.explicit-file-list#sorted
  Scenario: the list is sorted, names each part once, and is what a scan reads
    Given alpha has landed 3 rows of "readings" as run "zulu"
    And alpha has landed 2 rows of "readings" as run "mike"
    And alpha has folded "readings"
    And alpha has landed 4 rows of "readings" as run "yankee"
    And alpha has landed 2 rows of "readings" as run "Alfa"
    And alpha has landed 5 rows of "readings" as run "alfa"
    When alpha lists "readings"
    Then the listing succeeds
    And alpha's list of "readings" is sorted
    And alpha's list of "readings" is what the manifests name
    And a scan of "readings" on alpha gives the rows of the listed parts

  @store.reconcile.explicit-file-list#missing
  Scenario Outline: a part of <whose> that <what> refuses <read> of its table
    Given alpha has landed 40 rows of "readings" as run "folded"
    And alpha has folded "readings"
    And alpha has landed 40 rows of "readings" as run "fresh"
    And alpha has landed 2 rows of "notes"
    When the part of <whose> of "readings" on alpha <what>
    And alpha <does>
    Then the <read> is refused with StorePartDamaged, naming <the part>
    And alpha reads of "notes" exactly the rows landed
    When the part of <whose> of "readings" on alpha is mended
    Then alpha reads of "readings" exactly the rows landed
    Examples:
      | whose        | what                 | read | does             |
      | run "fresh"  | is deleted           | read | reads "readings" |
      | run "fresh"  | is deleted           | scan | scans "readings" |
      | run "fresh"  | is cut in half       | read | reads "readings" |
      | run "fresh"  | is cut in half       | fold | folds "readings" |
      | run "fresh"  | loses its last bytes | scan | scans "readings" |
      | run "fresh"  | is emptied           | read | reads "readings" |
      | the snapshot | is deleted           | read | reads "readings" |
      | the snapshot | is cut in half       | scan | scans "readings" |

  @store.reconcile.half-width#stored
  Scenario Outline: the items of a vector of <type> take <size> bytes each in every part
    Given a table "texts" without a key
    And "texts" declares the column:
      | column | type   |
      | v      | <type> |
    And alpha lands as run "one" into "texts", with no types, the rows {"id":1,"v":[1,-2.5,0.25]} {"id":2}
    When alpha folds "texts"
    Then the fold succeeds
    And every part of "texts" on alpha holds the items of "v" in <size> bytes each
    When alpha lands as run "two" into "texts", with no types, the rows {"id":3,"v":[0.5,1,2]}
    And alpha folds "texts"
    Then the fold succeeds
    And every part of "texts" on alpha holds the items of "v" in <size> bytes each
    Examples:
      | type       | size |
      | float16[3] | two  |
      | float32[3] | four |

  @store.reconcile.half-width#vectors
  Scenario Outline: a vector of <type> reads as an ARRAY of FLOAT, <how>
    Given a table "texts" without a key
    And "texts" declares the column:
      | column | type   |
      | v      | <type> |
    And alpha lands as run "one" into "texts", with no types, the rows {"id":1,"v":[1,0.5,-4]} {"id":2}
    And alpha has <does>
    When alpha asks: SELECT id, typeof(v) AS kind, v[2] AS second, array_inner_product(v, [1,2,3]::FLOAT[3]) AS product FROM "texts" ORDER BY id
    Then the query succeeds
    And the answer's rows are [[1,"FLOAT[3]",0.5,-10],[2,"FLOAT[3]",null,null]]
    Examples:
      | type       | how        | does                     |
      | float16[3] | not folded | landed 1 rows of "notes" |
      | float16[3] | folded     | folded "texts"           |
      | float32[3] | not folded | landed 1 rows of "notes" |
      | float32[3] | folded     | folded "texts"           |

  @store.reconcile.half-width#binary
  Scenario Outline: both binary types read as BLOB, <how>
    Given a table "files" keyed by "sum"
    And "files" declares the columns:
      | column | type      |
      | body   | binary    |
      | sum    | binary(2) |
    And alpha lands as run "one" into "files", with no types, the rows {"sum":"AAE=","body":"AAEC"} {"sum":"AAI="} {"sum":"/wA=","body":""}
    And alpha lands as run "two" into "files", with no types, the rows {"sum":"AAI=","body":"/w=="}
    And alpha has <does>
    When alpha asks: SELECT sum, typeof(sum) AS kind, typeof(body) AS other, octet_length(body) AS size, sum = '\x00\x01'::BLOB AS same FROM "files" ORDER BY sum
    Then the query succeeds
    And the answer's rows are [["AAE=","BLOB","BLOB",3,true],["AAI=","BLOB","BLOB",1,false],["/wA=","BLOB","BLOB",0,false]]
    Examples:
      | how        | does                     |
      | not folded | landed 1 rows of "notes" |
      | folded     | folded "files"           |
