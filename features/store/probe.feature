Feature: probe
  What a service says of itself is no evidence. The probe looks at what it does to one object, and a push goes on only when that is good.

  Background:
    Given nodes "alpha" and "beta" share a bucket

  @store.probe.sentinel#place
  Scenario: the probe writes below its own prefix and nowhere else
    Given alpha has landed 12 rows of "events"
    When alpha probes
    Then the probe says "cas"
    And alpha's probe has written its sentinel
    And alpha's probe has written nothing but "_contextful/cas-probe/*"
    And alpha's probe has deleted nothing but "_contextful/cas-probe/*"
    And the bucket stays as it was

  @store.probe.sentinel#second-create
  Scenario Outline: a bucket that lets a second create through is not cas: <bucket>
    Given the bucket is <bucket>
    When alpha probes
    Then the probe does not say "cas"
    Examples:
      | bucket                             |
      | in the mode "ignore_if_none_match" |
      | speaking "gcs-interop"             |

  @store.probe.sentinel#stale
  Scenario Outline: a bucket that lets a stale replacement through is not cas: <bucket>
    Given the bucket is <bucket>
    When alpha probes
    Then the probe does not say "cas"
    Examples:
      | bucket                        |
      | in the mode "ignore_if_match" |
      | speaking "minio-no-quorum"    |

  @store.probe.sentinel#current
  Scenario: a bucket that refuses every replacement, under the current ETag too, is not cas
    Given the bucket is given to `(Respond 412 "PreconditionFailed" PutIfMatch)`
    When alpha probes
    Then the probe does not say "cas"

  @store.probe.sentinel#second-create @store.probe.sentinel#stale @store.probe.sentinel#current
  Scenario Outline: a bucket that did all three things right is cas: <bucket>
    Given the bucket is <bucket>
    When alpha probes
    Then the probe says "cas"
    Examples:
      | bucket                    |
      | speaking "aws"            |
      | speaking "minio"          |
      | in the mode "etag_opaque" |

  @store.probe.sentinel#deleted
  Scenario Outline: no sentinel is left, whatever was found: <bucket>
    Given the bucket is <bucket>
    When alpha probes
    Then alpha's probe has written its sentinel
    And no sentinel is left in the bucket
    Examples:
      | bucket                                    |
      | speaking "aws"                            |
      | in the mode "ignore_if_none_match"        |
      | in the mode "ignore_if_match"             |
      | in the mode "not_implemented(PutIfMatch)" |
      | in the mode "forbid(PutIfMatch)"          |

  @store.probe.inconclusive#unsupported
  Scenario Outline: a method or header that is not supported demonstrates nothing: <bucket>
    Given the bucket is <bucket>
    When alpha probes
    Then the probe is refused with SyncProbeInconclusive
    And the refusal tells of "501" or "405" or "NotImplemented" or "MethodNotAllowed" or "not supported"
    Examples:
      | bucket                                                     |
      | speaking "b2"                                              |
      | in the mode "not_implemented(Put)"                         |
      | in the mode "not_implemented(PutIfMatch)"                  |
      | given to `(Respond 405 "MethodNotAllowed" PutIfNoneMatch)` |

  @store.probe.inconclusive#forbidden
  Scenario Outline: what the principal may not do demonstrates nothing: <bucket>
    Given the bucket is <bucket>
    When alpha probes
    Then the probe is refused with SyncProbeInconclusive
    And the refusal tells of "403" or "AccessDenied" or "forbidden" or "Forbidden"
    Examples:
      | bucket                           |
      | in the mode "forbid(Put)"        |
      | in the mode "forbid(PutIfMatch)" |

  @store.probe.inconclusive#transport
  Scenario: a port at which nobody listens demonstrates nothing
    Given from now on the bucket refuses every connection
    When alpha probes
    Then the probe is refused with SyncProbeInconclusive
    And the refusal tells of "refused" or "ECONNREFUSED" or "unreachable"

  @store.probe.inconclusive#transport
  Scenario Outline: no usable answer demonstrates nothing: <bucket>
    Given the bucket is <bucket>
    When alpha probes
    Then the probe is refused with SyncProbeInconclusive
    Examples:
      | bucket                       |
      | given to `(Drop Put)`        |
      | in the mode "no_such_bucket" |

  @store.probe.inconclusive#unsupported @store.probe.inconclusive#forbidden @store.probe.inconclusive#transport
  Scenario Outline: an answer, right or wrong, is not inconclusive: <bucket>
    Given the bucket is <bucket>
    When alpha probes
    Then the probe is not refused with SyncProbeInconclusive
    Examples:
      | bucket                             |
      | speaking "aws"                     |
      | in the mode "ignore_if_match"      |
      | in the mode "ignore_if_none_match" |

  @store.probe.unproven#lying
  Scenario Outline: a push to a bucket that does not honour a condition is refused: <bucket>
    Given alpha has landed 12 rows of "events"
    And the bucket is <bucket>
    When alpha pushes
    Then the push is refused with SyncCoordinationUnproven
    Examples: modes
      | bucket                                                   |
      | in the mode "ignore_if_none_match"                       |
      | in the mode "ignore_if_match"                            |
      | in the mode "conflict_409_always"                        |
      | in the mode "200_with_error_body"                        |
      | in the mode "condition_skipped_on_error(1)"              |
      | given to `(Respond 412 "PreconditionFailed" PutIfMatch)` |
    Examples: dialects
      | bucket                     |
      | speaking "gcs-interop"     |
      | speaking "garage"          |
      | speaking "minio-no-quorum" |

  @store.probe.unproven#inconclusive
  Scenario Outline: a push to a bucket whose probe showed nothing is refused: <bucket>
    Given alpha has landed 12 rows of "events"
    And the bucket is <bucket>
    When alpha pushes
    Then the push is refused with SyncCoordinationUnproven
    Examples:
      | bucket                                    |
      | speaking "b2"                             |
      | speaking "oss"                            |
      | in the mode "not_implemented(PutIfMatch)" |
      | in the mode "forbid(PutIfMatch)"          |
      | in the mode "inm_missing_404"             |
      | in the mode "no_such_bucket"              |
      | given to `(Drop PutIfNoneMatch)`          |

  @store.probe.unproven#stops
  Scenario Outline: a push that is refused so has written nothing but the sentinel: <bucket>
    Given alpha has pushed "events", folded into 3 partitions
    And alpha has landed 12 rows of "events"
    And the bucket is <bucket>
    When alpha pushes
    Then the push is refused with SyncCoordinationUnproven
    And alpha's push has written nothing but "_contextful/cas-probe/*"
    And the bucket stays as it was
    And alpha's store stays as it was
    When the bucket is itself again
    Then the next push of alpha succeeds
    Examples:
      | bucket                                    |
      | in the mode "ignore_if_none_match"        |
      | in the mode "ignore_if_match"             |
      | in the mode "not_implemented(PutIfMatch)" |
      | in the mode "forbid(PutIfMatch)"          |

  @store.probe.unproven#stops
  Scenario: the first push of a store stops the same way
    Given alpha has landed 12 rows of "events"
    And the bucket is in the mode "ignore_if_match"
    When alpha pushes
    Then the push is refused with SyncCoordinationUnproven
    And alpha's push has written nothing but "_contextful/cas-probe/*"
    And the bucket stays as it was

  @store.probe.unproven#lying
  Scenario Outline: a bucket whose oddity is harmless takes a push, and two writers lose nothing: <bucket>
    Given alpha has pushed "events", folded into 3 partitions
    And beta has pulled
    And alpha has landed 6 rows of "events"
    And beta has landed 6 rows of "events"
    And the bucket is <bucket>
    And the bucket will hold alpha's write of "manifest.json"
    When alpha starts to push
    And the write is held
    And beta pushes
    Then beta's push succeeds
    When the write is let through
    Then alpha's push succeeds
    And a new node "gamma" that pulls reads of "events" exactly what was landed
    Examples: modes
      | bucket                                  |
      | in the mode "if_match_missing_412"      |
      | in the mode "etag_opaque"               |
      | in the mode "etag_multipart_suffix"     |
      | in the mode "etag_unquoted_in_response" |
    Examples: dialects
      | bucket                   |
      | speaking "aws"           |
      | speaking "minio"         |
      | speaking "minio-2025-08" |

  @store.probe.unproven#lying
  Scenario: a bucket that takes one write a second to a key takes a push that waits
    Given alpha has pushed "events"
    And beta has pulled
    And beta has landed 6 rows of "events"
    And the bucket is speaking "r2"
    And its third write from now on comes too soon
    When beta pushes
    Then the push succeeds
    And a new node "gamma" that pulls reads of "events" exactly what was landed

  # Three questions in a row do not tell a window from a bucket that works, and what an ETag looks like is between the bucket and its client:
  # a push may refuse these. Where it goes on, writers that do not race lose nothing.
  @store.probe.unproven#lying
  Scenario Outline: a bucket that one may refuse is refused, or harmless to writers in turn: <bucket>
    Given alpha has pushed "events", folded into 3 partitions
    And beta has pulled
    And alpha has landed 6 rows of "events"
    And beta has landed 6 rows of "events"
    And the bucket is <bucket>
    When beta pushes
    And alpha pushes
    Then each push succeeded, or was refused with SyncCoordinationUnproven
    When the bucket is itself again
    And beta pushes
    And alpha pushes
    Then the push succeeds
    And a new node "gamma" that pulls reads of "events" exactly what was landed
    Examples: modes
      | bucket                                      |
      | in the mode "race_500"                      |
      | in the mode "conflict_409_once"             |
      | in the mode "inm_exists_304"                |
      | in the mode "200_without_etag(Put)"         |
      | in the mode "condition_skipped_on_error(2)" |
      | in the mode "stale_get(1)"                  |
      | in the mode "etag_weak"                     |
      | in the mode "etag_quoted_rejected"          |
    Examples: dialects
      | bucket                     |
      | speaking "seaweedfs-2025"  |
      | speaking "versitygw-posix" |
      | speaking "s3proxy"         |
      | speaking "rustfs"          |
      | speaking "ceph"            |
      | speaking "spaces"          |
      | speaking "hetzner"         |
