package store

import (
	"os"
	"strings"
	"sync"
)

// Enter takes this machine's lock for a trial, without waiting: exclusively for a trial that
// runs alone, otherwise shared. ok is false where a trial of another runner of this folder
// on this machine excludes it. Within one process the caller ensures exclusion. Runners on
// other machines use other locks of the same file.
func (s *Store) Enter(alone bool) (leave func(), ok bool, err error) {
	if alone {
		return s.locks.try(machineLock())
	}
	return s.locks.share(machineLock())
}

// machineLock is the name of this machine's lock, which differs from all keys. It has the
// kernel's boot id, because containers of one machine have different host names.
var machineLock = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		host, _ := os.Hostname() // without a name, all machines have one lock
		id = []byte(host)
	}
	return "machine " + strings.TrimSpace(string(id))
})
