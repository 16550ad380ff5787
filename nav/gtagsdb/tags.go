package gtagsdb

// tags is GTAGS or GRTAGS with what its metadata says about its records.
type tags struct {
	*tree
	compact    bool // one record a file and name, no images
	deltas     bool // line lists hold differences and ranges
	compNames  bool // names are compressed
	compImages bool // images are compressed
	words      abbreviations
}

func (t *tags) readMetadata() error {
	meta, err := t.metadata()
	if err != nil {
		return err
	}
	if err := t.wantVersion(meta, "6"); err != nil {
		return err
	}
	for name, value := range meta {
		ok := true
		switch name {
		case "VERSION":
		case "COMPACT":
			t.compact = true
		case "COMPLINE":
			t.deltas = true
		case "COMPNAME":
			t.compNames = true
		case "COMPRESS":
			t.compImages = true
			t.words, ok = parseAbbreviations([]byte(value))
		default:
			ok = false
		}
		if !ok {
			// What is not understood may change how all records are to be read.
			return t.format(int64(t.size), "metadata %q with value %q", name, value)
		}
	}
	return nil
}

// appendSites unfolds a record of GTAGS: one site, or one for each line of a list.
func (t *tags) appendSites(dst []Site, site Site, data []byte, key string) ([]Site, bool) {
	r, ok := parseRecord(data, t.compact)
	if !ok {
		return dst, false
	}
	if site.Name, ok = t.name(r.name, key); !ok {
		return dst, false
	}
	if t.compact {
		lines, ok := r.appendLines(nil, t.deltas)
		for _, site.Line = range lines {
			dst = append(dst, site)
		}
		return dst, ok
	}
	site.Line = r.line
	site.Image, ok = t.image(r.rest, key)
	return append(dst, site), ok
}

func (t *tags) image(compressed []byte, key string) (string, bool) {
	if !t.compImages {
		return string(compressed), true
	}
	image, ok := t.words.appendText(make([]byte, 0, 256), compressed, key)
	return string(image), ok
}

// name decodes the name of a record of key.
func (t *tags) name(compressed []byte, key string) (string, bool) {
	if !t.compNames {
		return string(compressed), true
	}
	if string(compressed) == "@n" {
		return key, true
	}
	name, ok := t.words.appendText(nil, compressed, key)
	return string(name), ok
}

// appendLines unfolds the lines of a record of either format.
func (t *tags) appendLines(dst []int, data []byte) ([]int, bool) {
	r, ok := parseRecord(data, t.compact)
	if !ok || !t.compact {
		return append(dst, r.line), ok
	}
	return r.appendLines(dst, t.deltas)
}

func (t *tags) badRecord(key, data []byte) error {
	off, _ := t.offset(data)
	return t.corrupt(off, "record %.80q of %.80q cannot be read", data, key)
}
