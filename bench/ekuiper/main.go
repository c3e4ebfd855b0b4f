// Drives the events of a workload through eKuiper's own engine, in this process, and prints what that took as JSON.
//
// Streams and rules are made over the engine's HTTP interface on loopback. Its source hands on the events, and its sink
// counts what fires. It is started with eKuiper's own options, which name its folders.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lf-edge/ekuiper/contract/v2/api"
	"github.com/lf-edge/ekuiper/v2/cmd"
	"github.com/lf-edge/ekuiper/v2/pkg/model"
	"github.com/lf-edge/ekuiper/v2/pkg/modules"
)

// What standard input says, as one JSON object.
type order struct {
	// statements that make streams and tables, in their order
	Statements []string
	Rules      []json.RawMessage
	// how many streams of rules the source is asked for
	Readers int
	// rows of the lookup table, by resource
	Limits map[string][]map[string]any
	Events []event
	// fires only when the limits were known to be unmet before, and not again within the cool-down
	OnEdges    bool
	CoolDownMs int64
	// CPU time
	WarmUpMs, MeasureMs int64
	// of the first event, less one step; epoch ms
	StartMs, StepMs int64
}

type event struct {
	// the feed that takes it
	Feed string
	// how many limits it meets
	Meets int64
	Row   map[string]any
	to    *feed
}

// feed is what streams with one DATASOURCE read.
type feed struct {
	readers   []func(row map[string]any, at time.Time)
	unmet     bool
	notBefore int64
}

type feeds struct {
	sync.Mutex
	named  map[string]*feed
	opened int
}

func (all *feeds) add(name string, reader func(row map[string]any, at time.Time)) {
	all.Lock()
	defer all.Unlock()
	if all.named[name] == nil {
		all.named[name] = &feed{}
	}
	all.named[name].readers = append(all.named[name].readers, reader)
	all.opened++
}

func (all *feeds) has(readers int) bool {
	all.Lock()
	defer all.Unlock()
	return all.opened >= readers
}

var (
	known = &feeds{named: map[string]*feed{}}
	fired atomic.Int64
)

// source is one stream of one rule: whoever drives the events calls it.
type source struct{ feed string }

func (one *source) Provision(_ api.StreamContext, props map[string]any) error {
	one.feed, _ = props["datasource"].(string)
	return nil
}

func (*source) Connect(_ api.StreamContext, changed api.StatusChangeHandler) error {
	changed(api.ConnectionConnected, "")
	return nil
}

func (one *source) Subscribe(ctx api.StreamContext, ingest api.TupleIngest, _ api.ErrorIngest) error {
	known.add(one.feed, func(row map[string]any, at time.Time) { ingest(ctx, row, nil, at) })
	return nil
}

func (*source) Close(api.StreamContext) error { return nil }

// sink is what rules call when they fire; a list is as many firings as it has rows.
type sink struct{}

func (*sink) Provision(api.StreamContext, map[string]any) error { return nil }

func (*sink) Connect(_ api.StreamContext, changed api.StatusChangeHandler) error {
	changed(api.ConnectionConnected, "")
	return nil
}

func (*sink) Collect(api.StreamContext, api.MessageTuple) error {
	fired.Add(1)
	return nil
}

func (*sink) CollectList(_ api.StreamContext, rows api.MessageTupleList) error {
	fired.Add(int64(rows.Len()))
	return nil
}

func (*sink) Close(api.StreamContext) error { return nil }

// table answers what a join asks for each event.
type table struct{ limits map[string][]map[string]any }

func (*table) Provision(api.StreamContext, map[string]any) error { return nil }

func (*table) Connect(_ api.StreamContext, changed api.StatusChangeHandler) error {
	changed(api.ConnectionConnected, "")
	return nil
}

// The join is by the resource alone.
func (one *table) Lookup(_ api.StreamContext, _, _ []string, values []any) ([]map[string]any, error) {
	return one.limits[values[0].(string)], nil
}

func (*table) Close(api.StreamContext) error { return nil }

// driver feeds the events, cycled, one by one.
type driver struct {
	*order
	taken int64
	// how often rules have to have fired when all events so far went through
	expected int64
}

