//go:build unix && !linux

package index

import "errors"

// canWatch refuses: kqueue needs an open file for each file watched.
func canWatch(root string) error {
	return errors.New("notifications are used on Linux only")
}
