/** Tests that the check's warnings about a change from `*` match the engine. */
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../../plugins/index.ts'
import { createRegistry } from '../../../../src/core/plug/registry.ts'
import type { Rule, Sensor, TaskSettings, Trigger } from '../../../../src/core/rule/rule.ts'
import { validateRule, validateTemplate } from '../../../../src/core/rule/validate.ts'
import { createEngine, VirtualClock } from '../../../../src/index.ts'

const plugs = createRegistry(builtins)
const above = (label: string, more: Partial<Sensor> = {}): Sensor => ({
  label,
  name: 'streamingDataSensor',
  resource: '$',
  properties: { parameter: 'a', threshold: 0 },
  ...more,
})
const change: Trigger = {
  sourceLabel: 'hot',
  destinationLabel: 'note',
  stateChangeTrigger: { stateFrom: '*', stateTo: 'Above' },
}
const rule = (task: TaskSettings, parts: Rule = {}): Rule => ({
  sensors: [above('hot')],
  triggers: [change],
  actuators: [{ label: 'note', name: 'log', properties: { message: 'x' } }],
  ...parts,
  task,
})
const both = { label: 'both', type: 'AND', parentLabels: ['hot', 'wet'], combinations: [['Above', 'Above']] } as const
const ofBoth = [{ ...change, sourceLabel: 'both', stateChangeTrigger: { stateFrom: '*', stateTo: 'TRUE' } }]
const reactive: TaskSettings = { type: 'reactive' }

/** Firings of `note` while a and b of three resources stay above their limits. */
async function firings(tested: Rule): Promise<number> {
  const clock = new VirtualClock(0)
  const engine = createEngine({ plugs: builtins, scheduler: clock, seed: 1 })
  let count = 0
  engine.events$.subscribe((event) => {
    if (event.type === 'fired' && event.node === 'note') count++
  })
  await engine.start(tested, { resource: 'r' })
  for (let i = 0; i < 3; i++) {
    for (const resource of ['r', 'q']) engine.receive({ resource, a: 1, b: 1 })
    clock.advanceTo(clock.now() + 1000)
    await engine.settled()
  }
  await engine.close()
  return count
}

const resets = (tested: Rule) =>
  validateRule(tested, plugs)
    .issues.filter(({ type }) => type === 'RESET')
    .map(({ severity, path }) => `${severity} ${path}`)

const PLACE = 'WARNING /triggers/0/stateChangeTrigger/stateFrom'

describe('a change from * that', () => {
  it.each<[string, Rule]>([
    ['each message renews', rule(reactive)],
    ['each message renews in a task without settings yet', rule({})],
    [
      'is any change',
      rule(reactive, { triggers: [{ ...change, stateChangeTrigger: { stateFrom: '*', stateTo: '*' } }] }),
    ],
    ['its own clock renews', rule(reactive, { sensors: [above('hot', { pollingPeriod: 1000 })] })],
    [
      'a trigger renews',
      rule(reactive, {
        sensors: [above('first'), above('hot')],
        triggers: [change, { sourceLabel: 'first', destinationLabel: 'hot' }],
      }),
    ],
    [
      'is of a relation over sensors of one resource',
      rule(reactive, { sensors: [above('hot'), above('wet')], relations: [both], triggers: ofBoth }),
    ],
    [
      'is of a relation over two resources to the state for which it needs both',
      rule(reactive, {
        sensors: [above('hot'), above('wet', { resource: 'q' })],
        relations: [both],
        triggers: ofBoth,
      }),
    ],
    [
      'is of a relation over relations over two resources, each of which is needed',
      rule(reactive, {
        sensors: [above('hot'), above('wet', { resource: 'q' })],
        relations: [
          { label: 'dry', type: 'OR', parentLabels: ['hot', 'wet'], combinations: [['Below', 'Below']] },
          { label: 'both', type: 'NAND', parentLabels: ['dry', 'hot'], combinations: [['FALSE', 'Above']] },
        ],
        triggers: [{ ...change, sourceLabel: 'both', stateChangeTrigger: { stateFrom: '*', stateTo: 'FALSE' } }],
      }),
    ],
    [
      'is of a relation that another resource holds, in a task that forgets everything',
      rule(
        { ...reactive, resetScope: 'task' },
        {
          sensors: [above('hot'), above('wet', { resource: 'q' })],
          relations: [{ ...both, type: 'OR' }],
          triggers: ofBoth,
        },
      ),
    ],
  ])('%s causes a warning, and fires each time', async (_, tested) => {
    expect(resets(tested)).toEqual([PLACE])
    expect(await firings(tested)).toBeGreaterThanOrEqual(3)
  })

  it.each<[string, Rule]>([
    ['is kept by resetObservations: false', rule({ ...reactive, resetObservations: false })],
    [
      'is named by its state before',
      rule(reactive, { triggers: [{ ...change, stateChangeTrigger: { stateFrom: 'Below', stateTo: 'Above' } }] }),
    ],
    [
      'is of a relation over two resources, one of which each message leaves as it is',
      rule(reactive, {
        sensors: [above('hot'), above('wet', { resource: 'q' })],
        relations: [{ ...both, type: 'OR', combinations: [['Above', 'Above']] }],
        triggers: ofBoth,
      }),
    ],
    [
      'is of a relation over such a one',
      rule(reactive, {
        sensors: [above('hot'), above('wet', { resource: 'q' })],
        relations: [
          { label: 'any', type: 'OR', parentLabels: ['hot', 'wet'], combinations: [['Above', 'Above']] },
          { label: 'both', type: 'AND', parentLabels: ['any'], combinations: [['TRUE']] },
        ],
        triggers: ofBoth,
      }),
    ],
  ])('%s causes no warning, and fires once at most', async (_, tested) => {
    expect(resets(tested)).toEqual([])
    expect(await firings(tested)).toBeLessThanOrEqual(1)
  })

  it.each<[string, Rule]>([
    ['wants the state as well', rule(reactive, { triggers: [{ ...change, statesTrigger: ['Above'] }] })],
    ['is pushed, and run by nothing', rule(reactive, { sensors: [above('hot', { resource: '' })] })],
  ])('%s is not checked', (_, tested) => {
    expect(resets(tested)).toEqual([])
  })

  it('each message renews causes a warning in a template by its defaults', () => {
    const { task: _, ...graph } = rule({})
    const found = (taskDefaults: TaskSettings) =>
      validateTemplate({ name: 't', ...graph, taskDefaults }, plugs).issues.filter(({ type }) => type === 'RESET')
    expect(found({})).toHaveLength(1)
    expect(found({ resetObservations: false })).toEqual([])
  })

  it('causes a warning has a replacement in its suggestion', () => {
    const [issue] = validateRule(rule(reactive), plugs).issues
    expect(issue?.message).toBe(
      'trigger "hot" -> "note" fires whenever a run finds "Above", changed or not, because each run first clears the state with which "*" is compared',
    )
    expect(issue?.suggestion).toBe(
      'write "begins": ["Above"] instead of stateChangeTrigger, or set stateFrom, which is compared with the state before the reset',
    )
    const anyChange = rule(reactive, {
      triggers: [{ ...change, stateChangeTrigger: { stateFrom: '*', stateTo: '*' } }],
    })
    expect(validateRule(anyChange, plugs).issues[0]?.suggestion).toContain('with "begins" for each set')
  })
})
