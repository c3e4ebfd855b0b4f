/**
 * Tests that the loop generated from a rule fires as the engine does, at the same messages; or that it is absent, with
 * a reason.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { conditionSource } from '../../src/bench/condition-source.ts'
import { limitsOf } from '../../src/bench/limit.ts'
import { Preparer } from '../../src/core/engine/prepare.ts'
import { CoreEngine } from '../../src/core/engine/engine.ts'
import { createRegistry } from '../../src/core/plug/registry.ts'
import type { Rule } from '../../src/core/rule/rule.ts'
import { VirtualClock } from '../../src/core/simulate/virtual-clock.ts'
import type { Message } from '../../src/core/task/origin.ts'
import { generatorHere } from '../../src/platform/generate.ts'
import { sensor } from '../support/rule-nodes.ts'

const generate = generatorHere() ?? (() => () => undefined)
const registry = createRegistry(builtins)
const STEP_MS = 500

/** `<index of the message>:<resource>:<actuator>` */
type Firings = readonly string[]

async function byEngine(rules: readonly (readonly [Rule, string])[], messages: readonly Message[]): Promise<Firings> {
  const clock = new VirtualClock(0)
  let ids = 0
  const engine = new CoreEngine({ plugs: builtins, scheduler: clock, ids: () => `id-${ids++}`, seed: 1, generate })
  for (const [i, [rule, resource]] of rules.entries()) await engine.start(rule, { id: `${i}`, resource })
  const firings: string[] = []
  let at = 0
  engine.events$.subscribe((event) => {
    if (event.type === 'fired') firings.push(`${at}:${event.task}:${event.node}`)
  })
  for (const message of messages) {
    clock.advanceTo(at * STEP_MS)
    engine.receive(message)
    await engine.settled()
    at++
  }
  await engine.close()
  return firings.sort()
}

function limitsFor(rules: readonly (readonly [Rule, string])[], messages: readonly Message[]) {
  const preparer = new Preparer(registry)
  const tasks = rules.map(([rule, resource]) => {
    return { resource, rule: preparer.prepare(rule, { resource }) }
  })
  return { limits: limitsOf(tasks, messages, generate), tasks }
}

/** In each form of the limit; undefined when it has none. */
function byLimits(
  rules: readonly (readonly [Rule, string])[],
  messages: readonly Message[],
): readonly Firings[] | undefined {
  const { limits, tasks } = limitsFor(rules, messages)
  if ('reason' in limits) return undefined
  return limits.map((limit) => {
    const firings: string[] = []
    let at = 0
    const take = limit.open({
      act: (task, slot) => firings.push(`${at}:${task}:${tasks[task]?.rule.graph.actuators[slot]?.label}`),
      now: () => at * STEP_MS,
    })
    for (const message of messages) {
      take(message)
      at++
    }
    return firings.sort()
  })
}

const PARAMETERS = ['a', 'b', 'c'] as const
const STATES = ['Below', 'Equal', 'Above'] as const

const sensors = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 3 }).map((limits) =>
  limits.map((threshold, i) => ({
    label: `s${i}`,
    name: 'streamingDataSensor',
    resource: '$',
    properties: { parameter: PARAMETERS[i] ?? 'a', threshold },
  })),
)

const state = fc.constantFrom(...STATES)
const truth = fc.constantFrom('TRUE', 'FALSE')

