import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import type { CoreEngine } from '../../../src/core/engine/engine.ts'
import type { LiveTask } from '../../../src/core/engine/live-task.ts'
import type { Relation, Rule, Trigger } from '../../../src/core/rule/rule.ts'
import { createEngine, VirtualClock } from '../../../src/index.ts'
import { actPlug } from '../../support/act-plug.ts'
import { rowOf } from '../../support/row-of.ts'

type Values = Readonly<Record<string, unknown>>

const sensors = ['a', 'b', 'c'].map((parameter) => {
  return { label: parameter, resource: 'r', name: 'streamingDataSensor', properties: { parameter, threshold: 10 } }
})

function ruleOf(relations: readonly Relation[], trigger: Partial<Trigger> = { statesTrigger: ['TRUE'] }): Rule {
  const labels = relations.flatMap(({ parentLabels }) => parentLabels)
  return {
    sensors: sensors.filter(({ label }) => labels.includes(label)),
    relations: [...relations],
    actuators: [{ label: 'act', name: 'act' }],
    triggers: [{ sourceLabel: relations.at(-1)?.label ?? '', destinationLabel: 'act', ...trigger }],
  }
}

function gate(label: string, type: 'AND' | 'OR' | 'NAND', ...parentLabels: string[]): Relation {
  const wanted = parentLabels.map((parent) => (parent.length === 1 ? 'Above' : 'TRUE'))
  return { label, type, parentLabels, combinations: [wanted] }
}

const AND = ruleOf([gate('g', 'AND', 'a', 'b')])
const RULES: Readonly<Record<string, Rule>> = {
  and: AND,
  'a gate that needs all': { ...AND, task: { gatesNeedFullObservation: true } },
  'kept observations': { ...AND, task: { resetObservations: false } },
  'begins and ends': ruleOf([gate('g', 'AND', 'a', 'b')], { begins: ['TRUE'], ends: ['TRUE'] }),
  'on a change': ruleOf([gate('g', 'AND', 'a', 'b')], {
    stateChangeTrigger: { stateFrom: 'FALSE', stateTo: 'TRUE' },
  }),
  or: ruleOf([gate('g', 'OR', 'a', 'b')]),
  'not both': ruleOf([gate('g', 'NAND', 'a', 'b')], { statesTrigger: ['FALSE'] }),
  'gates behind gates': ruleOf([
    gate('both', 'AND', 'a', 'b'),
    gate('any', 'OR', 'a', 'c'),
    gate('all', 'AND', 'both', 'any'),
  ]),
  three: ruleOf([gate('g', 'AND', 'a', 'b', 'c')]),
  'one alone': ruleOf([gate('g', 'AND', 'a', 'b')], { sourceLabel: 'b', statesTrigger: ['Above'] }),
  'listed states': ruleOf([
    {
      label: 'g',
      type: 'GENERAL',
      parentLabels: ['a', 'b'],
      combinations: [
        ['Below', 'Above'],
        ['Equal', 'Above'],
      ],
    },
  ]),
}

/** All that can be seen of a task after messages, a second apart. `looks`: after which somebody looks; `isPlain`: on its full state. */
async function played(rule: Rule, messages: readonly Values[], looks: readonly number[], isPlain: boolean) {
  const clock = new VirtualClock(0)
  const seen: string[] = []
  const engine = createEngine({ plugs: [...builtins, actPlug(seen)], scheduler: clock, seed: 1 })
  if (isPlain) engine.events$.subscribe(() => undefined)
  const task = (await engine.start(rule, { id: 't' })) as LiveTask
  const look = () => {
    seen.push(JSON.stringify([task.save(), task.nodes(), task.info(), engine.explain('t', 'act')]))
  }
  for (const [i, values] of messages.entries()) {
    clock.advanceTo(clock.now() + 1000)
    engine.receive({ resource: 'r', ...values })
    if (looks.includes(i)) look()
  }
  look()
  const { rows, vectorized } = engine.stats()
  return {
    seen,
    taken: rows + vectorized,
    hasRow: rowOf(task) !== undefined,
    steps: (engine as CoreEngine).counts.steps,
  }
}

/** The same both ways; quietly without a step of the full state where that can be. */
async function asBoth(rule: Rule, messages: readonly Values[], looks: readonly number[] = []) {
  const quiet = await played(rule, messages, looks, false)
  const plain = await played(rule, messages, looks, true)
  expect(quiet.seen).toEqual(plain.seen)
  expect(quiet.steps).toBe(plain.steps)
  expect(plain.taken).toBe(0)
  return quiet
}

const ONLY_A = [1, 2, 20, 21, 10, 3, 30, 31, 32, 4].map((a) => ({ a }))

describe('a task of which a sensor never had a state', () => {
  it.each([
    'and',
    'a gate that needs all',
    'kept observations',
    'on a change',
    'not both',
    'gates behind gates',
    'three',
    'one alone',
  ])('takes messages that run others without its full state: %s', async (name) => {
    for (let length = 3; length <= ONLY_A.length; length++) {
      const { taken, hasRow } = await asBoth(RULES[name] ?? AND, ONLY_A.slice(0, length))
      expect({ taken, hasRow }).toEqual({ taken: length - 1, hasRow: false })
    }
  })

  // Holds INCOMPLETE-1
  it('takes messages with other fields on its full state', async () => {
    const others = [{ a: 1, x: 1 }, { a: 2 }, { a: 3, x: 2 }, { a: 4 }, { x: 5 }, { a: 6 }]
    const { taken } = await asBoth(AND, [...ONLY_A, ...others])
    expect(taken).toBe(ONLY_A.length - 1)
  })

  // Holds INCOMPLETE-2
  it('fires what needs no other sensor', async () => {
    const { seen, taken } = await asBoth(RULES['or'] ?? AND, ONLY_A)
    expect(seen).toHaveLength(6)
    expect(taken).toBe(0)
  })

  // Holds INCOMPLETE-3
  it('keeps the states of sensors that those messages do not run', async () => {
    const { taken } = await asBoth(RULES['three'] ?? AND, [{ c: 30 }, { a: 1, c: 2 }, { c: 3 }, ...ONLY_A])
    expect(taken).toBe(ONLY_A.length - 1)
  })

  it('is what the plain executor makes of it, whoever looks at whatever time', async () => {
    const value = fc.constantFrom(1, 10, 20)
    const part = fc.constantFrom<readonly string[]>(['a'], ['a'], ['a'], ['c'], ['a', 'c'], ['a', 'b'])
    const one = fc.record({ a: value, b: value, c: value, times: fc.nat(5), part })
    const messages = fc.array(one, { minLength: 1, maxLength: 6 }).map((all) =>
      all.flatMap(({ part: names, times, ...values }): Values[] => {
        const own = Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)))
        return Array.from({ length: times + 1 }, (_, i) => (i % 2 === 0 ? own : { ...own, a: 21 - (own['a'] ?? 0) }))
      }),
    )
    const looks = fc.array(fc.nat(20), { maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...Object.keys(RULES)), messages, looks, async (name, list, at) => {
        await asBoth(RULES[name] ?? AND, list, at)
      }),
    )
  })
})
