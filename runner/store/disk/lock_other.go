//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package disk

func tryLock(path string) (unlock func(), err error) { return tryExclusive(path) }
