/** The example rule with its model: the same firings when it is simulated and when it runs on a host. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/client.ts'
import { readConfig } from '../../src/host/config.ts'
import { startHost } from '../../src/host/running-host.ts'
import { SERVICES } from '../../src/host/service-table.ts'
import { zipOf } from '../services/models/zip.ts'
import { until } from '../support/until.ts'
import { Workspace } from './cli/run-cli.ts'

const ROOT = join(import.meta.dirname, '../..')
const RULE = join(ROOT, 'fixtures/rules/machine-anomaly.json')
const BOOSTER = join(ROOT, 'fixtures/models/machine-anomaly/model.bst')

/** Beside the checkout, as those that develop it have it; it is not a part of it. */
function recording(): string | undefined {
  const name = 'shared/data/machine_temperature_system_failure.csv'
  for (let folder = dirname(ROOT); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, name))) return join(folder, name)
  }
  process.stderr.write(`*** NOT TESTED: the example rule on the recording of a machine: ${name} is not there\n`)
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
}

async function simulated(messages: string, from: string): Promise<readonly Fired[]> {
  using place = new Workspace({})
  const model = ['--model', `machine-anomaly=${BOOSTER}`]
  const { stdout, stderr, code } = await place.cli([
    'simulate',
    RULE,
    '--messages',
    messages,
    '--from',
    from,
    '--json',
    ...model,
  ])
  expect(code, stderr).toBe(0)
  const events = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Fired]))
  return events.filter(({ type }) => type === 'fired')
}

describe('the example rule of machine-anomaly', () => {
  it.skipIf(REAL === undefined)('fires on the real recording before the machine fails on 2014-02-08', async () => {
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

  it('fires on a host as it does when it is simulated', async () => {
    const credentials = { key: 'k', secret: 'a-secret' }
    const given = { store: 'memory:', port: 0, ...credentials, empty: true, logLevel: 'silent' }
    const host = await startHost(
      readConfig(given, {}, [...SERVICES.keys()]),
      { write: () => undefined },
      { hashCost: 2 },
    )
    try {
      const { models, rules, broker, alarms } = createClient({ url: host.url, credentials })
      await models.create({
        name: 'machine-anomaly',
        framework: 'xgboost',
        file: zipOf({ 'model.bst': readFileSync(BOOSTER) }),
      })
      await until(async () => (await models.get('machine-anomaly')).ready)
      const { actuators, ...rule } = JSON.parse(readFileSync(RULE, 'utf8')) as {
        readonly actuators: readonly Actuator[]
      }
      // the same rule, with alarms in the place of lines of log: they can be asked for
      const alarming = actuators.map(({ label }) => {
        const properties = { type: label, text: label, severity: 'MAJOR' }
        return { label, name: 'createAlarm', properties }
      })
      await rules.tasks.create({ ...rule, actuators: alarming })
      for (const [at, value] of VALUES.entries()) {
        await broker.posting.events('machine-1', { value, timestamp: timeOf(at) })
      }
      const found = async () => (await alarms.list({ source: 'machine-1' })).alarms
      await until(async () => (await found()).length === 2)
      expect((await found()).map(({ type }) => type).toSorted()).toEqual(['broken', 'odd'])
      using place = new Workspace({
        'day.csv': [
          'timestamp,value',
          ...VALUES.map((value, at) => `${new Date(timeOf(at)).toISOString()},${value}`),
        ].join('\n'),
      })
      const fired = await simulated(join(place.path, 'day.csv'), '2014-02-07')
      expect(fired.map(({ node }) => node)).toEqual(['odd', 'broken'])
    } finally {
      await host.stop()
    }
  })
})
