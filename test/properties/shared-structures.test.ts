import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { AppError } from '../../src/kernel/errors.ts'
import { Preparer } from '../../src/core/engine/prepare.ts'
import type { Prepared } from '../../src/core/engine/prepared.ts'
import { createRegistry } from '../../src/core/plug/registry.ts'
import type { PlugNode, Rule, TaskSettings } from '../../src/core/rule/rule.ts'
import { createEngine, VirtualClock, type SavedTask, type Task } from '../../src/index.ts'
import { ruleArbitrary } from '../support/arbitraries/rules.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { scriptArbitrary } from '../support/arbitraries/scripts.ts'
import { sensorsOf } from '../support/model/rule-reading.ts'
import { type EngineRunOptions, runEngine } from '../support/model/run-engine.ts'
import type { Script } from '../support/model/script.ts'
import { sensor } from '../support/rule-nodes.ts'

type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never
type Properties = Readonly<Record<string, unknown>>

/** Returns the rule with changed properties: one overlay per node. */
function varied(rule: Rule, overlays: readonly (Properties | undefined)[]): Rule {
  let i = 0
  const vary = <N extends PlugNode>(node: N): N => {
    const overlay = overlays[i++ % overlays.length]
    return overlay === undefined ? node : { ...node, properties: { ...node.properties, ...overlay } }
  }
  return {
    ...rule,
    ...(rule.sensors && { sensors: rule.sensors.map(vary) }),
    ...(rule.actuators && { actuators: rule.actuators.map(vary) }),
  }
}

const usual = fc.option(
  fc.record(
    { key: fc.constantFrom('x', 'y'), limit: fc.constantFrom(4, 5, 7.5, 10), step: fc.constantFrom(1, 3) },
    { requiredKeys: [] },
  ),
  { nil: undefined },
)
const overlays = fc.array(usual, { minLength: 1, maxLength: 5 })

async function seen(rule: Rule, script: Script, options: EngineRunOptions = {}): Promise<string[]> {
  const end: string[] = []
  const atEnd = (task: Task): void => {
    for (const { label } of [...sensorsOf(rule), ...(rule.relations ?? []), ...(rule.actuators ?? [])]) {
      end.push(JSON.stringify([label, task.node(label)]))
    }
    end.push(JSON.stringify(task.info()))
  }
  const events = await runEngine(rule, script, { ...options, atEnd })
  return [...events.map((event) => JSON.stringify(event)), ...end]
}

// Holds STRUCT-1, LIVE-1
describe('a rule beside one that differs in properties alone', () => {
  it('does what it does alone', async () => {
    const cases = ruleArbitrary().chain((rule) => fc.tuple(fc.constant(rule), overlays, scriptArbitrary(rule)))
    await fc.assert(
      fc.asyncProperty(cases, async ([rule, over, script]) => {
        const other = varied(rule, over)
        expect(await seen(other, script, { beside: rule })).toEqual(await seen(other, script))
        expect(await seen(rule, script, { beside: other })).toEqual(await seen(rule, script))
      }),
      runs(60),
    )
  })
})

const plugs = createRegistry(builtins)
const texts = [
  'plain',
  '${streamdata.temperature}',
  'x ${variables.a} y',
  '${broken',
  '\\${',
  'META.$.x',
  '',
  '__proto__',
]
const value = fc.oneof(
  { weight: 4, arbitrary: fc.double({ noNaN: true, min: -50, max: 50 }) },
  fc.constantFrom<unknown>(...texts, 'temperature', 'humidity', 5, -0, true, null, [1, 2], { deep: ['${taskId}'] }),
  fc.constantFrom<unknown>(undefined, Number.NaN, Number.POSITIVE_INFINITY, new Date(0), () => 1, { constructor: 1 }),
)
const sensorProperties = fc.dictionary(fc.constantFrom('threshold', 'parameter', 'more'), value, { maxKeys: 3 })
const usualCondition = 'streamdata.temperature > 7'
const otherCondition = fc.constantFrom<unknown>(
  { '>': [{ var: 'temperature' }, 5] },
  { '>': [{ var: 'temperature' }, 6] },
  { '>': [{ var: 'humidity' }, 6] },
  'nodes.warm.rawData.data > 7',
  'nodes.nobody.rawData.data > 7',
  'streamdata.temperature > 8',
  'streamdata.',
)
/** Usually returns the value itself: rules with many differences share nothing. */
const mostly = <T>(value: T, other: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: other })
const named = fc.record(
  {
    name: fc.constantFrom('a', 'b', ''),
    resource: fc.constantFrom('r', 's', ''),
    type: fc.constant('reactive' as const),
  },
  { requiredKeys: ['type'] },
)
const change = fc.record({
  warm: sensorProperties,
  condition: mostly<unknown>(usualCondition, otherCondition),
  task: fc.oneof(fc.constant(undefined), named),
  label: mostly('both', fc.constant('other')),
})
const request = mostly<TaskSettings>(
  { resource: 'r' },
  fc.constantFrom<TaskSettings>(
    {},
    { resource: '' },
    { name: 'mine', resource: 's' },
    { type: 'periodic', frequency: 1000 },
    { type: 'periodic' },
  ),
)

