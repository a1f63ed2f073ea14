Feature: normalize
  What a pipeline makes of objects and arrays that no declaration types.

  Background:
    Given a node "alpha"
    And a table "people" without a key

  @run.normalize.native-store#inferred
  Scenario: objects are structs and arrays are lists, at every depth
    Given the tables are fed by a command, undeclared objects and arrays as native
    And alpha's command says:
      """
      {"row": {"id": 1, "who": {"age": 41, "name": "ann", "old": false}, "tags": ["a", "b"], "homes": [{"city": "Oslo", "floors": [1, 2]}]}}
      {"row": {"id": 2, "who": {"age": 9007199254740993, "name": "bob", "old": true}, "tags": ["c"], "homes": [{"city": "Rome", "floors": [3]}, {"city": "Bonn", "floors": [4]}]}}
      {"position": 1}
      """
    When alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's schema of "people" has the columns:
      | column | type                                               |
      | who    | struct<age: int64, name: utf8, old: boolean>       |
      | tags   | list<utf8>                                         |
      | homes  | list<struct<city: utf8, floors: list<int64>>>      |
    And alpha reads of "people":
      | id | who                                        | tags      | homes                                                             |
      | 1  | {"age":41,"name":"ann","old":false}        | ["a","b"] | [{"city":"Oslo","floors":[1,2]}]                                  |
      | 2  | {"age":"9007199254740993","name":"bob","old":true} | ["c"]     | [{"city":"Rome","floors":[3]},{"city":"Bonn","floors":[4]}]       |

  @run.normalize.native-store#inferred
  Scenario: where the pipeline says json they are documents
    Given the tables are fed by a command, undeclared objects and arrays as json
    And alpha's command says:
      """
      {"row": {"id": 1, "who": {"age": 41}, "tags": ["a"]}}
      {"position": 1}
      """
    When alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's schema of "people" has the columns:
      | column | type |
      | who    | json |
      | tags   | json |
    And alpha reads of "people":
      | id | who              | tags      |
      | 1  | "{\"age\":41}"   | "[\"a\"]" |

  @run.normalize.native-store#inferred
  Scenario: a declared column is what its declaration says
    Given "people" declares the columns:
      | column | type |
      | who    | json |
    And the tables are fed by a command, undeclared objects and arrays as native
    And alpha's command says:
      """
      {"row": {"id": 1, "who": {"age": 41}, "tags": ["a"]}}
      {"position": 1}
      """
    When alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's schema of "people" has the columns:
      | column | type       |
      | who    | json       |
      | tags   | list<utf8> |

  @run.normalize.native-store#joined
  Scenario: the type is that of the whole batch
    Given the tables are fed by a command, undeclared objects and arrays as native
    And alpha's command says:
      """
      {"row": {"id": 1}}
      {"row": {"id": 2, "who": {"age": 41}, "sizes": [1, 2]}}
      {"row": {"id": 3, "who": {"name": "bob", "tags": []}, "sizes": []}}
      {"row": {"id": 4, "who": {"age": null, "tags": ["x"]}, "sizes": [2.5, null]}}
      {"position": 1}
      """
    When alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's schema of "people" has the columns:
      | column | type                                            |
      | who    | struct<age: int64, name: utf8, tags: list<utf8>> |
      | sizes  | list<float64>                                   |
    And alpha reads of "people":
      | id | who                                      | sizes      |
      | 1  | null                                     | null       |
      | 2  | {"age":41,"name":null,"tags":null}       | [1,2]      |
      | 3  | {"age":null,"name":"bob","tags":[]}      | []         |
      | 4  | {"age":null,"name":null,"tags":["x"]}    | [2.5,null] |

  @run.normalize.native-store#mixed
  Scenario Outline: a column of several kinds is Json, <case>
    Given the tables are fed by a command, undeclared objects and arrays as native
    And alpha's command says:
      """
      {"row": {"id": 1, "what": <one>, "list": ["a"]}}
      {"row": {"id": 2, "what": <other>, "list": ["b"]}}
      {"position": 1}
      """
    When alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's schema of "people" has the columns:
      | column | type       |
      | what   | json       |
      | list   | list<utf8> |
    And alpha reads of "people":
      | id | what      |
      | 1  | <a-cell>  |
      | 2  | <b-cell>  |
    Examples:
      | case                       | one        | other         | a-cell          | b-cell             |
      | an object and an array     | {"a":1}    | [1]           | "{\"a\":1}"     | "[1]"              |
      | an object and a number     | {"a":1}    | 7             | "{\"a\":1}"     | "7"                |
      | a text and an array        | "x"        | [1]           | "\"x\""         | "[1]"              |
      | numbers and texts in a list | [1]       | ["x"]         | "[1]"           | "[\"x\"]"          |
      | a field of two kinds       | {"a":1}    | {"a":{"b":2}} | "{\"a\":1}"     | "{\"a\":{\"b\":2}}" |

  @run.normalize.native-store#scalar
  Scenario: a column that the table knows as text becomes Json
    Given the tables are fed by a command, undeclared objects and arrays as native
    And alpha has landed rows of "people":
      | id | what |
      | 1  | "x"  |
    And alpha's command says:
      """
      {"row": {"id": 2, "what": {"a": 1}}}
      {"row": {"id": 3, "what": {"a": 2}}}
      {"position": 1}
      """
    When alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's schema of "people" has the columns:
      | column | type |
      | what   | json |
    And alpha reads of "people":
      | id | what          |
      | 1  | "\"x\""       |
      | 2  | "{\"a\":1}"   |
      | 3  | "{\"a\":2}"   |

  @run.normalize.native-store#scalar
  Scenario: a column that the table knows as Json stays Json
    Given the tables are fed by a command, undeclared objects and arrays as native
    And alpha's command says:
      """
      {"row": {"id": 1, "what": {"a": 1}}}
      {"row": {"id": 2, "what": [1]}}
      {"position": 1}
      """
    And alpha has run its pipeline
    When alpha's command goes on to say:
      """
      {"row": {"id": 3, "what": {"a": 2}}}
      {"position": 2}
      """
    And alpha runs its pipeline
    Then the pipeline run succeeds
    And alpha's schema of "people" has the columns:
      | column | type |
      | what   | json |
    And alpha reads of "people":
      | id | what          |
      | 1  | "{\"a\":1}"   |
      | 2  | "[1]"         |
      | 3  | "{\"a\":2}"   |

  @run.normalize.native-store#scalar
  Scenario: in a column of numbers an object is refused
    Given the tables are fed by a command, undeclared objects and arrays as native
    And alpha has landed rows of "people":
      | id | what |
      | 1  | 7    |
    And alpha's command says:
      """
      {"row": {"id": 2, "what": {"a": 1}}}
      {"position": 1}
      """
    When alpha runs its pipeline
    Then the pipeline run is refused with StoreSchemaIncompatible, naming "what"
    And "people" on alpha stays as it was
