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

  @store.reconcile.explicit-file-list#missing
  Scenario Outline: a part of <whose> that has become a whole file of fewer rows refuses <read> of its table
    Given alpha has landed 40 rows of "readings" as run "folded"
    And alpha has folded "readings"
    And alpha has landed 40 rows of "readings" as run "fresh"
    And alpha has landed 2 rows of "readings" as run "few"
    When the part of <whose> of "readings" on alpha gives way to that of run "few"
    And alpha <does>
    Then the <read> is refused with StorePartDamaged, naming <the part>
    When the part of <whose> of "readings" on alpha is mended
    Then alpha reads of "readings" exactly the rows landed
    Examples:
      | whose        | read | does             |
      | run "fresh"  | read | reads "readings" |
      | the snapshot | scan | scans "readings" |
      | run "fresh"  | fold | folds "readings" |

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

  @store.reconcile.binary-and-vector#types
  Scenario Outline: <type> reconciles with itself, and with nothing near it
    Given "readings" declares the columns:
      | column | type   |
      | value  | <type> |
    And alpha has landed rows of "readings":
      | id | value   |
      | 1  | <first> |
    And "readings" no longer declares a type of "value"
    When alpha lands as run "near" into "readings", with value as <near>, the rows {"id":2,"value":<nearly>}
    Then the landing is refused with StoreSchemaIncompatible, naming "value" and "<type>"
    And alpha's store stays as it was
    When alpha lands as run "near" into "readings", with value as <type>, the rows {"id":2,"value":<second>}
    Then the landing succeeds
    And alpha's schema of "readings" has "value" as <type>
    And alpha reads of "readings" exactly the rows landed
    When alpha folds "readings"
    Then the fold succeeds
    And alpha reads of "readings" exactly the rows landed
    Examples:
      | type       | near          | first      | second    | nearly  |
      | binary     | binary(2)     | "AA=="     | "AAEC"    | "AAE="  |
      | binary(2)  | binary        | "AAE="     | "/+8="    | "AAE="  |
      | binary     | utf8          | "AA=="     | "AAEC"    | "AAEC"  |
      | float32[2] | list<float64> | [1.5,-2]   | [0.1,0]   | [1,2]   |
      | float16[2] | float64       | [1.5,-2]   | [0.25,0]  | 0.5     |
      | float32[2] | utf8          | [1.5,-2]   | [0.1,0]   | "[1,2]" |

  @store.reconcile.binary-and-vector#width @store.reconcile.binary-and-vector#item @store.reconcile.binary-and-vector#dimension
  Scenario Outline: <what> of <type> is refused
    Given alpha lands as run "one" into "readings", with value as <type>, the rows {"id":1,"value":<first>}
    When alpha lands as run "two" into "readings", with value as <other>, the rows {"id":2,"value":<second>}
    Then the landing is refused with StoreSchemaIncompatible, naming "value" and "<type>" and "<other>"
    And alpha's store stays as it was
    When alpha lands as run "two" into "readings", with value as <type>, the rows {"id":2,"value":<first>}
    Then the landing succeeds
    And alpha reads of "readings" exactly the rows landed
    Examples:
      | what              | type       | other      | first  | second  |
      | another width     | binary(2)  | binary(3)  | "AAE=" | "AAEC"  |
      | another item      | float32[2] | float16[2] | [1,2]  | [1,2]   |
      | another item      | float16[2] | float32[2] | [1,2]  | [1,2]   |
      | another dimension | float32[2] | float32[3] | [1,2]  | [1,2,3] |
      | another dimension | float16[2] | float16[1] | [1,2]  | [1]     |

  @store.reconcile.typed-landing#base64
  Scenario: bytes come as padded base64
    Given "readings" declares the columns:
      | column | type      |
      | any    | binary    |
      | four   | binary(4) |
    When alpha lands rows of "readings" as run "one":
      | id | any        | four       |
      | 1  | "AAECAw==" | "3q2+7w==" |
      | 2  | ""         | null       |
      | 3  | "/+8="     | "AAAAAA==" |
    Then the landing succeeds
    And run "one" of "readings" holds on alpha the rows:
      | id | any        | four       |
      | 1  | "AAECAw==" | "3q2+7w==" |
      | 2  | ""         | null       |
      | 3  | "/+8="     | "AAAAAA==" |
    And alpha reads of "readings" exactly the rows landed
    When alpha folds "readings"
    Then the fold succeeds
    And alpha reads of "readings" exactly the rows landed

  @store.reconcile.typed-landing#numbers
  Scenario: the numbers of a vector land as the nearest its items hold
    Given "readings" declares the columns:
      | column | type       |
      | single | float32[3] |
      | half   | float16[3] |
    When alpha lands rows of "readings" as run "one":
      | id | single                    | half               |
      | 1  | [0.1, -2, 16777217]       | [0.1, 2049, 2051]  |
      | 2  | null                      | null               |
      | 3  | [3.4028235e38, 1e-45, 7]  | [65504, 65519, -0] |
    Then the landing succeeds
    And run "one" of "readings" holds on alpha the rows:
      | id | single                    | half                        |
      | 1  | [0.1, -2, 16777216]       | [0.099975586, 2048, 2052]   |
      | 2  | null                      | null                        |
      | 3  | [3.4028235e38, 1e-45, 7]  | [65504, 65504, -0]          |
    And alpha reads of "readings":
      | id | single                    | half                        |
      | 1  | [0.1, -2, 16777216]       | [0.099975586, 2048, 2052]   |
      | 2  | null                      | null                        |
      | 3  | [3.4028235e38, 1e-45, 7]  | [65504, 65504, -0]          |

  @store.reconcile.typed-landing#words
  Scenario: what JSON has no number for comes as a word
    Given "readings" declares the columns:
      | column | type       |
      | value  | float32[3] |
      | half   | float16[1] |
    When alpha lands rows of "readings" as run "one":
      | id | value                  | half    |
      | 1  | ["NaN", "inf", "-inf"] | ["inf"] |
    Then the landing succeeds
    And run "one" of "readings" holds on alpha the rows:
      | id | value                  | half    |
      | 1  | ["NaN", "inf", "-inf"] | ["inf"] |
    And alpha reads of "readings":
      | id | value                  | half    |
      | 1  | ["NaN", "inf", "-inf"] | ["inf"] |

  @store.reconcile.typed-landing#range
  Scenario Outline: <past> is past the range of <type>, and <within> is not
    When alpha lands as run "one" into "readings", with value as <type>, the rows {"id":1} {"id":2,"value":[1,<past>]}
    Then the landing is refused with StoreSchemaIncompatible, naming "value" and "<past>"
    And alpha's store stays as it was
    When alpha lands as run "one" into "readings", with value as <type>, the rows {"id":1} {"id":2,"value":[1,<within>]}
    Then the landing succeeds
    And alpha reads of "readings":
      | id | value       |
      | 1  | null        |
      | 2  | [1,<lands>] |
    Examples:
      | type       | past  | within | lands        |
      | float16[2] | 65520 | 65519  | 65504        |
      | float16[2] | -7e4  | -65504 | -65504       |
      | float32[2] | 4e38  | 3.4e38 | 3.4e38       |

  @store.reconcile.typed-landing#refused
  Scenario Outline: <value> is no <type>
    When alpha lands as run "one" into "readings", with value as <type>, the rows {"id":1,"value":<right>} {"id":2,"value":<value>}
    Then the landing is refused with StoreSchemaIncompatible, naming "value" and "<type>"
    And alpha's store stays as it was
    When alpha lands as run "one" into "readings", with value as <type>, the rows {"id":1,"value":<right>} {"id":2,"value":null}
    Then the landing succeeds
    And alpha reads of "readings" exactly the rows landed
    Examples:
      | type       | right  | value        |
      | binary(2)  | "AAE=" | "AAE"        |
      | binary(2)  | "AAE=" | "AAF="       |
      | binary(2)  | "AAE=" | "AA\\nE="     |
      | binary(2)  | "AAE=" | "AA=="       |
      | binary(2)  | "AAE=" | [0,1]        |
      | binary     | "AAE=" | "AAE"        |
      | binary     | "AAE=" | " AAE="      |
      | binary     | "AAE=" | 1            |
      | float32[2] | [1,2]  | [1]          |
      | float32[2] | [1,2]  | [1,2,3]      |
      | float32[2] | [1,2]  | []           |
      | float32[2] | [1,2]  | [1,null]     |
      | float32[2] | [1,2]  | [1,"2"]      |
      | float32[2] | [1,2]  | "[1,2]"      |
      | float16[2] | [1,2]  | [[1,2]]      |
      | float16[2] | [1,2]  | {"a":1}      |

  @store.reconcile.stored-type#bytes @store.reconcile.stored-type#vector
  Scenario Outline: what the table holds as <type> lands as that without a declaration
    Given "readings" declares the columns:
      | column | type   |
      | value  | <type> |
    And alpha has landed rows of "readings":
      | id | value   |
      | 1  | <first> |
    When "readings" no longer declares a type of "value"
    And alpha lands as run "bare" into "readings", with no types, the rows {"id":2,"value":<second>} {"id":3}
    Then the landing succeeds
    And alpha's schema of "readings" has "value" as <type>
    And run "bare" of "readings" holds on alpha the rows:
      | id | value    |
      | 2  | <second> |
      | 3  | null     |
    And alpha reads of "readings" exactly the rows landed
    When alpha lands as run "other" into "readings", with no types, the rows {"id":4,"value":<wrong>}
    Then the landing is refused with StoreSchemaIncompatible, naming "value" and "<type>"
    And "readings" on alpha is as it was
    Examples:
      | type       | first   | second  | wrong      |
      | binary     | "AA=="  | "AAEC"  | "AAE"      |
      | binary(3)  | "AAEC"  | "/+/v"  | "AA=="     |
      | float32[2] | [1,2]   | [0.5,3] | [1,2,3]    |
      | float16[1] | [1]     | [0.5]   | "AA=="     |

  @store.reconcile.stored-type#nested @needs.nested
  Scenario Outline: what the table holds nested lands as that without a declaration, <type>
    Given "readings" declares the columns:
      | column | type   |
      | value  | <type> |
    And alpha has landed rows of "readings":
      | id | value   |
      | 1  | <first> |
    When "readings" no longer declares a type of "value"
    And alpha lands as run "bare" into "readings", with no types, the rows {"id":2,"value":<second>} {"id":3}
    Then the landing succeeds
    And alpha's schema of "readings" has "value" as <type>
    And alpha reads of "readings":
      | id | value   |
      | 1  | <first> |
      | 2  | <reads> |
      | 3  | null    |
    When alpha lands as run "other" into "readings", with no types, the rows {"id":4,"value":<wrong>}
    Then the landing is refused with StoreSchemaIncompatible, naming "value"
    And "readings" on alpha is as it was
    Examples:
      | type                                  | first                      | second          | reads                                                                                          | wrong        |
      | struct<a: int64, b: binary(1)>        | {"a":1,"b":"AA=="}         | {"b":"/w=="}    | {"a":null,"b":"/w=="}                                                                          | {"b":"AAE="} |
      | list<timestamp>                       | ["2026-01-01T00:00:00Z"]   | []              | []                                                                                             | ["noon"]     |
      | map<utf8, float32[1]>                 | {"k":[1]}                  | {"l":[2]}       | {"l":[2]}                                                                                      | {"l":2}      |
      | variant                               | {"kind":"int64","string":null,"int64":7,"float64":null,"boolean":null,"bytes":null} | "7"             | {"kind":"string","string":"7","int64":null,"float64":null,"boolean":null,"bytes":null}         | [7]          |

  @store.reconcile.nested-landing#typed
  Scenario Outline: JSON lands as <type>
    Given "readings" declares the columns:
      | column | type   |
      | value  | <type> |
    When alpha lands rows of "readings" as run "one":
      | id | value   |
      | 1  | <one>   |
      | 2  | <two>   |
      | 3  | null    |
    Then the landing succeeds
    And alpha's schema of "readings" has "value" as <type>
    And run "one" of "readings" holds on alpha the rows:
      | id | value   |
      | 1  | <one>   |
      | 2  | <two>   |
      | 3  | null    |
    And alpha reads of "readings" exactly the rows landed
    When alpha folds "readings"
    Then the fold succeeds
    And alpha reads of "readings" exactly the rows landed
    Examples:
      | type                                                      | one                                            | two                                      |
      | struct<a: int64, b: struct<c: utf8, d: boolean>>          | {"a":7,"b":{"c":"x","d":true}}                 | {"a":-1,"b":{"c":"","d":false}}          |
      | list<int64>                                               | [3, 1, 2]                                      | [-7]                                     |
      | list<list<utf8>>                                          | [["b","a"],[],["c"]]                           | [[]]                                     |
      | map<utf8, float64>                                        | {"b":0.5,"a":-1,"":2}                          | {"b":7}                                  |
      | list<struct<at: timestamp, tags: map<utf8, list<int64>>>> | [{"at":"1969-12-31T23:59:59.999999999Z","tags":{"k":[1,2]}}] | [{"at":"2026-01-01T00:00:00Z","tags":{}}] |
      | struct<"a b": int64, select: utf8, x.y: boolean>          | {"a b":1,"select":"x","x.y":true}              | {"a b":2,"select":"y","x.y":false}       |
      | struct<v: float32[2], w: binary(2), h: float16[1]>        | {"v":[0.5,-1],"w":"AAE=","h":[0.25]}           | {"v":[0,1],"w":"/+8=","h":[2]}           |

  @store.reconcile.nested-landing#producer
  Scenario Outline: a Parquet file's <type> is the column's type
    When alpha lands as run "one" into "readings" a Parquet file whose "value" is <type>, with the rows {"id":1,"value":<value>} {"id":2}
    Then the landing succeeds
    And alpha's schema of "readings" has "value" as <stored>
    And run "one" of "readings" holds on alpha the rows:
      | id | value  |
      | 1  | <cell> |
      | 2  | null   |
    And alpha reads of "readings":
      | id | value  |
      | 1  | <cell> |
      | 2  | null   |
    Examples:
      | type                                   | stored                                   | value                                      | cell                         |
      | struct<a: int64, b: list<utf8>>        | struct<a: int64, b: list<utf8>>          | {"a":7,"b":["x",null,""]}                  | {"a":7,"b":["x",null,""]}    |
      | list<struct<x: float64>>               | list<struct<x: float64>>                 | [{"x":0.5},{"x":null}]                     | [{"x":0.5},{"x":null}]       |
      | map<utf8, int32>                       | map<utf8, int32>                         | [{"key":"b","value":2},{"key":"a","value":1}] | {"a":1,"b":2}             |
      | list<int8>                             | list<int32>                              | [-128]                                     | [-128]                       |
      | list<binary(2)>                        | list<binary(2)>                          | ["AAE=",null]                              | ["AAE=",null]                |

  @store.reconcile.nested-landing#absent
  Scenario: what is left out is null, and what is empty is not
    Given "readings" declares the columns:
      | column | type                                |
      | value  | struct<a: int64, b: struct<c: utf8>> |
      | items  | list<int64>                         |
      | tags   | map<utf8, int64>                    |
    When alpha lands rows of "readings" as run "one":
      | id | value        | items  | tags       |
      | 1  | {}           | []     | {}         |
      | 2  | {"b":{}}     | [null] | {"k":null} |
      | 3  | {"b":null}   | null   | null       |
      | 4  | null         |        |            |
    Then the landing succeeds
    And run "one" of "readings" holds on alpha the rows:
      | id | value                   | items  | tags       |
      | 1  | {"a":null,"b":null}     | []     | {}         |
      | 2  | {"a":null,"b":{"c":null}} | [null] | {"k":null} |
      | 3  | {"a":null,"b":null}     | null   | null       |
      | 4  | null                    | null   | null       |
    And alpha reads of "readings":
      | id | value                   | items  | tags       |
      | 1  | {"a":null,"b":null}     | []     | {}         |
      | 2  | {"a":null,"b":{"c":null}} | [null] | {"k":null} |
      | 3  | {"a":null,"b":null}     | null   | null       |
      | 4  | null                    | null   | null       |

  @store.reconcile.nested-landing#unknown-field
  Scenario Outline: a key that is no field is refused by its path, <path>
    Given "readings" declares the columns:
      | column | type                                              |
      | value  | struct<a: struct<b: list<struct<c: int64>>>, d: int64> |
    When alpha lands as run "one" into "readings", with no types, the rows {"id":1,"value":{"d":1}} {"id":2,"value":<value>}
    Then the landing is refused with StoreSchemaIncompatible, naming "<path>"
    And alpha's store stays as it was
    When alpha lands as run "one" into "readings", with no types, the rows {"id":1,"value":{"d":1}} {"id":2,"value":<near>}
    Then the landing succeeds
    Examples:
      | path         | value                                    | near                              |
      | value.e      | {"d":2,"e":1}                            | {"d":2}                           |
      | value.D      | {"D":2}                                  | {"d":2}                           |
      | value.e      | {"e":null}                               | {"d":null}                        |
      | value.a.x    | {"a":{"x":{}}}                           | {"a":{}}                          |
      | value.a.b    | {"a":{"b":[{"c":1},{"c":2,"x":[]}]}}     | {"a":{"b":[{"c":1},{"c":2}]}}     |

  @store.reconcile.nested-landing#repeated
  Scenario Outline: a key that stands twice in <type> is refused
    Given "events" declares the columns:
      | column | type   |
      | value  | <type> |
    When alpha lands 5 rows of "events" whose line 3 is {"id": 99, "region": "north", "value": <value>}
    Then the landing is refused with StoreInputMalformed, naming "3" and "value"
    And alpha's store stays as it was
    When alpha lands 5 rows of "events" whose line 3 is {"id": 99, "region": "north", "value": <near>}
    Then the landing succeeds
    Examples:
      | type                         | value                       | near                        |
      | struct<a: int64, b: int64>   | {"a": 1, "b": 2, "a": 1}    | {"a": 1, "b": 2}            |
      | map<utf8, int64>             | {"a": 1, "b": 2, "a": 3}    | {"a": 1, "b": 2, "A": 3}    |
      | list<struct<a: int64>>       | [{"a": 1, "\u0061": 1}]     | [{"a": 1}, {"a": 1}]        |

  @store.reconcile.nested-lattice#fields
  Scenario: a struct gains fields by declaration, and older rows read null in them
    Given "readings" declares the columns:
      | column | type                        |
      | value  | struct<a: int64>            |
    And alpha has landed rows of "readings":
      | id | value   |
      | 1  | {"a":1} |
      | 2  | null    |
    And alpha has folded "readings"
    When "readings" declares the columns:
      | column | type                                  |
      | value  | struct<b: struct<c: utf8>, a: int64>  |
    And alpha lands rows of "readings":
      | id | value           |
      | 3  | {"b":{"c":"x"}} |
    Then the landing succeeds
    And alpha's schema of "readings" has "value" as struct<a: int64, b: struct<c: utf8>>
    And alpha reads of "readings":
      | id | value                    |
      | 1  | {"a":1,"b":null}         |
      | 2  | null                     |
      | 3  | {"a":null,"b":{"c":"x"}} |
    When alpha folds "readings"
    Then the fold succeeds
    And alpha reads of "readings":
      | id | value                    |
      | 1  | {"a":1,"b":null}         |
      | 2  | null                     |
      | 3  | {"a":null,"b":{"c":"x"}} |

  @store.reconcile.nested-lattice#producer
  Scenario: a struct gains fields by a producer's file, in a list too
    Given alpha lands as run "one" into "readings", with value as list<struct<a: int64>>, the rows {"id":1,"value":[{"a":1},null]}
    When alpha lands as run "two" into "readings" a Parquet file whose "value" is list<struct<b: boolean, a: int32>>, with the rows {"id":2,"value":[{"b":true,"a":7}]}
    Then the landing succeeds
    And alpha's schema of "readings" has "value" as list<struct<a: int64, b: boolean>>
    And alpha reads of "readings":
      | id | value                     |
      | 1  | [{"a":1,"b":null},null]   |
      | 2  | [{"a":7,"b":true}]        |
    When alpha folds "readings"
    Then the fold succeeds
    And alpha reads of "readings":
      | id | value                     |
      | 1  | [{"a":1,"b":null},null]   |
      | 2  | [{"a":7,"b":true}]        |

  @store.reconcile.nested-lattice#items
  Scenario Outline: within <first> whole numbers and fractions, text and JSON meet
    Given alpha lands as run "one" into "readings", with value as <first>, the rows {"id":1,"value":<one>}
    When alpha lands as run "two" into "readings", with value as <second>, the rows {"id":2,"value":<two>}
    Then the landing succeeds
    And alpha's schema of "readings" has "value" as <joined>
    And alpha reads of "readings":
      | id | value   |
      | 1  | <one>   |
      | 2  | <two>   |
    When alpha folds "readings"
    Then the fold succeeds
    And alpha reads of "readings":
      | id | value   |
      | 1  | <one>   |
      | 2  | <two>   |
    Examples:
      | first                  | second                   | joined                   | one               | two              |
      | list<int64>            | list<float64>            | list<float64>            | [7,null]          | [0.5]            |
      | list<float64>          | list<int64>              | list<float64>            | [0.5]             | [7,null]         |
      | map<utf8, int64>       | map<utf8, float64>       | map<utf8, float64>       | {"a":7}           | {"b":0.5}        |
      | struct<a: list<int64>> | struct<a: list<float64>> | struct<a: list<float64>> | {"a":[7]}         | {"a":[0.5]}      |

  @store.reconcile.nested-lattice#items
  Scenario Outline: text within <first> reads as the JSON of it once JSON has come
    Given alpha lands as run "one" into "readings", with value as <first>, the rows {"id":1,"value":<one>}
    When alpha lands as run "two" into "readings", with value as <second>, the rows {"id":2,"value":<two>}
    Then the landing succeeds
    And alpha's schema of "readings" has "value" as <joined>
    And alpha reads of "readings":
      | id | value       |
      | 1  | <one reads> |
      | 2  | <two reads> |
    When alpha folds "readings"
    Then the fold succeeds
    And alpha reads of "readings":
      | id | value       |
      | 1  | <one reads> |
      | 2  | <two reads> |
    Examples:
      | first           | second          | joined          | one           | two           | one reads           | two reads           |
      | list<utf8>      | list<json>      | list<json>      | ["x",null]    | [{"b":1}]     | ["\"x\"",null]      | ["{\"b\":1}"]       |
      | list<json>      | list<utf8>      | list<json>      | [{"b":1}]     | ["x"]         | ["{\"b\":1}"]       | ["\"x\""]           |
      | map<utf8, utf8> | map<utf8, json> | map<utf8, json> | {"k":"7"}     | {"k":7}       | {"k":"\"7\""}       | {"k":"7"}           |

  @store.reconcile.nested-lattice#kinds
  Scenario Outline: <first> takes no <second>
    Given alpha lands as run "one" into "readings", with value as <first>, the rows {"id":1,"value":<one>}
    When alpha lands as run "two" into "readings", with value as <second>, the rows {"id":2,"value":<two>}
    Then the landing is refused with StoreSchemaIncompatible, naming "<path>"
    And alpha's store stays as it was
    When alpha lands as run "two" into "readings", with value as <first>, the rows {"id":2,"value":<one>}
    Then the landing succeeds
    Examples:
      | first                               | second                             | path      | one             | two             |
      | int64                               | list<int64>                        | value     | 1               | [1]             |
      | list<int64>                         | int64                              | value     | [1]             | 1               |
      | list<int64>                         | map<utf8, int64>                   | value     | [1]             | {"a":1}         |
      | struct<a: int64>                    | map<utf8, int64>                   | value     | {"a":1}         | {"a":1}         |
      | json                                | struct<a: int64>                   | value     | {"a":1}         | {"a":1}         |
      | list<utf8>                          | list<int64>                        | value     | ["a"]           | [1]             |
      | struct<a: struct<b: list<int64>>>   | struct<a: struct<b: int64>>        | value.a.b | {"a":{"b":[1]}} | {"a":{"b":1}}   |
      | struct<a: map<utf8, struct<c: utf8>>> | struct<a: map<utf8, list<utf8>>> | value.a   | {"a":{"k":{"c":"x"}}} | {"a":{"k":["x"]}} |

  @store.reconcile.nested-lattice#case
  Scenario Outline: fields that differ only in case are refused, <where>
    Given alpha lands as run "one" into "readings", with value as <first>, the rows {"id":1,"value":<one>}
    When alpha lands as run "two" into "readings" a Parquet file whose "value" is <second>, with the rows {"id":2,"value":<two>}
    Then the landing is refused with StoreColumnAmbiguous, naming "Name" and "name"
    And alpha's store stays as it was
    When alpha lands as run "two" into "readings" a Parquet file whose "value" is <near>, with the rows {"id":2,"value":<one>}
    Then the landing succeeds
    Examples:
      | where         | first                    | one            | second                              | two                      | near                     |
      | in a struct   | struct<name: utf8>       | {"name":"x"}   | struct<Name: utf8>                  | {"Name":"x"}             | struct<name: utf8>       |
      | in a list     | list<struct<name: utf8>> | [{"name":"x"}] | list<struct<Name: utf8>>            | [{"Name":"x"}]           | list<struct<name: utf8>> |
      | in one file   | struct<a: utf8>          | {"a":"x"}      | struct<name: utf8, Name: utf8>      | {"name":"x","Name":"y"}  | struct<a: utf8>          |

  @store.reconcile.variant#kinds @store.reconcile.variant#lossless
  Scenario: plain and tagged values of every kind stay what they are
    Given "readings" declares the columns:
      | column | type    |
      | value  | variant |
    When alpha lands rows of "readings" as run "one":
      | id | value                                                      |
      | 1  | "7"                                                        |
      | 2  | 7                                                          |
      | 3  | 7.0                                                        |
      | 4  | true                                                       |
      | 5  | {"kind":"bytes","bytes":"AAECAw=="}                        |
      | 6  | {"kind":"string","string":"AAECAw=="}                      |
      | 7  | {"kind":"int64","int64":9007199254740993,"string":null}    |
      | 8  | {"kind":"float64","float64":7}                             |
      | 9  | {"kind":"boolean","boolean":false}                         |
      | 10 | null                                                       |
      | 11 | ""                                                         |
      | 12 | "{\"kind\":\"int64\"}"                                     |
    Then the landing succeeds
    And alpha's schema of "readings" has "value" as variant
    And run "one" of "readings" holds on alpha the rows:
      | id | value                                                                                                            |
      | 1  | {"kind":"string","string":"7","int64":null,"float64":null,"boolean":null,"bytes":null}                           |
      | 2  | {"kind":"int64","string":null,"int64":7,"float64":null,"boolean":null,"bytes":null}                              |
      | 3  | {"kind":"float64","string":null,"int64":null,"float64":7,"boolean":null,"bytes":null}                            |
      | 4  | {"kind":"boolean","string":null,"int64":null,"float64":null,"boolean":true,"bytes":null}                         |
      | 5  | {"kind":"bytes","string":null,"int64":null,"float64":null,"boolean":null,"bytes":"AAECAw=="}                     |
      | 6  | {"kind":"string","string":"AAECAw==","int64":null,"float64":null,"boolean":null,"bytes":null}                    |
      | 7  | {"kind":"int64","string":null,"int64":9007199254740993,"float64":null,"boolean":null,"bytes":null}               |
      | 8  | {"kind":"float64","string":null,"int64":null,"float64":7,"boolean":null,"bytes":null}                            |
      | 9  | {"kind":"boolean","string":null,"int64":null,"float64":null,"boolean":false,"bytes":null}                        |
      | 10 | null                                                                                                             |
      | 11 | {"kind":"string","string":"","int64":null,"float64":null,"boolean":null,"bytes":null}                            |
      | 12 | {"kind":"string","string":"{\"kind\":\"int64\"}","int64":null,"float64":null,"boolean":null,"bytes":null}        |
    And the read of "value" of "readings" on alpha gives what run "one" holds
    When alpha folds "readings"
    Then the fold succeeds
    And the read of "value" of "readings" on alpha gives what run "one" holds

  @store.reconcile.variant#conflict
  Scenario Outline: a tagged value that contradicts itself is refused, <case>
    When alpha lands as run "one" into "readings", with value as variant, the rows {"id":1,"value":7} {"id":2,"value":<value>}
    Then the landing is refused with StoreSchemaIncompatible, naming "value"
    And alpha's store stays as it was
    When alpha lands as run "one" into "readings", with value as variant, the rows {"id":1,"value":7} {"id":2,"value":<near>}
    Then the landing succeeds
    Examples:
      | case             | value                                        | near                                          |
      | two fields       | {"kind":"int64","int64":7,"string":"7"}      | {"kind":"int64","int64":7,"string":null}      |
      | another's field  | {"kind":"int64","string":"7"}                | {"kind":"string","string":"7"}                |
      | no field         | {"kind":"int64","int64":null}                | {"kind":"int64","int64":0}                    |
      | an unknown kind  | {"kind":"date","string":"2026-01-01"}        | {"kind":"string","string":"2026-01-01"}       |
      | an unknown field | {"kind":"int64","int64":7,"unit":"s"}        | {"kind":"int64","int64":7}                    |
      | broken bytes     | {"kind":"bytes","bytes":"AAE"}               | {"kind":"bytes","bytes":"AAE="}               |
      | a fraction       | {"kind":"int64","int64":7.5}                 | {"kind":"float64","float64":7.5}              |
      | a list           | [7]                                          | 8                                             |

  @store.reconcile.variant#integer
  Scenario Outline: <past> is past int64, in a variant too
    When alpha lands as run "one" into "readings", with value as variant, the rows {"id":1} {"id":2,"value":<past>}
    Then the landing is refused with StoreInputMalformed, naming "value"
    And alpha's store stays as it was
    When alpha lands as run "one" into "readings", with value as variant, the rows {"id":1} {"id":2,"value":<within>}
    Then the landing succeeds
    Examples:
      | past                                              | within                                           |
      | 9223372036854775808                               | 9223372036854775807                              |
      | {"kind":"int64","int64":-9223372036854775809}     | {"kind":"int64","int64":-9223372036854775808}    |

  @store.reconcile.part-columns#kind
  Scenario Outline: a part that holds <there> where the table has <here> is refused, asked to <what>
    Given a table "orders" without a key
    And a table "others" without a key
    And alpha lands as run "one" into "orders", with thing as <here>, the rows {"id":1,"thing":<value>} {"id":2}
    And alpha lands as run "one" into "others", with thing as <there>, the rows {"id":1,"thing":<other>} {"id":2}
    When the part of run "one" of "orders" on alpha is that of run "one" of "others"
    And alpha <does>
    Then the <what> is refused with StorePartDamaged, naming <the part>
    And alpha reads 2 rows of "others"
    Examples:
      | here             | value   | there            | other   | what | does           |
      | map<utf8, int64> | {"a":1} | struct<a: int64> | {"a":1} | read | reads "orders" |
      | struct<a: int64> | {"a":1} | int64            | 7       | read | reads "orders" |
      | struct<a: int64> | {"a":1} | struct<a: utf8>  | {"a":"1"} | read | reads "orders" |
      | int64            | 7       | list<int64>      | [7]     | read | reads "orders" |
      | list<float64>    | [0.5]   | float32[1]       | [0.5]   | scan | scans "orders" |
      | float32[2]       | [1,2]   | float32[1]       | [1]     | read | reads "orders" |
      | struct<a: int64> | {"a":1} | list<int64>      | [7]     | fold | folds "orders" |

  @store.reconcile.part-columns#scalar
  Scenario Outline: a part that holds the scalar <there> where the table has <here> is refused, asked to <what>
    Given a table "orders" without a key
    And a table "others" without a key
    And alpha lands as run "one" into "orders", with thing as <here>, the rows {"id":1,"thing":<value>} {"id":2}
    And alpha lands as run "one" into "others", with thing as <there>, the rows {"id":1,"thing":<other>} {"id":2}
    When the part of run "one" of "orders" on alpha is that of run "one" of "others"
    And alpha <does>
    Then the <what> is refused with StorePartDamaged, naming <the part>
    And alpha reads 2 rows of "others"
    Examples:
      | here      | value                  | there   | other                  | what | does           |
      | int64     | 7                      | utf8    | "7"                    | read | reads "orders" |
      | utf8      | "7"                    | int64   | 7                      | read | reads "orders" |
      | int64     | 7                      | float64 | 1.5                    | scan | scans "orders" |
      | timestamp | "2026-03-01T10:00:00Z" | utf8    | "2026-03-01T10:00:00Z" | read | reads "orders" |
      | int64     | 7                      | utf8    | "7"                    | fold | folds "orders" |

  @store.reconcile.part-columns#scalar
  Scenario: a part of integers in a column of floats is as good as any
    Given a table "orders" without a key
    And alpha lands as run "one" into "orders", with thing as int64, the rows {"id":1,"thing":7}
    And alpha lands as run "two" into "orders", with thing as float64, the rows {"id":2,"thing":0.5}
    When alpha reads "orders"
    Then the read succeeds
    And alpha reads 2 rows of "orders"

  @store.reconcile.part-columns#deep
  Scenario Outline: a part whose columns nest without end is refused, asked to <what>
    Given alpha has landed 2 rows of "readings" as run "one"
    And alpha has landed 3 rows of "notes"
    When the part of run "one" of "readings" on alpha is one whose columns nest <depth> deep
    And alpha <does>
    Then the <what> is refused with StorePartDamaged, naming <the part>
    And alpha reads 3 rows of "notes"
    Examples:
      | depth  | what | does             |
      | 100000 | read | reads "readings" |
      | 100000 | scan | scans "readings" |
      | 100000 | fold | folds "readings" |
