/** Tests the example rule with its model: a simulation and a live host must fire the same. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { zipOf } from '../services/models/zip.ts'
import { until } from '../support/until.ts'
import { Workspace } from '../cli/run-cli.ts'
import { ANY_TIME } from '../support/any-time.ts'
import { listeningHost } from './listening-host.ts'

const ROOT = join(import.meta.dirname, '../..')
const RULE = join(ROOT, 'fixtures/rules/machine-anomaly.json')
const BOOSTER = join(ROOT, 'fixtures/models/machine-anomaly/model.bst')

/** Returns the recording next to the checkout, where developers keep it; the checkout does not contain it. */
function recording(): string | undefined {
  const name = 'shared/data/machine_temperature_system_failure.csv'
  for (let folder = dirname(ROOT); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, name))) return join(folder, name)
  }
  process.stderr.write(`*** NOT TESTED: the example rule on the recording of a machine: ${name} does not exist\n`)
  return undefined
}
const REAL = recording()

const VALUES = [80, 92, 45.5, 30, 90]
const timeOf = (at: number): number => Date.UTC(2014, 1, 7, at * 7)

interface Actuator {
  readonly label: string
}

interface Fired {
  readonly type: string
  readonly time: number
  readonly node: string
  readonly why: { readonly input: { readonly values: { readonly value: number } } }
}

interface Message {
  /** Epoch ms */
  readonly timestamp: number
  readonly value: number
}

const MADE_UP: readonly Message[] = VALUES.map((value, at) => ({ timestamp: timeOf(at), value }))

async function simulated(messages: string, from: string): Promise<readonly Fired[]> {
  using place = new Workspace({})
  const model = ['--model', `machine-anomaly=${BOOSTER}`]
  const args = ['simulate', RULE, '--messages', messages, '--from', from, '--json', ...model]
  const { stdout, stderr, code } = await place.cli(args)
  expect(code, stderr).toBe(0)
  const events = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Fired]))
  return events.filter(({ type }) => type === 'fired')
}

/** Returns the node and value of each firing, sorted. */
function named(fired: readonly Fired[]): readonly string[] {
  return fired.map(({ node, why }) => `${node} ${why.input.values.value}`).toSorted()
}

/** Posts messages one by one to a host with the rule, until it has fired as often as expected. */
async function firedLive(messages: readonly Message[], count: number): Promise<readonly string[]> {
  // cool-downs use the time of arrival, which is set to the message's time here
  let now = messages[0]?.timestamp ?? 0
  const host = await listeningHost({ rateLimit: 0, ...ANY_TIME }, { now: () => now })
  try {
    const { models, rules, broker, alarms } = host.client
    const file = zipOf({ 'model.bst': readFileSync(BOOSTER) })
    await models.create({ name: 'machine-anomaly', framework: 'xgboost', file })
    await until(async () => (await models.get('machine-anomaly')).ready)
    const { actuators, ...rule } = JSON.parse(readFileSync(RULE, 'utf8')) as { readonly actuators: readonly Actuator[] }
    // uses the same rule, but with alarms instead of log lines, since alarms can be queried
    const alarming = actuators.map(({ label }) => {
      const properties = { type: `${label} \${streamdata.value}`, text: label, severity: 'MAJOR' }
      return { label, name: 'createAlarm', properties }
    })
    await rules.tasks.create({ ...rule, actuators: alarming })
    for (const message of messages) {
      now = message.timestamp
      await broker.posting.events('machine-1', message)
    }
    const found = async () => (await alarms.list({ source: 'machine-1' })).alarms
    await until(async () => (await found()).length >= count)
    return (await found()).map(({ type }) => type).toSorted()
  } finally {
    await host.stop()
  }
}

describe('the example rule of machine-anomaly', () => {
  it('fires on a host as in a simulation', async () => {
    using place = new Workspace({ 'day.csv': csvOf(MADE_UP) })
    const fired = await simulated(join(place.path, 'day.csv'), '2014-02-07')
    expect(fired.map(({ node }) => node)).toEqual(['odd', 'broken'])
    expect(await firedLive(MADE_UP, fired.length)).toEqual(named(fired))
  })

  describe.skipIf(REAL === undefined)('on the real recording', () => {
    it('fires before the machine fails on 2014-02-08', async () => {
      const fired = await simulated(REAL ?? '', '2014-01-11')
      const days = fired.map(({ node, time }) => `${node} ${new Date(time).toISOString().slice(0, 10)}`)
      expect([...new Set(days)]).toEqual([
        'odd 2014-02-03',
        'odd 2014-02-07',
        'broken 2014-02-08',
        'broken 2014-02-09',
        'odd 2014-02-09',
      ])
    })

    it('fires on a host at the same messages', async () => {
      const [from, until] = [Date.UTC(2014, 1, 3), Date.UTC(2014, 1, 8, 12)]
      const week = readMessages(REAL ?? '').filter(({ timestamp }) => timestamp >= from && timestamp < until)
      using place = new Workspace({ 'week.csv': csvOf(week) })
      const fired = await simulated(join(place.path, 'week.csv'), '2014-02-03')
      const early = fired.filter(({ time }) => time < Date.UTC(2014, 1, 8))
      expect(early.map(({ time }) => new Date(time).toISOString())).toEqual([
        '2014-02-03T10:45:00.000Z',
        '2014-02-07T23:15:00.000Z',
      ])
      expect(await firedLive(week, fired.length)).toEqual(named(fired))
    })
  })
})

function csvOf(messages: readonly Message[]): string {
  const lines = messages.map(({ timestamp, value }) => `${new Date(timestamp).toISOString()},${value}`)
  return ['timestamp,value', ...lines].join('\n')
}

function readMessages(path: string): readonly Message[] {
  const [, ...lines] = readFileSync(path, 'utf8').trim().split('\n')
  return lines.map((line) => {
    const [time = '', value = ''] = line.split(',')
    return { timestamp: Date.parse(`${time.replace(' ', 'T')}Z`), value: Number(value) }
  })
}
