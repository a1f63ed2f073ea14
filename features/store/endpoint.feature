Feature: endpoint
  The scheme of an endpoint says where the bucket is. A guess would sign for the wrong place, or send data there.

  @store.endpoint.schemes#file @service.dir
  Scenario: a directory is a bucket, wherever it is moved to
    Given nodes "alpha" and "beta" share a bucket
    And alpha has pushed "events", folded into 3 partitions
    When the bucket's directory is moved and the endpoint with it
    And beta pulls
    Then the pull succeeds
    And beta reads of "events" what alpha reads

  @store.endpoint.schemes#s3
  Scenario Outline: s3://<region> is AWS at that region's own host
    Given a node "alpha"
    And alpha's endpoint is "s3://<region>"
    And every host of the internet is played by the kit
    When alpha probes
    Then every request of alpha's went to "<host>", signed for "<region>"
    Examples:
      | region         | host                            |
      | eu-west-1      | s3.eu-west-1.amazonaws.com      |
      | us-east-1      | s3.us-east-1.amazonaws.com      |
      | ap-southeast-2 | s3.ap-southeast-2.amazonaws.com |

  @store.endpoint.schemes#r2
  Scenario: r2://<account-id> is that account's endpoint at region auto
    Given a node "alpha"
    And alpha's endpoint is "r2://0123456789abcdef0123456789abcdef"
    And every host of the internet is played by the kit
    When alpha probes
    Then every request of alpha's went to "0123456789abcdef0123456789abcdef.r2.cloudflarestorage.com", signed for "auto"

  @store.endpoint.schemes#https
  Scenario Outline: https://<host> is that host, at the region that is named
    Given a node "alpha"
    And alpha's endpoint is "https://<host>"
    And alpha's region is "<region>"
    And every host of the internet is played by the kit
    When alpha probes
    Then every request of alpha's went to "<host>", signed for "<signed>"
    Examples:
      | host                    | region     | signed     |
      | objects.example.org     | eu-north-1 | eu-north-1 |
      | objects.example.org     |            | us-east-1  |
      | minio.example.org:9000  | auto       | auto       |

  @store.endpoint.schemes#https
  Scenario: nothing is sent in the clear to another machine
    Given a node "alpha"
    And alpha's endpoint is "http://objects.example.org"
    And every host of the internet is played by the kit
    When alpha probes
    Then the probe fails
    And nothing left alpha's machine

  @store.endpoint.unreachable
  Scenario Outline: a pull from a bucket that <does> is refused and changes nothing
    Given nodes "alpha" and "beta" share a bucket
    And alpha has pushed "events"
    And beta has pulled
    And alpha has pushed "events"
    And from now on the bucket <does>
    When beta pulls
    Then the pull is refused with SyncUnreachable, naming <the endpoint>
    And beta's store stays as it was
    And beta reads 12 rows of "events"
    When the bucket is itself again
    Then the next pull of beta succeeds
    And beta reads of "events" what alpha reads
    Examples:
      | does                     |
      | refuses every connection |
      | breaks every connection  |
      | accepts no credentials   |

  @store.endpoint.unreachable
  Scenario Outline: what probes first ends with the probe's refusal: a <verb>
    Given a node "alpha"
    And alpha has landed 12 rows of "events"
    And from now on the bucket refuses every connection
    When alpha <asks>
    Then the <verb> is refused with SyncCoordinationUnproven
    When the bucket is itself again
    And alpha <asks>
    Then the <verb> succeeds
    Examples:
      | verb  | asks                        |
      | push  | pushes                      |
      | lease | takes the lease of "events" |
