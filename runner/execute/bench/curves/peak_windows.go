package curves

import "os"

// peak is 0: the system tells no peak of a process that has ended.
func peak(*os.ProcessState) int64 { return 0 }
