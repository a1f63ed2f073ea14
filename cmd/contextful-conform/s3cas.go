package main

import (
	"fmt"
	"strings"

	"contextful/fakes/s3cas"

	"github.com/spf13/cobra"
)

func s3casCommand() *cobra.Command {
	var listen, dialect, access, secret string
	var faults, buckets []string
	cmd := &cobra.Command{Use: "s3cas", Short: "Serve the fake bucket: S3 with compare-and-swap that can be told to lie", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := s3cas.New(s3cas.Options{Buckets: buckets, AutoCreateBuckets: len(buckets) == 0, Admin: true,
				Principals: []s3cas.Principal{{AccessKey: access, Secret: secret, Name: access}}})
			if err := s.UseDialect(dialect); err != nil {
				return err
			}
			if text := strings.Join(faults, " "); text != "" {
				if _, err := s.InjectText(text); err != nil {
					return err
				}
			}
			return s.ListenAndServe(cmd.Context(), listen, func(url string) {
				fmt.Fprintf(cmd.OutOrStdout(), "%s  access key %s  dialect %s  admin %s%s\n", url, access, dialect, url, s3cas.AdminPath)
			})
		}}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:9000", "address")
	cmd.Flags().StringVar(&dialect, "dialect", "aws", "whose behaviour: aws, minio, r2, gcs-interop, ceph, …")
	cmd.Flags().StringVar(&access, "access-key", "conform", "the one access key")
	cmd.Flags().StringVar(&secret, "secret-key", "conform-secret", "its secret")
	cmd.Flags().StringArrayVar(&faults, "fault", nil, "a fault in the fault language (repeatable)")
	cmd.Flags().StringSliceVar(&buckets, "bucket", nil, "buckets that exist (default: any, made on the first write)")
	return cmd
}
