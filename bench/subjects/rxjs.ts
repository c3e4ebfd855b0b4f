/** Plain RxJS: a subject per resource, a pipe per rule. */
import { filter, map, Subject as Source, type Observable } from 'rxjs'
import type { BenchEvent } from '../events.ts'
import type { Subject } from '../subject.ts'
import { outcomeOf } from './by-hand.ts'

export const rxjsRaw: Subject = (workload, clock) => {
  let firings = 0
  const act = () => {
    firings++
  }
  const sources = new Map<string, Source<BenchEvent>>()
  const source = (resource: string) => {
    const found = sources.get(resource) ?? new Source<BenchEvent>()
    sources.set(resource, found)
    return found
  }
  if (workload.kind === 'chain') {
    const { resource, steps, limit } = workload
    let values: Observable<number> = source(resource).pipe(map(({ temperature }) => temperature))
    for (const { factor, offset } of steps) values = values.pipe(map((value) => value * factor + offset))
    values.pipe(filter((value) => value > limit)).subscribe(act)
  } else {
    for (const { resource, temperature, humidity } of workload.limits) {
      const events = source(resource)
      const holds = (event: BenchEvent) => event.temperature > temperature && event.humidity > humidity
      if (workload.fires === 'every') events.pipe(filter(holds)).subscribe(act)
      else events.pipe(map(holds)).subscribe(outcomeOf(workload, clock, act))
    }
  }
  return {
    handle(event) {
      sources.get(event.resource)?.next(event)
    },
    waits: false,
    fired: () => firings,
  }
}
