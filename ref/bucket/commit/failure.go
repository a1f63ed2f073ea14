package commit

import (
	"context"
	"errors"

	"contextful/ref/bucket"
	"contextful/ref/fault"
)

// Failure turns an error of a bucket into a refusal for a person: name is the bucket's, key what was asked for. A refusal and an
// ended context pass as they are, nil stays nil.
func Failure(name, key string, err error) error {
	if err == nil || fault.CodeOf(err) != "" {
		return err
	}
	subject := name + "/" + key
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, ErrTooBig):
		return fault.New(fault.SyncManifestInvalid, subject, key+" in "+name+" is larger than any document this project writes").Wrap(err)
	case errors.Is(err, bucket.ErrUnsupported):
		return fault.New(fault.SyncCoordinationUnproven, subject, name+" does not know the request that "+key+" needs").Wrap(err)
	case errors.Is(err, bucket.ErrForbidden):
		return fault.New(fault.SyncUnreachable, subject, name+" forbids access to "+key).Wrap(err).
			WithHint("check the credentials that config.toml refers to, and what they may do")
	case errors.Is(err, bucket.ErrUnknownOutcome):
		return fault.New(fault.SyncUnreachable, subject, "whether "+key+" was written to "+name+" is unknown").Wrap(err).
			WithHint("run the command again: it finds out and completes what is missing")
	default:
		return fault.New(fault.SyncUnreachable, subject, name+" does not answer for "+key).Wrap(err)
	}
}
