/**
 * Holds the number by which hosts of different versions know that they go on with each other's tasks against what was
 * recorded when it was raised last: inputs as they are stored, the states that they are played to, and collections.
 * Where this fails, another version would play the same log otherwise, or not read it.
 *
 * `RECORD=replay npx vitest run test/cluster/placement/replay-number.test.ts` records for a number that has no file yet.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { REPLAY_NUMBER } from '../../../src/cluster/placement/replay-number.ts'
import type { Rule } from '../../../src/index.ts'
import type { Json } from '../../../src/kernel/json.ts'
import { LOG_NAME } from '../../../src/log/message-entry.ts'
import { STATES } from '../../../src/services/rules/durable/records.ts'
import type { RunnableTask } from '../../../src/services/rules/runner.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { Life, Outside, runnableOf, TENANT } from '../../services/rules/durable/support/lives.ts'
import { filesUnder, readText } from '../../support/repository.ts'

interface Recorded {
  readonly log: readonly Json[]
  /** by id of the task */
  readonly states: Readonly<Record<string, object>>
  /** versions of collections that are beyond the first */
  readonly collections: Readonly<Record<string, number>>
}

const FILE = join(import.meta.dirname, 'replay', `${REPLAY_NUMBER}.json`)
const SECOND = 1_000
const MINUTE = 60 * SECOND
const BEGIN = Date.UTC(2026, 0, 5, 6)
const END = BEGIN + 30 * MINUTE
const DIFFERS =
  'hosts of the version before would go on otherwise: raise REPLAY_NUMBER in src/cluster/placement/replay-number.ts, and record anew'

function ruleOf(name: string): Rule {
  return JSON.parse(readText(`fixtures/rules/${name}.json`)) as Rule
}

/** Sensors that remember, draw lots and answer later, and an actuator whose call is refused and tried again. */
const WATCHED: Rule = {
  sensors: [
    { label: 'level', name: 'level', version: '1.0.0', resource: '$', position: [0, 0] },
    { label: 'count', name: 'count', version: '1.0.0', resource: '$' },
    { label: 'ask', name: 'ask', version: '1.0.0', resource: '$', sequence: 2 },
  ],
  relations: [
    {
      label: 'either',
      type: 'OR',
      parentLabels: ['level', 'ask'],
      combinations: [['HIGH', 'YES']],
    },
  ],
  actuators: [
    {
      label: 'send',
      name: 'send',
      version: '1.0.0',
      retryConfig: { maxRetries: 2, minBackoff: 'PT10S', maxBackoff: 'PT10S' },
    },
  ],
  triggers: [{ sourceLabel: 'either', destinationLabel: 'send', statesTrigger: ['TRUE'], invocationPolicy: 120 }],
  task: { type: 'reactive' },
}

const TASKS: readonly RunnableTask[] = [
  runnableOf('boiler', ruleOf('overheating'), { resource: 'boiler' }),
  runnableOf('silence', ruleOf('silence'), { resource: 'boiler' }),
  runnableOf('night', ruleOf('nightly-check')),
  runnableOf('watched', WATCHED, { resource: 'boiler' }),
]

function lifeOn(storage: Storage, outside: Outside, at: number): Life {
  return new Life(storage, outside, { at, plugs: [...builtins, ...outside.plugs], checkpointMs: 1e9 })
}

/** Gives the log. */
async function play(storage: Storage): Promise<readonly Json[]> {
  const outside = new Outside()
  outside.answersAtOnce = false
  const life = lifeOn(storage, outside, BEGIN)
  for (const task of TASKS) await life.begin(task)
  const send = async (minute: number, values: Record<string, unknown>): Promise<void> => {
    await life.to(BEGIN + minute * MINUTE)
    await life.send('boiler', values)
    await life.rest()
  }
  await send(1, { temperature: 95, pump: true, level: 3 })
  await send(2, { temperature: 96, pump: false, level: 13 })
  for (const id of outside.open) outside.answer(id, 'not now')
  await send(3, { temperature: 20, pump: false })
  await send(25, { temperature: 97, pump: false, level: 30 })
  for (const id of outside.open) outside.answer(id)
  await life.rest()
  await life.end('night')
  await life.to(END)
  // before what is in states is left out
  const entries = await storage.tenant(TENANT).log(LOG_NAME).read(0, 1_000)
  await life.runner.close()
  return entries.map(({ body }) => body)
}

async function statesIn(storage: Storage): Promise<Record<string, object>> {
  const found = await storage.tenant(TENANT).collection(STATES).find({})
  return Object.fromEntries(found.map(({ id, value }) => [id, plain(value)]))
}

function collections(): Record<string, number> {
  const texts = filesUnder(['src'], '.ts').map(readText)
  const found = texts.flatMap((text) => [
    ...text.matchAll(/: CollectionSpec<[^=]*= \{\s*name: '(\w+)',\s*version: (\d+)/g),
  ])
  expect(found.length).toBeGreaterThan(30)
  const raised = found.flatMap(([, name = '', version]) => (version === '1' ? [] : [[name, Number(version)] as const]))
  return Object.fromEntries(raised)
}

function plain(value: object): object {
  return JSON.parse(JSON.stringify(value)) as object
}

describe('hosts with the same replay number', () => {
  it('play the same log to the same states, which they write in the same form', async () => {
    const storage = openMemory()
    const now: Recorded = { log: await play(storage), states: await statesIn(storage), collections: collections() }
    if (process.env['RECORD'] === 'replay' && !existsSync(FILE)) {
      writeFileSync(FILE, `${JSON.stringify(now, undefined, 1)}\n`)
    }
    expect(existsSync(FILE), `${FILE} is missing: record it`).toBe(true)
    const recorded = JSON.parse(readFileSync(FILE, 'utf8')) as Recorded
    expect(now.collections, DIFFERS).toEqual(recorded.collections)
    expect(now.log, DIFFERS).toEqual(recorded.log)
    expect(now.states, DIFFERS).toEqual(recorded.states)
  })

  it('go on with what the other has stored where its log alone is there', async () => {
    const { log, states } = JSON.parse(readFileSync(FILE, 'utf8')) as Recorded
    const storage = openMemory()
    await storage.tenant(TENANT).log(LOG_NAME).append(log)
    const life = lifeOn(storage, new Outside(), END)
    await life.runner.resume(TASKS.filter(({ id }) => id !== 'night'))
    await life.rest()
    await life.runner.close()
    const reached = await statesIn(storage)
    for (const id of ['boiler', 'silence', 'watched']) {
      // how far it was played is its own
      const { position, ...state } = reached[id] as { position: number }
      const { position: before, ...expected } = states[id] as { position: number }
      expect(position).toBeGreaterThan(before)
      expect(state, `${id}: ${DIFFERS}`).toEqual({ ...expected, time: END })
    }
  })
})
