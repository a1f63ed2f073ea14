package land

import (
	"errors"
	"strings"
	"testing"

	"contextful/ref/fault"
)

func TestRefusals(t *testing.T) {
	deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	long := strings.Repeat("x", maxLine+1)
	for _, c := range []struct {
		name, rows string
		with       func(*Options)
		code       fault.Code
		says       []string
	}{
		{"no json", "{\"a\":1}\n{\"a\":}\n", nil, fault.StoreInputMalformed, []string{"rows.jsonl:2"}},
		{"word", "hello", nil, fault.StoreInputMalformed, []string{"rows.jsonl:1", "no JSON"}},
		{"array", "{}\n\n[1]", nil, fault.StoreInputMalformed, []string{"rows.jsonl:3", "array"}},
		{"number", "42", nil, fault.StoreInputMalformed, []string{"a number"}},
		{"null", "null", nil, fault.StoreInputMalformed, []string{"null"}},
		{"two objects", "{} {}", nil, fault.StoreInputMalformed, []string{"after the object"}},
		{"comma", `{"a":1,}`, nil, fault.StoreInputMalformed, []string{"name"}},
		{"no end", `{"a":1`, nil, fault.StoreInputMalformed, []string{"does not end"}},
		{"no colon", `{"a" 1}`, nil, fault.StoreInputMalformed, []string{"colon"}},
		{"twice", `{"a":1,"\u0061":2}`, nil, fault.StoreInputMalformed, []string{`"a"`, "twice"}},
		{"twice inside", `{"a":{"b":1,"b":2}}`, nil, fault.StoreInputMalformed, []string{`"a"`}},
		{"utf8", "{\"a\":\"\xff\"}", nil, fault.StoreInputMalformed, []string{"UTF-8"}},
		{"utf8 name", "{\"\xff\":1}", nil, fault.StoreInputMalformed, []string{"UTF-8"}},
		{"surrogate", `{"a":"\ud800"}`, nil, fault.StoreInputMalformed, []string{`"a"`}},
		{"control", "{\"a\":\"\x01\"}", nil, fault.StoreInputMalformed, []string{"control"}},
		{"empty name", `{"":1}`, nil, fault.StoreInputMalformed, []string{"empty"}},
		{"leading zero", `{"a":01}`, nil, fault.StoreInputMalformed, []string{"comma"}},
		{"plus", `{"a":+1}`, nil, fault.StoreInputMalformed, nil},
		{"dot", `{"a":1.}`, nil, fault.StoreInputMalformed, nil},
		{"nan", `{"a":NaN}`, nil, fault.StoreInputMalformed, nil},
		{"mark", "\ufeff{}", nil, fault.StoreInputMalformed, []string{"byte order mark"}},
		{"deep", `{"a":` + deep + `}`, nil, fault.StoreInputMalformed, []string{"512"}},
		{"long line", "{}\n{\"a\":\"" + long + "\"}\n{}", nil, fault.StoreInputMalformed, []string{"rows.jsonl:2", "64 MiB"}},
		{"long last line", "{\"a\":\"" + long + "\"}", nil, fault.StoreInputMalformed, []string{"rows.jsonl:1", "64 MiB"}},
		{"csv quote left open", "a\n1\n\"" + long + long, csvFormat, fault.StoreInputMalformed, []string{"rows.csv:3", "64 MiB"}},
		{"past int64", "{\"n\":1}\n{\"n\":9223372036854775808}", nil, fault.StoreInputMalformed, []string{"rows.jsonl:2", `"n"`, "9223372036854775808", "int64"}},
		{"past int64 below", `{"n":-9223372036854775809}`, nil, fault.StoreInputMalformed, []string{`"n"`}},
		{"past float64", `{"n":1e999}`, nil, fault.StoreInputMalformed, []string{`"n"`, "float64"}},
		{"empty", "", nil, fault.StoreInputEmpty, []string{"rows.jsonl"}},
		{"blank", "\n\n  \n", nil, fault.StoreInputEmpty, nil},
		{"mixed", "{\"v\":1}\n\n{\"v\":\"x\"}", nil, fault.StoreSchemaIncompatible, []string{"rows.jsonl:3", "row 2", `"v"`, "int64", "utf8"}},
		{"mixed json", "{\"v\":{}}\n{\"v\":1}", nil, fault.StoreSchemaIncompatible, []string{"json", "int64"}},
		{"int lost in float", "{\"v\":9007199254740993}\n{\"v\":0.5}", nil, fault.StoreSchemaIncompatible, []string{"rows.jsonl:1", "digits"}},
		{"float then lost int", "{\"v\":0.5}\n{\"v\":9007199254740993}", nil, fault.StoreSchemaIncompatible, []string{"rows.jsonl:2", "digits"}},
		{"declared", "{\"v\":\"x\"}", types("v", "int64"), fault.StoreSchemaIncompatible, []string{"declared int64", "utf8"}},
		{"declared int takes no float", "{\"v\":1.0}", types("v", "int64"), fault.StoreSchemaIncompatible, []string{"declared int64", "float64"}},
		{"int32 too big", "{\"v\":2147483648}", types("v", "int32"), fault.StoreSchemaIncompatible, []string{"int32", "2147483648"}},
		{"no instant", `{"v":"yesterday"}`, types("v", "timestamp"), fault.StoreSchemaIncompatible, []string{"timestamp", "yesterday"}},
		{"no such day", `{"v":"2023-02-29T00:00:00Z"}`, types("v", "timestamp"), fault.StoreSchemaIncompatible, nil},
		{"instant too late", `{"v":"2262-04-11T23:47:16.854775808Z"}`, types("v", "timestamp"), fault.StoreInputMalformed, []string{"rows.jsonl:1", `"v"`, "2262"}},
		{"instant too early", `{"v":"1677-09-21T00:12:43.145224191Z"}`, types("v", "timestamp"), fault.StoreInputMalformed, []string{`"v"`}},
		{"instant too fine", `{"v":"2024-01-01T00:00:00.0000000001Z"}`, types("v", "timestamp"), fault.StoreInputMalformed, []string{"nanosecond"}},
		{"no base64", `{"v":"AP8"}`, types("v", "binary"), fault.StoreSchemaIncompatible, []string{"binary"}},
		{"reserved", "{}\n{\"_mine\":null}", nil, fault.StoreReservedColumnName, []string{"_mine", "rows.jsonl:2"}},
		{"case", "{\"a\":1,\"A\":2}", nil, fault.StoreColumnAmbiguous, []string{`"a"`, `"A"`}},
		{"reserved type", "{}", types("_run_id", "utf8"), fault.StoreReservedColumnName, []string{"_run_id"}},
		{"csv ragged", "a,b\n1,2\n3\n", csvFormat, fault.StoreInputMalformed, []string{"rows.csv:3", "fields"}},
		{"csv quote", "a\n\"x\n", csvFormat, fault.StoreInputMalformed, []string{"rows.csv:"}},
		{"csv bare quote", "a\nx\"y\n", csvFormat, fault.StoreInputMalformed, []string{"rows.csv:2"}},
		{"csv header twice", "a,a\n1,2\n", csvFormat, fault.StoreInputMalformed, []string{"rows.csv:1", `"a"`, "twice"}},
		{"csv case", "a,A\n1,2\n", csvFormat, fault.StoreColumnAmbiguous, nil},
		{"csv reserved", "a,_x\n1,2\n", csvFormat, fault.StoreReservedColumnName, []string{"_x"}},
		{"csv utf8", "a\n\xff\n", csvFormat, fault.StoreInputMalformed, []string{"rows.csv:2", `"a"`}},
		{"csv typed", "a\n\n1\nx\n", func(o *Options) { csvFormat(o); types("a", "int64")(o) }, fault.StoreSchemaIncompatible, []string{"rows.csv:4", `"a"`, "int64", "utf8"}},
		{"csv past int64", "a\n99999999999999999999\n", func(o *Options) { csvFormat(o); types("a", "int64")(o) }, fault.StoreInputMalformed, []string{"rows.csv:2", `"a"`}},
		{"csv only a header", "a,b\n", csvFormat, fault.StoreInputEmpty, nil},
		{"csv nothing", "", csvFormat, fault.StoreInputEmpty, nil},
		{"csv earlier error first", "a,b\nx,1\n1,2,3\n", func(o *Options) { csvFormat(o); types("a", "int64")(o) }, fault.StoreSchemaIncompatible, []string{"rows.csv:2"}},
		{"parquet garbage", "PAR1 nothing PAR1", func(o *Options) { o.Format = Parquet }, fault.StoreInputMalformed, []string{"rows.jsonl", "Parquet"}},
		{"format", "{}", func(o *Options) { o.Format = "xml" }, fault.StoreUnsupported, []string{"xml"}},
		{"run id", "{}", func(o *Options) { o.RunID = "a/b" }, fault.StoreNameInvalid, nil},
		{"run id up", "{}", func(o *Options) { o.RunID = ".." }, fault.StoreNameInvalid, nil},
		{"no site", "{}", func(o *Options) { o.SiteID = "" }, fault.StoreNameInvalid, []string{"site"}},
		{"table", "{}", func(o *Options) { o.Table = "other" }, fault.StoreTableUnknown, []string{"other"}},
		{"table name", "{}", func(o *Options) { o.Table = "../t" }, fault.StoreNameInvalid, nil},
		{"position", "{}", func(o *Options) { o.Position = []byte("{") }, fault.StoreInputMalformed, []string{"position"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openStore(t, plain)
			before := tree(t, s)
			change := []func(*Options){}
			if c.with != nil {
				change = append(change, c.with)
			}
			_, err := land(s, "r1", c.rows, change...)
			wantRefusal(t, s, before, err, c.code, c.says)
			var f *fault.Error
			if !errors.As(err, &f) || f.Hint == "" {
				t.Errorf("%v does not say what to do", err)
			}
		})
	}
}
