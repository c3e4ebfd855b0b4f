/**
 * Checks that a change of a running task keeps what it does not touch: a change without differences has no effect, and
 * a change of one node affects only the nodes that depend on it.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Rule } from '../../src/index.ts'
import { latencyCases } from '../support/arbitraries/latency-cases.ts'
import { runs } from '../support/arbitraries/runs.ts'
import type { LatencyCase } from '../support/latency/latency-case.ts'
import { runCase, type Observed, type RunOptions } from '../support/latency/run-case.ts'

const slowly = (given: LatencyCase, options?: RunOptions) =>
  runCase(given, (clock) => ({ clock, latencies: given.latencies }), options)

const moments = fc
  .array(fc.nat(4000), { minLength: 1, maxLength: 3 })
  .map((times) => times.toSorted((one, other) => one - other))

/** Changes the name and canvas places, and adds a first sensor that nothing ever runs. */
function asBefore(rule: Rule): Rule {
  const { sensors = [], task } = rule
  const idle = { label: 'idle', name: 'compare', resource: 'nowhere', tickTrigger: false }
  const moved = sensors.map((sensor) => ({ ...sensor, position: [3, 4] as const, description: 'moved' }))
  return { ...rule, sensors: [idle, ...moved], task: { ...task, name: 'renamed', tags: { floor: 1 } } }
}

type NodeState = readonly [label: string, state: Record<string, unknown>, firing: unknown]

/** Drops the nodes' places of triggers and links, which do not affect what a node is. */
function withoutIdle({ state }: Observed): unknown {
  const { nodes, ...rest } = state as { nodes: readonly NodeState[] }
  return { ...rest, nodes: nodes.filter(([label]) => label !== 'idle') }
}

// Holds CARRY-1, CARRY-2
describe('a change that touches nothing', () => {
  it('at any moment, with calls open, and through crashes: results do not differ', () =>
    fc.assert(
      fc.asyncProperty(
        latencyCases({ pauses: true, ahead: true }),
        moments,
        fc.boolean(),
        async (given, times, dies) => {
          const crashes = dies ? given.crashes : []
          const changed = asBefore(given.rule)
          const changes = times.map((at) => ({ at, rule: changed }))
          const measure = await slowly(given, { crashes })
          const one = await slowly(given, { crashes, changes })
          const seen = ({ events, calls, attempts, broken }: Observed) => ({ events, calls, attempts, broken })
          expect(seen(one)).toEqual(seen(measure))
          // Latency decides which calls a crash repeats, and which calls ahead are wasted.
          const mayBeAhead = given.rule.sensors?.some(({ name }) => name === 'ahead') === true
          if (!dies && !mayBeAhead) expect(one.made).toBe(measure.made)
          expect(withoutIdle(one)).toEqual(withoutIdle(measure))
        },
      ),
      runs(70),
    ))
})

/**
 * Returns the labels that may differ when the first sensor does: its dependents, nodes that read it, and nodes that use
 * randomness.
 */
function followers({ sensors = [], relations = [], triggers = [] }: Rule): ReadonlySet<string> {
  const found = new Set([
    's0',
    ...sensors.filter(({ name }) => name === 'dice' || name === 'look').map((one) => one.label),
  ])
  for (let size = -1; size !== found.size;) {
    size = found.size
    for (const { label, parentLabels } of relations) if (parentLabels.some((one) => found.has(one))) found.add(label)
    for (const { sourceLabel, destinationLabel } of triggers) if (found.has(sourceLabel)) found.add(destinationLabel)
    for (const { label, properties } of sensors) {
      const text = JSON.stringify(properties ?? {})
      if ([...found].some((one) => text.includes(`nodes.${one}.`))) found.add(label)
    }
  }
  return found
}

function shown({ state }: Observed, without: ReadonlySet<string>): unknown {
  const { nodes, gates } = state as { nodes: readonly NodeState[]; gates: Record<string, unknown> }
  const left = nodes.filter(([label]) => !without.has(label) && label.startsWith('s'))
  return [left.map(([label, one]) => [label, one]), Object.entries(gates).filter(([label]) => !without.has(label))]
}

describe('a change that touches one node', () => {
  it('does not affect nodes that do not depend on it', () =>
    fc.assert(
      fc.asyncProperty(latencyCases(), moments, async (given, [at = 0]) => {
        // Later sensors of a sequence wait for a result that is held back.
        fc.pre(given.rule.sensors?.[0]?.name !== 'delay')
        const sensors = (given.rule.sensors ?? []).map((one) =>
          one.label === 's0' ? { ...one, properties: { ...one.properties, limit: 33 } } : one,
        )
        const rule = { ...given.rule, sensors }
        const one = await slowly(given, { changes: [{ at, rule }] })
        const without = followers(given.rule)
        expect(shown(one, without)).toEqual(shown(await slowly(given), without))
        expect(one.broken).toEqual([])
      }),
      runs(70),
    ))
})
