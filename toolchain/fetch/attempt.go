package fetch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// attempt makes one request and appends what it brings to p.
//
// A range is asked for only with a validator (If-Range), so a server whose file
// changed meanwhile sends the new file whole, as 200. It is appended only when
// Content-Range says that it begins where p ends.
func (c *Client) attempt(ctx context.Context, u string, a Asset, p *partial) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	dog := watch(c.opts.Stall, cancel)
	defer dog.stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return &permanentError{err}
	}
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("Accept", "application/octet-stream")
	p.resumed = p.canResume(u, a)
	if p.resumed {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", p.size))
		req.Header.Set("If-Range", p.source.validator())
	} else if err := p.reset(); err != nil {
		return diskError(err, p.path, a.Size)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return because(ctx, explain(err))
	}
	defer resp.Body.Close()
	dog.progress(MinProgress) // the answer began: the body gets a window of its own
	if err := p.accept(resp, u, a); err != nil {
		return err
	}
	return because(ctx, p.receive(resp.Body, a, dog))
}

// because prefers the reason a context was ended to the error that came of it.
func because(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// accept checks an answer's status and headers, and prepares p for its body.
func (p *partial) accept(resp *http.Response, u string, a Asset) error {
	from := resp.Request.URL.Redacted()
	switch resp.StatusCode {
	case http.StatusOK:
		p.resumed = false
		if err := p.reset(); err != nil {
			return diskError(err, p.path, a.Size)
		}
	case http.StatusPartialContent:
		if err := checkContentRange(resp.Header.Get("Content-Range"), p.size, a.Size); err != nil {
			p.discard()
			return fmt.Errorf("%s: answered 206 with a wrong range: %w", from, err)
		}
	case http.StatusRequestedRangeNotSatisfiable:
		if !p.resumed {
			return newStatusError(resp)
		}
		p.discard()
		return fmt.Errorf("%s: refused to continue (416), starting over", from)
	default:
		return newStatusError(resp)
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return permanent("%s: sent Content-Encoding %q although identity was asked for", from, enc)
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		return htmlError(from)
	}
	if resp.ContentLength >= 0 {
		if err := checkLength(from, p.size+resp.ContentLength, a); err != nil {
			return err
		}
	}
	if !p.resumed {
		return p.begin(u, resp.Header)
	}
	return nil
}

func htmlError(from string) error {
	return permanent("%s: %w (the login or error page of a proxy?)", from, ErrHTML)
}

func checkLength(from string, got int64, a Asset) error {
	switch {
	case got == 0:
		return permanent("%s: %w", from, ErrEmpty)
	case a.Size > 0 && got != a.Size:
		return permanent("%s: %w: %d bytes, expected %d", from, ErrSize, got, a.Size)
	case got > a.limit():
		return permanent("%s: %w: %d bytes, at most %d are acceptable", from, ErrSize, got, a.limit())
	}
	return nil
}

// checkContentRange demands "bytes OFFSET-LAST/TOTAL", TOTAL being the pinned
// size where that is known.
func checkContentRange(header string, offset, size int64) error {
	var first, last, total int64
	if _, err := fmt.Sscanf(header, "bytes %d-%d/%d", &first, &last, &total); err != nil {
		return fmt.Errorf("Content-Range %q", header)
	}
	if first != offset || last != total-1 || size > 0 && total != size {
		return fmt.Errorf("Content-Range %q, asked from byte %d of %d", header, offset, size)
	}
	return nil
}

// receive appends the body to p, never taking a byte more than the pinned size,
// or than one above the limit where no size is pinned.
func (p *partial) receive(body io.Reader, a Asset, dog *watchdog) error {
	most := a.limit()
	if a.Size == 0 {
		most++
	}
	from := p.source.URL
	in := bufio.NewReaderSize(io.LimitReader(body, most-p.size), 64<<10)
	if start, _ := in.Peek(512); p.size == 0 && looksLikeHTML(start) {
		return htmlError(from)
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		if werr := p.write(buf[:n]); werr != nil {
			return diskError(werr, p.path, a.Size)
		}
		dog.progress(n)
		if p.report != nil && n > 0 {
			p.report(p.size, a.Size)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: connection broke after %d bytes: %w", from, p.size, err)
		}
	}
	if p.size < a.Size && p.size > 0 {
		return fmt.Errorf("%s: %w: connection closed after %d of %d bytes", from, ErrSize, p.size, a.Size)
	}
	return checkLength(from, p.size, a)
}

// looksLikeHTML trusts the bytes, since many portals send their page with the
// type of the file that was asked for.
func looksLikeHTML(b []byte) bool {
	b = bytes.ToLower(bytes.TrimSpace(b))
	return bytes.HasPrefix(b, []byte("<!doctype html")) || bytes.HasPrefix(b, []byte("<html"))
}

// watchdog ends an attempt that brings fewer than MinProgress bytes in a window.
type watchdog struct {
	window time.Duration
	timer  *time.Timer
	since  int
}

func watch(window time.Duration, cancel context.CancelCauseFunc) *watchdog {
	return &watchdog{window: window, timer: time.AfterFunc(window, func() {
		cancel(fmt.Errorf("%w: fewer than %d bytes in %s", ErrStalled, MinProgress, window))
	})}
}

func (d *watchdog) progress(n int) {
	if d.since += n; d.since >= MinProgress {
		d.since = 0
		d.timer.Reset(d.window)
	}
}

func (d *watchdog) stop() { d.timer.Stop() }
