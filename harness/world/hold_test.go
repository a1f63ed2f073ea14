package world

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A process that waits sleeps with all its threads; one that works does not.
func TestSleeping(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want bool
	}{{[]string{"sleep", "60"}, true}, {[]string{"sh", "-c", "sleep 60 & wait"}, true}, {[]string{"sh", "-c", "while :; do :; done"}, false}} {
		cmd := exec.Command(c.argv[0], c.argv[1:]...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		require.NoError(t, cmd.Start())
		seen := false
		for range 20000 {
			asleep, err := sleeping(cmd.Process.Pid)
			require.NoError(t, err)
			if seen = asleep == c.want; seen {
				break
			}
		}
		require.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
		_ = cmd.Wait() // it was killed
		require.True(t, seen, c.argv)
	}
}
