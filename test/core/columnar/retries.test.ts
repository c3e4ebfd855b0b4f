/** Retries of actuators whose properties fail, with and without rows. */
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { createEngine, VirtualClock, type Rule, type SavedTask } from '../../../src/index.ts'
import { actuatorPlug } from '../../support/make-plug.ts'

const RULE: Rule = {
  sensors: [{ label: 's', name: 'streamingDataSensor', resource: 'r', properties: { parameter: 'a', threshold: 0 } }],
  actuators: [
    {
      label: 'acts',
      name: 'act',
      properties: { value: '${streamdata.extra}' },
      retryConfig: { maxRetries: 1, minBackoff: '1ms' },
    },
  ],
  triggers: [{ sourceLabel: 's', destinationLabel: 'acts' }],
}

/** Sends messages at once and returns the values sent, the number of failures, and the number of messages in rows. */
async function run(extras: readonly (number | undefined)[], isInRows: boolean, perTask: number) {
  const clock = new VirtualClock(0)
  const sent: unknown[] = []
  const act = actuatorPlug('act', {
    input: { value: { type: 'any' } },
    execute: ({ properties }) => void sent.push(properties.value),
  })
  const engine = createEngine({
    plugs: [...builtins, act],
    scheduler: clock,
    ids: () => 't',
    ...(perTask > 0 && { history: { perTask } }),
    ...(!isInRows && { latency: () => 0 }),
  })
  const task = await engine.start(RULE)
  for (const extra of extras) engine.receive({ resource: 'r', a: 1, ...(extra !== undefined && { extra }) })
  clock.advanceTo(10)
  const { errorsCount } = task.info().health
  const { rows } = engine.stats()
  await engine.close()
  return { sent, errorsCount, rows }
}

/** Saves and restores a task during the back-off of its first firing, and returns the values sent afterwards. */
async function restartedIn(rule: Rule, messages: readonly Record<string, unknown>[], isInRows: boolean) {
  const sent: unknown[] = []
  const act = actuatorPlug('act', {
    input: { value: { type: 'any' } },
    execute: ({ properties }) => void sent.push(properties.value),
  })
  const open = (clock: VirtualClock) =>
    createEngine({
      plugs: [...builtins, act],
      scheduler: clock,
      ids: () => 't',
      ...(!isInRows && { latency: () => 0 }),
    })
  const before = open(new VirtualClock(0))
  const task = await before.start(rule)
  for (const one of messages) before.receive({ resource: 'r', ...one })
  const saved = JSON.parse(JSON.stringify(task.save())) as SavedTask
  const { rows } = before.stats()
  await before.close()
  sent.length = 0
  const clock = new VirtualClock(0)
  const after = open(clock)
  const restored = await after.restore(saved)
  clock.advanceTo(10)
  const { errorsCount } = restored.info().health
  await after.close()
  return { sent, errorsCount, rows }
}

describe.each([
  ['in rows', true, 0],
  ['in rows with a history', true, 7],
  ['without rows', false, 0],
])('a retry of an actuator whose properties fail, %s', (_, isInRows, perTask) => {
  it.each([
    ['one firing', [undefined, 1], [1], 1],
    ['a firing behind another', [undefined, undefined, 1], [1], 2],
    ['several firings', [undefined, undefined, undefined, 1, 2], [1, 2], 3],
  ])('uses the values of its firing: %s', async (_fact, extras, sent, errorsCount) => {
    const { rows, ...did } = await run(extras, isInRows, perTask)
    expect(did).toEqual({ sent, errorsCount })
    expect(rows > 0).toBe(isInRows)
  })
})

const reading = (value: string): Rule => ({
  ...RULE,
  actuators: (RULE.actuators ?? []).map((one) => ({ ...one, properties: { value } })),
})

// Holds STEP-6
describe.each([
  ['in rows', true],
  ['without rows', false],
])('a retry after a restart, of an actuator whose properties fail, %s', (_, isInRows) => {
  it.each<[string, string, Record<string, unknown>[], unknown[], number]>([
    ['does not read later values', '${streamdata.extra}', [{ a: 1 }, { a: 1 }, { a: 1, extra: 1 }], [1], 2],
    [
      'does not read later states',
      '${streamdata.extra} ${nodes.s.state}',
      [{ a: 1 }, { a: 1 }, { a: -1, extra: 1 }],
      ['1 Below'],
      2,
    ],
  ])('%s', async (_fact, value, messages, sent, errorsCount) => {
    const { rows, ...did } = await restartedIn(reading(value), messages, isInRows)
    expect(did).toEqual({ sent, errorsCount })
    expect(rows > 0).toBe(isInRows)
  })
})