/** One gate over all sensors, triggers of it and of the first sensor, with and without cool-downs. */
const rules: fc.Arbitrary<Rule> = sensors.chain((all) =>
  fc
    .record({
      type: fc.constantFrom('AND' as const, 'OR' as const, 'NAND' as const, 'GENERAL' as const),
      row: fc.tuple(...all.map(() => state)),
      byState: fc.option(truth, { nil: undefined }),
      byChange: fc.option(fc.tuple(truth, fc.constantFrom('TRUE', 'FALSE', '*')), { nil: undefined }),
      bySensor: fc.option(state, { nil: undefined }),
      each: fc.boolean(),
      begins: fc.option(truth, { nil: undefined }),
      ends: fc.option(state, { nil: undefined }),
      coolDown: fc.constantFrom(0, 1, 3),
      /** triggers to each actuator */
      together: fc.constantFrom(1, 2, 4),
      resetObservations: fc.boolean(),
    })
    .map(({ type, row, byState, byChange, bySensor, each, begins, ends, coolDown, together, ...task }): Rule => {
      const trigger = (sourceLabel: string, i: number) => {
        const destinationLabel = `act${Math.floor(i / together)}`
        return { sourceLabel, destinationLabel, invocationPolicy: i % 3 === 0 ? coolDown : 0 }
      }
      const triggers = [
        ...(byState === undefined ? [] : [{ ...trigger('gate', 0), statesTrigger: [byState] }]),
        ...(byChange === undefined || byChange[0] === byChange[1]
          ? []
          : [{ ...trigger('gate', 1), stateChangeTrigger: { stateFrom: byChange[0], stateTo: byChange[1] } }]),
        ...(bySensor === undefined ? [] : [{ ...trigger('s0', 2), statesTrigger: [bySensor] }]),
        ...(each ? [trigger('s0', 3)] : []),
        ...(begins === undefined ? [] : [{ ...trigger('gate', 4), begins: [begins] }]),
        ...(ends === undefined ? [] : [{ ...trigger('s0', 5), ends: [ends] }]),
      ]
      return {
        sensors: all,
        relations: [{ label: 'gate', type, parentLabels: all.map(({ label }) => label), combinations: [row] }],
        actuators: [0, 1, 2, 3, 4, 5].map((i) => ({ label: `act${i}`, name: 'log', properties: { message: 'x' } })),
        triggers,
        task,
      }
    })
    .filter(({ triggers = [] }) => triggers.length > 0),
)

const number = fc.integer({ min: -1, max: 4 })
/** Whether values may be missing, and whether they may be null or NaN. */
const kinds = fc.record({ missing: fc.boolean(), holes: fc.boolean() })
const messages = kinds.chain(({ missing, holes }) => {
  const value = holes ? fc.oneof({ weight: 4, arbitrary: number }, fc.constantFrom(null, Number.NaN)) : number
  const message = fc.record({ a: value, b: value, c: value }, missing ? { requiredKeys: [] } : {})
  return fc
    .array(message, { minLength: 1, maxLength: 25 })
    .map((all) => all.map((one): Message => ({ resource: 'r', ...one })))
})