function ruleOf({ warm, condition: holds, task, label }: Drawn<typeof change>): Rule {
  return {
    sensors: [
      sensor('warm', 'streamingDataSensor', { parameter: 'temperature', threshold: 3, ...warm }),
      { label: 'holds', name: 'condition', resource: '$', properties: { condition: holds } },
    ],
    relations: [{ label, type: 'AND', parentLabels: ['warm', 'holds'], combinations: [['Above', 'True']] }],
    actuators: [{ label: 'siren', name: 'log', properties: { message: 'hot' } }],
    triggers: [{ sourceLabel: label, destinationLabel: 'siren', statesTrigger: ['TRUE'] }],
    ...(task && { task }),
  }
}

/** Returns everything observable about what was prepared. */
function told(prepare: () => Prepared): unknown {
  try {
    const { rule, graph, properties, settings, warnings, resource } = prepare()
    const nodes = [...graph.sensors, ...graph.actuators].map((node) => {
      const { uses, needs, ahead, isConstant } = node.call
      const { constant, compiled, prepared } = properties.of(node.call)
      const parameters = node.kind === 'sensor' ? node.parameters : undefined
      const known = { fixed: compiled.fixed, constant, isPrepared: prepared !== undefined }
      return { uses, needs, ahead, isConstant, parameters, known, given: properties.properties[node.call.index] }
    })
    return JSON.stringify({ rule, nodes, settings, warnings, resource: resource ?? null })
  } catch (error) {
    if (error instanceof AppError) return JSON.stringify([error.code, error.message, error.issues])
    throw error
  }
}

// Holds STRUCT-1
describe('a preparer that knows other rules', () => {
  it('returns what one returns that knows none', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(change, request), { minLength: 2, maxLength: 8 }), (all) => {
        const knowing = new Preparer(plugs)
        for (const [changed, settings] of all) {
          const rule = ruleOf(changed)
          const alone = told(() => new Preparer(plugs).prepare(rule, settings))
          expect(told(() => knowing.prepare(rule, settings))).toBe(alone)
          expect(told(() => knowing.prepare(rule, settings))).toBe(alone)
        }
      }),
      runs(300),
    )
  })

  it('shares the graph and keeps what is its own', () => {
    const preparer = new Preparer(plugs)
    const usualRule = { warm: {}, condition: 'streamdata.temperature > 7', task: undefined, label: 'both' as const }
    const [first, second] = [{ threshold: 3 }, { threshold: 4 }].map((warm) =>
      preparer.prepare(ruleOf({ ...usualRule, warm })),
    )
    expect(second?.graph).toBe(first?.graph)
    expect(second?.properties).not.toBe(first?.properties)
    const third = preparer.prepare(ruleOf({ ...usualRule, warm: { parameter: 'humidity' } }))
    expect(third.graph).not.toBe(first?.graph)
  })
})

const plain = { warm: {}, condition: usualCondition, task: undefined, label: 'both' as const }
const reading = (name: string): Rule => ruleOf({ ...plain, warm: { threshold: `\${variables.${name}}` } })
const { sensors = [], ...others } = ruleOf(plain)

