package services

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

func minioImage() string {
	if image := os.Getenv(EnvMinIOImage); image != "" {
		return image
	}
	return DefaultMinIOImage
}

// What a killed kit left behind goes; what a living one owns, or nobody known, stays.
func TestSweepTakesOnlyOrphans(t *testing.T) {
	api := docker(t)
	if api == nil {
		return
	}
	child := exec.Command("/bin/true")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	here := machine()
	owners := map[string]bool{ // and whether the container must go
		here + "/" + strconv.Itoa(child.Process.Pid) + "/1": true,
		here + "/" + strconv.Itoa(os.Getpid()) + "/1":       true, // the pid was used again
		self():                     false,
		"another-boot/pid:[1]/1/1": false,
		here + "/x":                false,
		"":                         false,
	}
	ids := map[string]string{}
	for owner := range owners {
		made, err := api.ContainerCreate(t.Context(), client.ContainerCreateOptions{
			Config: &container.Config{Image: minioImage(), Labels: map[string]string{LabelKit: labelValue, LabelOwner: owner}},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_, _ = api.ContainerRemove(context.WithoutCancel(t.Context()), made.ID, client.ContainerRemoveOptions{Force: true})
		})
		ids[owner] = made.ID
	}
	New(Options{Mode: Docker, Log: t.Logf}).sweep(t.Context(), api)
	for owner, gone := range owners {
		_, err := api.ContainerInspect(t.Context(), ids[owner], client.ContainerInspectOptions{})
		if (err != nil) != gone {
			t.Errorf("container of owner %q: gone is %v (%v), want %v", owner, err != nil, err, gone)
		}
	}
}