describe('the limit of a rule', () => {
  // Holds LIMIT-1, LIMIT-2
  it('fires as the engine fires, at the same messages', async () => {
    let made = 0
    await fc.assert(
      fc.asyncProperty(rules, messages, async (rule, all) => {
        const limits = byLimits([[rule, 'r']], all)
        if (limits === undefined) return
        made++
        const engine = await byEngine([[rule, 'r']], all)
        for (const firings of limits) expect(firings).toEqual(engine)
      }),
      { numRuns: 300 },
    )
    expect(made).toBeGreaterThan(50)
  })

  it('evaluates many rules of one resource one by one, or sorted with an early exit', async () => {
    const above = (temperature: number, humidity: number): Rule => ({
      sensors: [
        sensor('warm', 'streamingDataSensor', { parameter: 'a', threshold: temperature }),
        sensor('damp', 'streamingDataSensor', { parameter: 'b', threshold: humidity }),
      ],
      relations: [{ label: 'both', type: 'AND', parentLabels: ['warm', 'damp'], combinations: [['Above', 'Above']] }],
      actuators: [{ label: 'act', name: 'log', properties: { message: 'x' } }],
      triggers: [{ sourceLabel: 'both', destinationLabel: 'act', statesTrigger: ['TRUE'] }],
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(number, number), { minLength: 2, maxLength: 6 }),
        messages,
        async (limits, all) => {
          const several = limits.map(([a, b]) => [above(a, b), 'r'] as const)
          const ways = byLimits(several, all) ?? []
          const engine = await byEngine(several, all)
          expect(ways.length).toBeGreaterThan(0)
          for (const firings of ways) expect(firings).toEqual(engine)
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('the source of a limit', () => {
  const rule = (...more: readonly Partial<Rule>[]): Rule =>
    Object.assign(
      {
        sensors: [sensor('hot', 'streamingDataSensor', { parameter: 't', threshold: 90 })],
        actuators: [{ label: 'act', name: 'log', properties: { message: 'x' } }],
        triggers: [{ sourceLabel: 'hot', destinationLabel: 'act', statesTrigger: ['Above'] }],
      },
      ...more,
    ) as Rule
  const even: readonly Message[] = [{ resource: 'r', t: 1 }]
  const sourceOf = (one: Rule, all = even) => {
    const { limits } = limitsFor([[one, 'r']], all)
    return 'reason' in limits ? limits.reason : (limits[0]?.source ?? '')
  }

  it('contains only a comparison if all messages have the value', () => {
    expect(sourceOf(rule()).split('\n').slice(3)).toEqual([
      'let v0 = message["t"]',
      'const own = at',
      'if (v0 > 90) { act(own, 0) }',
      '}',
    ])
  })

  it('keeps values that messages may lack, and tests whether the sensor runs at all', () => {
    const source = sourceOf(rule(), [...even, { resource: 'r' }])
    expect(source).toContain('if (v0 === undefined) v0 = at.v0\nelse at.v0 = v0')
    expect(source).toContain('message["t"] !== undefined')
  })

  it('reads the time only for a cool-down', () => {
    expect(sourceOf(rule())).not.toContain('now')
    expect(
      sourceOf(
        rule({
          triggers: [{ sourceLabel: 'hot', destinationLabel: 'act', statesTrigger: ['Above'], invocationPolicy: 60 }],
        }),
      ),
    ).toContain('now() >= own.f0 + 60000')
  })

  it('quotes names of fields', () => {
    const name = '"] || process.exit() || message["'
    const strange = rule({
      sensors: [sensor('hot', 'streamingDataSensor', { parameter: name, threshold: 1 })],
    })
    expect(sourceOf(strange, [{ resource: 'r', [name]: 2 }])).toContain(JSON.stringify(name))
  })

  it.each<readonly [string, Rule, RegExp]>([
    ['a clock of the task', rule({ task: { type: 'periodic', frequency: 1000 } }), /type periodic/],
    [
      'a plug that does more',
      rule({
        sensors: [{ label: 'hot', name: 'hysteresis', resource: '$', properties: { value: 't', enter: 2, leave: 1 } }],
        triggers: [],
      }),
      /hot is a hysteresis/,
    ],
    [
      'sensors that run sensors',
      rule({
        sensors: ['t', 'u'].map((parameter) => ({
          label: parameter,
          name: 'streamingDataSensor',
          resource: '$',
          properties: { parameter, threshold: 1 },
        })),
        triggers: [{ sourceLabel: 't', destinationLabel: 'u' }],
      }),
      /runs the sensor u/,
    ],
  ])('is absent for %s, with a reason', (_, one, reason) => {
    expect(sourceOf(one)).toMatch(reason)
  })

  it('is absent for kept observations if values may be null', () => {
    const kept = rule({ task: { resetObservations: false } })
    expect(sourceOf(kept, [{ resource: 'r', t: null }])).toMatch(/keeps its state/)
    expect(sourceOf(kept)).toContain('act(own, 0)')
  })

  it('is absent for texts where numbers are compared', () => {
    expect(sourceOf(rule(), [{ resource: 'r', t: '95' }])).toMatch(/t, which hot compares, is not always a number/)
  })
})

describe('conditions as source', () => {
  it.each<readonly [unknown, string | undefined, readonly string[]]>([
    [{ '>': [{ var: 'a' }, 25] }, '($0 > 25)', ['a']],
    [{ and: [{ '<': [1, { var: 'a' }, 5] }, { '!': { var: 'b' } }] }, '((1 < $0 && $0 < 5) && !($1))', ['a', 'b']],
    ['a > 25 && (b < 3 || !c)', '(($0 > 25) && (($1 < 3) || !($2)))', ['a', 'b', 'c']],
    ['a + b * 2 >= 4', '(($0 + ($1 * 2)) >= 4)', ['a', 'b']],
    ['contains(a, "x")', undefined, []],
    ['nodes.x.state == "y"', undefined, []],
    ['now > 3', undefined, []],
    ['a > 1; process.exit()', undefined, []],
    [{ var: 'a.b' }, undefined, []],
    [{ in: [{ var: 'a' }, [1]] }, undefined, []],
  ])('%j', (condition, source, parameters) => {
    expect(conditionSource(condition)).toEqual(source === undefined ? undefined : { source, parameters })
  })
})