// Holds STRUCT-1
describe('a rule that is almost one that is known', () => {
  it.each<[string, Rule, Rule]>([
    ['reads another variable', reading('a'), reading('b')],
    ['reads one where the other has a number', reading('a'), ruleOf(plain)],
    ['has a number where the other reads one', ruleOf(plain), reading('a')],
    ['has its lists in another order', ruleOf(plain), { ...others, sensors }],
    ['has its fields in another order', ruleOf(plain), { sensors: sensors.map(reversed), ...others }],
    [
      'has its properties in another order',
      ruleOf(plain),
      ruleOf({ ...plain, warm: reversed({ threshold: 4, more: 5 }) }),
    ],
    [
      'has the fields of a relation in another order',
      ruleOf(plain),
      { ...ruleOf(plain), relations: (ruleOf(plain).relations ?? []).map(reversed) },
    ],
    ['brings a field that nobody reads', ruleOf(plain), { ...ruleOf(plain), more: 1 } as Rule],
    ['is in a list of another length', ruleOf(plain), { ...others, sensors: [...sensors, ...sensors] }],
  ])('%s: it is prepared as alone', (_, first, second) => {
    const knowing = new Preparer(plugs)
    knowing.prepare(first)
    expect(told(() => knowing.prepare(second))).toBe(told(() => new Preparer(plugs).prepare(second)))
  })

  it('does not change with the object that was handed in', () => {
    const above = (limit: number) => ({ ...plain, condition: { '>': [{ var: 'temperature' }, limit] } })
    const knowing = new Preparer(plugs)
    knowing.prepare(ruleOf(above(5)))
    const { condition: holds, ...more } = above(6)
    const prepared = knowing.prepare(ruleOf({ ...more, condition: holds }))
    const before = told(() => prepared)
    holds['>'][1] = 99
    expect(told(() => prepared)).toBe(before)
  })
})

function reversed<T extends object>(record: T): T {
  return Object.fromEntries(Object.entries(record).toReversed()) as T
}

describe('tasks of one structure', () => {
  const limited = (threshold: number): Rule => ({
    sensors: [{ label: 's', name: 'streamingDataSensor', resource: '$', properties: { parameter: 'x', threshold } }],
    task: { type: 'reactive' },
  })
  const engineAt = (now: number) => createEngine({ plugs: builtins, scheduler: new VirtualClock(now), seed: 1 })
  const stateOf = (task: Task | undefined) => task?.node('s').mostLikelyState?.state

  it('are saved and restored each with its own, byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer(), fc.boolean()), { minLength: 2, maxLength: 6 }),
        async (limits) => {
          const engine = engineAt(0)
          for (const [i, [limit, hears]] of limits.entries()) {
            await engine.start(limited(limit), { id: `t${i}`, resource: `r${i}` })
            if (hears) engine.receive({ resource: `r${i}`, x: 0 })
          }
          const saved = [...engine.tasks.values()].map((task) => task.save())
          const after = engineAt(0)
          for (const one of JSON.parse(JSON.stringify(saved)) as SavedTask[]) await after.restore(one)
          expect(JSON.stringify([...after.tasks.values()].map((task) => task.save()))).toBe(JSON.stringify(saved))
          for (const [i, [limit]] of limits.entries()) {
            after.receive({ resource: `r${i}`, x: 0 })
            expect(stateOf(after.tasks.get(`t${i}`))).toBe(0 > limit ? 'Above' : 0 < limit ? 'Below' : 'Equal')
          }
        },
      ),
      runs(40),
    )
  })

  it('are changed one by one', async () => {
    const engine = engineAt(0)
    for (const id of ['a', 'b']) await engine.start(limited(5), { id, resource: id })
    await engine.change('a', limited(-5), { resource: 'a' })
    for (const resource of ['a', 'b']) engine.receive({ resource, x: 0 })
    expect(['a', 'b'].map((id) => stateOf(engine.tasks.get(id)))).toEqual(['Above', 'Below'])
    expect(engine.tasks.get('b')?.save().rule.sensors?.[0]?.properties).toEqual({ parameter: 'x', threshold: 5 })
  })
})

// Holds LIVE-1, RESTING-1
describe('a task that rests', () => {
  it('shows what one shows that does not', async () => {
    const rule = ruleOf({
      warm: {},
      condition: 'streamdata.temperature > 7',
      task: { type: 'reactive' },
      label: 'both',
    })
    const shown = async (isHeard: boolean) => {
      const engine = createEngine({ plugs: builtins, scheduler: new VirtualClock(5), seed: 1 })
      // A task with a subscriber does not rest.
      if (isHeard) engine.events({ tasks: ['t'] }).subscribe()
      const task = await engine.start(rule, { id: 't', resource: 'r' })
      const look = () => [task.status, task.info(), task.save(), task.node('warm'), task.explain('siren')]
      const looks = [look(), look()]
      engine.receive({ resource: 'r', temperature: 9 })
      return JSON.stringify([...looks, look()])
    }
    expect(await shown(false)).toBe(await shown(true))
  })
})
