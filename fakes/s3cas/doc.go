// Package s3cas is an S3 server that does compare-and-swap as AWS documents it, and lies on request.
package s3cas
