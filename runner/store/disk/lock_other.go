//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package disk

func tryLock(path string) (unlock func(), err error) { return tryExclusive(path) }