func (all *driver) take(count int64) {
	size := int64(len(all.Events))
	for ; count > 0; count-- {
		one := &all.Events[all.taken%size]
		all.taken++
		now := all.StartMs + all.taken*all.StepMs
		all.expected += all.firings(one, now)
		at := time.UnixMilli(now)
		for _, read := range one.to.readers {
			read(one.Row, at)
		}
	}
}

// Only tells when the last event went through: the bench counts by a reference of its own.
func (all *driver) firings(one *event, now int64) int64 {
	if !all.OnEdges {
		return one.Meets
	}
	if one.Meets == 0 {
		one.to.unmet = true
		return 0
	}
	if !one.to.unmet {
		return 0
	}
	one.to.unmet = false
	if now < one.to.notBefore {
		return 0
	}
	one.to.notBefore = now + all.CoolDownMs
	return 1
}

// Events that took so many ms of CPU time of the whole process, until all of them went through.
func (all *driver) spend(ms int64) int64 {
	from := all.taken
	until := cpuMs() + float64(ms)
	for batch := int64(1); cpuMs() < until; {
		began := cpuMs()
		all.take(batch)
		if cpuMs()-began < 10 {
			batch *= 2
		}
	}
	waitUntil(func() bool { return fired.Load() >= all.expected })
	return all.taken - from
}

func cpuMs() float64 {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6
}

func waitUntil(holds func() bool) {
	for began := time.Now(); !holds(); time.Sleep(100 * time.Microsecond) {
		if time.Since(began) > time.Minute {
			must(fmt.Errorf("nothing more happened, and %d had fired", fired.Load()))
		}
	}
}

func must(err error) {
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Starts the engine, and gives the address of its HTTP interface.
func start(limits map[string][]map[string]any) string {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	port := free.Addr().(*net.TCPAddr).Port
	must(free.Close())
	modules.RegisterSource("bench", func() api.Source { return &source{} })
	modules.RegisterSink("count", func() api.Sink { return &sink{} })
	modules.RegisterLookupSource("limits", func() api.Source { return &table{limits} })
	modules.RegisterConfHook(func(settings *model.KuiperConf) {
		settings.Basic.RestIp, settings.Basic.RestPort = "127.0.0.1", port
		settings.Basic.Pprof = false
	})
	go cmd.Main()
	address := fmt.Sprintf("http://127.0.0.1:%d", port)
	waitUntil(func() bool {
		answer, err := http.Get(address + "/ping")
		if err == nil {
			must(answer.Body.Close())
		}
		return err == nil
	})
	return address
}

func post(address string, body any) {
	text, err := json.Marshal(body)
	must(err)
	answer, err := http.Post(address, "application/json", bytes.NewReader(text))
	must(err)
	said, err := io.ReadAll(answer.Body)
	must(err)
	must(answer.Body.Close())
	if answer.StatusCode >= 300 {
		must(fmt.Errorf("%s: %s %s", address, answer.Status, said))
	}
}

func main() {
	var given order
	must(json.NewDecoder(os.Stdin).Decode(&given))
	all := driver{order: &given}
	address := start(given.Limits)
	for _, sql := range given.Statements {
		post(address+"/streams", map[string]any{"sql": sql})
	}
	for _, rule := range given.Rules {
		post(address+"/rules", rule)
	}
	waitUntil(func() bool { return known.has(given.Readers) })
	for i := range given.Events {
		given.Events[i].to = known.named[given.Events[i].Feed]
	}
	setUpMs := cpuMs()
	all.spend(given.WarmUpMs)
	cpu, wall := cpuMs(), time.Now()
	events := all.spend(given.MeasureMs)
	result := map[string]any{
		"events": events, "taken": all.taken, "firings": fired.Load(), "setUpMs": setUpMs, "otherCpuMs": 0,
		"cpuMs": cpuMs() - cpu, "wallMs": float64(time.Since(wall).Microseconds()) / 1e3,
	}
	must(json.NewEncoder(os.Stdout).Encode(result))
	os.Exit(0)
}
