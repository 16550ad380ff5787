package nav

import (
	"reflect"
	"testing"
)

func TestParseDiff(t *testing.T) {
	const diff = "diff --git a/a.c b/a.c\nindex 1..2 100644\n--- a/a.c\n+++ b/a.c\n" +
		"@@ -3 +3,2 @@ int f(void)\n-x\n+diff --git a/fake b/fake\n+@@ -1 +1 @@\n" +
		"@@ -10,2 +11,0 @@\n---- a/removed\n-+++ b/removed\n" +
		"diff --git a/old name.c b/new.c\nsimilarity index 90%\nrename from old name.c\nrename to new.c\n" +
		"--- a/old name.c\t\n+++ b/new.c\n@@ -1,0 +2 @@\n+y\n" +
		"diff --git \"a/qu\\\"ote.c\" \"b/qu\\\"ote.c\"\n--- \"a/qu\\\"ote.c\"\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\n\\ No newline at end of file\n" +
		"diff --git a/moved.c b/sub/moved.c\nsimilarity index 100%\nrename from moved.c\nrename to sub/moved.c\n"
	got, err := parseDiff([]byte(diff))
	if err != nil {
		t.Fatal(err)
	}
	want := []fileDiff{
		{"a.c", "a.c", []lineRange{{3, 3}, {10, 11}}, []lineRange{{3, 4}, {11, 10}}},
		{"old name.c", "new.c", nil, []lineRange{{2, 2}}},
		{`qu"ote.c`, "", []lineRange{{1, 1}}, []lineRange{{0, -1}}},
		{"moved.c", "sub/moved.c", nil, nil},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestHoldersOf(t *testing.T) {
	all := []Symbol{
		{Name: "f", Kind: "function", Line: 10, Start: 10, End: 20},
		{Name: "C", Kind: "class", Line: 30, Start: 30, End: 60},
		{Name: "m", Kind: "function", Line: 40, Start: 40, End: 50},
		{Name: "x", Kind: "member", Line: 31, Start: 31, End: 31},
		{Name: "p", Kind: "prototype", Line: 22, Start: 22, End: 22, Declares: true},
	}
	for _, test := range []struct {
		r    lineRange
		want []string
	}{
		{lineRange{1, 9}, nil}, {lineRange{1, 10}, []string{"f"}}, {lineRange{20, 25}, []string{"f"}}, {lineRange{21, 25}, nil},
		{lineRange{9, 8}, nil},             // deleted before the first line
		{lineRange{10, 9}, []string{"f"}},  // deleted behind the first line
		{lineRange{20, 19}, nil},           // deleted behind the last line
		{lineRange{45, 45}, []string{"m"}}, // in a method, so not in its class
		{lineRange{31, 31}, []string{"C"}}, // a member is its class
		{lineRange{35, 45}, []string{"C", "m"}},
		{lineRange{1, 1 << 30}, []string{"f", "C", "m"}},
	} {
		var got []string
		for _, s := range holdersOf(all, []lineRange{test.r}, 70) {
			got = append(got, s.Name)
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("lines %v: got %v, want %v", test.r, got, test.want)
		}
	}
}

func FuzzParseDiff(f *testing.F) {
	f.Add([]byte("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +3 @@\n"))
	f.Fuzz(func(t *testing.T, diff []byte) {
		files, err := parseDiff(diff)
		if err != nil {
			return
		}
		for _, file := range files {
			for _, r := range file.oldLines {
				if r.first < 0 || r.last < r.first {
					t.Errorf("old lines %v", r)
				}
			}
		}
	})
}
