Feature: init
  A directory becomes a project, and its store gets an identity that no other store has.

  @store.init.declaration-file#written
  Scenario: an empty directory becomes a project
    Given a bare machine "alpha"
    When alpha initialises the project "field-notes"
    Then the initialisation succeeds
    And alpha's declaration names the project "field-notes"

  @store.init.declaration-file#appended
  Scenario Outline: what a person wrote stays, and the declaration follows it
    Given a bare machine "alpha"
    And alpha's declaration file holds <text>
    When alpha initialises the project "field-notes"
    Then the initialisation succeeds
    And alpha's declaration begins with every byte it had
    And alpha's declaration names the project "field-notes"
    And alpha's declaration says all else that it said
    Examples:
      | case                                | text                                                  |
      | a pipeline                          | # by hand\n\n[pipeline]\nid = "weather"  # hourly\n     |
      | a last line without its end         | # by hand\n[pipeline]\nid = "weather"                  |
      | Windows line ends                   | # by hand\r\n[pipeline]\r\nid = "weather"\r\n          |
      | a comment that speaks of a project  | # [project]\n# name = "old"\n                          |
      | nothing                             |                                                       |

  @store.init.declaration-file#declared
  Scenario Outline: a file that declares the project is left as it is
    Given a bare machine "alpha"
    And alpha's declaration file holds <text>
    When alpha initialises the project "field-notes"
    Then the initialisation succeeds
    And alpha's declaration file is what it was, to the byte
    Examples:
      | case            | text                                                |
      | a table         | # ours\n[project]\nname = "field-notes"             |
      | a dotted key    | project.name = 'field-notes'\n                      |
      | an inline table | project = { name = "field-notes" }\n\n[pipeline]\n |

  @store.init.declaration-file#declared
  Scenario Outline: a file that declares another project, or is no TOML, is refused and left as it is
    Given a bare machine "alpha"
    And alpha's declaration file holds <text>
    When alpha initialises the project "field-notes"
    Then the initialisation is refused with StoreDeclarationInvalid, naming <named>
    And alpha's directory is what it was
    Examples:
      | case              | text                            | named                       |
      | another name      | [project]\nname = "weather"\n   | "weather" and "field-notes" |
      | a longer name     | project.name = "field-notes-2"  | "field-notes-2"             |
      | no TOML           | [project\nname = "field-notes"  | "contextful.toml"           |

  @store.init.declaration-file#root
  Scenario Outline: the store root stands beside the declaration
    Given a bare machine "alpha"
    And alpha's declaration file <state>
    When alpha initialises the project "<name>"
    Then the initialisation succeeds
    And alpha has the store root of "<name>"
    Examples:
      | case                 | name             | state                                       |
      | an empty directory   | field-notes      | is not there                                |
      | a project already    | field-notes      | holds [project]\nname = "field-notes"\n      |
      | a name of two parts  | team/field-notes | is not there                                |

  @store.init.store-identity#format
  Scenario: the identity is a UUID of version 4 on a line of its own
    Given a bare machine "alpha"
    When alpha initialises
    Then the initialisation succeeds
    And alpha's store-id is one canonical UUID of version 4 and a line end

  @store.init.store-identity#repeated
  Scenario: to initialise again changes no identity
    Given a node "alpha"
    And alpha has an initialised store
    When alpha initialises
    Then the initialisation succeeds
    And alpha has the identity it had

  @store.init.store-identity#clones @needs.sync
  Scenario: every copy of a store has its identity
    Given nodes "alpha" and "beta" share a bucket
    And alpha has landed 3 rows of "events"
    When alpha pushes
    Then the push succeeds
    And the bucket holds alpha's identity and lists it
    When beta pulls
    Then the pull succeeds
    And beta has the identity of alpha

  @store.init.store-identity#recreated
  Scenario: a store that is made anew is another store
    Given a node "alpha"
    And alpha has an initialised store
    And alpha's store root was removed
    When alpha initialises
    Then the initialisation succeeds
    And alpha's store-id is one canonical UUID of version 4 and a line end
    And alpha has another identity than it had

  @store.init.identity-invalid#malformed
  Scenario Outline: what is no identity is neither guessed nor mended
    Given a node "alpha"
    And alpha has landed 3 rows of "events"
    And alpha's store-id holds <text>
    When alpha reads "events"
    Then the read is refused with StoreIdentityInvalid, naming "store-id"
    And alpha's store is as it was
    Examples:
      | case              | text                                                                        |
      | empty             |                                                                             |
      | only a line end   | \n                                                                          |
      | upper case        | 3B1C8E2A-5D4F-4A6B-9C7D-0E1F2A3B4C5D\n                                      |
      | version 1         | 3b1c8e2a-5d4f-11ee-9c7d-0e1f2a3b4c5d\n                                      |
      | version 7         | 0190163d-8694-739b-aea5-966c26f8ad91\n                                      |
      | another variant   | 3b1c8e2a-5d4f-4a6b-0c7d-0e1f2a3b4c5d\n                                      |
      | without dashes    | 3b1c8e2a5d4f4a6b9c7d0e1f2a3b4c5d\n                                          |
      | in braces         | {3b1c8e2a-5d4f-4a6b-9c7d-0e1f2a3b4c5d}\n                                    |
      | more text         | 3b1c8e2a-5d4f-4a6b-9c7d-0e1f2a3b4c5d research\n                             |
      | two of them       | 3b1c8e2a-5d4f-4a6b-9c7d-0e1f2a3b4c5d\n7d9e0c1b-2a3f-4e5d-8b6c-1f0e2d3c4b5a\n |

  @store.init.identity-invalid#malformed
  Scenario Outline: no verb opens a store whose identity is none
    Given a node "alpha"
    And alpha has landed 3 rows of "events"
    And alpha's store-id was replaced by its own in upper case
    When alpha <does>
    Then the <verb> is refused with StoreIdentityInvalid, naming "store-id"
    And alpha's store is as it was
    When alpha's store-id is put back
    And alpha <does>
    Then the <verb> succeeds
    Examples:
      | does                     | verb           |
      | initialises              | initialisation |
      | lands 2 rows of "events" | landing        |
      | folds "events"           | fold           |
      | reads "events"           | read           |
      | lists "events"           | listing        |

  @store.init.identity-invalid#malformed @needs.sync
  Scenario Outline: no verb takes a store whose identity is none to the bucket or from it
    Given a node "alpha"
    And alpha has pushed "events"
    And alpha's store-id was replaced by its own in upper case
    When alpha <does>
    Then the <verb> is refused with StoreIdentityInvalid, naming "store-id"
    And alpha's store is as it was
    And the bucket is as it was
    When alpha's store-id is put back
    And alpha <does>
    Then the <verb> succeeds
    Examples:
      | does               | verb     |
      | emits its manifest | emission |
      | pushes             | push     |
      | pulls              | pull     |
