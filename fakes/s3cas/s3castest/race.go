package s3castest

import (
	"fmt"
	"strings"
	"sync"
)

// raceRows let several writers go at once for what only one may have. Losers may be refused in any way AWS knows.
func raceRows() []Row {
	return []Row{
		{"race/create", "several If-None-Match: * at once: one wins, and its body stands", "one winner in each round", func(p *probe) string {
			return p.race(func(name string, _ int, body string) string { return p.put(name, body, "", "*") })
		}},
		{"race/replace", "several If-Match on one ETag at once: one wins, and its body stands", "one winner in each round", func(p *probe) string {
			tags := map[string]string{}
			for round := range p.target.Rounds {
				name := fmt.Sprint("r", round)
				tags[name] = p.seed(name, "before")
			}
			return p.race(func(name string, _ int, body string) string { return p.put(name, body, tags[name], "") })
		}},
	}
}

// race runs the rounds; each writer has a body of its own, so the winner is known from what stands.
func (p *probe) race(write func(name string, writer int, body string) string) string {
	for round := range p.target.Rounds {
		name := fmt.Sprint("r", round)
		answers := make([]string, p.target.Racers)
		begin := make(chan struct{})
		var wg sync.WaitGroup
		for w := range answers {
			wg.Add(1)
			go func() {
				defer wg.Done()
				<-begin
				answers[w] = write(name, w, fmt.Sprintf("writer %d of round %d", w, round))
			}()
		}
		close(begin)
		wg.Wait()
		winner, won := -1, 0
		for w, a := range answers {
			switch {
			case a == "ok":
				winner = w
				won++
			case strings.HasPrefix(a, "412 "), strings.HasPrefix(a, "409 "):
			default:
				return fmt.Sprintf("a loser was told %s", a)
			}
		}
		if won != 1 {
			return fmt.Sprintf("%d winners", won)
		}
		if got, want := p.content(name), fmt.Sprintf("writer %d of round %d", winner, round); got != want {
			return fmt.Sprintf("%q stands, but %q won", got, want)
		}
	}
	return "one winner in each round"
}
