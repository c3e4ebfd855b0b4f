import { makeEvents, resourceNames } from '../events.ts'
import { independentFirings, type Limits, type ThresholdWorkload } from '../workload.ts'

/** Which resources events are about: always the first one, or any of them at random. */
export type Hits = 'one' | 'all'

export function growthName(rules: number, hits: Hits): string {
  return `growth-${hits}-${rules}`
}

/** Growth: so many rules, one per resource, each with limits of its own. Undefined for a name of another kind. */
export function growthNamed(name: string): ThresholdWorkload | undefined {
  const [, hits, count] = /^growth-(one|all)-(\d{1,7})$/.exec(name) ?? []
  if (hits === undefined) return undefined
  const resources = resourceNames(Number(count))
  const events = makeEvents(hits === 'one' ? resources.slice(0, 1) : resources)
  const limits = resources.map((resource, i): Limits => {
    return { resource, temperature: 20 + (i % 101) / 10, humidity: 50 + (i % 21) }
  })
  const byResource = new Map(limits.map((limit) => [limit.resource, limit]))
  return {
    kind: 'threshold',
    name,
    title: `${count} rules, events about ${hits}`,
    events,
    limits,
    onePerResource: true,
    fires: 'every',
    coolDownMs: 0,
    expected: independentFirings(events, (event) => {
      const limit = byResource.get(event.resource)
      return limit && event.temperature > limit.temperature && event.humidity > limit.humidity ? 1 : 0
    }),
  }
}
