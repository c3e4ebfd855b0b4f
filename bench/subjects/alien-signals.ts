/** alien-signals: a signal per resource that holds its last event, a computed per condition, an effect per rule. */
import type { BenchEvent } from '../events.ts'
import type { Subject } from '../subject.ts'
import { outcomeOf, peerPackage } from './by-hand.ts'

interface Signals {
  signal<T>(initial: T): { (): T; (value: T): void }
  computed<T>(getter: () => T): () => T
  effect(run: () => void): void
}

export const alienSignals: Subject = async (workload, clock) => {
  const { signal, computed, effect } = await peerPackage<Signals>('alien-signals')
  let firings = 0
  const act = () => {
    firings++
  }
  const nothing = { event: { resource: '', temperature: Number.NaN, humidity: Number.NaN } }
  const readings = new Map<string, ReturnType<typeof signal<{ event: BenchEvent }>>>()
  const reading = (resource: string) => {
    const found = readings.get(resource) ?? signal(nothing)
    readings.set(resource, found)
    return found
  }
  if (workload.kind === 'chain') {
    const last = reading(workload.resource)
    let value = computed(() => last().event.temperature)
    for (const { factor, offset } of workload.steps) {
      const before = value
      value = computed(() => before() * factor + offset)
    }
    effect(() => {
      // Also reads the event, so that equal values of two events act twice.
      if (last() !== nothing && value() > workload.limit) act()
    })
  } else {
    for (const { resource, temperature, humidity } of workload.limits) {
      const last = reading(resource)
      const warm = computed(() => last().event.temperature > temperature)
      const damp = computed(() => last().event.humidity > humidity)
      const outcome = outcomeOf(workload, clock, act)
      effect(() => {
        if (last() !== nothing) outcome(warm() && damp())
      })
    }
  }
  return {
    handle(event) {
      // In a holder of its own: the same event again would be no change, but it is a new one.
      readings.get(event.resource)?.({ event })
    },
    waits: false,
    fired: () => firings,
  }
}
