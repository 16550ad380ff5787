package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the longest message a client may send over stdio, in bytes. Tool
// arguments are short; a longer line is a broken client.
const maxLine = 4 << 20

// ServeStdio serves one client over in and out until in ends or ctx is done.
// Only protocol messages are written to out.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	writer := &messageWriter{out: out}
	reader, feed := io.Pipe()
	go func() { feed.CloseWithError(filter(in, feed, writer)) }()
	err := s.MCP(ctx).Run(ctx, &mcp.IOTransport{Reader: reader, Writer: writer, MaxLineLength: -1})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil // told to stop, or the client went away: both are the normal end
	}
	return err
}

// messageWriter writes whole messages, one at a time.
type messageWriter struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *messageWriter) Write(message []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(message)
}

// Close leaves the stream open: it belongs to whoever gave it to us.
func (w *messageWriter) Close() error { return nil }

// filter hands the messages of a client on and answers by itself what is none:
// the protocol library ends the session at the first line it cannot read, and
// one stray line must not cost a session.
func filter(in io.Reader, messages, answers io.Writer) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(lines)
		if refused := forward(line, messages); refused != nil {
			if _, err := answers.Write(refused); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
		if err != nil && !errors.Is(err, errLongLine) {
			return err
		}
		if errors.Is(err, errLongLine) {
			if _, err := answers.Write(refusal(jsonrpc.CodeParseError, err.Error())); err != nil {
				return err
			}
		}
	}
}

var errLongLine = fmt.Errorf("the message is longer than %d bytes", maxLine)

// readLine returns the next line. A line over the limit is read to its end and
// dropped, at the cost of one buffer.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && err == nil:
			return nil, errLongLine
		case long:
			return nil, err
		}
		return line, err
	}
}

// forward writes the messages on a line, or returns the answer to a line that
// holds none. The members of a batch are handed on one by one: the present
// revisions of the protocol have no batches, and the library refuses them.
func forward(line []byte, messages io.Writer) (refused []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	if !json.Valid(line) {
		return refusal(jsonrpc.CodeParseError, "not JSON: messages are JSON-RPC 2.0, one a line")
	}
	batch := []json.RawMessage{line}
	if line[0] == '[' {
		if err := json.Unmarshal(line, &batch); err != nil || len(batch) == 0 {
			return refusal(jsonrpc.CodeInvalidRequest, "an empty batch")
		}
	}
	for _, message := range batch {
		if _, err := jsonrpc.DecodeMessage(message); err != nil {
			return refusal(jsonrpc.CodeInvalidRequest, "not a JSON-RPC 2.0 message: "+err.Error())
		}
	}
	for _, message := range batch {
		if _, err := messages.Write(append(bytes.Clone(message), '\n')); err != nil {
			return nil // the session has ended; its reader knows why
		}
	}
	return nil
}

// refusal is an error answer to a message whose id could not be read.
func refusal(code int64, reason string) []byte {
	text, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil,
		"error": map[string]any{"code": code, "message": reason},
	})
	if err != nil {
		return nil
	}
	return append(text, '\n')
}
