package store

import (
	"os"
	"strings"
	"sync"
)

// Enter asks to run a trial on this machine, without waiting: alone, or beside
// others that are not alone. ok is false where a trial of another runner of this
// folder on this machine excludes it. Within one process the caller sees to it
// that nothing runs beside what is alone. Runners on other machines are not in
// the way, although they lock the same file.
func (s *Store) Enter(alone bool) (leave func(), ok bool, err error) {
	if alone {
		return s.locks.try(machineLock())
	}
	return s.locks.share(machineLock())
}

// machineLock is the name of this machine's lock, which is no trial's key. The
// kernel's boot id is the same in all containers of a machine, whose host names
// differ.
var machineLock = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		host, _ := os.Hostname() // without a name, all machines are taken for one
		id = []byte(host)
	}
	return "machine " + strings.TrimSpace(string(id))
})
