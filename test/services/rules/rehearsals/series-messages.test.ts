import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../../plugins/index.ts'
import { simulate, type Message } from '../../../../src/index.ts'
import { createRegistry } from '../../../../src/core/plug/registry.ts'
import { rehearsePart } from '../../../../src/services/rules/rehearsals/rehearsal-run.ts'
import type { RehearsalHistory } from '../../../../src/services/rules/rehearsals/rehearsal-history.ts'
import { SeriesMessages } from '../../../../src/services/rules/rehearsals/series-messages.ts'
import { dryPlugs } from '../../../../src/services/rules/tools/dry-plugs.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import type { Sample } from '../../../../src/storage/series.ts'
import { randomRules } from '../../../../src/testing/arbitraries/rules.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

const RESOURCES = ['r1', 'r2', 'r3'] as const
const number = fc.integer({ min: 0, max: 15 })
const metric = fc.constantFrom('x', 'y')
const PROPERTIES: Readonly<Record<string, fc.Arbitrary<Record<string, unknown>>>> = {
  hysteresis: fc.record({ value: metric, enter: number, leave: number }).filter(({ enter, leave }) => enter !== leave),
  streamingDataSensor: fc.record({ parameter: metric, threshold: number }),
  noDataFor: fc.record({ duration: fc.constantFrom('PT3S', 'PT10S') }),
  holdsFor: fc.record({ condition: fc.constantFrom('x > 7', 'y < 5'), duration: fc.constantFrom('PT2S', 'PT5S') }),
  log: fc.record({ message: fc.constant('fired') }),
  createAlarm: fc.record({ type: fc.constantFrom('A', 'B') }),
}
const PLUGS = builtins.filter(({ name, kind }) => name in PROPERTIES && (name !== 'createAlarm' || kind === 'actuator'))
const rules = randomRules({
  plugs: PLUGS,
  properties: PROPERTIES,
  resources: RESOURCES,
  task: fc.constantFrom({}, { type: 'periodic' as const, frequency: 7_500 }),
})

const FROM = Date.UTC(2026, 0, 1)
const SECOND = 1_000
const LENGTH = 60

/** Readings of some resources, with at most one per time. */
const readings = fc
  .uniqueArray(
    fc.record({
      resource: fc.nat(RESOURCES.length - 1),
      metric: fc.constantFrom('x', 'y'),
      second: fc.nat(LENGTH - 1),
      value: fc.oneof(fc.integer({ min: 0, max: 15 }), fc.boolean(), fc.constant('text')),
    }),
    { selector: ({ resource, metric, second }) => `${resource} ${metric} ${second}`, maxLength: 80 },
  )
  .map((list) =>
    list.map(({ resource, metric, second, value }): Sample => ({
      resource: RESOURCES[resource] ?? 'r1',
      metric,
      time: FROM + second * SECOND + resource,
      value,
    })),
  )

async function historyOf(samples: readonly Sample[], page: number): Promise<RehearsalHistory> {
  const { series } = openMemory().tenant('acme')
  await series.append({ samples })
  return {
    metrics: async (resource) => (await series.latest(resource)).map(({ metric }) => metric).toSorted(),
    samples: (resource, metric, from, until) =>
      series.columns({ resources: [resource], metric, from, until, limit: page }),
    newest: async () => undefined,
    counts: async () => ({}),
  }
}

/** Merges samples with equal times into messages. */
function messagesOf(samples: readonly Sample[]): readonly Message[] {
  const byTime = new Map<number, Record<string, unknown> & Message>()
  for (const { resource, metric, time, value } of samples.toSorted((a, b) => a.metric.localeCompare(b.metric))) {
    const message = byTime.get(time) ?? { resource, timestamp: time }
    message[metric] = value
    byTime.set(time, message)
  }
  return [...byTime.values()].toSorted((a, b) => Number(a.timestamp) - Number(b.timestamp))
}

describe('messages of series', () => {
  it('are the samples of one time, whatever the size of a page', () =>
    fc.assert(
      fc.asyncProperty(readings, fc.integer({ min: 1, max: 5 }), fc.nat(LENGTH), async (samples, page, first) => {
        const range = { resources: RESOURCES, from: FROM + first * SECOND, until: FROM + LENGTH * SECOND - 1, page }
        const read = new SeriesMessages(await historyOf(samples, page), range, () => undefined)
        const found: Message[] = []
        for (let next = await read.next(); next.done !== true; next = await read.next()) found.push(next.value)
        expect(found).toEqual(messagesOf(samples).filter(({ timestamp }) => Number(timestamp) >= range.from))
      }),
      runs(100),
    ))
})

describe('a rehearsal on series', () => {
  it('is the simulation of the same samples', () =>
    fc.assert(
      fc.asyncProperty(readings, rules, async (samples, rule) => {
        const span = { from: FROM, until: FROM + LENGTH * SECOND }
        const plugs = dryPlugs(PLUGS, new Set())
        const simulated = await simulate(rule, { plugs, messages: messagesOf(samples), ...span, resource: 'r1' })
        const part = await rehearsePart(
          { registry: createRegistry(PLUGS), ports: {}, now: () => span.until },
          {
            rule: { document: rule, settings: {} },
            compareWith: { document: rule, settings: {} },
            variants: [{ document: rule, settings: {} }],
            resources: ['r1'],
            messages: undefined,
            ...span,
            seed: 1,
            calls: 'none',
            order: undefined,
            initialState: 'cold',
            live: undefined,
            edit: undefined,
            limits: {},
            eventTypes: ['state', 'gate', 'fired', 'held', 'evicted', 'stopped', 'failed'],
            most: 1_000,
            mostEvents: 10_000,
          },
          await historyOf(samples, 20_000),
        )
        const watched = new Set(['state', 'gate', 'fired', 'held', 'evicted', 'stopped', 'failed'])
        const events = simulated.events.filter(({ type }) => watched.has(type))
        expect(part.events).toEqual(events.map((event) => ({ ...event, task: 'r1' })))
        const firings = events.filter(({ type }) => type === 'fired').length
        expect(part.counts.firings).toBe(firings)
        expect(part.variants).toEqual([{ firings, alarms: part.alarms.raised }])
        expect(part.differenceCounts).toEqual({ equal: firings, added: 0, removed: 0, moved: 0 })
      }),
      runs(100),
    ))
})
