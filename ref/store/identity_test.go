package store

import (
	"errors"
	"strings"
	"testing"

	"contextful/ref/fault"
	"contextful/ref/vfs"
)

func TestInitKeepsIdentity(t *testing.T) {
	m := vfs.NewMem()
	must(t, m.MkdirAll("/p"))
	o := Options{Node: "alpha", FS: m}
	first, err := InitProject(bg, o, "/p", "demo")
	must(t, err)
	if !first.DeclarationWritten || !first.IdentityCreated || first.Root != root {
		t.Fatalf("%+v", first)
	}
	second, err := InitProject(bg, o, "/p", "demo")
	must(t, err)
	if second.DeclarationWritten || second.IdentityCreated || second.StoreID != first.StoreID {
		t.Fatalf("%+v", second)
	}
	data, err := vfs.ReadFile(m, root+"/store-id", 100)
	must(t, err)
	if id, err := ParseIdentity("store-id", data); err != nil || id != first.StoreID {
		t.Fatal(id, err)
	}
	must(t, m.RemoveAll(root))
	third, err := InitProject(bg, o, "/p", "demo")
	must(t, err)
	if third.StoreID == first.StoreID {
		t.Fatal("a recreated root kept its identity")
	}
}

func TestInitDeclaration(t *testing.T) {
	section := "[project]\nname = \"demo\"\n"
	cases := []struct {
		name, before, after string
		code                fault.Code
	}{
		{"empty", "", section, ""},
		{"tables", "[[pipeline.tables]]\nname = \"a\"\n", "[[pipeline.tables]]\nname = \"a\"\n\n" + section, ""},
		{"no newline", "# hello", "# hello\n\n" + section, ""},
		{"same name", "# x\nproject.name = \"demo\"", "# x\nproject.name = \"demo\"", ""},
		{"other name", "[project]\nname = \"other\"\n", "", fault.StoreDeclarationInvalid},
		{"no name", "[project]\n", "", fault.StoreDeclarationInvalid},
		{"no TOML", "[project\n", "", fault.StoreDeclarationInvalid},
	}
	for _, c := range cases {
		m := vfs.NewMem()
		must(t, m.MkdirAll("/p"))
		must(t, vfs.WriteAtomic(m, "/p/contextful.toml", []byte(c.before)))
		_, err := InitProject(bg, Options{Node: "alpha", FS: m}, "/p", "demo")
		want := c.after
		if c.code != "" {
			wantCode(t, err, c.code)
			want = c.before
			if ok, _ := vfs.Exists(m, "/p/.contextful"); ok {
				t.Errorf("%s: a refused init made a store", c.name)
			}
		} else if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if data, _ := vfs.ReadFile(m, "/p/contextful.toml", 1000); string(data) != want {
			t.Errorf("%s: %q", c.name, data)
		}
	}
	_, err := InitProject(bg, Options{Node: "alpha", FS: vfs.NewMem()}, "/p", "../x")
	wantCode(t, err, fault.StoreNameInvalid)
}

func TestIdentityInvalid(t *testing.T) {
	good := "0b6f3b7e-6f0a-4d8e-9c1f-3a2b1c0d9e8f"
	for name, text := range map[string]string{
		"empty": "", "no newline": good, "two newlines": good + "\n\n", "upper case": strings.ToUpper(good) + "\n", "crlf": good + "\r\n",
		"version 1": strings.Replace(good, "-4d", "-1d", 1) + "\n", "variant": strings.Replace(good, "-9c", "-cc", 1) + "\n",
		"braces": "{" + good + "}\n", "urn": "urn:uuid:" + good + "\n", "no dashes": strings.ReplaceAll(good, "-", "") + "\n", "space": " " + good + "\n",
		"two": good + "\n" + good + "\n", "not hex": strings.Replace(good, "0b", "zz", 1) + "\n",
	} {
		m := vfs.NewMem()
		put(t, m, "store-id", text)
		_, err := Open(bg, Options{Root: root, Node: "alpha", FS: m})
		if !errors.Is(err, fault.StoreIdentityInvalid) || !strings.Contains(err.Error(), root+"/store-id") {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := vfs.NewMem()
	s := open(t, m, "beta", 1)
	if _, ok := s.Identity(); ok {
		t.Fatal("identity from nowhere")
	}
	must(t, s.AdoptIdentity(good))
	must(t, s.AdoptIdentity(good))
	wantCode(t, s.AdoptIdentity(strings.Replace(good, "0b", "1b", 1)), fault.StoreIdentityConflict, good)
	wantCode(t, s.AdoptIdentity("x"), fault.StoreIdentityInvalid)
	if id, _ := open(t, m, "beta", 1).Identity(); id != good {
		t.Fatal(id)
	}
}

// After a crash at any point of init, the same init completes and finds one identity.
func TestInitSurvivesEveryCrash(t *testing.T) {
	for _, mode := range []vfs.CrashMode{vfs.CrashLoses, vfs.CrashKeepsNames, vfs.CrashKeepsAll} {
		for n := 1; ; n++ {
			m := vfs.NewMem()
			must(t, m.MkdirAll("/p"))
			must(t, vfs.WriteAtomic(m, "/p/contextful.toml", []byte("# mine\n")))
			m.CrashAt(n)
			done, err := InitProject(bg, Options{Node: "alpha", FS: m}, "/p", "demo")
			fired := m.Down()
			m.Crash(mode)
			data, readErr := vfs.ReadFile(m, "/p/contextful.toml", 1000)
			if readErr != nil || !strings.HasPrefix(string(data), "# mine\n") {
				t.Fatalf("mode %d, operation %d: %q %v", mode, n, data, readErr)
			}
			again, errAgain := InitProject(bg, Options{Node: "alpha", FS: m}, "/p", "demo")
			must(t, errAgain)
			if err == nil && again.StoreID != done.StoreID {
				t.Fatalf("mode %d, operation %d: an acknowledged identity was lost", mode, n)
			}
			if !fired {
				break
			}
		}
	}
}

func FuzzParseIdentity(f *testing.F) {
	f.Add([]byte("0b6f3b7e-6f0a-4d8e-9c1f-3a2b1c0d9e8f\n"))
	f.Add([]byte("{0b6f3b7e-6f0a-4d8e-9c1f-3a2b1c0d9e8f}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if id, err := ParseIdentity("x", data); err == nil && (string(IdentityBytes(id)) != string(data) || strings.ToLower(id) != id) {
			t.Fatalf("%q from %q", id, data)
		}
	})
}
