import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { simulate, type Rule, type Template } from '../../src/index.ts'
import {
  checkRule,
  coolDownRespected,
  deterministic,
  latencyChangesNothing,
  messageStreams,
  neverMoreThan,
  neverSilentFor,
  noFiringWithoutCause,
  PropertyError,
  randomRules,
  readings,
  restartChangesNothing,
  type CheckOptions,
  type PropertyLike,
} from '../../src/testing/index.ts'
import { Workspace } from '../cli/run-cli.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { sensorPlug } from '../support/make-plug.ts'

const rule: Rule = {
  sensors: [
    { label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 't', threshold: 90 } },
  ],
  actuators: [{ label: 'alarm', name: 'log', properties: { message: 'hot' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Above'], invocationPolicy: 600 }],
  task: { resource: 'boiler' },
}
const options: CheckOptions = { plugs: builtins, metrics: { t: readings(60, 120) }, numRuns: 25, seed: 1 }

async function failureOf(property: PropertyLike, more: Partial<CheckOptions> = {}, checked: Rule | Template = rule) {
  try {
    await checkRule(checked, property, { ...options, ...more })
  } catch (error) {
    if (error instanceof PropertyError && error.failing !== undefined)
      return { code: error.code, failing: error.failing, message: error.message }
    throw error
  }
  throw new Error('the property holds')
}

describe('checkRule', () => {
  it('accepts a rule that satisfies its properties', async () => {
    const hour = { within: '1h', node: 'alarm' }
    const all = [
      coolDownRespected(),
      noFiringWithoutCause(),
      restartChangesNothing(),
      neverMoreThan(6, hour),
      latencyChangesNothing(),
      deterministic(),
    ]
    await expect(checkRule(rule, all, options)).resolves.toMatchObject({ cases: 25 })
  })

  it('throws the smallest counterexample as text: the violation, the messages, the firings', async () => {
    const { code, message, failing } = await failureOf(neverMoreThan(1, { within: '1h' }), {
      disturbances: [],
      every: '10m',
    })
    expect(code).toBe('PROPERTY')
    expect(failing.messages).toHaveLength(2)
    const lines = message.split('\n')
    expect(lines[0]).toMatch(
      /^"every destination fires at most once within 1 h" does not hold \(case \d+, minimized in \d+ steps?\):$/,
    )
    expect(lines[1]).toMatch(/^ {2}alarm fired 2 times from 2025-03-03T06:\S+Z to 2025-03-03T06:\S+Z, within \d+ min$/)
    expect(lines.slice(3, 5)).toEqual([
      expect.stringMatching(/^ {3}1 {2}2025-03-03T06:\S+Z {2}boiler {2}t 90\.1$/),
      expect.stringMatching(/^ {3}2 {2}2025-03-03T06:\S+Z {2}boiler {2}t 90\.1$/),
    ])
    expect(lines.filter((line) => line.endsWith('alarm, because hot is Above'))).toHaveLength(2)
    expect(lines.at(-1)).toMatch(/^to repeat this case: \{ seed: 1, path: '\d+' \}$/)
  })

  it('replays a case by its seed and path', async () => {
    const property = neverMoreThan(1, { within: '1h' })
    const first = await failureOf(property)
    const path = /path: '(\d+)'/.exec(first.message)?.[1] ?? ''
    expect((await failureOf(property, { path })).failing).toEqual(first.failing)
  })

  it.each<[string, PropertyLike, string]>([
    ['false', (run) => run.firings('alarm').length === 0, 'it returned false'],
    ['a text', ({ events }) => (events.some(({ type }) => type === 'fired') ? 'it rang' : undefined), 'it rang'],
    [
      'a thrown error',
      (run) => {
        expect(run.firings()).toHaveLength(0)
      },
      'to have a length of',
    ],
    ['a silence', neverSilentFor('2h', { while: (m) => m.state('hot') === 'Above' }), 'was silent from'],
    [
      'a value too high',
      ({ moments }) => moments.every((m) => !(Number(m.latest('boiler')?.['t']) > 100)),
      'returned false',
    ],
  ])('treats %s as a violation', async (_, property, text) => {
    expect((await failureOf(property)).message).toContain(text)
  })

  it('reports the crash points of a case if they matter', async () => {
    const forgetful = sensorPlug('forgetful', ['New', 'Old'], (context) =>
      seen.has(context.task.TASK_ID + context.now) ? 'Old' : (seen.add(context.task.TASK_ID + context.now), 'New'),
    )
    const seen = new Set<string>()
    const forgets: Rule = { ...rule, sensors: [{ label: 'hot', name: 'forgetful', resource: '$' }], triggers: [] }
    const { message } = await failureOf(restartChangesNothing(), { plugs: [...builtins, forgetful] }, forgets)
    expect(message).toMatch(/"a restart changes nothing" does not hold/)
    expect(message).toMatch(/^the process is killed after message \d+/m)
  })

  it('runs random rules, and shows a failing one', async () => {
    const rules = randomRules({ plugs: builtins.filter(({ name }) => ['streamingDataSensor', 'log'].includes(name)) })
    const all = [coolDownRespected(), noFiringWithoutCause(), restartChangesNothing()]
    const more = { ...options, metrics: { temperature: readings(0, 50) } }
    await expect(checkRule(rules, all, more)).resolves.toMatchObject({ cases: 25 })
    await expect(checkRule(rules, (run) => run.firings('a0').length === 0, more)).rejects.toThrow(
      /^rule: \{"sensors":/m,
    )
  })

  it("accepts the caller's own streams", async () => {
    const messages = fc.constant([{ resource: 'boiler', timestamp: 5, t: 100 }])
    const { failing } = await failureOf((run) => run.firings().length === 0, { messages })
    expect(failing.messages).toEqual([{ resource: 'boiler', timestamp: 5, t: 100 }])
  })

  it('throws the problems of an invalid rule, not a case', async () => {
    const broken: Rule = { ...rule, triggers: [{ sourceLabel: 'hto', destinationLabel: 'alarm' }] }
    await expect(checkRule(broken, coolDownRespected(), options)).rejects.toMatchObject({ code: 'VALIDATION' })
  })

  it.each<[string, Partial<CheckOptions>, string]>([
    [
      'no metrics',
      { metrics: {}, messages: messageStreams({ metrics: {} }), tail: 'x' },
      '"x" is not a valid duration',
    ],
    ['a tail below nothing', { tail: -1 }, 'the tail is -1; use a duration such as 1h'],
  ])('rejects %s', async (_, more, text) => {
    await expect(checkRule(rule, coolDownRespected(), { ...options, ...more })).rejects.toThrow(text)
  })

  it('requests the values of devices if they are not set', async () => {
    await expect(checkRule(rule, coolDownRespected(), { plugs: builtins })).rejects.toThrow(
      'set metrics: { temperature: readings(60, 120) }, or messages',
    )
  })
})

describe('slow plugs', () => {
  const asks: Rule = {
    sensors: [{ label: 'asked', name: 'ask', resource: '$' }],
    actuators: [{ label: 'alarm', name: 'log', properties: { message: 'high' } }],
    triggers: [{ sourceLabel: 'asked', destinationLabel: 'alarm', statesTrigger: ['High'] }],
    task: { resource: 'boiler' },
  }
  const ask = (answer: () => Promise<void>) =>
    sensorPlug('ask', ['High', 'Low'], {
      async execute(context) {
        await answer()
        return Number(context.streamValue('t')) > 90 ? 'High' : 'Low'
      },
    })

  it('are awaited in several cases concurrently, up to the limit', async () => {
    const waiting = new Set<() => void>()
    let most = 0
    let isOpen = false
    const untilThreeWait = () =>
      new Promise<void>((resolve) => {
        waiting.add(resolve)
        most = Math.max(most, waiting.size)
        isOpen ||= waiting.size === 3
        if (!isOpen) return
        for (const open of waiting) open()
        waiting.clear()
      })
    const slow = { plugs: [...builtins, ask(untilThreeWait)], patience: '1m', concurrency: 3, numRuns: 8 }
    await expect(checkRule(asks, deterministic(), { ...options, ...slow })).resolves.toMatchObject({ cases: 8 })
    expect(most).toBe(3)
    await expect(checkRule(rule, deterministic(), { ...options, concurrency: 0 })).rejects.toThrow('concurrency is 0')
  })

  it('do not change the result and the report', async () => {
    const turn = () => new Promise<void>((resolve) => void setImmediate(resolve))
    const few: PropertyLike = ({ events }) => events.filter(({ type }) => type === 'fired').length < 6
    const told = async (concurrency: number, answer: () => Promise<void>) =>
      (await failureOf(few, { plugs: [...builtins, ask(answer)], concurrency, shrink: false, patience: '1m' }, asks))
        .message
    const usual = await told(1, () => Promise.resolve())
    expect(await told(32, turn)).toBe(usual)
    expect(usual).toMatch(/^to repeat this case: \{ seed: 1, path: '\d+' \}$/m)
  })
})

describe('a saved case', () => {
  const property: PropertyLike = ({ events }) => events.filter(({ type }) => type === 'fired').length < 3
  /** One message of each kind that is difficult to record. */
  const messages = fc.constant([
    { resource: 'boiler', timestamp: 1_740_981_660_000, t: 91 },
    { resource: 'boiler', timestamp: 1_740_981_500_000, t: Number.NaN },
    { resource: 'boiler', timestamp: 1_740_983_660_000, t: 95.5 },
    { resource: 'boiler', timestamp: 1_740_983_660_000 },
    { resource: 'elsewhere', timestamp: 1_740_983_000_001, t: 1 },
    { resource: 'boiler', timestamp: 1_740_990_000_000, t: 99 },
  ])
  const bare: Template = { ...rule, name: 'Boiler', taskDefaults: {} }

  it.each<[string, Rule | Template, Partial<CheckOptions>]>([
    ['a rule', rule, { messages }],
    ['a template with settings from outside', bare, { messages, resource: 'boiler' }],
    ['random messages', rule, runs(300)],
  ])('replays by `reflexarc simulate`, byte for byte: %s', async (_, checked, more) => {
    using files = new Workspace({})
    const { task: _task, ...withoutTask }: Partial<Rule> = checked
    const given = 'name' in checked ? (withoutTask as Template) : checked
    const writeTo = join(files.path, 'failures/case')
    const { message, failing } = await failureOf(property, { ...more, writeTo }, given)
    const command = /^replay: reflexarc (.*)$/m.exec(message)?.[1]?.split(' ') ?? []
    const { code, stdout } = await files.cli([...command.filter((word) => word !== '--why'), '--json'])
    expect(code).toBe(0)
    const until = Math.max(...failing.messages.map(({ timestamp }) => Number(timestamp))) + 3_600_000
    const resource = more.resource === undefined ? {} : { resource: more.resource }
    const { events } = await simulate(given, { plugs: builtins, messages: failing.messages, until, ...resource })
    expect(stdout).toBe(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
    expect(readFileSync(`${writeTo}.ndjson`, 'utf8').trimEnd().split('\n')).toHaveLength(failing.messages.length)
  })
})
