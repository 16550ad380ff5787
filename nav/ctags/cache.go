package ctags

import (
	"container/list"
	"context"
	"crypto/sha256"
	"io"
	"sync"
	"time"
)

// cache holds the answers by content, the parses under way among them, so that
// everybody who asks for a content waits for the same parse. When the answers
// take too much memory, the ones that nobody asked for longest go.
type cache struct {
	limit int

	mu      sync.Mutex
	size    int
	entries map[key]*entry
	recent  list.List // of settled *entry, the last used first
}

type key [sha256.Size]byte

// contentKey identifies a content under a name: the name selects the parser.
func contentKey(name string, content []byte) (k key) {
	h := sha256.New()
	io.WriteString(h, name)
	h.Write([]byte{0})
	h.Write(content)
	h.Sum(k[:0])
	return k
}

// entry is one answer. Tags and err are fixed once done is closed.
type entry struct {
	key       key
	done      chan struct{}
	abandoned chan struct{} // closed when nobody waits any more
	tags      []Tag
	err       error

	// guarded by cache.mu
	waiting int
	size    int
	expires time.Time // of a failure
	place   *list.Element
}

func newCache(limit int) *cache {
	return &cache{limit: limit, entries: map[key]*entry{}}
}

// claim returns the entry of the content. Of all callers one is told to fill it;
// each of them must wait.
func (c *cache) claim(k key) (e *entry, fill bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e = c.entries[k]
	if e != nil && e.err != nil && e.place != nil && time.Now().After(e.expires) {
		c.drop(e)
		e = nil
	}
	if e == nil {
		e = &entry{key: k, done: make(chan struct{}), abandoned: make(chan struct{})}
		c.entries[k] = e
		fill = true
	}
	if e.place != nil {
		c.recent.MoveToFront(e.place)
	}
	e.waiting++
	return e, fill
}

// wait returns the answer, or gives up with the context. The last one to give up
// abandons the entry; a parse that has begun goes on and is kept.
func (c *cache) wait(ctx context.Context, e *entry) ([]Tag, error) {
	select {
	case <-e.done:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e.waiting--
	select {
	case <-e.done:
		return e.tags, e.err
	default:
	}
	if e.waiting == 0 && c.entries[e.key] == e {
		delete(c.entries, e.key)
		close(e.abandoned)
	}
	return nil, context.Cause(ctx)
}

// settle gives the entry its answer. A failure is kept for the time given.
func (c *cache) settle(e *entry, tags []Tag, err error, remember time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.tags, e.err = tags, err
	close(e.done)
	if have := c.entries[e.key]; have != nil && have != e {
		return // abandoned, and asked for again since
	}
	delete(c.entries, e.key)
	if err != nil && remember == 0 {
		return
	}
	e.expires = time.Now().Add(remember)
	e.size = 300
	for i := range tags {
		e.size += tags[i].size()
	}
	if e.size > c.limit {
		return
	}
	c.entries[e.key] = e
	e.place = c.recent.PushFront(e)
	for c.size += e.size; c.size > c.limit; {
		c.drop(c.recent.Back().Value.(*entry))
	}
}

func (c *cache) drop(e *entry) {
	delete(c.entries, e.key)
	c.recent.Remove(e.place)
	e.place = nil
	c.size -= e.size
}
