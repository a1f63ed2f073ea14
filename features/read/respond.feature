Feature: respond
  How values look in an answer, whatever the question.

  Background:
    Given a node "alpha"

  @read.respond.bytes-and-vectors#bytes
  Scenario Outline: bytes are base64 text with padding, <how>
    Given a table "files" without a key
    And "files" declares the columns:
      | column | type      |
      | body   | binary    |
      | sum    | binary(3) |
    And alpha lands as run "one" into "files", with no types, the rows {"id":1,"body":"","sum":"AAEC"} {"id":2,"body":"AA==","sum":"+/+/"} {"id":3,"body":"+/8=","sum":null} {"id":4,"body":"AAEC","sum":"////"}
    And alpha has <does>
    When alpha asks: SELECT id, body, sum FROM "files" ORDER BY id
    Then the query succeeds
    And the answer's rows are [[1,"","AAEC"],[2,"AA==","+/+/"],[3,"+/8=",null],[4,"AAEC","////"]]
    Examples:
      | how        | does                     |
      | not folded | landed 1 rows of "notes" |
      | folded     | folded "files"           |

  @read.respond.bytes-and-vectors#bytes
  Scenario: bytes that a statement makes are written so too
    Given alpha has landed 2 rows of "events"
    When alpha asks: SELECT 'a'::BLOB AS one, 'ab'::BLOB AS two, 'abc'::BLOB AS three, ''::BLOB AS none, '\xFB\xFF'::BLOB AS high FROM "events" LIMIT 1
    Then the query succeeds
    And the answer's rows are [["YQ==","YWI=","YWJj","","+/8="]]

  @read.respond.bytes-and-vectors#vectors
  Scenario Outline: a vector of <type> is an array of its numbers, <how>
    Given a table "texts" without a key
    And "texts" declares the column:
      | column | type   |
      | v      | <type> |
    And alpha lands as run "one" into "texts", with no types, the rows {"id":1,"v":[1,-2.5,0.25]} {"id":2} {"id":3,"v":[0,1024,-0.125]}
    And alpha has <does>
    When alpha asks: SELECT id, v FROM "texts" ORDER BY id
    Then the query succeeds
    And the answer's rows are [[1,[1,-2.5,0.25]],[2,null],[3,[0,1024,-0.125]]]
    Examples:
      | type       | how        | does                     |
      | float32[3] | not folded | landed 1 rows of "notes" |
      | float32[3] | folded     | folded "texts"           |
      | float16[3] | not folded | landed 1 rows of "notes" |
      | float16[3] | folded     | folded "texts"           |

  @read.respond.bytes-and-vectors#vectors
  Scenario: the items of an array are written as float cells are
    Given alpha has landed 2 rows of "events"
    When alpha asks: SELECT x AS cell, [x, x]::FLOAT[2] AS vector FROM (SELECT unnest(['nan', 'inf', '-inf', '0.1', '-0.0', '1e30', '3']::FLOAT[]) AS x) LIMIT 9
    Then the query succeeds
    And the answer shows in "vector" what "cell" shows
    When alpha asks: SELECT ['nan', 'inf', '-inf', '0.5', '-0.0']::FLOAT[5] AS v FROM "events" LIMIT 1
    Then the query succeeds
    And the answer's rows are [[["NaN","inf","-inf",0.5,-0.0]]]

  @read.respond.nested-values#lists
  Scenario Outline: a list is an array, <how>
    Given a table "orders" without a key
    And "orders" declares the columns:
      | column | type              |
      | tags   | list<utf8>        |
      | grid   | list<list<int64>> |
    And alpha lands as run "one" into "orders", with no types, the rows {"id":1,"tags":["b","a",null],"grid":[[1,2],[],null]} {"id":2,"tags":[],"grid":[]} {"id":3}
    And alpha has <does>
    When alpha asks: SELECT id, tags, grid FROM "orders" ORDER BY id
    Then the query succeeds
    And the answer's rows are [[1,["b","a",null],[[1,2],[],null]],[2,[],[]],[3,null,null]]
    Examples:
      | how        | does                     |
      | not folded | landed 1 rows of "notes" |
      | folded     | folded "orders"          |

  @read.respond.nested-values#objects
  Scenario Outline: structs and maps are objects, <how>
    Given a table "orders" without a key
    And "orders" declares the columns:
      | column | type                                                                |
      | ship   | struct<"post.code": utf8, "a b": struct<n: int64>, select: boolean> |
      | paid   | map<utf8, float64>                                                  |
    And alpha lands as run "one" into "orders", with no types, the rows {"id":1,"ship":{"post.code":"1010","a b":{"n":7},"select":true},"paid":{"visa":1.5,"in \"cash\"":null,"":2}} {"id":2,"ship":{"select":false},"paid":{}} {"id":3}
    And alpha has <does>
    When alpha asks: SELECT id, ship, paid FROM "orders" ORDER BY id
    Then the query succeeds
    And the answer's rows are [[1,{"post.code":"1010","a b":{"n":7},"select":true},{"visa":1.5,"in \"cash\"":null,"":2}],[2,{"post.code":null,"a b":null,"select":false},{}],[3,null,null]]
    Examples:
      | how        | does                     |
      | not folded | landed 1 rows of "notes" |
      | folded     | folded "orders"          |

  @read.respond.nested-values#objects
  Scenario: the keys of any map become text
    Given alpha has landed 2 rows of "events"
    When alpha asks: SELECT MAP {7: 'a', 10: 'b'} AS whole, MAP {true: 1} AS flag, MAP {'k': MAP {1.5::DOUBLE: NULL}} AS deep FROM "events" LIMIT 1
    Then the query succeeds
    And the answer's rows are [[{"7":"a","10":"b"},{"true":1},{"k":{"1.5":null}}]]

  @read.respond.nested-values#cells
  Scenario Outline: <what> inside a list, a struct or a map is written as its own cell
    Given alpha has landed 2 rows of "events"
    When alpha asks: SELECT <value> AS cell, [<value>, <value>] AS list, {'f': <value>} AS struct, MAP {'k': <value>} AS map, [<value>, <value>][1:1] AS part FROM "events" LIMIT 1
    Then the query succeeds
    And the answer shows in "list", "struct", "map" and "part" what "cell" shows
    And the answer's rows are [[<cell>,[<cell>,<cell>],{"f":<cell>},{"k":<cell>},[<cell>]]]
    Examples:
      | what               | value                                                     | cell                             |
      | a large integer    | 9007199254740993::BIGINT                                  | "9007199254740993"               |
      | a larger one       | -170141183460469231731687303715884105727::HUGEINT         | "-170141183460469231731687303715884105727" |
      | a small integer    | 9007199254740991::BIGINT                                  | 9007199254740991                 |
      | a NaN              | 'nan'::DOUBLE                                             | "NaN"                            |
      | an infinity        | '-inf'::DOUBLE                                            | "-inf"                           |
      | a fraction         | 0.5::DOUBLE                                               | 0.5                              |
      | a nanosecond       | TIMESTAMP_NS '2024-01-01 00:00:00.000000001'              | "2024-01-01T00:00:00.000000001Z" |
      | an instant         | TIMESTAMPTZ '2024-01-01 02:00:00.5+02'                    | "2024-01-01T00:00:00.5Z"         |
      | bytes              | '\x00\xFF'::BLOB                                          | "AP8="                           |
      | text with quotes   | 'say "hi"'                                                | "say \"hi\""                     |
      | a null             | NULL::BIGINT                                              | null                             |
      | a boolean          | false                                                     | false                            |

  @read.respond.nested-values#cells
  Scenario Outline: landed values keep their look inside nested columns, <how>
    Given a table "logs" without a key
    And "logs" declares the columns:
      | column | type                                                |
      | stamps | list<timestamp>                                     |
      | n      | struct<big: int64, raw: binary(2), vec: float16[2]> |
      | j      | map<utf8, json>                                     |
    And alpha lands as run "one" into "logs", with no types, the rows {"id":1,"stamps":["2024-01-01T00:00:00.000000001Z","2024-01-01T00:00:01Z"],"n":{"big":9007199254740993,"raw":"+/8=","vec":[0.5,-1]},"j":{"k":{"a":[1,"x"]}}} {"id":2,"n":{"big":5}}
    And alpha has <does>
    When alpha asks: SELECT stamps, n, j FROM "logs" ORDER BY id
    Then the query succeeds
    And the answer's rows are [[["2024-01-01T00:00:00.000000001Z","2024-01-01T00:00:01Z"],{"big":"9007199254740993","raw":"+/8=","vec":[0.5,-1]},{"k":"{\"a\":[1,\"x\"]}"}],[null,{"big":"5","raw":null,"vec":null},null]]
    Examples:
      | how        | does                     |
      | not folded | landed 1 rows of "notes" |
      | folded     | folded "logs"            |
